"""Layers on every accelerator of this machine do what they do on the CPU.

The table of the same comparisons is printed by `python -m tests.layers.devices`.
"""

from functools import partial

import pytest
import torch

from tests.layers.devices import ALONE, CASES, DTYPES, LAWS, cases_in, deviation, devices, refuses
from tests.layers.tolerances import tolerance

PLACES = [
    (device, dtype)
    for device in ("cuda", "mps")
    for dtype in DTYPES
    if not (device == "mps" and dtype == torch.float64)  # which it does not have
]
VARIED = [
    name
    for name in CASES
    if name in ALONE
    or name.startswith("spd-aim:")
    or name.endswith((": exact", ": domains, refit"))
]
"""Every space and every layer, if not every layer on every space."""

on_accelerators = pytest.mark.parametrize("device, dtype", PLACES)


def require(device):
    if device not in devices():
        pytest.skip(f"torch sees no {device} on this machine")


@pytest.mark.slow
@on_accelerators
def test_an_accelerator_gives_what_the_cpu_gives(device, dtype):
    require(device)
    allowed = tolerance(LAWS[dtype], dtype)
    found = {name: deviation(name, device, dtype) for name in cases_in(dtype)}
    assert not {name: e for name, e in found.items() if not e <= allowed}


@on_accelerators
def test_a_bad_sample_is_named_on_an_accelerator(device, dtype):
    require(device)
    assert refuses(device, dtype).count("sample [2, 1]") == 2


@pytest.mark.parametrize("name", VARIED)
def test_no_tensor_is_made_on_the_default_device(name):
    """With another default device, whatever forgets to say where it goes meets no data there."""
    assert deviation(name, "cpu", torch.float64, partial(torch.device, "meta")) == 0


def test_the_default_device_is_not_looked_at_for_a_bad_sample():
    with torch.device("meta"):
        made = torch.eye(2)
    assert made.device.type == "meta"  # the context does what the tests here rely on
    assert refuses("cpu", torch.float64).count("sample [2, 1]") == 2
