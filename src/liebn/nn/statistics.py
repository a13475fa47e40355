"""Where statistics come from: running averages, several processes, a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from liebn.groups import Gyrogroup, Rule, Total
from liebn.groups.mean import Fit, descend, pairing
from liebn.linalg import InvalidPointError, numerics, positive
from liebn.linalg.autograd import Function, first_order


class Running(NamedTuple):
    """A running mean and variance: views of the buffers of a layer.

    Attributes:
        mean: points of the group, (*channels, *point).
        var: (*channels).
    """

    mean: Tensor
    var: Tensor

    def moved(
        self, group: Gyrogroup, mean: Tensor, variance: Tensor, share: float
    ) -> tuple[Tensor, Tensor]:
        """The point of the model at `share` of the geodesic to a batch mean, and v² likewise."""
        if share == 1:
            return mean, variance
        model = group.model
        # A copy: the buffer is written to while the backward pass still needs what it held.
        start = group.to_model(self.mean.to(mean.dtype, copy=True))
        moved = model.geodesic(start, mean, share)
        return moved, torch.lerp(self.var.to(variance.dtype), variance, share)

    @torch.no_grad()
    def update(
        self, mean: Tensor, variance: Tensor, group: Gyrogroup, batches: Tensor | None = None
    ) -> Update:
        """The replacement of both by a point of the model and a variance, unless they overflow.

        `batches` counts them, and goes up with it.
        """
        point, var = group.from_model(mean).to(self.mean), variance.to(self.var)
        if not (numerics.finite(point) and numerics.finite(var)):
            raise ValueError(
                "the statistics of the batch overflow: its samples are too large or too far apart"
            )
        _require_usable(group, point)
        return Update(self, point, var, batches)


def _require_usable(group: Gyrogroup, point: Tensor) -> None:
    """Refuse a mean that is no point of the group any more, once rounded to the buffer's dtype."""
    if positive.well_conditioned(point):  # so are nearly all, and it is the quickest to see
        return
    try:  # what evaluation will do first
        group.model.inverse(group.to_model(point))
    except InvalidPointError as error:
        raise ValueError(
            f"expected a running mean that {point.dtype} can hold, got a matrix which "
            f"{error.reason}: scale the data to a size near 1, or use float64"
        ) from None


class Update(NamedTuple):
    """New values for running averages, written only once the whole batch has gone through."""

    running: Running
    mean: Tensor
    var: Tensor
    batches: Tensor | None

    @torch.no_grad()
    def apply(self) -> None:
        """Write them, in place."""
        # Compiled ahead of time, a copy into a tensor without dimensions is lost (torch 2.13).
        self.running.mean.unsqueeze(0).copy_(self.mean.unsqueeze(0))
        self.running.var.unsqueeze(0).copy_(self.var.unsqueeze(0))
        if self.batches is not None:
            self.batches.unsqueeze(0).add_(1)


class OtherProcessError(ValueError):
    """The batch of another process is invalid."""


class ProcessTotal(Total):
    """Sums over the samples of all processes; its gradient is that of the summed loss."""

    def __init__(self, process_group: Any) -> None:
        self.process_group = process_group

    def agree(self, device: torch.device, failed: bool = False) -> None:
        """Tell the other processes whether this one goes on, and raise if another does not.

        Every collective operation is preceded by this one, so that a process which fails anywhere
        in between says so here, where the others will ask next.
        """
        failures = torch.tensor(float(failed), device=device)
        dist.all_reduce(failures, group=self.process_group)
        if not failed and failures > 0:
            raise OtherProcessError(
                f"the batch of {int(failures)} other process(es) is invalid; see the error there"
            )

    def __call__(self, values: Tensor) -> Tensor:
        """Σ over samples and processes, the same on every process."""
        self.agree(values.device)
        total: Tensor = _AllReduce.apply(values.sum(0), self.process_group)
        return total

    def first(self, values: Tensor) -> Tensor:
        """The first sample of the first process that has one."""
        self.agree(values.device)
        rank, size = dist.get_rank(self.process_group), dist.get_world_size(self.process_group)
        owner = torch.tensor(rank if values.shape[0] else size, device=values.device)
        dist.all_reduce(owner, dist.ReduceOp.MIN, group=self.process_group)
        own = values[0] if int(owner) == rank else values.new_zeros(values.shape[1:])
        return self(own.unsqueeze(0))

    def largest(self, values: Tensor) -> Tensor:
        """The largest value over all samples of all processes."""
        self.agree(values.device)
        largest = super().largest(values).contiguous()
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=self.process_group)
        return largest


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, share: Tensor, process_group: Any) -> Tensor:
        ctx.process_group = process_group
        total = share.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=process_group)
        return total

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        grad = grad.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(grad, group=ctx.process_group)
        return grad, None


Chunks = Callable[[], Iterable[tuple[Tensor, Tensor]]]

STREAMED = Rule(step="karcher", tolerance=1e-8, most_steps=100)


@torch.no_grad()
def streamed_statistics(space: Gyrogroup, chunks: Chunks, sets: int) -> tuple[Tensor, Tensor]:
    """Mean and variance of several sets of points, never holding more than one chunk.

    Args:
        space: the space of the points, its own model.
        chunks: a new iterator, every time, over (points, (samples, *channels, *point), and the
            number of the set each sample belongs to, (samples,)); every pass must bring the same
            data.
        sets: how many sets there are; each must have a sample.

    Returns:
        Means (sets, *channels, *point) and variances (sets, *channels).
    """

    def sums(values: Callable[[int, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Totals per set of values(set, points), (sets, ...), and counts (sets,)."""
        total: list[Tensor | None] = [None] * sets
        count = [0] * sets
        for points, numbers in chunks():
            for number in numbers.unique().tolist():
                part = values(number, points[numbers == number])
                share, seen = part.sum(0), total[number]
                total[number] = share if seen is None else seen + share
                count[number] += part.shape[0]
        found = [share for share in total if share is not None]
        if len(found) < sets:
            raise ValueError(f"no samples for {sets - len(found)} of {sets} domains")
        return torch.stack(found), found[0].new_tensor(count)

    dims = len(space.point_shape)

    def average(values: Callable[[int, Tensor], Tensor]) -> Tensor:
        total, count = sums(values)
        return total / count.reshape(-1, *[1] * (total.dim() - 1))

    def logs(means: Tensor, number: int, points: Tensor) -> Tensor:
        return space.log(space.untranslate(means[number], points))

    def corner(values: Tensor) -> Tensor:
        for dim in range(-dims, 0):
            values = values.narrow(dim, 0, 1)
        return values

    def fit_at(means: Tensor) -> Fit:
        farthest = torch.zeros_like(pairing(means, means, dims))

        def both(number: int, points: Tensor) -> Tensor:
            v = logs(means, number, points)
            squares = pairing(v, v, dims)
            farthest[number] = torch.maximum(farthest[number], squares.amax(0))
            return torch.stack([v, squares.expand_as(v)], 1)

        residual, squares = average(both).unbind(1)
        return Fit(residual, corner(squares), farthest)

    start = space.project(average(lambda number, points: points))
    means = descend(space, start, fit_at, None, STREAMED)
    variances = average(lambda number, points: space.squared_norm(logs(means, number, points)))
    return means, variances
