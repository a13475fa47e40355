"""Memory and decompositions of a training step.

Memory is what torch's allocator hands out and takes back during the step, recorded block by block:
outputs, gradients, what is saved for the backward pass, and workspace that lives within one
operator. What lay in memory before the step, as the input does, does not count.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from benchmarks import data
from benchmarks.contenders import Contender, spd_layers
from benchmarks.decompositions import Decompositions
from benchmarks.timing import Step, training_step


class Footprint(NamedTuple):
    """What one training step takes.

    Attributes:
        peak: memory, in copies of the input.
        saved: eigendecompositions held for the backward pass, in copies of the input.
        where: the operator inside which the peak was reached.
        eighs: batched eigendecompositions of the step, by kind of batch.
    """

    peak: float
    saved: float
    where: str
    eighs: dict[str, int]


def peak(step: Step) -> tuple[int, str]:
    """The most bytes held at a time during the step, and the operator that was then running."""
    step()  # what it keeps for good is there afterwards
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        step()
    events = sorted(recorded.profiler.kineto_results.events(), key=lambda e: e.start_ns())
    held = most = moment = 0
    for event in events:
        if event.name() == "[memory]":
            held += event.nbytes()
            if held > most:
                most, moment = held, event.start_ns()
    around = [
        e
        for e in events
        if e.name() != "[memory]" and e.start_ns() <= moment <= e.start_ns() + e.duration_ns()
    ]
    allocators = {"aten::empty", "aten::empty_strided", "aten::resize_", "aten::empty_like"}
    around = [e for e in around if e.name() not in allocators]
    return most, min(around, key=lambda e: e.duration_ns()).name() if around else "none"


def saved(layer: nn.Module, x: Tensor) -> int:
    """Bytes of the eigenvectors and eigenvalues that the forward pass keeps for the backward."""
    kept: set[int] = set()

    def note(tensor: Tensor) -> Tensor:
        kept.add(tensor.untyped_storage().data_ptr())
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
    with Decompositions() as counted, hooks:
        layer(x.clone().requires_grad_())
    held = [b for b in counted.bases if b.untyped_storage().data_ptr() in kept]
    return sum(b.nbytes + b[..., 0].nbytes for b in held)


def footprint(contender: Contender, batch: int, n: int) -> Footprint:
    """Of a layer in float64."""
    x = data.matrices(batch, n, torch.float64)
    layer = contender.make(n, torch.float64)
    step = training_step(layer, x, torch.ones_like(x))
    most, where = peak(step)
    held = saved(layer, x)
    eighs = {kind: decompositions(contender, batch, n, kind) for kind in data.KINDS}
    return Footprint(most / x.nbytes, held / x.nbytes, where, eighs)


def decompositions(contender: Contender, batch: int, n: int, kind: str) -> int:
    """Batched eigendecompositions of a training step in float64."""
    x = data.matrices(batch, n, torch.float64, kind)
    step = training_step(contender.make(n, torch.float64), x, torch.ones_like(x))
    with Decompositions() as counted:
        step()
    return counted.batched["eigh"]


def footprints(batch: int, n: int) -> dict[str, Footprint]:
    """Of every layer on positive definite matrices."""
    return {contender.name: footprint(contender, batch, n) for contender in spd_layers()}
