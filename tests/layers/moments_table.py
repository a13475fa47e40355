"""Measures which moments every layer controls, and writes docs/moments.md.

python -m tests.layers.moments_table
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from liebn import DomainLieBatchNorm, LieBatchNorm
from liebn.groups import SO, Euclidean, spd
from liebn.nn.baselines import SPDBN, SPDDSMBN, HomogeneousBN, MatrixGroupBN, SPDNetBN, TransportBN
from tests.layers.moments import KAPPAS, errors, kappa_errors
from tests.layers.spaces import CATALOG, THETAS, points

FILE = Path(__file__).parents[2] / "docs" / "moments.md"
METRICS = ("aim", "gyro-aim", "crim", "lem", "lcm")
CONTROLLED = 1e-9


class Method(NamedTuple):
    """A layer on a space, and what the paper's table says of it: mean, variance."""

    name: str
    on: str
    make: Callable[[str], LieBatchNorm]
    published: tuple[str, str]
    scale: float = 0.6


def methods() -> list[Method]:
    """All rows."""

    def make(
        layer: Callable[..., LieBatchNorm], *arguments: object
    ) -> Callable[[str], LieBatchNorm]:
        return lambda mode: layer(*arguments, statistics=mode, dtype=torch.float64)

    rows = [
        Method(
            "LieBatchNorm", k, make(LieBatchNorm, s), ("✓", "✓") if s.associative else ("—", "—")
        )
        for k, s in CATALOG.items()
    ]
    rows.append(
        Method(
            "LieBatchNorm, past the injectivity radius",
            "so",
            make(LieBatchNorm, SO(3)),
            ("✓", "✓"),
            6.0,
        )
    )
    rows += [
        Method("SPDNetBN", "spd-gyro-aim", make(SPDNetBN, 3), ("✓", "not involved")),
        Method("SPDBN", "spd-gyro-aim", make(SPDBN, 3), ("✓", "✓")),
        Method("SPDDSMBN, γ_train = 1", "spd-gyro-aim", make(SPDDSMBN, 3, 1), ("✓", "✓")),
        Method("MatrixGroupBN", "so", make(MatrixGroupBN, 3), ("✓", "✓")),
    ]
    symmetric = {"euclidean": Euclidean(3), "spd-gyro-aim": spd(3, "gyro-aim"), "so": SO(3)}
    for name, layer in (("HomogeneousBN", HomogeneousBN), ("TransportBN", TransportBN)):
        rows += [Method(name, k, make(layer, s), ("✗", "✗")) for k, s in symmetric.items()]
    return rows


class OneDomain(torch.nn.Module):
    """A domain layer of one domain as a layer of a batch alone."""

    def __init__(self, layer: DomainLieBatchNorm) -> None:
        super().__init__()
        self.layer = layer
        layer.gamma_train = 1.0

    def __getattr__(self, name: str) -> object:
        return super().__getattr__(name) if name == "layer" else getattr(self.layer, name)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalize with domain 0."""
        return self.layer(x, 0)


def measure(method: Method, mode: str) -> tuple[float, float]:
    """How far the mean is from B, in standard deviations, and the variance from the one wanted."""
    generator = torch.Generator().manual_seed(0)
    layer = method.make(mode)
    with torch.no_grad():
        if layer.scale is not None:
            layer.scale.fill_(method.scale)
        if layer.bias_tangent is not None:
            b = torch.randn(layer.bias_tangent.shape, generator=generator, dtype=torch.float64)
            layer.bias_tangent.copy_(0.4 * b)
    x = points(layer.group, 12, generator=generator, spread=0.25)
    return errors(OneDomain(layer) if isinstance(layer, DomainLieBatchNorm) else layer, x)


def verdict(found: float) -> str:
    """Whether a moment is controlled, as measured."""
    return "yes" if found <= CONTROLLED else "no"


def control_rows() -> list[list[str]]:
    """Method, space, verdicts and errors in exact mode, errors with one step, published claims."""
    rows = []
    for method in methods():
        exact, reference = measure(method, "exact"), measure(method, "reference")
        rows.append(
            [
                method.name,
                method.on,
                *(verdict(e) for e in exact),
                *(f"{e:.0e}" for e in exact),
                *(f"{e:.0e}" for e in reference),
                *method.published,
            ]
        )
    return rows


def kappa_rows() -> list[list[str]]:
    """Errors of mean and variance against κ, for every metric and deformation."""
    rows = []
    for metric in METRICS:
        for theta in sorted(THETAS):
            space = spd(4, metric, theta=theta)
            found = [kappa_errors(space, theta, kappa) for kappa in KAPPAS]
            rows.append([metric, f"{theta:g}", *(f"{m:.0e}, {v:.0e}" for m, v in found)])
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


CONTROL_HEAD = [
    "layer",
    "space",
    "mean controlled",
    "variance controlled",
    "mean off",
    "variance off",
    "mean off, one step",
    "variance off, one step",
    "paper: mean",
    "paper: variance",
]

TEXT = """# Which moments the layers control

All figures are measured by `python -m tests.layers.moments_table`, which writes this page; the
tests in `tests/layers` assert what it says. float64, seeds 0 to 3.

A batch has Fréchet mean M and variance v². After a training pass its mean should be B and its
variance s² v² / (v² + ε). "Mean off" is the norm of the mean logarithm at B in standard deviations
of the output; "variance off" is relative. A moment counts as controlled if it is off by at most
1e-9.

## Layers and spaces

Twelve points at size 3, a quarter of the way from a centre to random points, with s = 0.6 and a
random B. The first two figures are for `statistics="exact"`, the next two for `"reference"`: one
Karcher step from the start that the published experiments used. The last two columns are published,
not measured: they repeat the paper's table, where LieBN is a method for groups.

{control}

- SPDNetBN does not scale, so the variance of its output is that of its input.
- The paper marks HomogeneousBN and TransportBN ✗, since on a general manifold nothing is promised.
  On the symmetric spaces here both moments come out as asked: transport carries a zero mean
  logarithm to a zero mean logarithm and keeps lengths.
- On rotations all this holds while s · max ‖log‖ / √(v² + ε) stays inside the injectivity radius.
  Past it samples wrap around, as the row with s = 6 shows.

## Precision and condition number

`LieBatchNorm` in exact mode on twelve 4×4 matrices with spectra spread log-uniformly over a
condition number κ, the worst of four batches: mean off, variance off. κ is the larger of
the condition numbers before and after the deformation P ↦ P^θ. For κ = 1e4 and 1e12, eps · κ is
2e-12 and 2e-4.

{kappa}
"""


def page() -> str:
    """The whole page."""
    kappa_head = ["metric", "θ", *(f"κ = {kappa:.0e}" for kappa in KAPPAS)]
    return TEXT.format(
        control=table(CONTROL_HEAD, control_rows()), kappa=table(kappa_head, kappa_rows())
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    FILE.write_text(page(), encoding="utf-8")
