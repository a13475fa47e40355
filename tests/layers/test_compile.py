"""torch.compile gives the same result, with breaks in its graph.

The layer looks at its input (is it finite, has the search for the mean converged), which one graph
cannot; torch.compile runs those lines as plain Python between its graphs. `fullgraph=True` is
therefore no option.
"""

import json
import subprocess
import sys

import pytest

from tests.layers.compiled import BROKEN, PAIRS
from tests.layers.tolerances import tolerance


@pytest.fixture(scope="module")
def report():
    command = [sys.executable, "-m", "tests.layers.compiled"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name, backend", PAIRS)
def test_output_gradients_and_averages_are_the_same(name, backend, report):
    assert report["errors"][f"{name} {backend}"] <= tolerance("rounding")


@pytest.mark.parametrize("name", BROKEN)
def test_the_graph_breaks(name, report):
    """Documented in this file's head; on the day that one graph suffices, so will this be told."""
    assert report["breaks"][name] > 0
