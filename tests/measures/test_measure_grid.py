"""A grid is laid out [first part, second part, ...], whatever the order of the examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import ABSENT, Record
from recombine.measures.grid import grid_order, on_grid


def _record(z: np.ndarray) -> Record:
    empty = np.zeros((len(z), 1))
    return Record(z, empty, empty, empty)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_the_examples_does_not_matter(sizes, random):
    z = np.indices(sizes).reshape(len(sizes), -1).T
    rows = list(range(len(z)))
    random.shuffle(rows)
    record = _record(z[rows])
    laid = on_grid(record, record.z)
    assert laid.shape == (*sizes, len(sizes))
    assert np.array_equal(laid, np.moveaxis(np.indices(sizes), 0, -1))


def test_x_comes_first_unlike_in_pictures(perfect):
    laid = on_grid(perfect, perfect.y)
    assert laid.shape == (16, 16, 16, 16)
    assert np.unravel_index(laid[2, 5].argmax(), (16, 16)) == (5, 2)


def test_values_need_not_start_at_zero():
    assert grid_order(np.array([[7, 3], [5, 3]]))[1] == (2, 1)


@pytest.mark.parametrize("z", [[[0, 0], [0, 1], [1, 0]], [[0, 0], [0, 0]], [[0, ABSENT], [1, ABSENT]]])
def test_what_does_not_fill_a_grid_is_refused(z):
    with pytest.raises(ValueError, match="do not fill a grid"):
        grid_order(np.array(z))
