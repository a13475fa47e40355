"""Layer normalization on Lie groups."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Rule
from liebn.nn.lie_norm import LieNorm
from liebn.nn.samples import Layout


class LieLayerNorm(LieNorm):
    """Layer normalization on a Lie group or gyrogroup: a mean for every element of the batch.

    The map is that of `LieBatchNorm`, with the Fréchet mean M and variance v² of all points of one
    element of the batch, and a scale and a bias for each place among them. Training and evaluation
    are alike. On `Euclidean()` this is `torch.nn.LayerNorm`.

    Shape:
        Input and output (*batch, *normalized_shape, *point), with statistics over
        `normalized_shape`. The optional weights are (*batch, *normalized_shape), nonnegative, not
        all zero in any element of the batch.

    Args:
        group: the space.
        normalized_shape: sizes of the last dimensions before those of a point.
        eps: ε.
        affine: learn a scale and a bias for each place in `normalized_shape`.
        statistics: as in `LieBatchNorm`.
        mean_only: translate and do not scale.
        bias: as in `LieBatchNorm`.
        device: of parameters.
        dtype: of parameters.

    Attributes:
        scale: s, (*normalized_shape), or None.
        bias_tangent: b, (*normalized_shape, *model point), or None.
    """

    def __init__(
        self,
        group: Gyrogroup,
        normalized_shape: int | tuple[int, ...],
        *,
        eps: float = 1e-5,
        affine: bool = True,
        statistics: str | Rule = "exact",
        mean_only: bool = False,
        bias: str = "tangent",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            group,
            normalized_shape,
            eps=eps,
            affine=affine,
            statistics=statistics,
            mean_only=mean_only,
            bias=bias,
            device=device,
            dtype=dtype,
        )
        if not self.normalized_shape:
            raise ValueError("expected a normalized_shape of at least one dimension, got ()")

    @property
    def normalized_shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions that statistics are taken over."""
        return self._shape

    def _layout(self, x: Tensor) -> Layout:
        return Layout.trailing(x, self.normalized_shape, tuple(self.group.point_shape))

    def extra_repr(self) -> str:  # noqa: D102
        options = {
            "normalized_shape": self.normalized_shape,
            "eps": self.eps,
            "affine": self.affine,
            "statistics": self.statistics,
        }
        return self._describe(options, {})
