"""Tables of known bands: vertical, horizontal, none, and a constant one that looks like both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.bands import horizontal_share, table_rank, vertical_share


def test_bands_are_told_from_each_other_and_from_noise():
    rng = np.random.default_rng(0)
    vertical = np.broadcast_to(rng.normal(size=(5, 1, 32)), (5, 32, 32))
    assert vertical_share(vertical) == pytest.approx(1.0)
    assert horizontal_share(vertical) < 0.2
    assert horizontal_share(vertical.swapaxes(1, 2)) == pytest.approx(1.0)
    assert vertical_share(rng.normal(size=(5, 32, 32))) == pytest.approx(1 / 32, rel=0.2)


def test_a_constant_table_looks_like_both_and_an_empty_one_like_none():
    assert vertical_share(np.ones((2, 4, 4))) == horizontal_share(np.ones((2, 4, 4))) == pytest.approx(1.0)
    assert np.isnan(vertical_share(np.zeros((2, 4, 4))))


def test_rank_is_counted_for_each_value():
    assert table_rank(np.stack([np.ones((4, 4)), np.eye(4)])) == pytest.approx([1, 4])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_shares_lie_between_zero_and_one(seed):
    table = np.random.default_rng(seed).normal(size=(2, 3, 4))
    assert 0 <= vertical_share(table) <= 1
    assert vertical_share(table) == pytest.approx(horizontal_share(table.swapaxes(1, 2)))
