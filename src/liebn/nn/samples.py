"""From the layout users have, (batch, *channels, *extra, *point), to samples first and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from liebn.linalg import InvalidPointError, numerics


@dataclass(frozen=True)
class Layout:
    """How a tensor of points divides into batch, channels, extra dimensions and point."""

    batch: int
    channels: tuple[int, ...]
    extra: tuple[int, ...]
    point: tuple[int, ...]

    @classmethod
    def of(cls, x: Tensor, channels: tuple[int, ...], point: tuple[int, ...]) -> Layout:
        """Read the layout off a tensor, or say what was expected."""
        outer = x.shape[: x.dim() - len(point)]
        fits = x.dim() >= 1 + len(channels) + len(point)
        if not (
            fits
            and tuple(x.shape[len(outer) :]) == point
            and outer[1 : 1 + len(channels)] == channels
        ):
            wanted = ", ".join(["batch", *map(str, channels), "*extra", *map(str, point)])
            raise ValueError(f"expected points of shape ({wanted}), got {tuple(x.shape)}")
        return cls(outer[0], channels, tuple(outer[1 + len(channels) :]), point)

    def gather(self, x: Tensor) -> Tensor:
        """(batch, *channels, *extra, *point) -> (samples, *channels, *point)."""
        if not self.extra:
            return x
        first = 1 + len(self.channels)
        moved = x.movedim(
            tuple(range(first, first + len(self.extra))), tuple(range(1, 1 + len(self.extra)))
        )
        return moved.reshape(-1, *self.channels, *self.point)

    def scatter(self, z: Tensor) -> Tensor:
        """(samples, *channels, *point) -> (batch, *channels, *extra, *point)."""
        if not self.extra:
            return z
        z = z.reshape(self.batch, *self.extra, *self.channels, *self.point)
        first = 1 + len(self.channels)
        return z.movedim(
            tuple(range(1, 1 + len(self.extra))), tuple(range(first, first + len(self.extra)))
        )

    def flatten(self, values: Tensor, name: str) -> Tensor:
        """Values of every sample, (batch, *extra) or (batch,), -> (samples,)."""
        full = (self.batch, *self.extra)
        if tuple(values.shape) not in {full, (self.batch,)}:
            raise ValueError(f"expected {name} of shape {full}, got {tuple(values.shape)}")
        return (
            values.reshape(values.shape + (1,) * (len(full) - values.dim()))
            .expand(full)
            .reshape(-1)
        )

    def index(self, sample: tuple[int, ...]) -> tuple[int, ...]:
        """Where a sample, (i, *channel), stands in the user's tensor."""
        i, *channel = sample
        place = []
        for size in reversed(self.extra):
            place.append(i % size)
            i //= size
        return (i, *channel, *reversed(place))

    @contextmanager
    def among(self, chosen: Tensor) -> Iterator[None]:
        """Let an `InvalidPointError` about some of the samples, a mask, name one among them all."""
        try:
            yield
        except InvalidPointError as error:
            if len(error.index) != 1 + len(self.channels):
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
            if len(error.index) != 1 + len(self.channels):
                raise
            raise InvalidPointError(self.index(error.index), error.reason) from None


def require_finite(x: Tensor, point_dims: int) -> None:
    """Raise an `InvalidPointError` naming the first sample with an entry that is not finite."""
    if not bool(torch.isfinite(x.detach().sum())):  # one pass, no copy; a sum may also overflow
        numerics.raise_where(
            numerics.non_finite(x.detach(), point_dims), "has entries that are not finite"
        )


def admit(group: Gyrogroup, x: Tensor, weights: Tensor | None, *, strict: bool) -> Tensor:
    """Check samples, (N, *channels, *point), and put the identity in place of those of weight zero.

    `strict` also asks for points of the space, which otherwise show on the way.
    """
    if weights is not None:
        if not bool((torch.isfinite(weights) & (weights >= 0)).all()):
            raise ValueError("expected weights that are finite and not negative")
        absent = (weights == 0).reshape(-1, *[1] * (x.dim() - 1))
        x = torch.where(absent, group.identity(dtype=x.dtype, device=x.device), x)
    require_finite(x, len(group.point_shape))
    if strict:
        numerics.raise_where(group.violation(x.detach()) >= 1, "is not a point of the space")
    return x
