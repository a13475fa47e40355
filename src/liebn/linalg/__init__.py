"""Matrix functions with the right gradients.

Everything above this package meets eigenvalues, Cholesky factors and rotation angles only through
it, and every numerical tolerance of the library stands in `liebn.linalg.numerics`.
"""

from liebn.linalg import cholesky, correlation, newton, numerics, positive, rotation, spectral
from liebn.linalg.numerics import InvalidPointError

__all__ = [
    "InvalidPointError",
    "cholesky",
    "correlation",
    "newton",
    "numerics",
    "positive",
    "rotation",
    "spectral",
]
