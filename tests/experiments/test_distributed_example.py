"""The example for several processes, started by torchrun, gives the result of one process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from liebn import models

pytestmark = pytest.mark.distributed

SCRIPT = Path(__file__).parents[2] / "examples" / "distributed.py"
# 24 signals train: of a batch of 23 the processes get 12 and 11, and of one of 1 the second none.
OPTIONS = ["--epochs", "3", "--per-class", "16", "--batch-size", "23"]
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def trained(folder, *launcher):
    """Losses, network and what was printed."""
    line = [sys.executable, *launcher, SCRIPT, *OPTIONS, "--save", folder]
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*map(str, line)], capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stderr
    losses = json.loads((folder / "losses.json").read_text())
    return losses, models.load(folder / "network.pt"), done.stdout


def test_two_processes_give_the_result_of_one(tmp_path):
    losses, network, out = trained(tmp_path / "one")
    shared_losses, shared, shared_out = trained(tmp_path / "two", *TORCHRUN)
    assert losses[-1] < losses[0]
    assert shared_losses == pytest.approx(losses, rel=1e-9, abs=1e-9)
    weights = network.state_dict()
    assert any("running_mean" in name for name in weights)
    for name, value in shared.state_dict().items():
        torch.testing.assert_close(value, weights[name], rtol=1e-9, atol=1e-9)
    assert "1 process(es), simulated data: accuracy" in out
    assert shared_out.splitlines()[-1] == out.splitlines()[-1].replace("1 p", "2 p")
