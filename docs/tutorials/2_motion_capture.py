"""
Motion capture on SPD matrices
==============================

A motion is summed up by the covariance of what is recorded over time: a symmetric positive
definite (SPD) matrix, whatever the length of the recording. SPDNet learns on such matrices, and
the metric of its normalization layer decides what mean and distance are.
"""

# %%
# Simulated motions
# -----------------
# Three kinds of motion, recorded by fifteen sensors in units as different as metres and degrees,
# with a tempo and a size of their own each time. They are simulated.

import numpy as np
import torch

torch.set_num_threads(1)
random = np.random.default_rng(1)
kinds, repeats, sensors, frames = 3, 60, 15, 80
patterns = 0.4 * random.standard_normal((kinds, 2, sensors))
units = np.geomspace(0.03, 30, sensors)[:, None]

recordings, labels = [], []
for kind in range(kinds):
    for _ in range(repeats):
        start, turns = random.uniform(0, 1), random.uniform(1, 3)
        phase = 2 * np.pi * np.linspace(start, start + turns, frames)
        size = np.exp(random.normal(scale=0.7, size=(2, 1)))
        waves = np.stack([np.cos(phase), np.sin(2 * phase)])
        noise = random.standard_normal((sensors, frames))
        recordings.append(units * (patterns[kind].T @ (size * waves) + noise))
        labels.append(kind)
recordings, labels = np.stack(recordings), np.array(labels)

# %%
# Covariances and a classifier
# ----------------------------
# pyRiemann estimates the covariances, scikit-learn splits and scores, and
# :class:`~liebn.estimators.SPDNetClassifier` is one step of an ordinary pipeline.

from pyriemann.estimation import Covariances
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from liebn.estimators import SPDNetClassifier


def accuracy(**options):
    network = SPDNetClassifier(sizes=(15, 8), max_epochs=8, lr=2e-2, random_state=0, **options)
    pipeline = make_pipeline(Covariances("oas"), network)
    return cross_val_score(pipeline, recordings, labels, cv=3).mean()


for name, options in {
    "no normalization": {"norm": None},
    "affine-invariant": {"norm": "aim"},
    "affine-invariant, θ = 0.5": {"norm": "aim", "theta": 0.5},
    "log-Euclidean": {"norm": "lem"},
    "log-Cholesky": {"norm": "lcm"},
    "log-Cholesky, θ = 0.5": {"norm": "lcm", "theta": 0.5},
}.items():
    print(f"{name:26} accuracy {accuracy(**options):.2f}")

# %%
# What the layer does to a batch
# ------------------------------
# 2 × 2 SPD matrices fill a round cone, so that they can be looked at. The star is the identity.
# Normalization moves the Fréchet mean of the batch there and gives the batch the variance asked
# for.

from liebn import LieBatchNorm, groups
from liebn.plots import draw_spd, pair

generator = torch.Generator().manual_seed(0)
rows = []
for metric in ("aim", "lcm"):
    space = groups.spd(2, metric)
    centre = torch.tensor([[1.5, 0.6], [0.6, 0.8]], dtype=torch.float64)
    scatter = 0.35 * torch.randn(60, 2, 2, generator=generator, dtype=torch.float64)
    batch = space.compose(centre, space.exp(scatter))
    layer = LieBatchNorm(space, dtype=torch.float64)
    layer.scale.data.fill_(0.5)
    rows.append((metric, draw_spd, batch, layer(batch).detach()))
figure = pair(rows)

# %%
# Plain PyTorch
# -------------
# The estimators are thin: the network is a module like any other, and the layer takes any
# optimiser.

from liebn import models

norm = models.SPDNorm("lcm", theta=0.5)
network = models.SPDNet((15, 8), classes=3, norm=norm, dtype=torch.float64)
print(network)
