"""Training a network on a small problem, for the tests."""

import torch
from geoopt.optim import RiemannianAdam
from torch import Tensor, nn

from liebn.models import Network
from liebn.nn import MomentumLieBatchNorm
from liebn.optim import parameter_groups


def learn(
    network: Network, inputs: tuple[Tensor, ...], labels: Tensor, *, epochs: int, lr: float
) -> tuple[float, float]:
    """Train by Riemannian AMSGrad on batches of 30; the losses of the first and last epoch."""
    optimiser = RiemannianAdam(parameter_groups(network, 0.0), lr=lr, amsgrad=True)
    losses = []
    for epoch in range(1, epochs + 1):
        for layer in network.modules():
            if isinstance(layer, MomentumLieBatchNorm):
                layer.set_epoch(epoch)
        total = 0.0
        for batch in torch.randperm(len(labels)).split(30):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(network(*(x[batch] for x in inputs)), labels[batch])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(batch) / len(labels)
        losses.append(total)
    return losses[0], losses[-1]


@torch.no_grad()
def accuracy(network: Network, inputs: tuple[Tensor, ...], labels: Tensor) -> float:
    """The share of right classes, in evaluation mode."""
    network.eval()
    return float((network(*inputs).argmax(-1) == labels).double().mean())
