"""Ways to divide a dataset. Each function returns a protocol: seed -> splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .record import Integers, Protocol, Split


def fixed(train: NDArray[np.bool_], name: str = "official") -> Protocol:
    """The division that came with the data: a mask of training samples; the rest is the test."""
    split = Split(name, np.flatnonzero(train), np.flatnonzero(~train))
    return lambda seed: (split,)


def random_parts(samples: int, train: float, validation: float = 0.0) -> Protocol:
    """One seeded shuffle cut into a training, a validation and a test part.

    Args:
        samples: how many samples there are.
        train: the fraction of the training part.
        validation: the fraction of the validation part; the test part is what is left.
    """
    first = round(train * samples)
    second = round((train + validation) * samples)

    def protocol(seed: int) -> tuple[Split, ...]:
        order = np.random.default_rng(seed).permutation(samples)
        parts = np.split(order, [first, second])
        return (Split(f"seed {seed}", train=parts[0], validation=parts[1], test=parts[2]),)

    return protocol


def leave_one_out(groups: Integers, kind: str) -> Protocol:
    """One split per group: it is the test, all others are the training part."""
    splits = tuple(
        Split(f"{kind} {group}", np.flatnonzero(groups != group), np.flatnonzero(groups == group))
        for group in np.unique(groups)
    )
    return lambda seed: splits


def leave_one_session_out(subjects: Integers, sessions: Integers) -> Protocol:
    """Within each subject, one session is the test and the subject's other sessions train.

    A subject with a single session has nothing to train on and gives no split.
    """
    splits = []
    for subject in np.unique(subjects):
        own = subjects == subject
        for session in np.unique(sessions[own]):
            test = own & (sessions == session)
            if (own & ~test).any():
                name = f"subject {subject} session {session}"
                splits.append(Split(name, np.flatnonzero(own & ~test), np.flatnonzero(test)))
    frozen = tuple(splits)
    return lambda seed: frozen


def cross_subject(subjects: Integers, training: Sequence[Sequence[int]]) -> Protocol:
    """One split per row of ``training``: those subjects train, all others are the test."""
    masks = [np.isin(subjects, row) for row in training]
    splits = tuple(
        Split(f"official {i}", np.flatnonzero(mask), np.flatnonzero(~mask))
        for i, mask in enumerate(masks)
    )
    return lambda seed: splits
