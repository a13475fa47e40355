"""How far the layers may be from what they are compared with.

An entry is a multiple of the rounding unit. Errors are relative to the largest entry expected, or
to 1.
"""

import torch
from torch import Tensor

MULTIPLES: dict[str, float] = {
    # The same sums in another order: torch's own kernels, or the samples in another layout.
    "rounding": 64,
    # The same function computed another way: matrix functions by another route, at condition ≲ 1e2.
    "formula": 4096,
    # Two searches for one mean, each stopped at 1e-10 of the standard deviation.
    "search": 1e-9 / torch.finfo(torch.float64).eps,
    # Searches stopped at 1e-8, where the data pass by in batches.
    "streamed": 2e-7 / torch.finfo(torch.float64).eps,
    # Moments in exact mode, as promised at condition up to 1e2.
    "moments": 1e-9 / torch.finfo(torch.float64).eps,
    # Moments beyond, times the condition number.
    "moments-times-kappa": 16,
    # An autograd oracle that unrolls its steps and divides by the gaps between eigenvalues.
    "unrolled": 1e-8 / torch.finfo(torch.float64).eps,
    # An independent library which floors eigenvalues, at condition ≲ 1e2.
    "library": 1e-10 / torch.finfo(torch.float64).eps,
}

GRADCHECK = {"eps": 1e-5, "atol": 1e-5, "rtol": 1e-4}
"""Central differences: a mean found to 1e-10 leaves 1e-5 in a quotient of differences at 1e-5."""


def tolerance(law: str, dtype: torch.dtype = torch.float64) -> float:
    """The largest relative error allowed."""
    return MULTIPLES[law] * torch.finfo(dtype).eps


def error(actual: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to the largest entry expected or to 1."""
    assert actual.shape == expected.shape, f"shapes {actual.shape} and {expected.shape}"
    if actual.numel() == 0:
        return 0.0
    actual, expected = actual.detach().double(), expected.detach().double()
    assert bool(torch.isfinite(actual).all()), f"not finite: {actual}"
    return float((actual - expected).abs().max() / expected.abs().max().clamp_min(1))


def close(
    actual: Tensor, expected: Tensor, law: str = "rounding", dtype: torch.dtype | None = None
) -> None:
    """Assert that two tensors agree to the precision of a law; whole numbers must be equal."""
    if not actual.is_floating_point():
        assert torch.equal(actual, expected)
        return
    found, allowed = error(actual, expected), tolerance(law, dtype or actual.dtype)
    assert found <= allowed, f"error {found:.2e}, {found / allowed:.3g} times what {law!r} allows"
