"""Layers on symmetric positive definite matrices, and the pooling that makes them of signals."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from liebn.linalg import spectral
from liebn.optim import register_orthonormal

Matrices = Float[Tensor, "*batch n n"]
COMPLEX_AS = "real part", "representation"


def in_full_precision(
    forward: Callable[[Any, Tensor], Tensor],
) -> Callable[[Any, Tensor], Tensor]:
    """Make a layer compute in float32 what comes in half precision, and cast its result back.

    Decompositions do not exist in half precision, and automatic casting would round the products
    that lead to them.
    """

    @functools.wraps(forward)
    def wrapped(self: Any, x: Tensor) -> Tensor:
        full = torch.promote_types(x.dtype, torch.float32)
        with torch.autocast(x.device.type, enabled=False):
            y = forward(self, x.to(full))
        return y if full == x.dtype else y.to(x.dtype.to_real())

    return wrapped


class BiMap(nn.Module):
    """Y = Wᵀ X W, from d_in × d_in to d_out × d_out matrices; the columns of W are orthonormal.

    W starts as the first left singular vectors of V Vᵀ, V uniform in [0, 1].

    Args:
        d_in: the size of the matrices that come in.
        d_out: the size of those that go out, at most `d_in`.
        weight: "manifold" for geoopt's optimisers, "parametrized" for any other.
        device: of the weight.
        dtype: of the weight.
    """

    weight: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        *,
        weight: str = "manifold",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not 1 <= d_out <= d_in:
            raise ValueError(
                f"expected 1 ≤ d_out ≤ d_in, since W has orthonormal columns; "
                f"got d_in = {d_in}, d_out = {d_out}"
            )
        self.d_in, self.d_out = d_in, d_out
        # The singular vectors of V are those of V Vᵀ, to twice as many digits.
        left, _, _ = torch.linalg.svd(torch.rand(d_in, d_in, device=device, dtype=dtype))
        register_orthonormal(self, "weight", left[:, :d_out].contiguous(), form=weight)

    @in_full_precision
    def forward(self, x: Matrices) -> Float[Tensor, "*batch m m"]:
        """Wᵀ X W."""
        if x.shape[-1] != self.d_in:
            raise ValueError(
                f"expected (..., {self.d_in}, {self.d_in}), the size BiMap was built for, "
                f"got {tuple(x.shape)}"
            )
        w = self.weight
        return spectral.symmetrise(w.mT @ x @ w)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.d_in}, {self.d_out}"


class ReEig(nn.Module):
    """Raises eigenvalues below a threshold to it: U max(Λ, threshold) Uᵀ."""

    def __init__(self, threshold: float = 1e-4) -> None:
        super().__init__()
        self.threshold = threshold

    @in_full_precision
    def forward(self, x: Matrices) -> Matrices:
        """U max(Λ, threshold) Uᵀ."""
        return spectral.apply(x, spectral.Floor(self.threshold))

    def extra_repr(self) -> str:
        """The threshold."""
        return f"threshold={self.threshold:g}"


class LogEig(nn.Module):
    """The matrix logarithm as a vector, of the same norm as the matrix.

    Eigenvalues under eps times the largest count as that: a network may learn matrices which are
    singular as far as their dtype can tell.

    Args:
        flat: give all n² entries, instead of the n (n + 1) / 2 of the upper triangle with those off
            the diagonal multiplied by √2.
    """

    def __init__(self, flat: bool = False) -> None:
        super().__init__()
        self.flat = flat

    def features(self, n: int) -> int:
        """The length of the vector of an n × n matrix."""
        return n * n if self.flat else n * (n + 1) // 2

    @in_full_precision
    def forward(self, x: Matrices) -> Float[Tensor, "*batch features"]:
        """Vec(log X)."""
        y = spectral.apply(x, spectral.UpToRounding(spectral.Log()))
        if self.flat:
            return y.flatten(-2)
        row, column = torch.triu_indices(*y.shape[-2:], device=y.device)
        scale = torch.where(row == column, 1.0, math.sqrt(2)).to(y)
        return y[..., row, column] * scale

    def extra_repr(self) -> str:
        """The form of the vector."""
        return f"flat={self.flat}"


class DelayEmbedding(nn.Module):
    """Windows of one signal as observations of a vector, (..., time) -> (..., length, windows).

    Before `CovariancePool` it gives the covariance of a signal with its own past, as for radar.

    Args:
        length: of a window.
        hop: from the start of a window to that of the next.
    """

    def __init__(self, length: int, hop: int) -> None:
        super().__init__()
        self.length, self.hop = length, hop

    def forward(self, x: Shaped[Tensor, "*batch time"]) -> Shaped[Tensor, "*batch length windows"]:
        """Windows as columns."""
        return _windows(x, self.length, self.hop).mT

    def extra_repr(self) -> str:
        """Length and hop."""
        return f"length={self.length}, hop={self.hop}"


class CovariancePool(nn.Module):
    """The covariance over time of a multichannel signal, (..., channels, time) -> (..., n, n).

    The mean over time is removed. A real signal has n = channels. The covariance of a complex
    signal z is the Hermitian H = E z z*, positive definite, from which comes the real matrix

    - Re H, with n = channels, the covariance of real and imaginary part taken as further times;
    - or [[Re H, -Im H], [Im H, Re H]], with n = 2 channels, which keeps the phases between
      channels.

    Both are positive definite where H is; a sum such as Re H + Im H is not even symmetric.

    Args:
        window: cut the signal into windows of this length, one matrix each: (..., windows, n, n).
        hop: from the start of a window to that of the next; without it windows do not overlap.
        shrinkage: γ in (1 - γ) C + γ (tr C / n) I.
        correction: sums are divided by the number of times less this.
        complex_as: "real part" or "representation".
    """

    def __init__(
        self,
        window: int | None = None,
        hop: int | None = None,
        *,
        shrinkage: float = 0.0,
        correction: int = 0,
        complex_as: str = "real part",
    ) -> None:
        super().__init__()
        if not 0 <= shrinkage <= 1:
            raise ValueError(f"expected a shrinkage between 0 and 1, got {shrinkage}")
        if complex_as not in COMPLEX_AS:
            expected = " or ".join(map(repr, COMPLEX_AS))
            raise ValueError(f"expected complex_as {expected}, got {complex_as!r}")
        if hop is not None and window is None:
            raise ValueError(f"expected a window with the hop {hop}, got none; give window too")
        self.window = window
        self.hop = window if hop is None else hop
        self.shrinkage = shrinkage
        self.correction = correction
        self.complex_as = complex_as

    @in_full_precision
    def forward(self, x: Shaped[Tensor, "*batch channels time"]) -> Float[Tensor, "*out n n"]:
        """E z zᵀ of the centred signal, shrunk."""
        if self.window is not None and self.hop is not None:
            x = _windows(x, self.window, self.hop).movedim(-2, -3)
        count = x.shape[-1] - self.correction
        if count < 1:
            raise ValueError(
                f"expected more than {self.correction} times to average over, got {x.shape[-1]}"
            )
        x = x - x.mean(-1, keepdim=True)
        if x.is_complex():
            x = self._real_columns(x)
        covariance = spectral.symmetrise(x @ x.mT) / count
        if not self.shrinkage:
            return covariance
        size = covariance.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None]
        eye = torch.eye(covariance.shape[-1], dtype=covariance.dtype, device=covariance.device)
        target = size * eye
        return torch.lerp(covariance, target, self.shrinkage)

    def _real_columns(self, x: Tensor) -> Tensor:
        """F with F Fᵀ the real matrix made of X X*."""
        if self.complex_as == "real part":
            return torch.cat([x.real, x.imag], -1)
        return torch.cat([torch.cat([x.real, x.imag], -2), torch.cat([-x.imag, x.real], -2)], -1)

    def extra_repr(self) -> str:
        """What differs from the plain covariance."""
        return (
            f"window={self.window}, hop={self.hop}, shrinkage={self.shrinkage:g}, "
            f"correction={self.correction}, complex_as={self.complex_as!r}"
        )


def _windows(x: Tensor, length: int, hop: int) -> Tensor:
    """(..., time) -> (..., windows, length); what is left at the end is dropped."""
    if x.shape[-1] < length:
        raise ValueError(
            f"expected a signal of at least {length} values, one window, got {x.shape[-1]}; "
            "take a shorter window"
        )
    return x.unfold(-1, length, hop)
