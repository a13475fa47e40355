"""
Rotations
=========

The pose of a skeleton is a set of rotations, one between each pair of bones. Averaging their
matrices leaves the group; :class:`~liebn.LieBatchNorm` on ``groups.SO(3)`` averages and scales
along geodesics, and its output is rotations.
"""

# %%
# One batch
# ---------
# A rotation is drawn where it carries a fixed arrow. The batch moves to the identity, the star,
# and spreads to the variance asked for.

import torch

from liebn import LieBatchNorm, groups
from liebn.plots import draw_rotations, pair

torch.set_num_threads(1)
so3 = groups.SO(3)
generator = torch.Generator().manual_seed(0)


def scattered(count, width):
    """Rotations scattered about one that is far from the identity."""
    centre = so3.exp(torch.tensor([[0.0, -1.2, 0.5], [1.2, 0.0, -0.4], [-0.5, 0.4, 0.0]]))
    noise = width * torch.randn(count, 3, 3, generator=generator)
    return so3.compose(centre, so3.exp(noise - noise.mT))


batch = scattered(80, 0.12)
layer = LieBatchNorm(so3)
layer.scale.data.fill_(0.5)
with torch.no_grad():
    after = layer(batch)
figure = pair([("rotations", draw_rotations, batch, after)])
print("mean to identity:", f"{so3.distance(so3.mean(after), so3.identity()):.1e}")
print("variance:", f"{so3.centre(after).variance:.3f}")

# %%
# Where control ends
# ------------------
# SO(3) is compact: nothing is farther from the identity than π √2 in this metric. A scale that
# would carry a rotation past that wraps it around, and the variance is no longer what was asked
# for.

for scale in (0.5, 1.0, 2.0, 4.0):
    layer.scale.data.fill_(scale)
    with torch.no_grad():
        after = layer(batch)
    print(f"s = {scale}: variance {so3.centre(after).variance:.2f}, asked for {scale**2:.2f}")

# %%
# A network on sequences
# ----------------------
# :class:`~liebn.estimators.LieNetClassifier` takes sequences of rotations, (samples, locations,
# frames, 3, 3). These are simulated: three kinds of motion, in which every joint turns steadily
# about an axis of its own.

from sklearn.model_selection import train_test_split

from liebn import datasets
from liebn.estimators import LieNetClassifier

data, _ = datasets.rotation_sequences(joints=6, frames=16, per_class=40, dispersion=0.5, speed=0.8)
train, test, train_labels, test_labels = train_test_split(
    data.points, data.labels, stratify=data.labels, random_state=0
)
for name, norm in (("no normalization", None), ("LieBN", "so")):
    network = LieNetClassifier(blocks=2, norm=norm, max_epochs=12, lr=5e-2, random_state=0)
    print(f"{name:17} accuracy {network.fit(train, train_labels).score(test, test_labels):.2f}")
