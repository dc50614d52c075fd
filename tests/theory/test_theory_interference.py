from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory.interference import (
    LIPSCHITZ,
    centred,
    coherence,
    compounded_bound,
    compounded_cross_talk,
    cosines,
    cross_talk,
    interference,
    steepest,
    welch_bound,
)

ANGLES = np.pi / 2 + 2 * np.pi / 3 * np.arange(3)
MERCEDES = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
TINY = 1e-9
UNITS = {
    "cache": lambda z: z,
    "cos": np.cos,
    "gaussian": lambda z: 2 * np.exp(-(z**2)) - 1,
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: 2 / (1 + np.exp(-z)) - 1,
    "sin": np.sin,
    "tanh": np.tanh,
}
SEEDS = st.integers(0, 2**32 - 1)


def equiangular(count: int, mu: float) -> np.ndarray:
    """As many unit vectors as dimensions, every two of them with cosine mu."""
    return np.linalg.cholesky((1 - mu) * np.eye(count) + mu).T


def test_an_orthonormal_basis_has_no_coherence_and_no_welch_bound():
    assert coherence(np.eye(5)) == (0, 0)
    assert welch_bound(5, 5) == welch_bound(3, 5) == welch_bound(1, 1) == 0
    assert not cross_talk(np.eye(5)).any()


def test_three_evenly_spread_vectors_of_the_plane_meet_the_welch_bound():
    assert welch_bound(3, 2) == 0.5
    assert coherence(MERCEDES) == pytest.approx((0.5, 0.5))
    assert coherence(7 * MERCEDES) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("dimensions", [2, 3, 6])
def test_the_corners_of_a_simplex_meet_the_welch_bound(dimensions):
    corners = np.eye(dimensions + 1) - 1 / (dimensions + 1)
    assert welch_bound(dimensions + 1, dimensions) == pytest.approx(1 / dimensions)
    assert coherence(corners)[0] == pytest.approx(1 / dimensions)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(2, 20))
def test_no_random_vectors_are_below_the_welch_bound(seed, dimensions, count):
    vectors = np.random.default_rng(seed).normal(size=(dimensions, count))
    largest, mean = coherence(vectors)
    off = cosines(vectors)[~np.eye(count, dtype=bool)]
    bound = welch_bound(count, dimensions)
    assert largest >= bound - TINY
    assert np.sqrt(np.mean(off**2)) >= bound - TINY
    assert mean <= largest <= 1


def test_constant_units_are_left_out_and_means_do_not_count():
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)))
    maps = np.stack([x, np.ones_like(x), 3 + y, np.zeros_like(x), 1 + 1e-9 * x, 1e-9 * x * y], axis=1)
    kept = centred(maps)
    assert np.allclose(kept, np.stack([x, y, 1e-9 * x * y], axis=1))
    assert coherence(kept)[0] < 1e-6


def test_the_slope_of_no_unit_exceeds_its_lipschitz_constant_and_all_reach_it():
    z = np.linspace(-4, 4, 80_001)
    for name, unit in UNITS.items():
        slope = np.abs(np.diff(unit(z)) / np.diff(z)).max()
        assert slope == pytest.approx(LIPSCHITZ[name], rel=1e-6)
        assert np.abs(unit(np.linspace(-1, 1, 101))).max() <= 1
    assert UNITS.keys() == LIPSCHITZ.keys()
    assert steepest(["sigmoid", "gaussian", "sin"]) == pytest.approx(1.7155, abs=1e-4)
    assert steepest(["sigmoid"]) == 0.5


def test_cross_talk_is_what_the_other_read_outs_answer():
    features = np.array([[1.0, 3.0], [0.0, 4.0]])
    assert np.allclose(cross_talk(features), [[0, 0.6], [0.6, 0]])
    read_outs = np.array([[2.0, 0.0], [0.0, 5.0]])
    assert np.allclose(cross_talk(features, read_outs), [[0, 0.6], [0, 0]])


@settings(deadline=None)
@given(SEEDS, st.integers(2, 6))
def test_read_outs_that_solve_for_the_features_hear_nothing_else(seed, count):
    features = np.random.default_rng(seed).normal(size=(count + 3, count))
    assert np.allclose(cross_talk(features, np.linalg.pinv(features).T), 0, atol=1e-6)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 12))
def test_read_along_themselves_features_hear_no_more_than_the_coherence_allows(seed, dimensions, count):
    features = np.random.default_rng(seed).normal(size=(dimensions, count))
    answers, (mu, _) = cross_talk(features), coherence(features)
    assert answers.max() <= mu + TINY
    assert answers.sum(axis=1).max() <= (count - 1) * mu + TINY


