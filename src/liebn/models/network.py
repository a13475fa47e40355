"""What the networks share: a record of how they were built, for saving and loading."""

from __future__ import annotations

import pickle  # for its error only
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

from liebn.models.norms import RECIPES, Norm, Recipe

FORMAT = 1

BROKEN = (TypeError, LookupError, AttributeError, RuntimeError, EOFError, OSError, MemoryError)
"""What comes, beside a `ValueError`, of reading or rebuilding from a damaged file."""


class Network(nn.Module):
    """A network that keeps the arguments it was built with.

    Args:
        arguments: all arguments of the constructor but `device`, by name.

    Attributes:
        arguments: the same.
    """

    kinds: ClassVar[dict[str, Callable[..., Network]]] = {}

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__()
        self.arguments = arguments

    def __init_subclass__(cls) -> None:
        """Make the class known to `load`."""
        super().__init_subclass__()
        Network.kinds[cls.__name__] = cls


def save(network: Network, path: str | Path) -> None:
    """Write weights and configuration to a file.

    A norm made by a recipe of `liebn.models.norms` is written with them. Any other callable cannot
    be, and has to be given to `load` again.
    """
    # The network may have been converted since it was built.
    arguments: dict[str, Any] = network.arguments | {"dtype": next(network.parameters()).dtype}
    norm = arguments["norm"]
    if isinstance(norm, Recipe):
        arguments["norm"] = {"recipe": type(norm).__name__, **asdict(norm)}
    elif norm is not None:
        arguments["norm"] = repr(norm)
    content = {
        "format": FORMAT,
        "network": type(network).__name__,
        "arguments": arguments,
        "weights": network.state_dict(),
    }
    torch.save(content, path)


def load(
    path: str | Path, *, norm: Norm | None = None, device: torch.device | str = "cpu"
) -> Network:
    """Read a network that `save` wrote, in evaluation mode; the file can hold no code to run.

    Args:
        path: the file.
        norm: the callable the network was built with, where that was not a recipe.
        device: where to put it.

    Raises:
        ValueError: the file is damaged, of another kind, or holds more than plain data.
        OSError: it cannot be opened.
    """
    with Path(path).open("rb") as file, _reading(path):
        content = torch.load(file, map_location=device, weights_only=True)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(
                f"expected a network written by liebn.models.save in format {FORMAT}, got another "
                f"content in {path}"
            )
        arguments = content["arguments"]
        arguments["norm"] = _norm(arguments["norm"], norm)
        network = Network.kinds[content["network"]](**arguments, device=device)
        network.load_state_dict(content["weights"])
        return network.eval()


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Tell in one line of whatever a damaged file, or one made to do harm, leads to."""
    try:
        yield
    except (pickle.UnpicklingError, *BROKEN) as error:
        first = next(iter(str(error).splitlines()), "")
        raise ValueError(
            f"expected a network written by liebn.models.save, got {path}, which cannot be read as "
            f"one ({type(error).__name__}: {first})"
        ) from None


def _norm(saved: dict[str, Any] | str | None, given: Norm | None) -> Norm | None:
    """The norm to build with, from what the file says and what the caller gives."""
    if isinstance(saved, str):
        if given is None:
            raise ValueError(
                "expected the norm that the network was built with, got none; "
                f"it was {saved}, which no file can hold: give it as norm"
            )
        return given
    if given is not None:
        raise ValueError(f"expected no norm, since the file holds its own, got {given!r}")
    if saved is None:
        return None
    return RECIPES[saved.pop("recipe")](**saved)
