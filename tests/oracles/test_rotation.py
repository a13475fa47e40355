"""Rotations of space against SciPy's, and of other dimensions against SciPy's matrix functions."""

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy.spatial.transform import Rotation, Slerp
from torch.nn.functional import pad

from liebn.groups import SO
from liebn.linalg import rotation
from tests.cases import DTYPES, relative_error
from tests.laws.samples import rotations
from tests.tolerances import tolerance

ANGLES = [0.0, 1e-12, 1e-5, 0.3, 1.5, 2.5, 3.1, np.pi - 1e-6, np.pi - 1e-10]


def agree(actual, expected, law="oracle", dims=0):
    expected = torch.as_tensor(np.asarray(expected))
    assert relative_error(actual, expected, dims) <= tolerance(law, torch.float64)


@pytest.fixture
def turns(generator):
    """A rotation by each angle about an axis of its own, as a rotation vector."""
    axes = torch.randn(len(ANGLES), 3, generator=generator, dtype=torch.float64)
    angles = torch.tensor(ANGLES, dtype=torch.float64).unsqueeze(-1)
    return angles * axes / axes.norm(dim=-1, keepdim=True)


def test_exponential(turns):
    expected = Rotation.from_rotvec(turns.numpy()).as_matrix()
    agree(rotation.exp(rotation.hat(turns)), expected, dims=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("n", [2, 3])
def test_exponential_of_one_plane(n, count, dtype):
    """Of one matrix as of several: torch's matrix_exp treats a single one apart."""
    for angle in np.geomspace(1e-3, np.pi, 40):
        turn = torch.tensor([[0.0, -angle], [angle, 0.0]], dtype=torch.float64).to(dtype)
        size = float(turn[1, 0])
        expected = [[np.cos(size), -np.sin(size)], [np.sin(size), np.cos(size)]]
        found = rotation.exp(pad(turn, (0, n - 2) * 2).expand(count, n, n))[..., :2, :2]
        error = relative_error(found.double(), torch.tensor(expected, dtype=torch.float64), 2)
        assert error <= tolerance("matrix-function", dtype, max(1.0, 2 * size))


def test_logarithm_up_to_the_cut_locus(turns):
    r = torch.as_tensor(Rotation.from_rotvec(turns.numpy()).as_matrix())
    agree(rotation.log3(r), turns, dims=1)


def test_distance_is_the_angle(turns):
    """√2 times it."""
    x = Rotation.random(len(ANGLES), rng=3)
    y = x * Rotation.from_rotvec(turns.numpy())
    found = SO(3).distance(torch.as_tensor(x.as_matrix()), torch.as_tensor(y.as_matrix()))
    agree(found, 2**0.5 * (x.inv() * y).magnitude())


def test_geodesic_is_slerp():
    ends = Rotation.random(2, rng=5)
    times = np.linspace(0, 1, 7)
    x, y = torch.as_tensor(ends.as_matrix()).unsqueeze(1)
    found = SO(3).geodesic(x, y, torch.as_tensor(times))
    agree(found, Slerp([0, 1], ends)(times).as_matrix(), dims=2)


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_of_a_tight_cluster(weighted):
    """SciPy's mean is the chordal one, the geodesic one up to third order in the spread."""
    rng = np.random.default_rng(7)
    size = 1e-4
    x = Rotation.random(rng=11) * Rotation.from_rotvec(size * rng.normal(size=(9, 3)))
    weights = np.linspace(1, 2, 9) if weighted else None
    given = torch.as_tensor(weights) if weighted else None
    found = SO(3).mean(torch.as_tensor(x.as_matrix()), weights=given)
    off = found - torch.as_tensor(x.mean(weights).as_matrix())
    assert float(off.abs().max()) <= 10 * size**3


def test_projection_is_the_nearest_rotation(generator):
    a = torch.randn(20, 3, 3, generator=generator, dtype=torch.float64)
    found = rotation.project(a)
    expected = [Rotation.align_vectors(m.T, np.eye(3))[0].as_matrix() for m in a.numpy()]
    agree(found, expected, dims=2)


@pytest.mark.parametrize("n", [2, 4, 5, 6])
@pytest.mark.parametrize("angle", [0.0, 1e-7, 0.4, 1.5707963, 2.0, 3.0, 3.14, np.pi - 1e-7])
def test_logarithm_in_other_dimensions(n, angle, generator):
    angles = torch.tensor([[angle, 0.9, 1.7]], dtype=torch.float64)[:, : n // 2]
    r = rotations(angles, n, generator)
    log = SO(n).log(r)
    agree(torch.linalg.matrix_exp(log), r, dims=2)
    found = torch.linalg.eigvalsh(1j * log[0])[-(n // 2) :]
    agree(found, angles[0].sort().values)
    if angle < 3.1:
        agree(log, np.array([np.real(scipy.linalg.logm(m)) for m in r.numpy()]), dims=2)