def test_the_bound_is_its_formula_where_no_unit_is_steeper_than_one():
    assert compounded_bound(4, 0.2, np.ones(5)) == pytest.approx(1.6**5 - 1)
    assert compounded_bound(4, 0.2, [0.5]) == pytest.approx(0.5 * 0.6)
    assert compounded_bound([2, 3], [0.1, 0.2], [1, 2]) == pytest.approx(2 * (0.4 + 1.4 * 0.1))
    assert compounded_bound(9, 0, np.full(12, 1.7)) == compounded_bound(1, 1, [3, 3]) == 0


@pytest.mark.parametrize(("count", "mu", "depth"), [(2, 0.5, 1), (3, 0.2, 4), (6, 0.1, 9)])
def test_features_that_all_lean_the_same_way_reach_the_bound(count, mu, depth):
    frames, units = [equiangular(count, mu)] * depth, [UNITS["identity"]] * depth
    measured = compounded_cross_talk(frames, units, np.ones(count))
    assert measured == pytest.approx(compounded_bound(count, mu, np.ones(depth)), rel=1e-9)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 6), st.lists(st.sampled_from(sorted(UNITS)), min_size=1, max_size=6))
def test_no_measured_cross_talk_compounds_beyond_the_bound(seed, dimensions, count, names):
    random = np.random.default_rng(seed)
    frames = [random.normal(size=(dimensions, count)) for _ in names]
    values = random.uniform(-1, 1, (count, 20))
    measured = compounded_cross_talk(frames, [UNITS[n] for n in names], values)
    bound = compounded_bound(count, [coherence(f)[0] for f in frames], [LIPSCHITZ[n] for n in names])
    assert measured <= bound * (1 + TINY) + TINY


def test_features_at_right_angles_pass_any_depth_untouched():
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    values = np.linspace(-1, 1, 5)
    assert compounded_cross_talk([turned] * 9, [UNITS["gaussian"]] * 9, values) < 1e-9


def test_layers_say_whether_the_bound_is_respected_and_how_far_below_they_are():
    random = np.random.default_rng(0)
    flat = random.normal(size=(50, 2)) @ MERCEDES + 1
    spread = np.linalg.qr(centred(random.normal(size=(50, 4))))[0]
    dead = np.ones((50, 3))
    plain, free, none = interference([flat, spread, dead], [1.0, 2.0, 1.0])
    assert (plain.features, plain.dimensions) == (3, 2)
    assert plain.respected
    assert plain.welch == 0.5
    assert plain.largest >= plain.mean
    assert plain.compounded == pytest.approx(plain.bound)
    assert 0 <= plain.room < 1
    assert (free.features, free.dimensions, free.welch) == (4, 4, 0)
    assert free.largest < 1e-6
    assert free.compounded == pytest.approx(2 * plain.compounded)
    assert (none.features, none.largest, none.received, none.room, none.respected) == (0, 0, 0, 1, True)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_every_layer_of_random_maps_respects_the_bounds(seed, hidden, widths):
    random = np.random.default_rng(seed)
    layers = [random.normal(size=(40, hidden)) @ random.normal(size=(hidden, width)) for width in widths]
    for layer, width in zip(interference(layers), widths, strict=True):
        assert layer.features == width
        assert layer.dimensions <= min(hidden, width)
        assert layer.respected
        assert layer.received <= layer.bound + TINY
        assert -TINY <= layer.room <= 1


def test_a_layer_of_equal_maps_has_no_room():
    (layer,) = interference([np.random.default_rng(0).normal(size=(30, 1)) * np.array([1.0, -2.0, 3.0])])
    assert (layer.features, layer.dimensions) == (3, 1)
    assert (layer.largest, layer.mean, layer.welch) == pytest.approx((1, 1, 1))
    assert layer.room == pytest.approx(0, abs=1e-9)
    assert layer.respected


def test_input_that_makes_no_sense_is_refused_in_one_line():
    with pytest.raises(ValueError, match="0 dimensions"):
        welch_bound(3, 0)
    with pytest.raises(ValueError, match="length 0"):
        coherence(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"finite columns .* \(3,\)"):
        centred(np.ones(3))
    with pytest.raises(ValueError, match="finite columns"):
        coherence(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="do not fit"):
        cross_talk(np.eye(3), np.ones((3, 2)))
    with pytest.raises(ValueError, match="own feature"):
        cross_talk(np.eye(2), np.eye(2)[::-1])
    with pytest.raises(ValueError, match="coherence in"):
        compounded_bound(3, 1.5, [1])
    with pytest.raises(ValueError, match="softplus"):
        steepest(["sin", "softplus"])
