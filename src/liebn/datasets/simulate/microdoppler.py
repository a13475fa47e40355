r"""A simulator of micro-Doppler radar returns from drones.

The return of one rotor is the model of Martin and Mulgrew (1990). With wavelength λ, N blades from
radius L₁ to L₂ that turn f times a second, the line of sight at angle θ to the plane of rotation,
blade pitch Φ and Ω_k(t) = 2π(f t + φ + k/N),

    ψ(t) = Σ_k (a + b cos Ω_k) · exp(i κ (L₁+L₂)/2 · cosθ sinΩ_k)
                               · sinc(κ (L₂-L₁)/2 · cosθ sinΩ_k),      κ = 4π/λ,

    a = sin(θ+Φ) + sin(θ-Φ),    b = sin(θ+Φ) - sin(θ-Φ),    sinc(x) = sin(x)/x.

The received signal adds the return of the body, a constant phasor B, moves both with the radial
velocity v, and adds thermal noise of unit power; ψ is scaled to unit power, S is the
signal-to-noise ratio of the rotor before any integration:

    x(t) = √S (ψ(t)/rms(ψ) + B) e^{-iκvt} + n(t).

A receiver digitises I and Q to 16 bits. That is physical, and it keeps the last digit of a sine,
which differs between machines, out of the data: they are the same to the bit everywhere.

Parameters. Carrier 10 GHz (X band), as in Raval et al. (2021), who generate drone returns with the
same model. Blade lengths span those of commercial drones, whose makers code the diameter in inches
into the propeller's name: 5 to 7.5 cm (4 to 6 inches) for the smallest camera drones, 10 to 13 cm
(8 to 10 inches) for the middle class, 20 to 27 cm (16 to 21 inches) for the large ones. Rotation
rates go round those that Raval et al. take for drones on the market: 116 turns per second for
blades of 5 cm (DJI Phantom 4), 91.7 for 7 cm (DJI Mavic Air 2), 70 for 26.7 cm (DJI Matrice 300);
the middle class lies between. The tips then move at 25 to 130 m/s. One rotor is
modelled, the nearest. The ranges of angle, velocity and signal-to-noise ratio set the difficulty;
they were set once, for a linear classifier, and no method has its own.

References:
    J. Martin and B. Mulgrew, "Analysis of the theoretical radar return signal from aircraft
    propeller blades", IEEE International Conference on Radar, 1990, pp. 569-572.
    D. Raval, E. Hunter, S. Hudson, A. Damini, B. Balaji, "Convolutional neural networks for
    classification of drones using radars", Drones 5(4):149, 2021, doi:10.3390/drones5040149.
    V. C. Chen, "The Micro-Doppler Effect in Radar", Artech House, 2011.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..record import Floats

Range = tuple[float, float]

WAVENUMBER = 4 * np.pi * 10e9 / 299_792_458.0
SAMPLING_RATE = 20e3
SAMPLES = 1000
ANGLE_DEGREES: Range = (0.0, 40.0)
PITCH_DEGREES: Range = (5.0, 15.0)
VELOCITY: Range = (-10.0, 10.0)
BODY_AMPLITUDE: Range = (0.5, 2.0)
SIGNAL_TO_NOISE_DB: Range = (0.0, 25.0)
ROOT_TO_TIP = 0.15
# One step of the converter; the noise has unit power.
STEP = 1 / 64


@dataclass(frozen=True)
class Drone:
    """One class of drones: blades per rotor, blade length in metres, turns per second."""

    name: str
    blades: int
    blade_length: Range
    rotation_rate: Range


DRONES = (
    Drone("two short blades", blades=2, blade_length=(0.05, 0.075), rotation_rate=(80.0, 110.0)),
    Drone("three middle blades", blades=3, blade_length=(0.10, 0.13), rotation_rate=(75.0, 105.0)),
    Drone("two long blades", blades=2, blade_length=(0.20, 0.27), rotation_rate=(55.0, 75.0)),
)


def rotor_return(
    time: Floats,
    blades: int,
    length: Floats,
    rate: Floats,
    phase: Floats,
    angle: Floats,
    pitch: Floats,
) -> NDArray[np.complex128]:
    """Evaluate ψ(t), the Martin-Mulgrew return of one rotor.

    Args:
        time: seconds, shape (samples,).
        blades: N.
        length: L₂ in metres; L₁ is a fixed fraction of it. This and what follows: shape (n, 1).
        rate: f, turns per second.
        phase: φ, in turns.
        angle: θ in radians.
        pitch: Φ in radians.

    Returns:
        Shape (n, samples).
    """
    middle, half = length * (1 + ROOT_TO_TIP) / 2, length * (1 - ROOT_TO_TIP) / 2
    steady = np.sin(angle + pitch) + np.sin(angle - pitch)
    varying = np.sin(angle + pitch) - np.sin(angle - pitch)
    total = np.zeros(np.broadcast_shapes(length.shape, time.shape), dtype=np.complex128)
    for blade in range(blades):
        turn = 2 * np.pi * (rate * time + phase + blade / blades)
        sight = WAVENUMBER * np.cos(angle) * np.sin(turn)
        # numpy's sinc is sin(pi x) / (pi x)
        pattern = (steady + varying * np.cos(turn)) * np.sinc(half * sight / np.pi)
        total += pattern * np.exp(1j * middle * sight)
    return total


def received(drone: Drone, count: int, rng: np.random.Generator) -> NDArray[np.complex128]:
    """Draw ``count`` signals x(t) of one class, shape (count, SAMPLES), before digitising."""

    def draw(limits: Range) -> Floats:
        return rng.uniform(*limits, size=(count, 1))

    time = np.arange(SAMPLES) / SAMPLING_RATE
    rotor = rotor_return(
        time,
        drone.blades,
        length=draw(drone.blade_length),
        rate=draw(drone.rotation_rate),
        phase=draw((0.0, 1.0)),
        angle=np.deg2rad(draw(ANGLE_DEGREES)),
        pitch=np.deg2rad(draw(PITCH_DEGREES)),
    )
    rotor /= np.sqrt(np.mean(np.abs(rotor) ** 2, axis=1, keepdims=True))
    body = draw(BODY_AMPLITUDE) * np.exp(2j * np.pi * draw((0.0, 1.0)))
    motion = np.exp(-1j * WAVENUMBER * draw(VELOCITY) * time)
    strength = 10 ** (draw(SIGNAL_TO_NOISE_DB) / 20)
    noise = rng.standard_normal((count, SAMPLES)) + 1j * rng.standard_normal((count, SAMPLES))
    return np.asarray(strength * (rotor + body) * motion + noise / np.sqrt(2))


def digitise(signals: NDArray[np.complex128]) -> NDArray[np.int16]:
    """Round I and Q to 16-bit codes, shape (..., time, 2); what is too large is clipped."""
    codes = np.rint(np.stack([signals.real, signals.imag], axis=-1) / STEP)
    limit = np.iinfo(np.int16).max
    return np.clip(codes, -limit, limit).astype(np.int16)


def to_signals(codes: NDArray[np.int16]) -> NDArray[np.complex64]:
    """Turn codes (..., time, 2) back into complex signals (..., time)."""
    scaled = codes.astype(np.float32) * np.float32(STEP)
    return np.ascontiguousarray(scaled).view(np.complex64)[..., 0]


def simulate_radar(
    per_class: int = 1000, seed: int = 0
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Simulate all classes.

    Args:
        per_class: signals per class.
        seed: every class has its own stream, derived from it.

    Returns:
        Codes, shape (3 per_class, SAMPLES, 2), class by class, and labels. `to_signals` makes
        complex signals of the codes.
    """
    codes = [
        digitise(received(drone, per_class, np.random.default_rng([seed, index])))
        for index, drone in enumerate(DRONES)
    ]
    return np.concatenate(codes), np.repeat(np.arange(len(DRONES)), per_class)
