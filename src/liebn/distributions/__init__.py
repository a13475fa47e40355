"""Gaussians on spaces: p(x) = k(σ) exp(-d²(x, M) / 2σ²) against the Riemannian volume.

`sample_gaussian` draws from them, `fit` finds M and σ; `Gaussian` has density and constant.
"""

from liebn.distributions.gaussian import Gaussian, fit, sample_gaussian
from liebn.distributions.law import Law, NoLawError
from liebn.distributions.laws import is_flat, law_of

__all__ = ["Gaussian", "Law", "NoLawError", "fit", "is_flat", "law_of", "sample_gaussian"]
