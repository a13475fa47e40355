"""Layers on rotations of space, for sequences (..., locations, time, 3, 3)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liebn.groups import SO
from liebn.linalg import rotation
from liebn.nn.spd import in_full_precision
from liebn.optim import register_orthonormal

AXES = "space", "time"
Sequences = Float[Tensor, "*batch locations time 3 3"]


class RotMap(nn.Module):
    """Y = W X, with one rotation W for each location, the same at all times.

    The weights start as uniformly distributed rotations.

    Args:
        locations: how many there are.
        weight: "manifold" for geoopt's optimisers, "parametrized" for any other.
        device: of the weights.
        dtype: of the weights.
    """

    weight: Tensor

    def __init__(
        self,
        locations: int,
        *,
        weight: str = "manifold",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.locations = locations
        start = SO(3).random(locations, device=device, dtype=dtype)
        register_orthonormal(self, "weight", start, form=weight, rotations=True)

    @in_full_precision
    def forward(self, x: Sequences) -> Sequences:
        """W X."""
        if x.shape[-4] != self.locations:
            raise ValueError(
                f"expected (..., {self.locations}, time, 3, 3), got {tuple(x.shape)}; "
                "RotMap has one weight for each location"
            )
        return self.weight.unsqueeze(-3) @ x

    def extra_repr(self) -> str:
        """The number of locations."""
        return str(self.locations)


class RotPooling(nn.Module):
    """Of `size` neighbours keeps the rotation by the largest angle; the last window may be partial.

    Args:
        size: of a window; windows do not overlap.
        along: "space", over neighbouring locations, or "time".
    """

    def __init__(self, size: int, along: str = "time") -> None:
        super().__init__()
        if along not in AXES:
            raise ValueError(f"expected to pool along 'space' or 'time', got {along!r}")
        if size < 1:
            raise ValueError(f"expected windows of at least 1, got {size}")
        self.size, self.along = size, along

    def forward(self, x: Sequences) -> Float[Tensor, "*batch locations_out time_out 3 3"]:
        """The winners, ⌈locations / size⌉ or ⌈time / size⌉ along the pooled axis."""
        if self.along == "space":
            return self._pool(x.transpose(-4, -3)).transpose(-4, -3)
        return self._pool(x)

    def _pool(self, x: Tensor) -> Tensor:
        # ‖R - I‖² = 8 sin²(angle / 2) grows with the angle, and resolves those near 0, as tr R
        # does not.
        eye = torch.eye(3, dtype=x.dtype, device=x.device)
        size = (x.detach() - eye).square().sum((-2, -1))
        length = size.shape[-1]
        missing = -length % self.size
        size = nn.functional.pad(size, (0, missing), value=-torch.inf)
        winner = size.unflatten(-1, (-1, self.size)).argmax(-1)
        index = winner + self.size * torch.arange(winner.shape[-1], device=x.device)
        return x.take_along_dim(index[..., None, None], -3)

    def extra_repr(self) -> str:
        """Size and axis."""
        return f"{self.size}, along={self.along!r}"


class LogMap(nn.Module):
    """The axis, of norm 1, and the angle in [0, π] of rotations, (..., 3, 3) -> (..., 4).

    The identity has no axis: it gives zeros, and gets the gradient zero.
    """

    @in_full_precision
    def forward(self, x: Float[Tensor, "*batch 3 3"]) -> Float[Tensor, "*batch 4"]:
        """Axis and angle."""
        vector = rotation.log3(x)
        turned = (vector != 0).any(-1, keepdim=True)
        safe = torch.where(turned, vector, torch.ones_like(vector))
        norm = torch.linalg.vector_norm(safe, dim=-1, keepdim=True)
        both = torch.cat([safe / norm, norm], -1)
        return torch.where(turned, both, torch.zeros_like(both))


class Rectifier(nn.Module):
    """Raises numbers within a threshold of zero to it, with their sign; zero counts as positive."""

    def __init__(self, threshold: float = 0.3) -> None:
        super().__init__()
        self.threshold = threshold

    def forward(self, x: Tensor) -> Tensor:
        """Sign(x) max(|x|, threshold)."""
        raised = torch.where(x < 0, -self.threshold, self.threshold).to(x)
        return torch.where(x.abs() < self.threshold, raised, x)

    def extra_repr(self) -> str:
        """The threshold."""
        return f"threshold={self.threshold:g}"
