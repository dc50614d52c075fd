"""Measures of pictures and maps on known answers: plain, striped and noisy, even and odd, copied and shared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.cppn.measures import (
    additive_shares,
    change_ratio,
    change_zip,
    distinct,
    distinct_share,
    even_share,
    luminance,
    map_zip,
    mutual_information,
    parity_purity,
    participation_ratio,
    picture_rank,
    picture_zip,
    redundancy,
    symmetry_kept,
    varying,
    zip_size,
)

SIZE = 32
T = np.linspace(-1, 1, SIZE)
Y, X = np.meshgrid(T, T, indexing="ij")
NOISE = np.random.default_rng(0).uniform(0, 1, (SIZE, SIZE))
seeds = st.integers(0, 10**6)


def test_white_is_bright_and_green_looks_brighter_than_blue():
    assert luminance(np.ones(3)) == pytest.approx(1)
    assert np.allclose(luminance(np.eye(3)), [0.299, 0.587, 0.114])
    assert luminance(np.zeros((2, 5, 3))).shape == (2, 5)


def test_noise_takes_a_byte_a_pixel_and_a_plain_picture_next_to_none():
    plain, stripes, noise = picture_zip(np.stack([np.full((SIZE, SIZE), 0.3), (X > 0) * 0.8, NOISE]))
    assert plain < stripes < 0.1
    assert noise > 0.95
    assert picture_zip(NOISE) == noise


def test_rounding_below_a_level_costs_nothing():
    """A change that is mere rounding compresses like no change at all, for zero is a level."""
    rounding = 1e-6 * (NOISE - 0.5)
    assert zip_size(rounding, -1, 1) == zip_size(np.zeros((SIZE, SIZE)), -1, 1)
    assert change_zip(rounding[None]) < 0.03


def test_values_out_of_range_are_cut():
    assert zip_size(5 + NOISE, 0, 1) == zip_size(np.ones((SIZE, SIZE)), 0, 1)


def test_the_ratio_of_a_change_to_the_picture():
    """A noisy change costs about as much as the picture, a plain one next to nothing, and both together their mean."""
    picture = 0.5 + 0.5 * np.sin(5 * X * Y + Y)
    noise, step = change_zip(np.stack([NOISE - 0.5] * 2)), change_zip(0.1 * (X > 0)[None])
    noisy, plain = change_ratio(noise, picture), change_ratio(step, picture)
    assert plain < 0.1
    assert noisy > 0.8
    both = change_ratio(np.append(noise[:1], step), picture)
    assert both == pytest.approx((noisy + plain) / 2)
    assert np.isnan(change_ratio(np.array([]), picture))


def test_a_map_is_standardised_before_it_is_compressed():
    wave = np.sin(4 * X + Y)
    assert map_zip(wave) == map_zip(7 + 100 * wave) == map_zip(wave / 1000)
    assert map_zip(np.full((SIZE, SIZE), 1.0)) < 0.03
    assert map_zip(X) < map_zip(wave) < map_zip(NOISE)


def test_even_and_odd_pictures_have_their_shares():
    assert even_share(np.stack([X**2, np.abs(X) + Y, X, X * Y**2])) == pytest.approx([1, 1, 0, 0])
    assert even_share(5 + X**2 * Y) == pytest.approx(1)
    assert parity_purity(np.stack([X**2, X])) == pytest.approx([1, 1])
    assert parity_purity(X / X.std() + Y / Y.std()) == pytest.approx(0.5)
    assert np.isnan(even_share(np.ones((4, 4))))


@given(seeds, st.floats(-3, 3))
@settings(max_examples=25, deadline=None)
def test_a_mirror_swaps_nothing_and_odd_parts_add_up(seed, offset):
    m = np.random.default_rng(seed).normal(size=(6, 7))
    assert even_share(m[:, ::-1] + offset) == pytest.approx(even_share(m))
    odd = (m - m[:, ::-1]) / 2
    centred = m - m.mean()
    assert even_share(m) + np.sum(odd**2) / np.sum(centred**2) == pytest.approx(1)
    assert 0.5 <= parity_purity(m) <= 1


def test_symmetry_is_kept_by_an_even_change_and_lost_by_an_odd_one():
    picture = 1 - X**2
    kept = symmetry_kept(np.stack([picture + 0.1 * Y, picture + X, picture]), picture)
    assert kept[0] == pytest.approx(1)
    assert kept[2] == pytest.approx(1)
    assert kept[1] < 0.5


def test_a_picture_tells_all_of_itself_and_of_its_negative_and_nothing_of_noise():
    other = np.random.default_rng(1).uniform(0, 1, (256, 256))
    noise = np.random.default_rng(2).uniform(0, 1, (256, 256))
    assert mutual_information(other, other) == pytest.approx(1)
    assert mutual_information(other, 1 - other) == pytest.approx(1)
    assert mutual_information(other, noise) < 0.01
    assert mutual_information(noise, other) == pytest.approx(mutual_information(other, noise))
    assert np.isnan(mutual_information(np.ones((3, 3)), np.ones((3, 3))))


def test_a_product_of_one_row_and_one_column_has_rank_one():
    two = np.zeros((4, 4))
    two[0, 0] = two[3, 3] = 2.0
    assert picture_rank(np.stack([np.outer(T, T**2)])) == pytest.approx([1])
    assert picture_rank(two) == pytest.approx(2)


MAPS = np.stack([X, 2 * X + 1, -X, np.ones_like(X), Y, X**2, 1 + 1e-6 * Y, X**2 + 1e-3 * Y])
VARYING = [True, True, True, False, True, True, False, True]
"""Copies of x, a constant, y, a parabola, what is constant but for rounding, and the parabola nearly."""


def test_constant_units_are_left_out():
    assert varying(MAPS).tolist() == VARYING


def test_copies_are_counted_once_and_inputs_not_at_all():
    assert distinct(MAPS).tolist() == [True, False, False, False, True, True, False, False]
    assert distinct_share(MAPS) == pytest.approx(3 / 6)
    inputs = np.stack([X, Y, np.ones_like(X)])
    assert distinct(MAPS, inputs).tolist() == [False, False, False, False, False, True, False, False]
    assert distinct_share(MAPS, inputs) == pytest.approx(1 / 6)
    assert distinct_share(np.stack([X, Y, X**2, X * Y])) == 1
    assert np.isnan(distinct_share(np.ones((3, 4, 4))))


def test_a_sum_of_rows_and_columns_is_additive_and_a_product_is_not():
    shares = additive_shares(np.stack([X, X + 2 * Y**2, X * Y, X + X * Y]))
    assert shares[:3] == pytest.approx([1, 1, 0], abs=1e-9)
    assert shares[3] == pytest.approx(np.mean(X**2) / (np.mean(X**2) + np.mean((X * Y) ** 2)))


def test_redundancy_is_the_mean_correlation_of_pairs():
    assert redundancy(np.stack([X, Y])) == pytest.approx(0)
    assert redundancy(np.stack([X, -3 * X])) == pytest.approx(1)
    assert redundancy(np.stack([X, -X, Y, np.ones_like(X)])) == pytest.approx(1 / 3)
    assert np.isnan(redundancy(np.stack([X, np.ones_like(X)])))


def test_columns_count_by_direction_not_by_length():
    assert participation_ratio(np.diag([1.0, 20.0, 0.3])) == pytest.approx(3)
    assert participation_ratio(np.outer([1.0, 2.0], [3.0, -1.0, 0.5])) == pytest.approx(1)
    assert participation_ratio(np.array([[1.0, 0.0, 5.0], [0.0, 0.0, 0.0]])) == pytest.approx(1)
    assert np.isnan(participation_ratio(np.zeros((3, 2))))


@given(seeds, st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_as_many_directions_as_columns_at_most(seed, columns):
    draw = np.random.default_rng(seed)
    found = participation_ratio(draw.normal(size=(20, columns)))
    assert 1 - 1e-9 <= found <= columns + 1e-9
