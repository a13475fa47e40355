"""Laws as functions of a setting, collected so that any space can be put through all of them."""

from collections.abc import Callable, Iterable

import pytest
import torch

from tests.cases import CASES, DTYPES, Case, Setting, settings
from tests.laws.samples import KINDS

Law = Callable[[Setting], None]


class Laws:
    """The laws of one file, each with the kinds of sample on which it holds."""

    def __init__(self) -> None:
        self.laws: list[tuple[Law, tuple[str, ...], tuple[torch.dtype, ...]]] = []

    def add(
        self,
        *,
        only: Iterable[str] = KINDS,
        besides: Iterable[str] = (),
        dtypes: tuple[torch.dtype, ...] = DTYPES,
    ) -> Callable:
        """Enter a law; one that needs unique geodesics says `besides=["cut"]`."""

        def enter(law: Law) -> Law:
            self.laws.append((law, tuple(kind for kind in only if kind not in besides), dtypes))
            return law

        return enter

    def on(self, cases: Iterable[Case]) -> list:
        """Parameters (law, setting) for these spaces."""
        return [
            pytest.param(law, setting, id=f"{law.__name__}-{setting}")
            for law, only, dtypes in self.laws
            for setting in settings(cases, only, dtypes)
        ]

    def everywhere(self, test: Callable) -> Callable:
        """Parametrise a test(law, setting) over every law here and every case of the table."""
        return pytest.mark.parametrize("law, setting", self.on(CASES))(test)
