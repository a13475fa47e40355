"""torch.func and torch.export, on layers: the table of docs/compatibility.md, as it is.

What does not work raises; nothing gives a wrong result. On the day that more works, these tests
fail, and the table has to be brought up to date.
"""

import json
import subprocess
import sys

import pytest

PLAIN = ("BiMap", "CovariancePool", "RotMap", "RotPooling")
"""Layers of torch's own operations."""


@pytest.fixture(scope="module")
def table():
    command = [sys.executable, "-m", "tests.layers.transforms"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_nothing_is_wrong(table):
    assert not [(name, what) for name, row in table.items() for what in row if row[what] == "wrong"]


def test_functional_call_works_everywhere(table):
    assert {row["functional_call"] for row in table.values()} == {"works"}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("transform", ["grad", "jvp", "vmap", "export"])
def test_plain_layers_take_every_transform(name, transform, table):
    assert table[name][transform] == "works"


REFUSED = {
    "LieBatchNorm, vectors": ("grad", "jvp", "vmap", "export"),
    "LieBatchNorm, SPD": ("grad", "jvp", "vmap", "export"),
    "ReEig": ("grad", "vmap", "export"),
    "LogEig": ("grad", "vmap", "export"),
}
"""What functions with a gradient of their own refuse."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_with_a_gradient_of_its_own_refuses_transforms(name, table):
    for transform in REFUSED[name]:
        assert "Error" in table[name][transform] or "SymNode" in table[name][transform], transform


@pytest.mark.parametrize("name", ["ReEig", "LogEig"])
def test_forward_derivatives_go_through_torchs_decomposition(name, table):
    assert table[name]["jvp"] == "works"
