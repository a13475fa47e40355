"""What a user of the data sees when something is wrong: one line, and what to do about it."""

from __future__ import annotations

import importlib
from types import ModuleType


class DatasetError(Exception):
    """A dataset cannot be used. The message is one line: where, what was expected, what was got."""


class MissingDataError(DatasetError):
    """The files of a dataset are not under the data root."""


class MissingExtraError(DatasetError):
    """An optional library is not installed."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional library, or say in one line how to install it.

    Args:
        module: importable name, for instance ``"pyriemann.estimation"``.
        extra: the extra of this package that brings it.

    Raises:
        MissingExtraError: the library is absent.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"this needs the library {library}, which is not installed: "
            f"run  pip install 'liebn[{extra}]'"
        ) from error
