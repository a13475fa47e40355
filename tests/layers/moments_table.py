"""Measures which moments every layer controls, and writes docs/moments.md.

python -m tests.layers.moments_table
"""

from pathlib import Path

import torch

from liebn.groups import spd
from liebn.verify.methods import CONTROLLED, METHODS, measure
from tests.layers.moments import KAPPAS, kappa_errors
from tests.layers.spaces import CATALOG, THETAS

FILE = Path(__file__).parents[2] / "docs" / "moments.md"
METRICS = ("aim", "gyro-aim", "crim", "lem", "lcm")


def verdict(found: float) -> str:
    """Whether a moment is controlled, as measured."""
    return "yes" if found <= CONTROLLED else "no"


def control_rows() -> list[list[str]]:
    """Method, space, verdicts and errors in exact mode, errors with one step, published claims."""
    rows = []
    for method in METHODS:
        for name, space in CATALOG.items():
            if not method.on(name):
                continue
            exact = measure(method, space, "exact")
            reference = measure(method, space, "reference")
            rows.append(
                [
                    method.name,
                    name,
                    *(verdict(e) for e in exact),
                    *(f"{e:.0e}" for e in exact),
                    *(f"{e:.0e}" for e in reference),
                    *method.marks(space),
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
