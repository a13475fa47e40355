"""The measuring instruments themselves, on cases whose answer is known."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from benchmarks import accuracy, data
from benchmarks.contenders import Contender, rotation_layers
from benchmarks.memory import peak, saved
from benchmarks.plain_rotation import exp, log
from benchmarks.results import Results
from benchmarks.targets import verdicts
from benchmarks.timing import Ratio, interleave, ratio
from liebn import groups
from liebn.linalg import spectral


def test_ratios_pair_the_rounds() -> None:
    seconds = {"a": np.array([2.0, 20.0, 200.0]), "b": np.array([1.0, 10.0, 100.0])}
    assert ratio(seconds, "a", "b") == Ratio(2.0, 2.0, 2.0)


def test_every_step_runs_once_a_round() -> None:
    ticks: Iterator[float] = iter(range(1000))
    calls = []
    steps = {name: lambda name=name: calls.append(name) for name in "abc"}
    seconds = interleave(steps, rounds=4, warm_up=1, clock=lambda: next(ticks))
    assert {name: len(s) for name, s in seconds.items()} == {"a": 4, "b": 4, "c": 4}
    assert all(sorted(calls[i : i + 3]) == ["a", "b", "c"] for i in range(0, 15, 3))
    assert all((s == 1).all() for s in seconds.values())


def test_peak_counts_what_lives_at_a_time() -> None:
    x = torch.ones(100, 100, dtype=torch.float64)
    most, _ = peak(lambda: (x + 1).mul(2).add(3))
    assert most == pytest.approx(2 * x.nbytes, rel=1e-2)  # and a scalar or two


def test_saved_counts_the_bases_that_a_backward_pass_needs() -> None:
    x = data.matrices(7, 4, torch.float64)
    layer = nn.Module()
    layer.forward = lambda y: spectral.exp(spectral.log(y))
    assert saved(layer, x) == 2 * 7 * (4 * 4 + 4) * 8


class Translation(nn.Module):
    """Moves the mean to the bias, or so far from it, and does not scale."""

    def __init__(self, n: int, off: float) -> None:
        super().__init__()
        self.off = off
        self.register_buffer("running_mean", torch.eye(n, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        space, stretch = groups.spd(n), np.exp(self.off / n**0.5)
        return stretch * space.compose(self.bias[0], space.untranslate(space.mean(x), x))


@pytest.mark.parametrize("off", [0.0, 1e-3])
def test_errors_are_the_distance_of_the_mean(off: float) -> None:
    contender = Contender("translation", lambda n, _: Translation(n, off), groups.spd)
    x, bias = data.matrices(8, 3, torch.float64), data.matrices(1, 3, torch.float64, seed=1)[0]
    found = accuracy.errors(contender, x, bias)
    assert found.mean == pytest.approx(off, abs=1e-8)
    assert found.variance == pytest.approx(0.0, abs=1e-8)


def test_a_layer_that_fails_has_no_errors() -> None:
    class Failing(Translation):
        def forward(self, x: Tensor) -> Tensor:
            raise RuntimeError

    contender = Contender("failing", lambda n, _: Failing(n, 0.0), groups.spd)
    x = data.matrices(4, 3, torch.float64)
    assert all(np.isnan(e) for e in accuracy.errors(contender, x, x[0]))


def test_the_plain_rotation_layer_agrees_with_reference_statistics() -> None:
    x = data.rotations(20, torch.float64)
    outputs = {c.name: c.make(3, torch.float64).train()(x) for c in rotation_layers()}
    torch.testing.assert_close(outputs["plain SO(3)"], outputs["SO(3) reference"])


def test_plain_log_inverts_exp() -> None:
    x = data.rotations(20, torch.float64)
    torch.testing.assert_close(exp(log(x)), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("kind", data.KINDS)
def test_batches_are_positive_definite_and_repeat(kind: str, dtype: torch.dtype) -> None:
    x = data.matrices(8, 6, dtype, kind)
    assert bool((torch.linalg.eigvalsh(x.double()) > 0).all())
    assert torch.equal(x, data.matrices(8, 6, dtype, kind))


def test_targets_that_were_not_measured_are_left_out() -> None:
    assert list(verdicts(Results({}))) == []
