"""What torch.func and torch.export do with layers, as JSON: "works", or how the error begins.

Run by a test in a process of its own, without the shape checks, which wrap every function.
`python -m tests.layers.transforms` prints the table of docs/compatibility.md.
"""

from __future__ import annotations

import copy
import json
import logging
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap

from liebn import LieBatchNorm
from liebn.groups import SO, Euclidean, spd
from liebn.nn import BiMap, CovariancePool, LogEig, ReEig, RotMap, RotPooling
from tests.layers.spaces import points

DOUBLE = torch.float64


def layers() -> dict[str, tuple[nn.Module, Tensor]]:
    """Layers with an input."""
    generator = torch.Generator().manual_seed(0)
    x = points(spd(3), 5, generator=generator)
    r = points(SO(3), 5, 2, 4, generator=generator)
    signals = torch.randn(5, 3, 20, generator=generator, dtype=DOUBLE)
    vectors = torch.randn(5, 3, generator=generator, dtype=DOUBLE)
    return {
        "LieBatchNorm, vectors": (LieBatchNorm(Euclidean(3), dtype=DOUBLE).eval(), vectors),
        "LieBatchNorm, SPD": (LieBatchNorm(spd(3), dtype=DOUBLE).eval(), x),
        "ReEig": (ReEig(), x),
        "LogEig": (LogEig(), x),
        "BiMap": (BiMap(3, 2, weight="parametrized", dtype=DOUBLE), x),
        "CovariancePool": (CovariancePool(), signals),
        "RotMap": (RotMap(2, weight="parametrized", dtype=DOUBLE), r),
        "RotPooling": (RotPooling(2), r),
    }


def transforms(module: nn.Module, x: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Transforms of a layer, each giving what the layer or its derivative gives."""
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    state = {name: value.detach().clone() for name, value in state.items()}

    def plain(x: Tensor) -> Tensor:
        return functional_call(module, state, (x,))

    def exported(x: Tensor) -> Tensor:
        return torch.export.export(copy.deepcopy(module), (x,)).module()(x)

    return {
        "functional_call": lambda: plain(x),
        "grad": lambda: grad(lambda x: plain(x).square().sum())(x),
        "jvp": lambda: jvp(plain, (x,), (x,))[1],
        "vmap": lambda: vmap(plain)(x.unsqueeze(0)).squeeze(0),
        "export": lambda: exported(x),
    }


def expected(module: nn.Module, x: Tensor, transform: str) -> Tensor:
    """What a transform must give, by means of torch.autograd or of a difference quotient."""
    if transform == "jvp":
        step = 1e-6
        with torch.no_grad():
            return (module((1 + step) * x) - module((1 - step) * x)) / (2 * step)
    x = x.clone().requires_grad_()
    y = module(x)
    return torch.autograd.grad(y.square().sum(), x)[0] if transform == "grad" else y.detach()


def outcome(module: nn.Module, x: Tensor, name: str, transform: Callable[[], Tensor]) -> str:
    """Whether it works or is wrong, or the error."""
    try:
        found = transform().detach()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:60]}"
    right = expected(module, x, name)
    accuracy = 1e-7 if name == "jvp" else 1e-10
    same = torch.allclose(found, right, rtol=accuracy, atol=accuracy)
    return "works" if same else "wrong"


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    table = {
        name: {what: outcome(module, x, what, f) for what, f in transforms(module, x).items()}
        for name, (module, x) in layers().items()
    }
    print(json.dumps(table))


if __name__ == "__main__":
    main()
