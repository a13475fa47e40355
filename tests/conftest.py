"""Shared set-up of all tests: run-time shape checks, one thread, fixed seeds."""

import sys

import hypothesis
import pytest
import torch
from jaxtyping import install_import_hook

# The hook rewrites modules while they are imported: one that is in already would go unchecked.
if any(name == "liebn" or name.startswith("liebn.") for name in sys.modules):
    raise RuntimeError(
        "expected: the shape checks are installed before liebn is imported; got: it is imported; "
        "let no pytest plugin import liebn"
    )
install_import_hook("liebn", "beartype.beartype")

# More threads make batched decompositions of small matrices slower, and workers share the cores.
torch.set_num_threads(1)

# The same examples on every run and every machine; no time limit for one example on a busy machine.
hypothesis.settings.register_profile("liebn", deadline=None, derandomize=True, database=None)
# pytest --hypothesis-profile=hunt tests/hardening: other examples on every run, and many more.
hypothesis.settings.register_profile("hunt", deadline=None)
hypothesis.settings.load_profile("liebn")

SEED = 20240507


@pytest.fixture(autouse=True)
def _fixed_seed() -> None:
    """Makes whatever draws from torch's global generator independent of the order of tests."""
    torch.manual_seed(SEED)


@pytest.fixture
def generator() -> torch.Generator:
    """A generator on the CPU, seeded anew for each test."""
    return torch.Generator().manual_seed(SEED)
