"""What is drawn is what was given, and the last step is the layer's output."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from liebn import LieBatchNorm, groups
from liebn.plots import (
    cone_coordinates,
    disc_coordinates,
    draw_ellipses,
    draw_geodesics,
    draw_rotations,
    draw_spd,
    pair,
    panels,
    steps,
)

D = torch.float64


@pytest.fixture
def covariances(generator):
    return groups.spd(2).random(7, generator=generator, dtype=D)


def axes_of(projection=None):
    return Figure().add_subplot(projection=projection)


def test_the_cone_is_round_and_every_matrix_lies_within(covariances):
    x, y, height = cone_coordinates(covariances).T
    values = torch.linalg.eigvalsh(covariances).numpy()
    np.testing.assert_allclose(height, values.sum(1))
    np.testing.assert_allclose(np.hypot(x, y), values[:, 1] - values[:, 0])


def test_the_points_of_the_cone(covariances):
    axes = axes_of("3d")
    draw_spd(axes, covariances, "red")
    points, identity = axes.collections
    np.testing.assert_allclose(np.array(points._offsets3d).T, cone_coordinates(covariances))
    np.testing.assert_allclose(np.array(identity._offsets3d).ravel(), [0, 0, 2])


def test_the_cone_is_drawn_as_high_as_asked(covariances):
    axes = axes_of("3d")
    draw_spd(axes, covariances, "red", top=100.0)
    assert max(line.get_data_3d()[2].max() for line in axes.lines) == 100


def test_ellipses_are_the_unit_spheres_of_the_inverses(covariances):
    axes = axes_of()
    draw_ellipses(axes, covariances, "red")
    *outlines, circle = axes.lines
    assert len(outlines) == len(covariances)
    for matrix, outline in zip(covariances.numpy(), outlines, strict=True):
        x = outline.get_xydata()
        np.testing.assert_allclose(np.einsum("ki,ij,kj->k", x, np.linalg.inv(matrix), x), 1)
    np.testing.assert_allclose(np.linalg.norm(circle.get_xydata(), axis=1), 1)


def test_rotations_carry_the_arrow_on_the_sphere(generator):
    rotations = groups.SO(3).random(5, generator=generator, dtype=D)
    axes = axes_of("3d")
    draw_rotations(axes, rotations, "red")
    points = np.array(axes.collections[0]._offsets3d).T
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    np.testing.assert_allclose(points, rotations.numpy() @ np.full(3, 3**-0.5))


@pytest.mark.parametrize("name", ["spd-aim", "spd-lem", "spd-lcm", "so"])
def test_the_last_step_is_what_the_layer_gives(name, generator):
    space = groups.catalog[name](3)
    tangent = torch.randn(space.model.point_shape, generator=generator, dtype=D)
    scatter = torch.randn(20, *space.model.point_shape, generator=generator, dtype=D)
    points = space.exp(0.3 * scatter)
    layer = LieBatchNorm(space, dtype=D)
    layer.scale.data.fill_(0.4)
    layer.bias_tangent.data = 0.2 * tangent
    found = dict(steps(space, points, 0.4, space.exp(0.2 * tangent)))
    assert list(found) == ["before", "centred", "scaled", "biased"]
    torch.testing.assert_close(found["biased"], layer(points), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(found["before"], points, rtol=0, atol=0)
    mean = space.mean(points)
    moved = space.untranslate(mean, points)
    torch.testing.assert_close(found["centred"], moved, rtol=1e-7, atol=1e-7)
    spread = space.squared_distance(space.identity(dtype=D), found["scaled"]).mean().sqrt()
    assert spread.item() == pytest.approx(0.4, rel=1e-3)


def test_geodesics_of_the_affine_invariant_metric_are_straight_in_the_disc(covariances):
    p, q = covariances[:2]
    line = disc_coordinates(groups.spd(2).geodesic(p, q, torch.linspace(0, 1, 9, dtype=D)))
    way = line[-1] - line[0]
    across = (line - line[0]) @ np.array([-way[1], way[0]])
    np.testing.assert_allclose(across, 0, atol=1e-12)
    assert (np.linalg.norm(line, axis=1) < 1).all()


def test_geodesics_go_to_the_limit_as_theta_goes_to_zero(covariances):
    thetas = (1.0, 0.5, 0.1, 0.01, 0.0)
    for metric in ("aim", "lcm"):
        axes = axes_of()
        names = {f"{theta}": groups.spd(2, metric, theta=theta) for theta in thetas}
        draw_geodesics(axes, names, covariances[0], covariances[1])
        lines = {line.get_label(): line.get_xydata() for line in axes.lines}
        gaps = [np.abs(lines[f"{t}"] - lines["0.0"]).max() for t in thetas]
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[3] < 0.15 * gaps[2]  # as θ itself, or faster
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(names)


def test_a_figure_has_a_row_for_each_space_and_a_column_for_each_batch(covariances, generator):
    rotations = groups.SO(3).random(4, generator=generator, dtype=D)
    rows = [
        ("a", draw_spd, [("one", covariances), ("two", covariances), ("three", covariances)]),
        ("b", draw_ellipses, [("one", covariances)]),
        ("c", draw_rotations, [("one", rotations)]),
    ]
    figure = panels(rows)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["a, one", "a, two", "a, three", "b, one", "c, one"]
    figure.draw_without_rendering()


def test_a_pair_is_before_and_after(covariances):
    figure = pair([("matrices", draw_spd, covariances, covariances[:3])])
    assert [axes.get_title() for axes in figure.axes] == ["matrices, before", "matrices, after"]
    counts = [len(axes.collections[0]._offsets3d[0]) for axes in figure.axes]
    assert counts == [7, 3]
