from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory.sparsity import effective_depth, fan_in, inputs_reaching, live_links, live_units, sparsity

TREE = [np.kron(np.eye(2), np.ones((2, 1))), np.ones((2, 1))]
"""y = g3(g1(x1, x2), g2(x3, x4))."""

LEAKY = [
    np.array([[1.0, 0.0, 0.0, 0.0], [0.5, -1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]),
    np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 0.0]]),
    np.array([[1.0], [1.0]]),
]
"""Inputs 0 and 1 reach the output through one unit a layer; the other units are not heard or not fed."""


@st.composite
def wirings(draw):
    """Links drawn at random, with weights above 0 so that no two paths cancel."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.2, 0.5, 0.9]))
    return [random.uniform(0.5, 1, s) * (random.uniform(size=s) < share) for s in pairwise(sizes)]


def chain(matrices) -> np.ndarray:
    return matrices[0] if len(matrices) == 1 else np.linalg.multi_dot(matrices)


def test_a_binary_tree_is_sparse_at_every_step():
    assert [list(u) for u in live_units(TREE)] == [[True] * 4, [True] * 2, [True]]
    assert [list(n) for n in inputs_reaching(TREE)] == [[2, 2], [4]]
    assert list(fan_in(TREE)) == [2, 2, 2]
    assert sparsity(TREE, few=2)["few_parents"] == 1
    assert effective_depth(TREE) == 2


@pytest.mark.parametrize("depth", [1, 3])
def test_a_dense_network_is_not(depth):
    dense = [np.ones((6, 6))] * depth
    row = sparsity(dense)
    assert (row["few_parents"], row["fan_in"], row["inputs_each"], row["depth"]) == (0, 6, 6, depth)
    assert (row["live_units"], row["live_links"]) == (6 * depth, 36 * depth)


def test_units_that_are_not_fed_or_not_heard_do_not_count():
    live = live_units(LEAKY)
    assert [list(u) for u in live] == [[True, True, False], [True, False, False, False], [True, False], [True]]
    assert [list(n) for n in inputs_reaching(LEAKY)] == [[2, 0, 0, 0], [2, 0], [2]]
    assert list(fan_in(LEAKY)) == [2, 1, 1]
    assert sparsity(LEAKY, few=1)["few_parents"] == pytest.approx(2 / 3)
    assert sparsity(LEAKY)["live_links"] == 4


def test_copies_are_no_steps_but_a_marked_unit_with_two_parents_is_one():
    marks = [np.ones(4, bool), np.ones(2, bool), np.ones(1, bool)]
    assert effective_depth(LEAKY, marks) == 1
    assert list(fan_in(LEAKY, marks)) == [2]
    assert sparsity(LEAKY, marks)["steps"] == 1
    assert effective_depth([np.eye(2)] * 4, [np.ones(2, bool)] * 4) == 0


def test_depth_is_that_of_the_longest_path_where_a_copy_is_a_short_cut():
    around = [np.array([[1.0, 1.0]]), np.eye(2), np.array([[1.0], [1.0]])]
    marks = [np.array([True, False]), np.array([True, False]), np.array([False])]
    assert effective_depth(around, marks) == 3
    assert list(fan_in(around, marks)) == [1, 1, 2]


def test_a_cut_network_has_no_depth_and_no_shares():
    cut = [np.ones((3, 2)), np.zeros((2, 2)), np.ones((2, 1))]
    row = sparsity(cut)
    assert (row["live_units"], row["live_links"], row["steps"], row["depth"]) == (0, 0, 0, 0)
    assert np.isnan([row["fan_in"], row["few_parents"], row["inputs_each"]]).all()
    assert not any(u.any() for u in live_units(cut))


@settings(deadline=None)
@given(wirings())
def test_what_is_not_live_can_go_without_a_change_of_the_output(wiring):
    kept = [w * link for w, link in zip(wiring, live_links(wiring), strict=True)]
    assert np.allclose(chain(kept), chain(wiring))
    assert [list(u) for u in live_units(kept)] == [list(u) for u in live_units(wiring)]
    assert effective_depth(wiring) == (len(wiring) if chain(wiring).any() else 0)


@settings(deadline=None)
@given(wirings())
def test_inputs_that_reach_an_output_are_those_that_move_it(wiring):
    assert np.array_equal(inputs_reaching(wiring)[-1], (chain(wiring) > 0).sum(axis=0))
    for counts, live in zip(inputs_reaching(wiring), live_units(wiring)[1:], strict=True):
        assert np.array_equal(counts > 0, live)


@settings(deadline=None)
@given(wirings(), st.integers(0, 2**32 - 1))
def test_the_order_and_the_sizes_of_weights_do_not_matter(wiring, seed):
    random = np.random.default_rng(seed)
    orders = [random.permutation(len(w)) for w in wiring] + [np.arange(wiring[-1].shape[1])]
    turned = [-w[np.ix_(a, b)] for w, a, b in zip(wiring, orders[:-1], orders[1:], strict=True)]
    for key, value in sparsity(wiring).items():
        assert sparsity(turned)[key] == pytest.approx(value, nan_ok=True)


def test_wirings_that_do_not_fit_are_refused_in_one_line():
    with pytest.raises(ValueError, match=r"do not follow"):
        live_units([np.ones((2, 3)), np.ones((2, 1))])
    with pytest.raises(ValueError, match="one matrix a layer"):
        live_units([])
    with pytest.raises(ValueError, match="one matrix a layer"):
        sparsity([np.ones(3)])
    with pytest.raises(ValueError, match="not a number"):
        fan_in([np.array([[np.nan]])])
    with pytest.raises(ValueError, match="do not fit 2 layers"):
        effective_depth(TREE, [np.ones(2, bool)])
