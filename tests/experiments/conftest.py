"""Fixtures of the tests of experiments: private places, and the command in this process."""

from tests.places import command, private_places, real, shared_cache

__all__ = ["command", "private_places", "real", "shared_cache"]
