"""From signals to symmetric positive definite matrices.

Axes, everywhere: a signal is (..., channels, time), a covariance (..., channels, channels).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DatasetError, require
from .record import Floats

# Smallest eigenvalue over trace below which rounding decides its sign.
SINGULAR = 1e-12


def covariances(signals: NDArray[np.inexact], estimator: str = "cov") -> NDArray[Any]:
    """Estimate one covariance per signal with pyRiemann.

    Args:
        signals: shape (samples, channels, time), real or complex.
        estimator: a name pyRiemann knows: ``"cov"`` removes the mean over time and divides by
            T - 1, ``"scm"`` removes it and divides by T, ``"lwf"`` and ``"oas"`` shrink
            (scikit-learn's estimators), and others.

    Returns:
        Shape (samples, channels, channels), Hermitian.
    """
    transformer = require("pyriemann.estimation", "experiments").Covariances(estimator)
    return np.asarray(transformer.transform(signals))


def add_to_diagonal(matrices: Floats, relative: float) -> Floats:
    """Regularise: C + relative * trace(C) * I, so that units and amplitude do not matter."""
    trace = np.trace(matrices, axis1=-2, axis2=-1)[..., None, None]
    return np.asarray(matrices + relative * trace * np.eye(matrices.shape[-1]))


def windows(signal: NDArray[np.inexact], length: int, hop: int) -> NDArray[np.inexact]:
    """Cut signals (..., time) into overlapping windows, as (..., length, number of windows).

    A window is one observation of a vector of ``length`` numbers: the result has the axes
    (channels, time) that `covariances` takes.
    """
    if signal.shape[-1] < length + hop:
        raise DatasetError(
            f"expected signals of at least {length + hop} values (two windows of {length}), "
            f"got {signal.shape[-1]}"
        )
    cut = np.lib.stride_tricks.sliding_window_view(signal, length, axis=-1)
    return np.swapaxes(cut[..., ::hop, :], -1, -2)


def real_part(hermitian: NDArray[np.complexfloating]) -> Floats:
    """Return Re(H), shape (..., n, n): symmetric, and positive definite where H is.

    For real x, xᵀ Re(H) x = xᴴ H x. What is lost is the sign of the Doppler shift.
    """
    # rounding leaves a trace of asymmetry
    return (hermitian.real + np.swapaxes(hermitian.real, -1, -2)) / 2


def real_representation(hermitian: NDArray[np.complexfloating]) -> Floats:
    """Return [[Re H, -Im H], [Im H, Re H]], shape (..., 2n, 2n).

    It keeps everything; its eigenvalues are those of H, each twice.
    """
    re, im = hermitian.real, hermitian.imag
    top = np.concatenate([re, -im], axis=-1)
    return np.concatenate([top, np.concatenate([im, re], axis=-1)], axis=-2)


def drop_zero(matrices: Floats, names: Sequence[str]) -> tuple[NDArray[np.bool_], list[str]]:
    """Find all-zero matrices, which no regularisation relative to the trace can repair.

    Args:
        matrices: shape (samples, n, n).
        names: what to call each sample in the report.

    Returns:
        The mask of samples to keep, and the lines for the report.
    """
    keep = np.asarray(matrices.any(axis=(-2, -1)))
    dropped = ", ".join(name for name, kept in zip(names, keep, strict=True) if not kept)
    report = [f"dropped {int((~keep).sum())} all-zero matrix, not positive definite: {dropped}"]
    return keep, report if dropped else []


def make_definite(matrices: Floats, relative: float) -> tuple[Floats, list[str]]:
    """Regularise the whole set if one of its matrices is singular in floating point.

    All matrices get the same treatment: one rule for the set, not one per sample.
    """
    smallest = np.linalg.eigvalsh(matrices)[:, 0] / np.trace(matrices, axis1=-2, axis2=-1)
    singular = int((smallest < SINGULAR).sum())
    if not singular:
        return matrices, []
    line = (
        f"regularised every matrix to C + {relative:g} * trace(C) * I, "
        f"because {singular} of {len(matrices)} are singular"
    )
    return add_to_diagonal(matrices, relative), [line]
