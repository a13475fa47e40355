"""
Pictures of the layer
=====================

2 × 2 covariances and rotations of space can be looked at. ``liebn.plots`` draws them, and here it
shows what each step of the layer does, and what the power θ does to geodesics. The points are
random.
"""

# %%
# Four steps
# ----------
# :func:`~liebn.plots.steps` gives a batch before the layer, with its mean moved to the identity,
# scaled there to the variance asked for, and moved to the bias. A covariance is drawn in the cone
# that they fill, where the star is the identity, and as an ellipse, where the dashed circle is the
# identity; a rotation by where it carries a fixed arrow.

import torch

from liebn import groups
from liebn.plots import draw_ellipses, draw_rotations, draw_spd, panels, steps

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)


def scattered(space, centre, width):
    """Forty points about a centre, which is given by its logarithm."""
    noise = torch.randn(40, *centre.shape, generator=generator, dtype=torch.float64)
    # tangent vectors are symmetric for covariances and skew for rotations
    sign = 1 if torch.equal(centre, centre.mT) else -1
    return space.compose(space.exp(centre), space.exp(width * (noise + sign * noise.mT)))


spd, so3 = groups.spd(2, "aim"), groups.SO(3)
far = torch.tensor([[0.9, 0.5], [0.5, -0.2]], dtype=torch.float64)
turn = torch.zeros(3, 3, dtype=torch.float64)
turn[1, 0], turn[0, 2], turn[2, 1] = 1.2, 0.5, 0.4
turn = turn - turn.mT

covariances = steps(spd, scattered(spd, far, 0.25), 0.5, spd.exp(-0.8 * far))
rotations = steps(so3, scattered(so3, turn, 0.22), 0.5, so3.exp(-0.7 * turn))
figure = panels(
    [
        ("in the cone", draw_spd, covariances),
        ("as ellipses", draw_ellipses, covariances),
        ("rotations", draw_rotations, rotations),
    ]
)

# %%
# θ goes to zero
# --------------
# Up to size, a 2 × 2 covariance is a point of a disc: its centre is the identity, its rim the
# singular matrices. The deformed metric measures powers :math:`P^θ`. As θ goes to 0, the
# geodesics between two matrices go to those of a log-Euclidean metric: AIM to LEM, and LCM to
# a limit of its own (Proposition 5.1). At θ = 1 those of AIM are straight in this disc.

import matplotlib.pyplot as plt

from liebn.plots import draw_geodesics

start = torch.tensor([[1.5, 0.8], [0.8, 0.5]], dtype=torch.float64)
end = torch.tensor([[1.3, -0.85], [-0.85, 0.7]], dtype=torch.float64)
limits = {"aim": "AIM, to LEM", "lcm": "LCM, to its limit"}

thetas = (1.5, 1, 0.5, 0.2, 0)
figure, axes = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
for axis, (metric, title) in zip(axes, limits.items(), strict=True):
    spaces = {f"θ = {theta}": groups.spd(2, metric, theta) for theta in thetas}
    draw_geodesics(axis, spaces, start, end)
    axis.set_title(title)
