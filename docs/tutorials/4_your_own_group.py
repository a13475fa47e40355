"""
Your own Lie group
==================

A space is one class of ten short members. From them follow the distance, geodesics, the Fréchet
mean with exact gradients, and every normalization layer.
"""

# %%
# Thirty lines
# ------------
# Angles are not numbers: 359° and 1° are two degrees apart. A vector of *n*
# angles is a point of a torus, a group under addition modulo 2π.

import math

import torch

from liebn import LieBatchNorm
from liebn.groups import LieGroup


class Torus(LieGroup):
    """Vectors of n angles in [-π, π) under addition modulo 2π."""

    injectivity_radius = math.pi

    def __init__(self, n):
        super().__init__()
        self.point_shape = torch.Size((n,))

    def identity(self, *batch, dtype=None, device=None):
        return torch.zeros(*batch, *self.point_shape, dtype=dtype, device=device)

    def compose(self, x, y):
        return self.project(x + y)

    def inverse(self, x):
        return self.project(-x)

    def exp(self, v):
        return self.project(v)

    def log(self, x):
        return self.project(x)

    def squared_norm(self, v):
        return v.square().sum(-1)

    def project(self, x):
        return torch.remainder(x + math.pi, 2 * math.pi) - math.pi

    def violation(self, x):
        off = (x.abs().amax(-1) - math.pi).clamp_min(0)
        return torch.where(torch.isfinite(x).all(-1), off, torch.inf)

    def random(self, *batch, generator=None, dtype=None, device=None):
        shape = (*batch, *self.point_shape)
        uniform = torch.rand(shape, generator=generator, dtype=dtype, device=device)
        return (2 * uniform - 1) * math.pi


# %%
# What follows from them
# ----------------------

torus = Torus(1)
degrees = torch.tensor([[359.0], [1.0], [5.0]], dtype=torch.float64)
angles = torus.project(torch.deg2rad(degrees))

print("arithmetic mean:", degrees.mean().item())
print("Fréchet mean:   ", round(torch.rad2deg(torus.mean(angles)).item(), 9))
print("359° to 1°:     ", round(torch.rad2deg(torus.distance(angles[0], angles[1])).item(), 9))

# %%
# And the layer
# -------------
# Wind directions at two places, scattered about north-west and south. The layer knows nothing of
# angles; it asks the space.

generator = torch.Generator().manual_seed(0)
scatter = 0.4 * torch.randn(200, 2, generator=generator, dtype=torch.float64)
wind = Torus(2).compose(torch.tensor([-0.75, 1.0], dtype=torch.float64) * math.pi, scatter)

layer = LieBatchNorm(Torus(2), dtype=torch.float64)
calm = layer(wind)
print("mean:    ", [f"{angle:.1e}" for angle in Torus(2).mean(calm).tolist()])
print("variance:", f"{Torus(2).centre(calm).variance.item():.6f}")

# %%
# The torus is a square whose opposite sides are one. Before, the second angle lies on both sides of
# that seam; no arithmetic mean would be right.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for axis, points, title in zip(axes, (wind, calm.detach()), ("before", "after"), strict=True):
    axis.scatter(*points.T, s=10)
    axis.plot(0, 0, "*", color="black", markersize=12)
    axis.set(title=title, xlim=(-math.pi, math.pi), ylim=(-math.pi, math.pi), aspect="equal")
    axis.set(xlabel="first angle", ylabel="second angle")

# %%
# Test it
# -------
# In a checkout of the project, one line in ``src/liebn/groups/catalog.py`` puts a space under
# every law: group axioms, isometry, geodesics, means, gradients, and the layers, in both
# precisions. Outside of it, a few of them are soon written:

x, y, z = Torus(2).random(3, 100, generator=generator, dtype=torch.float64)
space = Torus(2)
gap = space.distance(space.compose(z, x), space.compose(z, y)) - space.distance(x, y)
print("left translations are isometries, to", f"{gap.abs().max().item():.0e}")
off = space.compose(x, space.inverse(x)).abs().max().item()
print("x ⊕ (⊖x) is the identity, to", f"{off:.0e}")
print("gradients:", torch.autograd.gradcheck(layer, wind[:5].clone().requires_grad_()))

# %%
# Often a space is a known one seen through an invertible map. Then write the map, and
# ``groups.Pullback`` makes the space: that is how all the metrics on SPD matrices but the
# affine-invariant are made.
