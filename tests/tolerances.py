"""The one table of tolerances.

An entry is a multiple of eps·κ: κ is the condition number of the points that take part, in the
space and in every space it is deformed to, and eps the rounding unit of the dtype. Errors are
measured per point, relative to its largest entry or to 1, whichever is larger. No test has a
tolerance elsewhere.
"""

import torch

MULTIPLES: dict[str, dict[torch.dtype, float]] = {
    # A dozen products and decompositions of 4×4 matrices, each good to about n eps.
    "axioms": {torch.float32: 64, torch.float64: 64},
    # A gyration is four operations, and a law compares nine operations with five: that makes five
    # dozen decompositions in a deformed space, whose independent errors add in squares: 64 √5.
    "gyration": {torch.float32: 144, torch.float64: 144},
    "isometry": {torch.float32: 64, torch.float64: 64},
    "metric": {torch.float32: 64, torch.float64: 64},
    "exp-log": {torch.float32: 64, torch.float64: 64},
    "geodesic": {torch.float32: 64, torch.float64: 64},
    "operators": {torch.float32: 128, torch.float64: 128},
    # One operation, seen one by one or in a batch: the same arithmetic, in another order.
    "batch": {torch.float32: 16, torch.float64: 16},
    # Membership after one operation.
    "violation": {torch.float32: 16, torch.float64: 16},
    # An override and its default are two dozen operations each, and a mean is sought in between.
    "centre": {torch.float32: 256, torch.float64: 256},
    # A mean is sought until its mean logarithm is 1e-10 of the standard deviation, or 16 eps·κ.
    "mean": {torch.float32: 128, torch.float64: 1e-9 / 2.3e-16},
    # What a mean logarithm may keep besides a share of the standard deviation: see RESIDUAL.
    "residual": {torch.float32: 64, torch.float64: 64},
    # Means that move against each other by the above, squared where they enter a dispersion.
    "dispersion": {torch.float32: 128, torch.float64: 128},
    # A formula of the paper against the library, with independent matrix functions.
    "formula": {torch.float32: 256, torch.float64: 256},
    # Forward error of a matrix function at mpmath's precision.
    "matrix-function": {torch.float32: 16, torch.float64: 16},
    # Divided differences, relative, entry by entry, free of κ.
    "divided-difference": {torch.float32: 26, torch.float64: 26},
    # Second divided differences, relative to f''/2 at the worst of their arguments.
    "second-difference": {torch.float32: 4096, torch.float64: 4096},
    # Gradients against an autograd oracle that itself divides by gaps between eigenvalues.
    "gradient": {torch.float32: 4096, torch.float64: 4096},
    # Independent libraries, each with its own stopping rule where it iterates.
    "oracle": {torch.float32: 256, torch.float64: 256},
    "iterated-oracle": {torch.float32: 1e4, torch.float64: 1e-8 / 2.3e-16},
}

RESIDUAL = {torch.float32: 1e-6, torch.float64: 2e-10}
"""The mean logarithm at a mean, as a share of the standard deviation: 1e-10 in float64."""


def tolerance(law: str, dtype: torch.dtype, kappa: float = 1.0) -> float:
    """The largest error that the law allows."""
    return MULTIPLES[law][dtype] * torch.finfo(dtype).eps * kappa
