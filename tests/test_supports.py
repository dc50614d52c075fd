"""Supports on the paper's own size, 16 modules of which up to 3 are active, against counts of the released code."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import Split, UserError
from recombine.splits import modules
from recombine.tasks.modules import masks

KEY = jax.random.key(1)
MASKS = masks(16, 3)
PAIRS = masks(10, 2)
# A support, how many masks it trains on, whether it covers and whether it connects the modules.
SIZES = {
    "random": (modules.random, 522, True, True),
    "equal": (modules.equal, 522, True, True),
    "popular": (modules.popular, 522, True, True),
    "unpopular": (modules.unpopular, 522, True, True),
    "disconnected": (modules.disconnected, 523, True, False),
    "non-compositional": (modules.non_compositional, 575, False, False),
}


@pytest.mark.parametrize(("support", "count", "covers", "connected"), SIZES.values(), ids=SIZES)
def test_a_support_has_the_papers_size_and_property(support, count, covers, connected):
    train = support(MASKS, 0.25, KEY)
    assert train.dtype == bool
    assert train.sum() == count
    assert modules.covers(MASKS, train) == covers
    assert modules.connected(MASKS, train) == connected
    assert np.array_equal(train, support(MASKS, 0.25, KEY))


def test_modules_are_used_as_often_as_in_the_paper():
    used = {name: modules.usage(MASKS, case[0](MASKS, 0.25, KEY)) for name, case in SIZES.items()}
    assert 70 < used["random"].min() < used["random"].max() < 112
    assert used["equal"].max() - used["equal"].min() <= 1
    assert used["popular"].tolist() == [121] * 6 + [76] + [75] * 9
    assert (used["unpopular"][:14].min(), used["unpopular"][:14].max()) == (96, 107)
    assert used["unpopular"][14:].tolist() == [52, 1]
    assert used["disconnected"][0] == 1
    assert used["disconnected"][1:].min() > 80
    assert used["non-compositional"].tolist() == [106] * 15 + [0]


@pytest.mark.parametrize("name", ["random", "equal", "disconnected"])
def test_chance_comes_from_the_key(name):
    first, other = (SIZES[name][0](MASKS, 0.25, jax.random.key(k)) for k in (1, 2))
    assert (first != other).any()


def test_a_cut_that_fits_no_share_holds_out_more():
    train = modules.disconnected(masks(8, 3), 0.25, KEY)
    assert (~train).sum() == 28
    assert modules.usage(masks(8, 3), train)[0] == 1


@pytest.mark.parametrize("held_out", [0.5, 0.9])
def test_a_larger_cut_is_made_where_it_fits(held_out):
    train = modules.disconnected(MASKS, held_out, KEY)
    assert (~train).sum() == pytest.approx(held_out * len(MASKS), abs=1)
    assert not modules.connected(MASKS, train)
    assert modules.covers(MASKS, train)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**31), st.floats(0.05, 0.8), st.sampled_from([(6, 2), (7, 3), (9, 4)]))
def test_equal_usage_is_always_reached(seed, held_out, size):
    family = masks(*size)
    train = modules.equal(family, held_out, jax.random.key(seed))
    used = modules.usage(family, train)
    assert train.sum() == len(family) - int(held_out * len(family))
    assert used.max() - used.min() <= 1


def test_equal_usage_is_reached_among_many_masks():
    family = masks(24, 5)
    used = modules.usage(family, modules.equal(family, 0.9, KEY))
    assert used.max() - used.min() <= 1


def test_balancing_needs_the_whole_family():
    with pytest.raises(UserError, match="missing"):
        modules.equal(np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]]), 0.0, KEY)


@pytest.mark.parametrize("support", [modules.random, modules.equal, modules.unpopular])
def test_too_few_masks_to_cover_the_modules_are_refused(support):
    with pytest.raises(UserError):
        support(MASKS, 0.995, KEY)
    with pytest.raises(ValueError, match="fraction"):
        support(MASKS, 1.0, KEY)


def test_ring_and_halves_differ_in_connection_and_can_be_asked_the_same():
    ring, halves, apart = (f(PAIRS) for f in (modules.ring, modules.halves, modules.apart))
    assert ring.sum() == halves.sum() == 30
    assert apart.sum() == 19
    assert not np.any(apart & (ring | halves))
    assert modules.connected(PAIRS, ring)
    assert modules.covers(PAIRS, halves)
    assert not modules.connected(PAIRS, halves)
    assert len(set(modules.usage(PAIRS, ring))) == len(set(modules.usage(PAIRS, halves))) == 1
    with pytest.raises(ValueError, match="pairs"):
        modules.ring(MASKS)


def test_a_support_parted_in_halves_covers_does_not_connect_and_leaves_no_module_rare():
    train = modules.parted(MASKS, 0.25, KEY)
    assert train.sum() == 2 * 92
    assert modules.covers(MASKS, train)
    assert not modules.connected(MASKS, train)
    assert set(modules.usage(MASKS, train)) == {1 + 7 + 21}


def test_coverage_counts_sets_of_modules_seen_together():
    family = masks(4, 2)
    train = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 1], bool)  # single modules, {0, 1} and {2, 3}
    assert modules.coverage(family, train, 1) == 1
    assert modules.coverage(family, train, 2) == pytest.approx(2 / 6)
    assert modules.coverage(family, train, 3) == 1  # there is none
    triples = modules.popular(MASKS, 0.25, KEY)
    assert modules.coverage(MASKS, triples, 3) == pytest.approx((560 - 120) / 560)
    assert modules.coverage(MASKS, triples, 2) == 1


def test_the_share_of_pairs_agrees_with_that_of_any_split():
    train = modules.unpopular(MASKS, 0.25, KEY)
    absent = Split(np.where(MASKS > 0, 1, -1), train)  # a module that is not in a mask is an absent part
    for k in (1, 2, 3):
        assert modules.coverage(MASKS, train, k) == pytest.approx(absent.coverage(k))


def test_a_teachers_rows_are_its_own():
    rows = np.column_stack([np.repeat([0, 1], 3), np.tile(np.eye(3, dtype=int), (2, 1))])
    assert modules.for_teacher(rows, 1, np.array([True, False, True])).tolist() == [False] * 3 + [True, False, True]
    with pytest.raises(ValueError, match="teacher 1 has 3"):
        modules.for_teacher(rows, 1, np.array([True]))
