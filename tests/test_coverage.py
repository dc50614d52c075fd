"""What a split covers of nodes, pairs of neighbours and subgraphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import recombine as rc
from recombine.splits import coverage

NODES = arrays(np.int64, (6, 3), elements=st.integers(-1, 4))
MASK = arrays(bool, 6)


@given(NODES, MASK)
def test_counts_are_those_of_a_plain_loop(nodes, train):
    found = coverage.occurrences(nodes, train)
    for row, counts in zip(nodes, found, strict=True):
        for node, count in zip(row, counts, strict=True):
            assert count == (0 if node == rc.ABSENT else sum(node in other for other in nodes[train]))


@given(NODES, MASK, MASK)
def test_more_training_covers_no_less(nodes, train, more):
    assert coverage.covered(nodes, train | more) >= coverage.covered(nodes, train)
    assert np.all(coverage.seen_share(nodes, train | more) >= coverage.seen_share(nodes, train))
    assert np.all(coverage.seen_share(nodes, train)[train] == 1)


@given(NODES)
def test_pairs_have_one_number_exactly_if_both_nodes_agree(nodes):
    pairs, where = coverage.neighbours(nodes), np.stack([nodes[:, :-1], nodes[:, 1:]], axis=-1).reshape(-1, 2)
    for one, first in zip(pairs.ravel(), where, strict=True):
        for other, second in zip(pairs.ravel(), where, strict=True):
            if rc.ABSENT in first or rc.ABSENT in second:
                continue
            assert (one == other) == np.array_equal(first, second)
    assert np.array_equal(pairs.ravel() == rc.ABSENT, np.any(where == rc.ABSENT, axis=1))


@given(st.permutations(range(40)), st.integers(0, 2**32))
def test_a_choice_by_hash_does_not_depend_on_order_or_company(order, salt):
    rows = np.stack([np.arange(40), np.arange(40) % 7], axis=1)
    chosen = coverage.by_hash(rows, 0.3, salt)
    assert np.array_equal(coverage.by_hash(rows[order], 0.3, salt), chosen[order])
    assert np.array_equal(coverage.by_hash(rows[:9], 0.3, salt), chosen[:9])


def test_a_hash_chooses_its_share_and_another_salt_other_rows():
    rows = np.arange(20_000)
    one, other = (coverage.by_hash(rows, 0.2, salt) for salt in (0, 1))
    assert one.mean() == pytest.approx(0.2, abs=0.01)
    assert (one & other).mean() == pytest.approx(0.04, abs=0.01)
    assert not coverage.by_hash(rows, 0.0, 0).any()
    assert coverage.by_hash(rows, 1.0, 0).all()


def test_splits_that_compare_nothing_are_refused():
    rows = np.arange(4)[:, None]
    with pytest.raises(rc.UserError, match="all of 4 combinations contain"):
        coverage.withholding(rows, np.ones(4, bool))
    with pytest.raises(rc.UserError, match="none of 4 combinations contain"):
        coverage.withholding(rows, np.zeros(4, bool))
    with pytest.raises(rc.UserError, match="leaves no pair of functions covered"):
        coverage.need_covered(np.array([[5], [rc.ABSENT]]), np.array([False, True]), "pair of functions")
    with pytest.raises(ValueError, match="between 0 and 1"):
        coverage.by_hash(rows, 1.5, 0)
