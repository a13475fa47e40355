"""
Several processes
=================

Where one process is too slow for a network, several train it, each on a part of every batch. A
normalization layer then has a choice: the statistics of its own part, or those of the whole batch.
:func:`~liebn.nn.convert_sync_lie_batchnorm` makes it the second, and the result is that of one
process.
"""

# %%
# Parts have statistics of their own
# ----------------------------------
# A batch of covariances falls into two parts, of different mean. Normalized by itself each part
# comes out with the identity as its mean: what told them apart is gone, and where a sample ends up
# depends on the process it was given to.

import torch

from liebn import LieBatchNorm, groups

torch.set_num_threads(1)
space = groups.spd(4, metric="aim")
generator = torch.Generator().manual_seed(0)
batch = space.random(12, generator=generator, dtype=torch.float64)
batch[9:] *= 3
layer = LieBatchNorm(space, dtype=torch.float64)
with torch.no_grad():
    whole = layer(batch)
    apart = torch.cat([layer(batch[:9]), layer(batch[9:])])

identity = space.identity(dtype=torch.float64)
for name, points in (("normalized as one batch", whole), ("each part by itself    ", apart)):
    distance = space.distance(space.mean(points[9:]), identity).item()
    print(f"{name}: the mean of the second part is {distance:.4f} from the identity")
print(f"farthest that a sample ends up elsewhere: {space.distance(whole, apart).max().item():.2f}")

# %%
# Three changes to a training loop
# --------------------------------
# A program for several processes is the same program in each. Against one for a single process
# three things are new:
#
# 1. ``convert_sync_lie_batchnorm(network)`` makes every normalization layer in the network sum
#    over all processes, in the search for the mean and in its gradient too. Parts may be of
#    different sizes, and even empty; running averages are the same everywhere.
# 2. Each process takes its part of a batch that all of them draw alike, from one seed:
#
#    .. code-block:: python
#
#        order = torch.randperm(samples, generator=torch.Generator().manual_seed(epoch))
#        for batch in order.split(size):
#            share = batch[dist.get_rank() :: dist.get_world_size()]
#
# 3. The loss is divided by the size of the *whole* batch, and gradients are summed. (The average
#    over processes, which ``DistributedDataParallel`` takes, is right for equal parts only.)
#
#    .. code-block:: python
#
#        loss = cross_entropy(network(points[share]), labels[share], reduction="sum") / len(batch)
#        loss.backward()
#        for parameter in network.parameters():
#            dist.all_reduce(parameter.grad)
#        optimizer.step()
#
# The script ``examples/distributed.py`` is such a program: SPDNet on simulated radar returns. Here
# it runs in one process, and then in two, as ``torchrun`` starts them. On several machines the
# command is the same, with the address of one of them.

import os
import subprocess
import sys
from pathlib import Path

script = Path("../../examples/distributed.py")  # seen from the folder of this page
options = ["--epochs", "4", "--per-class", "20", "--batch-size", "29"]
one = [sys.executable]
two = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
loopback = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}  # both on this machine

printed = [
    subprocess.run(
        [*launcher, script, *options],
        env=os.environ | loopback,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for launcher in (one, two)
]
print("\n".join(printed))

# %%
# Thirty signals train, in batches of 29 and of 1, so that one process has nothing of the last
# batch. The losses agree to the last digits:

losses = [
    [float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith("epoch")]
    for text in printed
]
print("largest difference:", f"{max(abs(a - b) for a, b in zip(*losses, strict=True)):.0e}")
assert len(losses[0]) == 4
assert max(abs(a - b) for a, b in zip(*losses, strict=True)) < 1e-9

# %%
# Many runs instead of a large one
# --------------------------------
# Seeds, folds and methods need none of this: they are runs of their own. ``liebn reproduce radar
# --jobs 8`` makes eight at a time, and ``--cluster tcp://host:8786`` gives them to the workers of a
# `Dask <https://docs.dask.org>`_ scheduler.
