from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import ABSENT, Record, Split, Task
from recombine.measures.error import mse
from recombine.measures.regression import r2_by_unit, r2_pooled


def grid(n: int) -> np.ndarray:
    return np.array([(x, y) for x in range(n) for y in range(n)])


def test_a_task_refuses_repeated_combinations():
    with pytest.raises(ValueError, match="distinct"):
        Task("twice", np.zeros((2, 2), int), lambda z, key: (z, z))


def test_a_record_refuses_arrays_of_unequal_length():
    with pytest.raises(ValueError, match="equally long"):
        Record(np.zeros((3, 2)), np.zeros((3, 1)), np.zeros((2, 1)), np.zeros((3, 1)))


@pytest.mark.parametrize(("y", "y_hat"), [((4,), (4, 1)), ((4, 1), (4,)), ((4, 2, 3), (4, 3, 3)), ((4, 2), (4, 1))])
def test_a_record_refuses_answers_that_would_broadcast(y, y_hat):
    with pytest.raises(ValueError, match="the same axes"):
        Record(np.zeros((4, 2)), np.zeros((4, 1)), np.zeros(y), np.zeros(y_hat))


def test_a_record_holds_logits_but_no_error_is_taken_of_them():
    record = Record(np.zeros((4, 2)), np.zeros((4, 1)), np.zeros((4, 8, 2), int), np.zeros((4, 8, 5)))
    for measure in (mse, r2_by_unit, r2_pooled):
        with pytest.raises(ValueError, match="of one shape"):
            measure(record)


def test_a_record_takes_lists_and_tensors():
    class Tensor:
        """As much of a PyTorch tensor as is needed: one that asks to be detached first."""

        def detach(self):
            return self

        def cpu(self):
            return np.ones((2, 1))

    record = Record([[0], [1]], [[0.0], [1.0]], Tensor(), [[1.0], [1.0]], {"layer": [[1.0], [2.0]]})  # pyrefly: ignore
    assert record.y.tolist() == record.y_hat.tolist()
    assert isinstance(record.acts["layer"], np.ndarray)


def test_a_k_hot_mask_is_covered_and_connected_by_its_active_modules():
    masks = np.array([(1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1)])
    chain = Split(masks, np.array([True, True, True, False]), absent=0)
    assert (chain.covers, chain.connected, chain.coverage(2)) == (True, True, 3 / 4)
    apart = Split(masks, np.array([True, False, True, False]), absent=0)
    assert (apart.covers, apart.connected) == (True, False)
    without = Split(masks, np.array([True, False, False, False]), absent=0)
    assert not without.covers


def test_only_worlds_that_are_trained_in_count():
    masks = np.array([(1, 0), (0, 1), (1, 1)])
    rows = np.array([(world, *mask) for world in range(2) for mask in masks])
    split = Split(rows, np.array([True, True, False, False, False, False]), absent=0, world=1)
    assert (split.covers, split.coverage(2)) == (True, 0.0)
    assert not Split(rows, split.train & (rows[:, 1] == 1), absent=0, world=1).covers


def test_a_split_must_be_one_boolean_a_combination():
    with pytest.raises(ValueError, match="boolean"):
        Split(grid(3), np.ones(9))


@given(st.lists(st.booleans(), min_size=16, max_size=16))
@settings(deadline=None, max_examples=40)
def test_no_combination_is_on_both_sides_and_coverage_falls_with_k(train):
    split = Split(grid(4), np.array(train))
    assert not (split.train & split.held_out).any()
    assert (split.train | split.held_out).all()
    assert 1.0 >= split.coverage(1) >= split.coverage(2) == np.mean(train)
    assert split.covers == (split.coverage(1) == 1.0)


def test_a_diagonal_covers_every_value_but_does_not_connect_them():
    diagonal = Split(grid(4), grid(4)[:, 0] == grid(4)[:, 1])
    assert diagonal.covers
    assert not diagonal.connected
    ring = Split(grid(4), (grid(4)[:, 0] - grid(4)[:, 1]) % 4 < 2)
    assert ring.covers
    assert ring.connected


def test_absent_parts_do_not_count_as_values():
    z = np.array([(0, 0), (1, 1), (0, ABSENT)])
    split = Split(z, np.array([False, False, True]))
    assert split.coverage(1) == 1 / 4
    assert split.coverage(2) == 0.0


def test_where_picks_the_same_examples_everywhere():
    record = Record(grid(2), np.arange(4.0), np.arange(4.0), np.arange(4.0), {"layer": np.arange(4.0)})
    part = record.where(np.array([True, False, False, True]))
    assert part.acts["layer"].tolist() == part.y.tolist() == [0.0, 3.0]
