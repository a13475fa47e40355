"""The paper's propositions, theorems and remarks, measured on every space they apply to.

One module for each family of claims; `verify` gives their rows, which `liebn verify` prints.
"""

from liebn.verify.claims import CHECKS, verify
from liebn.verify.row import Finding, Row, Subject

__all__ = ["CHECKS", "Finding", "Row", "Subject", "verify"]
