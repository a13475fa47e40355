"""Data made on the spot. Everything in here is simulated, and every record says so."""

from .microdoppler import simulate_radar
from .rotations import rotation_sequences
from .spd import domain_shifted_spd, spd_classes

__all__ = ["domain_shifted_spd", "rotation_sequences", "simulate_radar", "spd_classes"]
