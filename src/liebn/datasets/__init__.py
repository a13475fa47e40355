"""Datasets: one loader each, one record for all of them, and simulators.

>>> from liebn import datasets
>>> radar = datasets.load("radar")                      # simulated, no file needed
>>> (split,) = radar.splits("random", seed=0)
>>> radar.points[split.train].shape
(1500, 20, 20)
"""

from .card import Card
from .errors import DatasetError, MissingDataError, MissingExtraError
from .record import Dataset, Split
from .registry import CARDS, card, load
from .root import data_root
from .simulate import domain_shifted_spd, rotation_sequences, spd_classes

__all__ = [
    "CARDS",
    "Card",
    "Dataset",
    "DatasetError",
    "MissingDataError",
    "MissingExtraError",
    "Split",
    "card",
    "data_root",
    "domain_shifted_spd",
    "load",
    "rotation_sequences",
    "spd_classes",
]
