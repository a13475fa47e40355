"""What a normalization layer does to a batch, step by step."""

from __future__ import annotations

from torch import Tensor

from liebn.groups.base import Gyrogroup


def steps(
    space: Gyrogroup, points: Tensor, scale: float, bias: Tensor, eps: float = 1e-5
) -> list[tuple[str, Tensor]]:
    """A batch before the layer, and after each of its steps, with their names.

    With the mean M and the variance v² of the batch: centred ⊖M ⊕ x, scaled
    exp(s / √(v² + ε) · log(⊖M ⊕ x)), and biased B ⊕ that, which is the layer's output.

    Args:
        space: of the points.
        points: the batch, (N, *point_shape).
        scale: s.
        bias: B, a point.
        eps: ε.
    """
    centred = space.centre(points)
    factor = scale / (centred.variance + eps).sqrt()
    return [
        ("before", points),
        ("centred", centred.ray.at(points.new_ones(()))),
        ("scaled", centred.ray.at(factor)),
        ("biased", centred.ray.at(factor, onto=bias)),
    ]
