"""Units of known tuning: to x, to y, to both added, to one place, and to nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.additive import additive_share
from recombine.measures.anova import anova_energies
from recombine.measures.tuning import bump_index, stripe_index, tuning_curves, tuning_shares


@pytest.fixture(scope="module")
def units() -> np.ndarray:
    """[x, y, unit]: answers to x, to y, to x + y, to one cell, to nothing."""
    x, y = np.meshgrid(np.arange(10.0), np.arange(10.0), indexing="ij")
    return np.stack([x, y, x + y, (x == 4) & (y == 5), np.ones((10, 10))], axis=-1)


def test_indices_tell_stripes_from_sums_and_bumps(units):
    tuning = tuning_shares(units)
    assert stripe_index(tuning)[:4] == pytest.approx([1, 1, 0, 0])
    assert bump_index(tuning)[:4] == pytest.approx([0, 0, 0, 81 / 99])
    assert np.isnan([share[4] for share in tuning]).all()


def test_curves_average_the_other_part_out(units):
    along_x, along_y = tuning_curves(units)
    assert along_x[:, 0] == pytest.approx(np.arange(10))
    assert along_y[:, 0] == pytest.approx(4.5)
    assert along_x.shape == along_y.shape == (10, 5)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_shares_add_up_to_one_and_average_to_the_additive_share(seed):
    acts = np.random.default_rng(seed).normal(size=(4, 3, 2, 5))
    tuning = tuning_shares(acts)
    assert tuning.x.shape == (2, 5)
    assert np.allclose(sum(tuning), 1)
    variances = sum(v for parts, v in anova_energies(acts).items() if parts)
    assert np.average(bump_index(tuning), weights=variances) == pytest.approx(1 - additive_share(acts))
