"""Compares compiled layers with plain ones and prints the errors as JSON.

Run by a test in a process of its own, because the shape checks that the tests install wrap every
function, and torch.compile cannot look through them.
"""

import copy
import json

import torch
from torch import Tensor

from liebn import LieBatchNorm
from tests.layers.spaces import CATALOG, points
from tests.layers.tolerances import error

PAIRS = (
    ("euclidean", "aot_eager"),
    ("spd-aim", "eager"),
    ("spd-aim", "aot_eager"),
    ("so", "aot_eager"),
)
BROKEN = ("euclidean", "spd-aim")


def step(layer: torch.nn.Module, own: LieBatchNorm, x: Tensor) -> list[Tensor]:
    """Output, gradients and running averages after a pass."""
    x = x.clone().requires_grad_()
    y = layer(x)
    gradients = torch.autograd.grad(y.square().sum(), [x, own.scale])
    return [y.detach(), *gradients, *(buffer.clone() for buffer in own.buffers())]


def compare(name: str, backend: str) -> float:
    """The largest error over two steps of training and one of evaluation."""
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    plain = LieBatchNorm(CATALOG[name], dtype=torch.float64)
    own = copy.deepcopy(plain)
    compiled = torch.compile(own, backend=backend)
    worst = 0.0
    for training in (True, True, False):
        x = points(CATALOG[name], 5, generator=generator)
        plain.train(training)
        compiled.train(training)
        pairs = zip(step(compiled, own, x), step(plain, plain, x), strict=True)
        worst = max(worst, *(error(found, expected) for found, expected in pairs))
    return worst


def breaks(name: str) -> int:
    """How often the graph of a training pass is interrupted."""
    torch._dynamo.reset()
    x = points(CATALOG[name], 5, generator=torch.Generator().manual_seed(0))
    layer = LieBatchNorm(CATALOG[name], dtype=torch.float64)
    return torch._dynamo.explain(layer)(x).graph_break_count


if __name__ == "__main__":
    torch.set_num_threads(1)
    errors = {f"{name} {backend}": compare(name, backend) for name, backend in PAIRS}
    print(json.dumps({"errors": errors, "breaks": {name: breaks(name) for name in BROKEN}}))
