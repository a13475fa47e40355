"""TSMNet on simulated EEG: a new session is classified after adapting to it without labels.

Two mental states differ in the rhythm of one source. Every session mixes and amplifies the sources
in its own way, as a cap does that is put on anew. Runs in under a minute:

    python examples/tsmnet.py
"""

import numpy as np
import torch

from liebn.estimators import TSMNetClassifier
from liebn.models import SPDNorm

torch.set_num_threads(1)
CHANNELS, TIMES, RATE = 8, 128, 128.0


def simulate(session: int, samples: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """One session: signals (samples, CHANNELS, TIMES) and the states."""
    random = np.random.default_rng(session)
    states = np.arange(samples) % 2
    times = np.arange(TIMES) / RATE
    phase = random.uniform(0, 2 * np.pi, (samples, 1))
    rhythm = np.where(states == 1, 10.0, 20.0)[:, None]
    sources = random.standard_normal((samples, CHANNELS, TIMES))
    sources[:, 0] += 0.8 * np.sin(2 * np.pi * rhythm * times + phase)
    mixing = np.random.default_rng(99).standard_normal((CHANNELS, CHANNELS))
    mixing = mixing + 0.2 * random.standard_normal((CHANNELS, CHANNELS))
    gain = np.exp(random.standard_normal((CHANNELS, 1)))
    return (gain * (mixing @ sources)).astype(np.float32), states


def collect(sessions: range) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signals, states and domains of several sessions."""
    signals, states = zip(*map(simulate, sessions), strict=True)
    domains = np.repeat([f"session {i}" for i in sessions], [len(y) for y in states])
    return np.concatenate(signals), np.concatenate(states), domains


def main() -> None:
    signals, states, domains = collect(range(5))
    new_signals, new_states, new_domains = collect(range(5, 9))
    options = {"max_epochs": 20, "momentum_epochs": 16, "spatial_filters": 16, "subspace": 8}
    options |= {"lr": 5e-3, "random_state": 0}

    one_for_all = TSMNetClassifier(norm=SPDNorm("aim"), **options)
    one_for_all.fit(signals, states, domains=domains)
    score = one_for_all.score(new_signals, new_states, domains=new_domains)
    print(f"one set of statistics for all sessions: accuracy {score:.2f} on new sessions")

    for metric in ("aim", "lem"):
        by_session = TSMNetClassifier(norm=metric, **options).fit(signals, states, domains=domains)
        by_session.adapt(new_signals, new_domains)  # no labels
        score = by_session.score(new_signals, new_states, domains=new_domains)
        print(f"adapted to each session, {metric}:           accuracy {score:.2f} on new sessions")


if __name__ == "__main__":
    main()
