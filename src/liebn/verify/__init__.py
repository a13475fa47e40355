"""The paper's propositions, theorems and remarks, measured."""

from liebn.verify.claims import CHECKS, verify
from liebn.verify.row import Finding, Row, Subject

__all__ = ["CHECKS", "Finding", "Row", "Subject", "verify"]
