"""R^2 on known answers: the truth, each task's own mean, noise of a known size, and a unit that is dead."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import Record
from recombine.measures.regression import r2_by_unit, r2_pooled


def made(y: np.ndarray, y_hat: np.ndarray) -> Record:
    return Record(np.zeros((len(y), 1)), y, y, y_hat)


@pytest.fixture
def y() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(50, 16, 4)) * [1, 1, 2, 5] + np.arange(50)[:, None, None] / 10


def test_the_truth_gets_one(y):
    assert r2_by_unit(made(y, y)) == r2_pooled(made(y, y)) == 1


def test_each_tasks_mean_gets_zero_by_unit_and_more_when_pooled(y):
    means = made(y, np.broadcast_to(y.mean(axis=1, keepdims=True), y.shape))
    assert r2_by_unit(means) == pytest.approx(0)
    assert 0.1 < r2_pooled(means) < 0.5


def test_the_mean_over_everything_gets_zero_pooled_and_less_by_unit(y):
    mean = made(y, np.broadcast_to(y.mean(axis=(0, 1)), y.shape))
    assert r2_pooled(mean) == pytest.approx(0)
    assert r2_by_unit(mean) < -0.5


def test_the_formula_by_hand():
    y = np.array([[[0.0, 0.0], [2.0, 4.0]]])  # variances 1 and 4
    record = made(y, y + np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert r2_by_unit(record) == pytest.approx(1 - (1 / 1 + 1 / 4) / 4)
    assert r2_pooled(record) == pytest.approx(1 - 2 / (2 + 8))


def test_units_weigh_alike_only_by_unit(y):
    """Wrong in one unit of small variance: a quarter is lost by unit, next to nothing pooled."""
    wrong = y.copy()
    wrong[:, :, 0] = y[:, :, 0].mean(axis=1, keepdims=True)
    assert r2_by_unit(made(y, wrong)) == pytest.approx(0.75)
    assert r2_pooled(made(y, wrong)) > 0.95


def test_a_dead_unit_does_not_outweigh_the_others(y):
    dead = y.copy()
    dead[3, :, 1] = 0.5
    off = np.zeros_like(y)
    off[3, :, 1] = 0.01
    assert r2_by_unit(made(dead, dead + off)) > 0.999
    assert np.isnan(r2_by_unit(made(np.ones((2, 3, 1)), np.ones((2, 3, 1)))))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-3, 3))
def test_units_of_measurement_do_not_matter(seed, scale, shift):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(6, 5, 3))
    y_hat = y + 0.3 * rng.normal(size=y.shape)
    for measure in (r2_by_unit, r2_pooled):
        assert measure(made(scale * y + shift, scale * y_hat + shift)) == pytest.approx(measure(made(y, y_hat)))


def test_examples_must_be_tasks():
    with pytest.raises(ValueError, match="three axes"):
        r2_by_unit(made(np.zeros((3, 2)), np.zeros((3, 2))))
