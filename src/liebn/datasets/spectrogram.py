"""A picture of the simulated radar signals: one spectrogram per class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import signal

from .errors import require
from .radar import cached_codes
from .simulate.microdoppler import DRONES, SAMPLES, SAMPLING_RATE, to_signals

WINDOW = 64
RANGE_DB = 45.0
CANDIDATES = 50


def _loudest(signals: np.ndarray) -> int:
    """Return the index of the strongest signal, in which the noise hides least."""
    return int(np.argmax(np.mean(np.abs(signals) ** 2, axis=-1)))


def draw_spectrograms(path: Path) -> None:
    """Write a picture with the spectrogram of one strong simulated signal per class.

    Args:
        path: the file; its suffix chooses the format.
    """
    backend = require("matplotlib.backends.backend_agg", "experiments")
    figure = require("matplotlib.figure", "experiments").Figure(
        figsize=(11, 3.6), layout="constrained"
    )
    backend.FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(DRONES), sharey=True)
    codes, labels = cached_codes(per_class=1000, seed=0)
    for index, (axis, drone) in enumerate(zip(axes, DRONES, strict=True)):
        signals = to_signals(codes[labels == index][:CANDIDATES])
        frequencies, _, power = signal.spectrogram(
            signals[_loudest(signals)],
            fs=SAMPLING_RATE,
            window="hann",
            nperseg=WINDOW,
            noverlap=WINDOW - 4,
            nfft=4 * WINDOW,
            detrend=False,
            return_onesided=False,
        )
        level = 10 * np.log10(np.fft.fftshift(power, axes=0) + 1e-12)
        spread = np.sort(frequencies) / 1e3
        extent = (0.0, 1e3 * SAMPLES / SAMPLING_RATE, spread[0], spread[-1])
        top = float(level.max())
        image = axis.imshow(
            level, origin="lower", aspect="auto", extent=extent, vmin=top - RANGE_DB, vmax=top
        )
        axis.set_title(f"{drone.name} (simulated)")
        axis.set_xlabel("time (ms)")
    axes[0].set_ylabel("Doppler frequency (kHz)")
    figure.colorbar(image, ax=axes, label="power (dB)")
    figure.savefig(path, dpi=120)
