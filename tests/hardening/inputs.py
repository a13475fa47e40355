"""What somebody may hand to a function: every shape, dtype, stride and value, good and bad.

A `Case` says how the tensors of one call are to be spoilt; a recipe asks it for points of a space
or for matrices, and gets them so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import hypothesis
import torch
from hypothesis import strategies as st
from torch import Tensor

from liebn.groups import Gyrogroup, spd

FINITE = ("plain", "zero", "deficient", "asymmetric", "indefinite", "scaled")
NOT_FINITE = ("nan", "inf", "-inf")
LAYOUTS = ("contiguous", "transposed", "strided", "expanded")
FULL = (torch.float64, torch.float32)
DTYPES = (*FULL, torch.float16, torch.bfloat16, torch.int64)
BATCHES = ((), (1,), (4,), (2, 3), (0,), (0, 2))
HUNT = 25
"""How many times more examples the profile `hunt` takes."""


def examples(count: int) -> hypothesis.settings:
    """So many examples, and many more under `pytest --hypothesis-profile=hunt`."""
    hunting = hypothesis.settings.get_current_profile_name() == "hunt"
    return hypothesis.settings(
        max_examples=count * (HUNT if hunting else 1),
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[p for p in hypothesis.Phase if p is not hypothesis.Phase.explain],
    )


@dataclass
class Case:
    """One way to call a function.

    Attributes:
        kind: what is wrong with the values; "plain" if nothing is.
        layout: how they lie in memory.
        dtype: theirs.
        batch: the shape of the batch, where a recipe leaves it open.
        grad: whether a gradient is wanted.
        victim: which of the tensors of the call is spoilt.
        scale: by which a "scaled" one is multiplied.
        seed: of the values.
        made: the tensors handed out.
        copies: their values at that time.
    """

    kind: str = "plain"
    layout: str = "contiguous"
    dtype: torch.dtype = torch.float64
    batch: tuple[int, ...] = (4,)
    grad: bool = False
    victim: int = 0
    scale: float = 1.0
    seed: int = 0
    made: list[Tensor] = field(default_factory=list)
    copies: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the same sequence of values for every case of a seed."""
        self.generator = torch.Generator().manual_seed(self.seed)

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong, so that no error may be raised."""
        return self.kind == "plain" and self.dtype in FULL and 0 not in self.batch

    def like(self, **changes: object) -> Case:
        """The same values, otherwise handed out."""
        given = [name for name in self.__dataclass_fields__ if name not in ("made", "copies")]
        return Case(**{**{name: getattr(self, name) for name in given}, **changes})

    def draw(self, make: Callable[[], Tensor]) -> Tensor:
        """What `make` gives, plain and in float64, spoilt as this case says."""
        x = make().detach()
        if len(self.made) == self.victim:
            x = spoil(x, self.kind, self.scale)
        x = x.to(self.dtype)
        x = laid_out(x, self.layout, self.batch)
        if self.grad and x.is_floating_point():
            x.requires_grad_()
        self.made.append(x)
        self.copies.append(x.detach().clone())
        return x

    def points(self, space: Gyrogroup, *batch: int, spread: float = 0.3) -> Tensor:
        """Points of a space, near enough to have one mean."""
        batch = batch or self.batch
        options = {"generator": self.generator, "dtype": torch.float64}
        return self.draw(lambda: space.exp(spread * space.log(space.random(*batch, **options))))

    def spd(self, n: int = 3, *batch: int) -> Tensor:
        """Positive definite matrices."""
        return self.points(spd(n), *batch)

    def tensor(self, *shape: int) -> Tensor:
        """Numbers of a normal distribution."""
        return self.draw(lambda: torch.randn(shape, generator=self.generator, dtype=torch.float64))

    def matrices(self, *shape: int) -> Tensor:
        """A batch of matrices of numbers."""
        return self.tensor(*self.batch, *shape)

    def symmetric(self, n: int = 3) -> Tensor:
        """Symmetric matrices."""
        size = (*self.batch, n, n)

        def make() -> Tensor:
            x = torch.randn(size, generator=self.generator, dtype=torch.float64)
            return 0.5 * (x + x.mT)

        return self.draw(make)


def spoil(x: Tensor, kind: str, scale: float) -> Tensor:
    """One point, the last of the batch, made bad; a scale is for all."""
    x = x.clone(memory_format=torch.contiguous_format)
    if kind == "scaled":
        return x * scale
    if x.numel() == 0:
        return x
    if kind in NOT_FINITE:
        x.view(-1)[-1] = float(kind)
        return x
    last = x.view(-1, *x.shape[-2:])[-1]
    if kind == "zero":
        last.zero_()
    elif kind == "deficient":
        last.view(-1, last.shape[-1] if last.dim() else 1)[:, -1] = 0
        if last.dim() > 1:
            last[-1] = 0
    elif kind == "asymmetric" and last.dim() > 1:
        last[0, -1] += last.abs().max()
    elif kind == "indefinite":
        last.neg_()
    return x


def laid_out(x: Tensor, layout: str, batch: tuple[int, ...]) -> Tensor:
    """The same values otherwise in memory; an expanded batch repeats its first element."""
    if layout == "transposed" and x.dim() > 1:
        return x.mT.contiguous().mT
    if layout == "strided" and x.dim() > 0:
        wide = torch.stack([x, torch.zeros_like(x)], -1).flatten(-2)
        return wide[..., ::2]
    if layout == "expanded" and x.numel() and batch and x.shape[0] == batch[0]:
        return x[:1].expand(x.shape)
    return x.clone()


def cases(
    *,
    kinds: tuple[str, ...] = (*FINITE, *NOT_FINITE),
    dtypes: tuple[torch.dtype, ...] = DTYPES,
    batches: tuple[tuple[int, ...], ...] = BATCHES,
) -> st.SearchStrategy[Case]:
    """Every way to call a function."""
    return st.builds(
        Case,
        kind=st.sampled_from(kinds),
        layout=st.sampled_from(LAYOUTS),
        # float64 more often than the others.
        dtype=st.sampled_from((torch.float64, torch.float64, *dtypes)),
        batch=st.sampled_from(batches),
        grad=st.booleans(),
        victim=st.integers(0, 1),
        scale=st.integers(-30, 30).map(lambda e: 10.0**e),
        seed=st.integers(0, 2**16),
    )
