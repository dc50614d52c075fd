from __future__ import annotations

from itertools import product
from math import comb, exp, factorial, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory.volume import (
    DEPTHS,
    PURE,
    SPARSE,
    WIDTHS,
    drawn_volume_ratio,
    log_volume_ratio,
    surjections,
    sweet_spot,
    volume_ratios,
)

COUNTINGS = pytest.mark.parametrize("counting", [PURE, SPARSE], ids=["pure", "sparse"])


def all_layers(counting, width: int, primitives: int) -> np.ndarray:
    """Every wiring of one layer (wirings, W, P), spelled out."""
    sets = np.array([s for s in product([False, True], repeat=primitives) if sum(s) >= counting.fewest])
    return sets[np.array(list(product(range(len(sets)), repeat=width)))]


@pytest.mark.parametrize(
    ("width", "depth", "ratio"), [(3, 1, 1.75e-2), (4, 1, 1.50e-2), (6, 1, 4.6e-3), (3, 2, 3.1e-4), (6, 2, 2.1e-5)]
)
def test_the_ratio_has_its_known_values(width, depth, ratio):
    assert exp(log_volume_ratio(PURE, width, depth)) == pytest.approx(ratio, rel=0.02)


@COUNTINGS
@pytest.mark.parametrize(("width", "primitives"), [(1, 1), (3, 1), (2, 2), (4, 2), (1, 3), (2, 3), (3, 3), (4, 3)])
def test_counting_every_wiring_one_by_one_gives_the_formula(counting, width, primitives):
    layers = all_layers(counting, width, primitives)
    good = int(counting.holds(layers).sum())
    assert len(layers) == (2**primitives - counting.fewest) ** width
    assert good == counting.count(width, primitives)
    if good:
        found = log_volume_ratio(counting, width, 2, primitives=primitives)
        assert found == pytest.approx(2 * log(good / len(layers)), abs=1e-12)


def test_the_sparse_count_is_a_binomial_times_the_orders():
    for width in WIDTHS:
        exact = log(comb(width, 3) * factorial(3)) - 3 * width * log(2)
        assert log_volume_ratio(SPARSE, width, 1) == pytest.approx(exact, rel=1e-12)


@given(st.integers(1, 40), st.integers(2, 6))
def test_surjections_onto_p_follow_from_those_of_one_unit_less(width, primitives):
    less = surjections(width, primitives) + surjections(width, primitives - 1)
    assert surjections(width + 1, primitives) == primitives * less


@COUNTINGS
@pytest.mark.parametrize(
    ("width", "depth", "primitives"), [(2, 1, 2), (3, 1, 2), (3, 1, 3), (4, 1, 3), (6, 1, 3), (3, 2, 3), (6, 2, 3)]
)
def test_drawn_wirings_agree_with_the_count_within_three_standard_errors(counting, width, depth, primitives):
    exact = exp(log_volume_ratio(counting, width, depth, primitives=primitives))
    drawn, error = drawn_volume_ratio(counting, width, depth, primitives=primitives)
    assert abs(drawn - exact) <= 3 * error
    assert error < 2e-3


def test_drawing_the_wrong_wirings_would_be_noticed():
    drawn, error = drawn_volume_ratio(PURE, 4, 1)
    assert abs(drawn - exp(log_volume_ratio(SPARSE, 4, 1))) > 10 * error


def test_a_ratio_of_no_hits_keeps_an_error_and_equal_seeds_draw_alike():
    drawn, error = drawn_volume_ratio(PURE, 2, 1, draws=100)
    assert drawn == 0
    assert error > 0
    assert drawn_volume_ratio(PURE, 3, 1, draws=1000, seed=4) == drawn_volume_ratio(PURE, 3, 1, draws=1000, seed=4)
    assert drawn_volume_ratio(PURE, 3, 1, draws=1000, seed=4) != drawn_volume_ratio(PURE, 3, 1, draws=1000, seed=5)


def test_many_units_are_drawn_in_turn_and_all_draws_count():
    drawn, error = drawn_volume_ratio(PURE, 8, 600, primitives=1, draws=1001)
    assert drawn == 1
    assert 0 < error < 1e-2


@COUNTINGS
def test_the_map_is_finite_falls_in_width_and_depth_and_does_not_overflow(counting):
    ratios = volume_ratios(counting)
    assert ratios.shape == (len(WIDTHS), len(DEPTHS))
    assert np.all(np.isfinite(ratios))
    assert np.all(np.diff(ratios, axis=0) < 0)
    assert np.all(np.diff(ratios, axis=1) < 0)
    assert np.all(np.diff(volume_ratios(counting, range(3, 40), [1]), axis=0) < 0)


def test_the_largest_network_of_the_map_is_exact():
    exact = 9 * log(surjections(192, 3) / 7**192)
    assert log_volume_ratio(PURE, 192, 9) == pytest.approx(exact, rel=1e-12)
    assert volume_ratios(PURE, list(np.array([192])), list(np.array([9])))[0, 0] == pytest.approx(exact, rel=1e-12)


@COUNTINGS
@given(st.integers(1, 6), st.integers(0, 60), st.integers(1, 9))
def test_the_ratio_is_a_share_that_never_rises_with_a_unit_or_a_layer(counting, primitives, more, depth):
    width = primitives + more
    here = log_volume_ratio(counting, width, depth, primitives=primitives)
    tiny = 1e-9
    assert -inf < here <= tiny
    assert log_volume_ratio(counting, width + 1, depth, primitives=primitives) <= here + tiny
    assert log_volume_ratio(counting, width, depth + 1, primitives=primitives) <= here + tiny


@COUNTINGS
@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(1, 9))
def test_fewer_units_than_primitives_carry_nothing(counting, primitives, depth):
    for width in range(1, primitives):
        assert log_volume_ratio(counting, width, depth, primitives=primitives) == -inf
    assert log_volume_ratio(counting, primitives, depth, primitives=primitives) > -inf


@COUNTINGS
@pytest.mark.parametrize("steps", [1, 4, 9])
def test_fewer_layers_than_steps_carry_nothing_and_the_smallest_network_that_can_is_best(counting, steps):
    ratios = volume_ratios(counting, (1, 2, *WIDTHS), DEPTHS, steps=steps)
    assert np.all(ratios[:, : steps - 1] == -inf)
    assert np.all(ratios[:2] == -inf)
    assert np.all(ratios[2:, steps - 1 :] > -inf)
    assert sweet_spot(ratios, (1, 2, *WIDTHS), DEPTHS) == (3, steps)


def test_sizes_that_are_none_are_refused_in_one_line():
    with pytest.raises(ValueError, match=r"width must be a whole number of at least 1, got 0"):
        log_volume_ratio(PURE, 0, 1)
    with pytest.raises(ValueError, match=r"depth must be .* got 1\.5"):
        volume_ratios(PURE, [3], list(np.array([1.5])))
    with pytest.raises(ValueError, match="draws must be"):
        drawn_volume_ratio(PURE, 3, 1, draws=0)
    with pytest.raises(ValueError, match="no ratio above 0"):
        sweet_spot(volume_ratios(PURE, (1, 2), (1, 2)), (1, 2), (1, 2))
    with pytest.raises(ValueError, match="no ratio above 0"):
        sweet_spot(volume_ratios(PURE), (3, 6))
