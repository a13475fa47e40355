"""A space made here, with the required members and a catalog line, meets every law as it is."""

from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import Tensor

from liebn.groups import LieGroup
from tests.cases import cases_of
from tests.laws.collection import Laws


class Scalings(LieGroup):
    """Vectors of positive numbers under multiplication, with ‖v‖² = Σ k v_k²."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.point_shape = torch.Size((n,))

    def identity(self, *batch: int, dtype=None, device=None) -> Tensor:
        return torch.ones(*batch, *self.point_shape, dtype=dtype, device=device)

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return x * y

    def inverse(self, x: Tensor) -> Tensor:
        return 1 / x

    def exp(self, v: Tensor) -> Tensor:
        return v.exp()

    def log(self, x: Tensor) -> Tensor:
        return x.log()

    def squared_norm(self, v: Tensor) -> Tensor:
        return (torch.arange(1, v.shape[-1] + 1, dtype=v.dtype) * v.square()).sum(-1)

    def project(self, x: Tensor) -> Tensor:
        return x.clamp_min(torch.finfo(x.dtype).eps)

    def violation(self, x: Tensor) -> Tensor:
        off = (-x).amax(-1).clamp_min(0)
        return torch.where(torch.isfinite(x).all(-1), off, torch.inf)

    def random(self, *batch: int, generator=None, dtype=None, device=None) -> Tensor:
        shape = (*batch, *self.point_shape)
        return torch.randn(shape, generator=generator, dtype=dtype, device=device).exp()


CATALOG = {"scalings": Scalings}


def collections() -> list[Laws]:
    """The laws of every file but this."""
    tests = Path(__file__).parents[1]
    files = sorted(
        file
        for folder in ("laws", "gradients", "regression")
        for file in tests.joinpath(folder).glob("test_*.py")
        if file != Path(__file__)
    )
    modules = [import_module(f"tests.{file.parent.name}.{file.stem}") for file in files]
    return [m.LAWS for m in modules if isinstance(getattr(m, "LAWS", None), Laws)]


def every_law() -> list:
    """All of them, on the toy."""
    return [parameter for laws in collections() for parameter in laws.on(cases_of(CATALOG))]


@pytest.mark.parametrize("law, setting", every_law())
def test_a_new_space_meets_every_law(law, setting):
    law(setting)


def test_the_toy_meets_as_many_laws_as_others():
    met = {parameter.values[0] for parameter in every_law()}
    entered = {law for laws in collections() for law, *_ in laws.laws}
    assert met == entered
    names = {law.__name__ for law in met}
    assert names >= {
        "a_batch_is_its_points",
        "a_ray_is_the_geodesic_from_the_identity",
        "centring_is_what_the_base_class_derives",
        "distances_of_coinciding_points_have_gradients",
        "exp_at_undoes_log_at",
        "inverses_cancel",
        "left_translations_are_isometries",
        "mean_and_centre_have_their_gradients",
        "projection_ends_in_the_space",
        "the_mean_is_stationary",
        "the_reference_is_one_karcher_step",
    }


def test_a_wrong_space_is_caught():
    """The laws can fail: a metric that translations do not keep, and a wrong inverse."""

    class Lopsided(Scalings):
        def compose(self, x: Tensor, y: Tensor) -> Tensor:
            return x * y**1.01

    class Unturned(Scalings):
        def inverse(self, x: Tensor) -> Tensor:
            return x

    for broken, telling in (
        (Lopsided, "left_translations_are_isometries"),
        (Unturned, "inverses_cancel"),
    ):
        caught = set()
        cases = cases_of({"broken": broken})
        for file in ("test_group_axioms", "test_metric"):
            for parameter in import_module(f"tests.laws.{file}").LAWS.on(cases):
                law, setting = parameter.values
                try:
                    law(setting)
                except AssertionError:
                    caught.add(law.__name__)
        assert telling in caught
