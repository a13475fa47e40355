"""The Fréchet mean: averages over samples, and the solver of a general space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from liebn.linalg import numerics
from liebn.linalg.autograd import Function, first_order

if TYPE_CHECKING:
    from liebn.groups.base import Gyrogroup

Operator = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Rule:
    """How a mean is sought.

    Attributes:
        start: "best" is the space's own estimate, by default the arithmetic mean projected into it;
            "average" is that projection, "first" the first sample, "published" whichever of the
            two the published experiments used on this space.
        step: "newton" solves with the Hessian of ½ Σ w d², "karcher" steps by the mean logarithm.
        tolerance: stop where the norm of the mean logarithm is this fraction of the standard
            deviation.
        most_steps: stop after this many steps in any case.
        detach: treat mean and variance as constants in the backward pass.
    """

    start: Literal["best", "average", "first", "published"] = "best"
    step: Literal["newton", "karcher"] = "newton"
    tolerance: float = 1e-10
    most_steps: int = 30
    detach: bool = False


EXACT = Rule()
FAST = Rule(most_steps=1, detach=True)
REFERENCE = Rule(start="published", step="karcher", most_steps=1, detach=True)
RULES = {"exact": EXACT, "fast": FAST, "reference": REFERENCE}


class Total:
    """Sums over all samples, (N, ...) -> (...); subclasses also sum over processes or chunks."""

    def __call__(self, values: Tensor) -> Tensor:
        """Σ over dimension 0, differentiable."""
        return values.sum(0)

    def first(self, values: Tensor) -> Tensor:
        """The very first sample."""
        return values[0]

    def largest(self, values: Tensor) -> Tensor:
        """The largest value over all samples, (N, ...) -> (...); 0 of no samples."""
        return values.amax(0) if values.shape[0] else values.new_zeros(values.shape[1:])


LOCAL = Total()


class Average:
    """The weighted average over samples, Σ w_i x_i / Σ w_i, of tensors (N, ...).

    Args:
        samples: the batch, (N, ...): it gives the count, dtype and device.
        weights: (N,) or (N, *channels), nonnegative, without gradient; None for equal weights.
        total: sums over samples and processes.
    """

    def __init__(self, samples: Tensor, weights: Tensor | None, total: Total) -> None:
        if weights is None:
            count = samples.new_full((1,), float(samples.shape[0]))
            self.mass: Tensor | float = float(samples.shape[0]) if total is LOCAL else total(count)
        else:
            weights = weights.detach().to(samples)
            self.mass = total(weights)
        self.weights = weights
        self.total = total

    def local(self, values: Tensor) -> Tensor:
        """The share of this process in the average, (N, ...) -> (...)."""
        if self.weights is None:
            return values.sum(0) / self.mass
        scaled = self.weights / self.mass
        return (self._align(scaled, values) * values).sum(0)

    def gram(self, a: Tensor, b: Tensor) -> Tensor:
        """The share of this process in the average of aᵀb, as one product of tall matrices.

        Args:
            a: (N, *channels, k, n).
            b: (N, *channels, k, m).
        """
        if self.weights is not None:
            a = self.spread(a)
        product = _tall(a).mT @ _tall(b)
        return product / self.mass if self.weights is None else product

    def reduce(self, share: Tensor) -> Tensor:
        """The average, given the share of every process."""
        return share if self.total is LOCAL else self.total(share.unsqueeze(0))

    def __call__(self, values: Tensor) -> Tensor:
        """The average over all samples of all processes, (N, ...) -> (...)."""
        return self.reduce(self.local(values))

    def spread(self, values: Tensor, samples: Tensor | None = None) -> Tensor:
        """w_i x_i / Σ w, each sample's share: the adjoint of the average.

        Values that all samples have in common, (...), are given with the samples, (N, ...).
        """
        if self.weights is None:
            return values / self.mass
        scaled = self.weights / self.mass
        return self._align(scaled, values if samples is None else samples) * values

    @staticmethod
    def _align(weights: Tensor, values: Tensor) -> Tensor:
        return weights.reshape(weights.shape + (1,) * (values.dim() - weights.dim()))


def _tall(matrices: Tensor) -> Tensor:
    """(N, *channels, k, n) -> (*channels, N k, n), one below the other."""
    return matrices.movedim(0, -3).flatten(-3, -2)


def start_of(space: Gyrogroup, x: Tensor, average: Average, rule: Rule) -> Tensor:
    """Where the search for the mean begins."""
    start = space.published_start if rule.start == "published" else rule.start
    if start == "best":
        return space._estimate(x, average)
    if start == "first":
        return average.total.first(x)
    return space._arithmetic_mean(x, average)


def pairing(u: Tensor, v: Tensor, dims: int) -> Tensor:
    """Σ u v over the last `dims` dimensions, which it keeps at size one."""
    return (u * v).sum(tuple(range(-dims, 0)), keepdim=True) if dims else u * v


def conjugate_gradients(
    product: Operator,
    right: Tensor,
    dims: int,
    *,
    most_steps: int,
    tolerance: Tensor | float,
) -> Tensor:
    """Solve H v = b for a positive definite operator on points of `dims` dimensions, batched.

    Ends when every system has its residual under `tolerance` times its right-hand side, or after
    `most_steps`.
    """
    v = torch.zeros_like(right)
    residual = direction = right
    square = pairing(right, right, dims)
    goal = tolerance**2 * square
    for _ in range(most_steps):
        if bool((square <= goal).all()):
            break
        image = product(direction)
        curvature = pairing(direction, image, dims)
        length = square / torch.where(curvature > 0, curvature, torch.inf)
        v = v + length * direction
        residual = residual - length * image
        following = pairing(residual, residual, dims)
        direction = residual + following / torch.where(square > 0, square, torch.inf) * direction
        square = following
    return v


class Fit(NamedTuple):
    """How well a candidate centres the samples.

    Attributes:
        residual: the mean logarithm, zero at the mean.
        dispersion: Σ w ‖log‖², least at the mean (in the Frobenius norm; trailing dimensions of
            size one).
        farthest: the largest ‖log‖², which sets the scale of rounding errors.
    """

    residual: Tensor
    dispersion: Tensor
    farthest: Tensor


def fit(space: Gyrogroup, mean: Tensor, x: Tensor, average: Average) -> Fit:
    """The samples seen from a candidate mean."""
    logs = space.log(space.untranslate(mean, x))
    squares = pairing(logs, logs, len(space.point_shape))
    return Fit(average(logs), average(squares), average.total.largest(squares))


def frechet_mean(space: Gyrogroup, x: Tensor, average: Average, rule: Rule) -> Tensor:
    """The minimiser of Σ w_i d²(m, x_i), (N, *channels, *point) -> (*channels, *point).

    Unless `rule.detach`, its gradient is that of the exact mean, by implicit differentiation.
    """
    samples = x.detach()
    with torch.no_grad():
        mean = descend(
            space,
            start_of(space, samples, average, rule),
            lambda m: fit(space, m, samples, average),
            (lambda m: hessian(space, m, samples, average)) if rule.step == "newton" else None,
            rule,
        )
    if rule.detach:
        return mean
    # The mean moves by m ⊕ exp(δ) with H δ = Σ w log(⊖m ⊕ x); δ is zero here, its derivative is
    # not.
    share = average.local(space.log(space.untranslate(mean, x)))
    shift = _ImplicitShift.apply(share, space, mean, samples, average)
    return space.compose(mean, space.exp(shift))


def descend(
    space: Gyrogroup,
    start: Tensor,
    fit_at: Callable[[Tensor], Fit],
    hessian_at: Callable[[Tensor], Operator] | None,
    rule: Rule,
) -> Tensor:
    """Steps m ← m ⊕ exp(v) until the mean logarithm vanishes.

    A step after which the dispersion has grown is taken back and halved, so that the result is
    never worse than the start. Without a Hessian the steps are Karcher's.

    Near the mean, rounding can hide that the dispersion falls, but not that its slope does: there
    a step is also kept if it halves the mean logarithm.
    """
    dims = len(space.point_shape)
    eps = numerics.SLACK * numerics.eps(start.dtype)
    mean = kept = start
    step = torch.zeros_like(start)
    residual, least, farthest = fit_at(mean)
    slope = pairing(residual, residual, dims).sqrt()
    shorten, worse = torch.ones_like(least), torch.zeros_like(least, dtype=torch.bool)
    for _ in range(rule.most_steps):
        # Rounding leaves an error in a logarithm, and with it a noise in the dispersion.
        deviation, floor = least.sqrt(), eps * (1 + farthest.sqrt())
        if bool(((slope <= rule.tolerance * deviation + floor) & ~worse).all()):
            break
        shorten = torch.where(worse, 0.5 * shorten, (2 * shorten).clamp_max(1))
        if hessian_at is not None and not bool(worse.all()):
            newton = conjugate_gradients(
                hessian_at(kept), residual, dims, most_steps=3, tolerance=1e-3
            )
            # Beyond the radius of convexity the Hessian may point the wrong way.
            uphill = pairing(newton, residual, dims) <= 0
            residual = torch.where(uphill, residual, newton)
        step = torch.where(worse, step, residual)
        mean = space.compose(kept, space.exp(shorten * step))
        residual, dispersion, farthest = fit_at(mean)
        size = pairing(residual, residual, dims).sqrt()
        worse = dispersion > least + floor * (2 * deviation + floor)
        worse &= (size > 0.5 * slope) | (dispersion > (1 + eps**0.5) * least)
        slope = torch.where(worse, slope, size)
        kept = torch.where(worse, kept, mean)
        least = torch.where(worse, least, dispersion)
    return kept


def hessian(space: Gyrogroup, mean: Tensor, x: Tensor, average: Average) -> Operator:
    """The Hessian of ½ Σ w d²(mean ⊕ exp(v), x) at v = 0, as a function of the direction.

    It is minus the derivative of the mean logarithm, and symmetric, so that one backward pass of
    that logarithm applies it.
    """
    with torch.enable_grad():
        v = torch.zeros_like(mean).requires_grad_()
        share = average.local(space.log(space.untranslate(space.compose(mean, space.exp(v)), x)))

    def product(direction: Tensor) -> Tensor:
        (image,) = torch.autograd.grad(share, v, direction, retain_graph=True)
        return -average.reduce(image)

    return product


class _ImplicitShift(Function):
    """δ = H⁻¹ Σ w log(⊖m ⊕ x), which is zero at the mean m."""

    @staticmethod
    def forward(
        ctx: Any, share: Tensor, space: Gyrogroup, mean: Tensor, x: Tensor, average: Average
    ) -> Tensor:
        ctx.problem = space, average
        ctx.save_for_backward(mean, x)
        return torch.zeros_like(share)

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None, None]:
        space, average = ctx.problem
        mean, x = ctx.saved_tensors
        dims = len(space.point_shape)
        tolerance = numerics.SLACK * numerics.eps(x.dtype)
        solution = conjugate_gradients(
            hessian(space, mean, x, average),
            average.reduce(grad),
            dims,
            most_steps=4 * grad[0].numel() if grad.dim() > dims else 4 * grad.numel(),
            tolerance=tolerance,
        )
        return solution, None, None, None, None
