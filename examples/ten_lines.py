"""One layer for covariance matrices, rotations and ordinary vectors."""

import torch

from liebn import LieBatchNorm, groups

signals = torch.randn(64, 5, 200) * torch.linspace(1, 3, 5)[:, None]
batches = {
    groups.spd(5, "aim"): signals @ signals.mT / 200,
    groups.SO(3): torch.linalg.matrix_exp(0.3 * groups.SO(3).log(groups.SO(3).random(64))),
    groups.Euclidean(): 7 + 2 * torch.randn(64),
}
for space, x in batches.items():
    y = LieBatchNorm(space)(x)
    spread = [space.squared_distance(space.mean(z), z).mean().item() for z in (x, y)]
    print(f"{type(space).__name__}: variance {spread[0]:.3f} before, {spread[1]:.3f} after")
