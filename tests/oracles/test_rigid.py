"""Rigid motions against SciPy's, and in the plane against complex numbers."""

import numpy as np
import pytest
import torch
from scipy.spatial.transform import RigidTransform, Rotation, Slerp

from liebn.groups import SE
from liebn.linalg import rotation
from tests.cases import relative_error
from tests.laws.samples import draw
from tests.tolerances import tolerance

SPACE = SE(3)


def agree(actual, expected, dims=2, law="oracle"):
    expected = torch.as_tensor(np.asarray(expected))
    assert relative_error(actual, expected, dims) <= tolerance(law, torch.float64)


def motions(kind, generator, count=10):
    """Two batches, for us and for SciPy; the second at the cut locus of the first."""
    x = SPACE.random(count, generator=generator, dtype=torch.float64)
    y = SPACE.compose(x, draw(SPACE, kind, count, 1.0, generator))
    return x, y, *(RigidTransform.from_matrix(m.numpy()) for m in (x, y))


kinds = pytest.mark.parametrize("kind", ["ordinary", "near", "repeated", "cut"])


@kinds
def test_operation(kind, generator):
    x, y, ours, theirs = motions(kind, generator)
    agree(SPACE.compose(x, y), (ours * theirs).as_matrix())
    agree(SPACE.inverse(x), ours.inv().as_matrix())
    agree(SPACE.untranslate(x, y), (ours.inv() * theirs).as_matrix())


@kinds
def test_distance_is_that_of_the_product(kind, generator):
    x, y, ours, theirs = motions(kind, generator)
    angle = (ours.rotation.inv() * theirs.rotation).magnitude()
    apart = np.linalg.norm(theirs.translation - ours.translation, axis=-1)
    agree(SPACE.distance(x, y), np.sqrt(2 * angle**2 + apart**2), dims=0)


@pytest.mark.parametrize("kind", ["ordinary", "near", "repeated"])  # a half turn has two axes
def test_logarithm_is_that_of_each_part(kind, generator):
    x, y, ours, theirs = motions(kind, generator)
    log, expected = SPACE.log(SPACE.untranslate(x, y)), ours.inv() * theirs
    agree(rotation.vee(log[:, :3, :3]), expected.rotation.as_rotvec(), dims=1)
    agree(log[:, :3, 3], expected.translation, dims=1)
    agree(log[:, 3], np.zeros((len(log), 4)), dims=1)


def test_exponential_is_not_that_of_the_group(generator):
    """The group's are screw motions, with SciPy's exponential coordinates."""
    x, *_ = motions("ordinary", generator)
    v = SPACE.log(x)
    coordinates = torch.cat([rotation.vee(v[:, :3, :3]), v[:, :3, 3]], -1)
    screw = RigidTransform.from_exp_coords(coordinates.numpy()).as_matrix()
    agree(torch.linalg.matrix_exp(v), screw)
    assert float((SPACE.exp(v) - torch.as_tensor(screw)).abs().max()) > 0.1


def test_geodesics_turn_and_shift_evenly(generator):
    x, y, ours, theirs = motions("ordinary", generator, 1)
    times = np.linspace(0, 1, 7)
    ends = Rotation.concatenate([ours.rotation, theirs.rotation])
    shift = ours.translation + times[:, None] * (theirs.translation - ours.translation)
    expected = RigidTransform.from_components(shift, Slerp([0, 1], ends)(times))
    agree(SPACE.geodesic(x, y, torch.as_tensor(times)), expected.as_matrix())


@pytest.mark.parametrize("weighted", [False, True])
def test_mean(weighted, generator):
    """The translations' mean is arithmetic; about the rotations' the rotation vectors cancel."""
    x = SPACE.random(9, generator=generator, dtype=torch.float64)
    x = SPACE.compose(x[0], SPACE.exp(0.4 * SPACE.log(x)))
    weights = np.linspace(1, 3, 9) if weighted else np.ones(9)
    mean = SPACE.mean(x, weights=torch.as_tensor(weights))
    agree(mean[:3, 3], np.average(x[:, :3, 3].numpy(), axis=0, weights=weights), dims=1)
    centred = Rotation.from_matrix(mean[:3, :3].mT.numpy() @ x[:, :3, :3].numpy())
    residual = np.average(centred.as_rotvec(), axis=0, weights=weights)
    agree(torch.as_tensor(residual), np.zeros(3), law="mean", dims=1)


def test_far_away_nothing_is_lost(generator):
    """Differences of translations are taken before they are turned."""
    x, y, ours, theirs = motions("ordinary", generator)
    far = torch.tensor([1e9, -2e9, 3e9], dtype=torch.float64)
    x[:, :3, 3] += far
    y[:, :3, 3] += far
    apart = np.linalg.norm((y[:, :3, 3] - x[:, :3, 3]).numpy(), axis=-1)
    angle = (ours.rotation.inv() * theirs.rotation).magnitude()
    agree(SPACE.distance(x, y), np.sqrt(2 * angle**2 + apart**2), dims=0)


def test_in_the_plane_motions_are_complex_affine_maps(generator):
    """Z ↦ exp(iφ) z + c."""
    space = SE(2)
    turns = torch.tensor([0.0, 1e-9, 0.7, -2.9, np.pi - 1e-9, -np.pi + 1e-6], dtype=torch.float64)
    shifts = torch.randn(len(turns), 2, generator=generator, dtype=torch.float64)
    v = torch.zeros(len(turns), 3, 3, dtype=torch.float64)
    v[:, 1, 0], v[:, 0, 1], v[:, :2, 2] = turns, -turns, shifts
    x = space.exp(v)
    agree(space.log(x), v)
    a, c = np.exp(1j * turns.numpy()), torch.view_as_complex(shifts).numpy()

    def as_matrices(a, c):
        rows = [
            [a.real, -a.imag, c.real],
            [a.imag, a.real, c.imag],
            [0 * c.real, 0 * c.real, 1 + 0 * c.real],
        ]
        return np.moveaxis(np.array(rows), -1, 0)

    agree(x, as_matrices(a, c))
    agree(space.compose(x, x.flip(0)), as_matrices(a * a[::-1], a * c[::-1] + c))
    agree(space.inverse(x), as_matrices(a.conj(), -a.conj() * c))
    apart = np.sqrt(2 * np.angle(a[::-1] / a) ** 2 + np.abs(c[::-1] - c) ** 2)
    agree(space.distance(x, x.flip(0)), apart, dims=0)


def test_what_is_no_motion_is_told_and_mended(generator):
    x = SPACE.random(5, generator=generator, dtype=torch.float64)
    broken = x.clone()
    broken[0, :3, 0] *= -1
    broken[1, 3, 1] = 0.5
    broken[2, 3, 3] = 2
    broken[3, 3, 0] = torch.nan
    violation = SPACE.violation(broken)
    assert violation[:3].tolist() == pytest.approx([2, 0.5, 1])
    assert violation[3] == torch.inf
    assert violation[4] <= tolerance("violation", torch.float64)
    agree(SPACE.project(broken[1:]), x[1:])
    assert bool(
        (SPACE.violation(SPACE.project(broken)) <= tolerance("oracle", torch.float64)).all()
    )
