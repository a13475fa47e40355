"""Coordinates of the algebra of a space."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.groups import Gyrogroup

STEP = 1e-2


def orthonormal_basis(space: Gyrogroup) -> Tensor:
    """Tangent vectors at the identity, orthonormal in the metric, (m, *model point), in float64.

    Their number m is the dimension of the space.
    """
    model = space.model
    size = model.point_shape.numel()
    entries = torch.eye(size, dtype=torch.float64).reshape(size, *model.point_shape)
    with torch.no_grad():
        # Short vectors come back from exp and log projected to the algebra, else unchanged.
        spanning = model.log(model.exp(STEP * entries)) / STEP
    vectors = spanning.reshape(size, size)
    gram = lower(model, spanning).reshape(size, size) @ vectors.mT
    eigenvalues, mixing = torch.linalg.eigh(0.5 * (gram + gram.mT))
    own = eigenvalues > 1e-9 * eigenvalues.amax()
    basis = (mixing[:, own] / eigenvalues[own].sqrt()).mT @ vectors
    return basis.reshape(-1, *model.point_shape)


def lower(model: Gyrogroup, vectors: Tensor) -> Tensor:
    """The covectors <v, ·> of tangent vectors at the identity: half the gradients of ‖v‖²."""
    v = vectors.detach().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(model.squared_norm(v).sum(), v)
    return 0.5 * gradient


def coordinates(model: Gyrogroup, basis: Tensor, vectors: Tensor) -> Tensor:
    """The coordinates of tangent vectors in an orthonormal basis, (*batch, m)."""
    covectors = lower(model, basis).reshape(len(basis), -1)
    return vectors.reshape(*vectors.shape[: vectors.dim() - basis.dim() + 1], -1) @ covectors.mT
