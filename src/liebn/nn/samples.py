"""From the layout of the input, (batch, *channels, *extra, *point), to samples first and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from liebn.linalg import InvalidPointError, numerics


@dataclass(frozen=True)
class Layout:
    """Which dimensions of a tensor of points hold the samples of one mean.

    Attributes:
        outer: the sizes of the dimensions before those of a point.
        over: the dimensions, among these, that hold the samples of one mean; the others are apart.
        learnt: the dimensions that parameters have.
        weighted: the dimensions that weights have.
        point: the shape of a point.
    """

    outer: tuple[int, ...]
    over: tuple[int, ...]
    learnt: tuple[int, ...]
    weighted: tuple[int, ...]
    point: tuple[int, ...]

    @classmethod
    def of(cls, x: Tensor, channels: tuple[int, ...], point: tuple[int, ...]) -> Layout:
        """(batch, *channels, *extra, *point), with a mean for every channel."""
        outer = tuple(x.shape[: x.dim() - len(point)])
        first = 1 + len(channels)
        fits = x.dim() >= first + len(point)
        if not (fits and tuple(x.shape[len(outer) :]) == point and outer[1:first] == channels):
            wanted = ", ".join(["batch", *map(str, channels), "*extra", *map(str, point)])
            raise ValueError(f"expected points of shape ({wanted}), got {tuple(x.shape)}")
        samples = (0, *range(first, len(outer)))
        return cls(outer, samples, tuple(range(1, first)), samples, point)

    @classmethod
    def trailing(cls, x: Tensor, shape: tuple[int, ...], point: tuple[int, ...]) -> Layout:
        """(*batch, *shape, *point), with a mean for every element of the batch."""
        outer = tuple(x.shape[: x.dim() - len(point)])
        first = len(outer) - len(shape)
        if x.dim() < len(shape) + len(point) or tuple(x.shape[first:]) != (*shape, *point):
            wanted = ", ".join(["*batch", *map(str, shape), *map(str, point)])
            raise ValueError(f"expected points of shape ({wanted}), got {tuple(x.shape)}")
        samples = tuple(range(first, len(outer)))
        return cls(outer, samples, samples, tuple(range(len(outer))), point)

    def within(self, *channels: int) -> Layout:
        """A mean for every element of the batch, over the extra dimensions and these channels."""
        return replace(self, over=(*channels, *self.over[1:]))

    @property
    def batch(self) -> int:
        """How many elements the batch has."""
        return self.outer[0]

    @property
    def apart(self) -> tuple[int, ...]:
        """The dimensions along which means differ."""
        return tuple(d for d in range(len(self.outer)) if d not in self.over)

    def _sizes(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.outer[d] for d in dims)

    def gather(self, x: Tensor) -> Tensor:
        """(*outer, *point) -> (samples, *apart, *point)."""
        if self.over == (0,):
            return x
        count = prod(self._sizes(self.over))
        moved = x.movedim(self.over, tuple(range(len(self.over))))
        return moved.reshape(count, *self._sizes(self.apart), *self.point)

    def scatter(self, z: Tensor) -> Tensor:
        """(samples, *apart, *point) -> (*outer, *point)."""
        if self.over == (0,):
            return z
        z = z.reshape(*self._sizes(self.over), *self._sizes(self.apart), *self.point)
        return z.movedim(tuple(range(len(self.over))), self.over)

    def spread(self, parameter: Tensor, rest: tuple[int, ...] = ()) -> Tensor:
        """A parameter, (*learnt, *rest), to be broadcast to (samples, *apart, *rest)."""
        if not set(self.learnt) & set(self.over):
            return parameter
        return self._samples_first(parameter, self.learnt, rest)

    def flatten(self, values: Tensor, name: str) -> Tensor:
        """Values, (*weighted) or (batch,), -> (samples, and those of `apart` that have weights)."""
        full = self._sizes(self.weighted)
        if tuple(values.shape) not in {full, full[:1]}:
            raise ValueError(f"expected {name} of shape {full}, got {tuple(values.shape)}")
        values = values.reshape(values.shape + (1,) * (len(full) - values.dim())).expand(full)
        values = self._samples_first(values, self.weighted, ())
        return values.reshape(
            values.shape[0], *self._sizes(tuple(d for d in self.apart if d in self.weighted))
        )

    def _samples_first(
        self, values: Tensor, dims: tuple[int, ...], rest: tuple[int, ...]
    ) -> Tensor:
        """(*dims, *rest) -> (samples, *apart, *rest), of size one apart from `dims`."""
        known = [size if d in dims else 1 for d, size in enumerate(self.outer)]
        full = [size if d in (*dims, *self.over) else 1 for d, size in enumerate(self.outer)]
        values = values.reshape(*known, *rest).expand(*full, *rest)
        values = values.movedim(self.over, tuple(range(len(self.over))))
        return values.reshape(prod(self._sizes(self.over)), *values.shape[len(self.over) :])

    def index(self, sample: tuple[int, ...]) -> tuple[int, ...]:
        """Where a sample, (i, *apart), stands in the user's tensor."""
        i, *rest = sample
        place = dict(zip(self.apart, rest, strict=True))
        for d in reversed(self.over):
            i, place[d] = divmod(i, self.outer[d])
        return tuple(place[d] for d in range(len(self.outer)))

    @contextmanager
    def among(self, chosen: Tensor) -> Iterator[None]:
        """Let an `InvalidPointError` about some of the samples, a mask, name one among them all."""
        try:
            yield
        except InvalidPointError as error:
            if len(error.index) != 1 + len(self.apart):
                raise
            i, *channel = error.index
            place = int(torch.nonzero(chosen)[i])
            raise InvalidPointError((place, *channel), error.reason) from None

    @contextmanager
    def naming_samples(self) -> Iterator[None]:
        """Let an `InvalidPointError` name the sample by its index in the user's tensor."""
        try:
            yield
        except InvalidPointError as error:
            if len(error.index) != 1 + len(self.apart):
                raise
            raise InvalidPointError(self.index(error.index), error.reason) from None


def admit(group: Gyrogroup, x: Tensor, weights: Tensor | None, *, strict: bool) -> Tensor:
    """Check samples, (N, *apart, *point), and put the identity in place of those of weight zero.

    `strict` also asks for points of the space, which otherwise show on the way.
    """
    if weights is not None:
        if not bool((torch.isfinite(weights) & (weights >= 0)).all()):
            raise ValueError("expected weights that are finite and not negative")
        absent = (weights == 0).reshape(weights.shape + (1,) * (x.dim() - weights.dim()))
        x = torch.where(absent, group.identity(dtype=x.dtype, device=x.device), x)
    numerics.require_finite(x, len(group.point_shape))
    close = group.rough_violation(x.detach()) <= numerics.ROUGH  # false if it is no number
    numerics.raise_where(
        ~close, "is not a point of the space: see its violation, or project it first"
    )
    if strict:
        numerics.raise_where(group.violation(x.detach()) >= 1, "is not a point of the space")
    return x
