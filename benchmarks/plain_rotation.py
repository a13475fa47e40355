"""A straightforward batch normalization of rotations: the usual formulas, left to autograd."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def log(r: Tensor) -> Tensor:
    """θ / (2 sin θ) (R - Rᵀ) with cos θ = (tr R - 1) / 2, clamped away from the ends."""
    cosine = 0.5 * (r.diagonal(dim1=-2, dim2=-1).sum(-1) - 1)
    angle = cosine.clamp(-1 + 1e-7, 1 - 1e-7).acos()
    return (0.5 * angle / angle.sin())[..., None, None] * (r - r.mT)


def exp(w: Tensor) -> Tensor:
    """Rodrigues' formula."""
    square = 0.5 * w.square().sum((-2, -1), keepdim=True)
    angle = (square + 1e-14).sqrt()
    eye = torch.eye(3, dtype=w.dtype, device=w.device)
    return eye + angle.sin() / angle * w + (1 - angle.cos()) / (angle * angle) * (w @ w)


class PlainRotationNorm(nn.Module):
    """One Karcher step from the first sample, detached, as published."""

    def __init__(self, dtype: torch.dtype, momentum: float = 0.1, eps: float = 1e-5) -> None:
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.scale = nn.Parameter(torch.ones((), dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(3, 3, dtype=dtype))
        self.register_buffer("running_mean", torch.eye(3, dtype=dtype))
        self.register_buffer("running_var", torch.ones((), dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            with torch.no_grad():
                mean = x[0] @ exp(log(x[0].mT @ x).mean(0))
                logs = log(mean.mT @ x)
                variance = logs.square().sum((-2, -1)).mean()
                moved = self.momentum * log(self.running_mean.mT @ mean)
                self.running_mean.copy_(self.running_mean @ exp(moved))
                self.running_var.lerp_(variance, self.momentum)
        else:
            mean, variance = self.running_mean, self.running_var
        factor = self.scale / (variance + self.eps).sqrt()
        bias = exp(self.bias - self.bias.mT)
        return bias @ exp(factor * log(mean.mT @ x))
