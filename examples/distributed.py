"""SPDNet in several processes, with the result of one.

Each process takes its share of every batch. Statistics are those of the whole batch, gradients
those of its mean loss, so that the processes stay alike and the losses do not depend on how many
there are. The data are radar returns, simulated unless the real ones are there. In under a minute:

    python examples/distributed.py                               # one process
    torchrun --nproc-per-node 2 examples/distributed.py          # two
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.distributed as dist
from geoopt.optim import RiemannianAdam
from torch import Tensor
from torch.nn.functional import cross_entropy

from liebn import datasets, models
from liebn.nn import convert_sync_lie_batchnorm
from liebn.optim import parameter_groups

torch.set_num_threads(1)


def shares(samples: int, size: int, epoch: int) -> Iterator[tuple[Tensor, int]]:
    """This process's part of each batch, which may be empty, and the size of the whole batch."""
    order = torch.randperm(samples, generator=torch.Generator().manual_seed(epoch))
    for batch in order.split(size):
        yield batch[dist.get_rank() :: dist.get_world_size()], len(batch)


def total(value: Tensor) -> Tensor:
    """The sum over processes."""
    dist.all_reduce(value)
    return value


def train_epoch(
    network: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    points: Tensor,
    labels: Tensor,
    size: int,
    epoch: int,
) -> float:
    """The mean loss of an epoch."""
    losses = torch.zeros((), dtype=torch.float64)
    for share, whole in shares(len(points), size, epoch):
        optimizer.zero_grad()
        # Divided by the size of the whole batch, the losses of all processes add up to its mean.
        loss = cross_entropy(network(points[share]), labels[share], reduction="sum") / whole
        loss.backward()
        for parameter in network.parameters():
            total(parameter.grad)
        optimizer.step()
        losses += loss.detach() * whole
    return total(losses).item() / len(points)


@torch.no_grad()
def accuracy(network: torch.nn.Module, points: Tensor, labels: Tensor) -> float:
    """The share of right predictions, each process looking at a part of the points."""
    share = slice(dist.get_rank(), None, dist.get_world_size())
    right = (network.eval()(points[share]).argmax(1) == labels[share]).sum()
    return total(right).item() / len(points)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=30)
    parser.add_argument("--per-class", type=int, default=100, help="signals to simulate")
    parser.add_argument("--save", type=Path, help="a folder for the network and the losses")
    options = parser.parse_args()

    alone = None if "WORLD_SIZE" in os.environ else dist.HashStore()  # not started by torchrun
    where = {} if alone is None else {"store": alone, "rank": 0, "world_size": 1}
    dist.init_process_group("gloo", **where)
    speaks = dist.get_rank() == 0

    data = datasets.load("radar", per_class=options.per_class)
    (split,) = data.splits("random")
    points, labels = torch.from_numpy(data.points), torch.from_numpy(data.labels)

    torch.manual_seed(0)  # the same weights everywhere
    network = models.SPDNet(
        [20, 16, 8], len(data.classes), models.SPDNorm("aim"), dtype=torch.float64
    )
    convert_sync_lie_batchnorm(network)
    optimizer = RiemannianAdam(parameter_groups(network, 0.0), lr=5e-3, amsgrad=True)

    losses = []
    for epoch in range(options.epochs):
        losses.append(
            train_epoch(
                network,
                optimizer,
                points[split.train],
                labels[split.train],
                options.batch_size,
                epoch,
            )
        )
        if speaks:
            print(f"epoch {epoch + 1:2}: loss {losses[-1]:.12f}")
    score = accuracy(network, points[split.test], labels[split.test])
    if speaks:
        kind = "simulated" if data.simulated else "real"
        print(f"{dist.get_world_size()} process(es), {kind} data: accuracy {score:.4f}")
    if speaks and options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        models.save(network, options.save / "network.pt")
        (options.save / "losses.json").write_text(json.dumps(losses))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
