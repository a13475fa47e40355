"""Normalize a batch on every space: the statistics before and after, and one picture."""

import argparse
from pathlib import Path

import torch

from liebn import LieBatchNorm, groups
from liebn.plots import draw_rotations, draw_spd, pair


def batch(space, generator, samples=60):
    """Points scattered about a point away from the identity."""
    centre = space.exp(0.6 * noise(space, generator))
    scatter = 0.35 * torch.stack([noise(space, generator) for _ in range(samples)])
    return space.compose(centre, space.exp(scatter))


def noise(space, generator):
    return torch.randn(space.model.point_shape, generator=generator, dtype=torch.float64)


def moments(space, points):
    """Distance of the mean from the identity, and the variance."""
    identity = space.identity(dtype=points.dtype)
    return space.distance(identity, space.mean(points)).item(), space.centre(points).variance.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, default=Path("demo.png"))
    picture = parser.parse_args().picture
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)

    print("A batch of 60 points on each space, before and after LieBatchNorm.\n")
    print(f"{'':16}  {'mean to identity':^21}  {'variance':^19}")
    print(f"{'space':16}  {'before':>9}  {'after':>10}  {'before':>8}  {'after':>9}")
    for name, factory in groups.catalog.items():
        space = factory(3)
        before = batch(space, generator)
        after = LieBatchNorm(space, dtype=before.dtype)(before)
        (m, v), (n, w) = moments(space, before), moments(space, after)
        print(f"{name:16}  {m:9.4f}  {n:10.1e}  {v:8.4f}  {w:9.6f}")
    print("\nOn compact spaces control ends where a scaled sample passes the injectivity radius.")

    spd, so = groups.spd(2), groups.SO(3)
    generator = torch.Generator().manual_seed(0)  # the same picture, whatever spaces there are
    rows = []
    for title, draw, space in [
        ("2×2 covariances", draw_spd, spd),
        ("rotations", draw_rotations, so),
    ]:
        before = batch(space, generator)
        layer = LieBatchNorm(space, dtype=before.dtype)
        layer.scale.data.fill_(0.5)
        rows.append((title, draw, before, layer(before)))
    pair(rows).savefig(picture, dpi=110)
    print(f"\nThe picture is in {picture}: the star is the identity, where the mean ends up.")


if __name__ == "__main__":
    main()
