"""Weights with orthonormal columns, for Riemannian optimisers or for any optimiser."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal

from liebn.linalg import numerics

FORMS = "manifold", "parametrized"
"""How a weight keeps to its manifold: by the optimiser, or by construction."""


def register_orthonormal(
    module: nn.Module, name: str, value: Tensor, *, form: str, rotations: bool = False
) -> None:
    """Give a module a trainable weight whose columns stay orthonormal.

    "manifold" makes it geoopt's `ManifoldParameter`, to be trained by geoopt's optimisers: any
    other would leave the manifold. "parametrized" makes it a function of free coordinates, by
    torch's own `orthogonal` parametrization, so that every optimiser may train it.

    Args:
        module: what gets the weight.
        name: under which attribute.
        value: where it starts, (..., n, k) with orthonormal columns.
        form: "manifold" or "parametrized".
        rotations: whether the weight holds rotations, whose determinant stays 1.
    """
    if form not in FORMS:
        expected = " or ".join(map(repr, FORMS))
        raise ValueError(f"expected the form {expected} of an orthonormal weight, got {form!r}")
    if not value.is_meta and not _is_orthonormal(value.detach()):
        raise ValueError(
            "expected a weight with orthonormal columns to start from, got one without; "
            "torch.linalg.qr makes them so"
        )
    if form == "manifold":
        import geoopt

        if rotations:
            from liebn.optim.special_orthogonal import SpecialOrthogonal

            manifold = SpecialOrthogonal()
        else:
            # Its retraction, by a QR decomposition, removes rounding errors at every step; that of
            # geoopt's canonical metric lets them add up.
            manifold = geoopt.EuclideanStiefel()
        module.register_parameter(name, geoopt.ManifoldParameter(value, manifold=manifold))
    else:
        module.register_parameter(name, nn.Parameter(value))
        # Cayley's map costs one linear solve, and keeps the determinant of the start.
        orthogonal(module, name, orthogonal_map="cayley")


def _is_orthonormal(value: Tensor) -> bool:
    eye = torch.eye(value.shape[-1], dtype=value.dtype, device=value.device)
    return bool(((value.mT @ value - eye).abs() < numerics.ROUGH).all())
