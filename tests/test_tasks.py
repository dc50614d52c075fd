from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.tasks.bumps import intensity


def pictures(task: rc.Task) -> rc.Record:
    return rc.truth(task, task.combinations, key=jax.random.key(0))


def test_a_bump_peaks_at_its_cell_and_nowhere_else():
    record = pictures(rc.bumps(8, rc.local_bump(8)))
    assert rc.peak_accuracy(record) == 1.0
    assert np.allclose(record.y.max(axis=(1, 2)), 1.0)


def test_x_runs_along_columns():
    task = rc.bumps(8, rc.one_hot(8))
    _, y = task.sample(jnp.array([6, 1]), jax.random.key(0))
    assert np.unravel_index(int(np.argmax(y)), y.shape) == (1, 6)


def test_an_empty_answer_has_the_error_that_the_width_of_a_bump_predicts():
    record = pictures(rc.bumps(28, rc.one_hot(28)))
    centre = record.where(rc.interior(rc.square(record.z, 6, 22), 0))
    blank = centre.answering(np.zeros_like(centre.y))
    assert rc.mse(blank) == pytest.approx(np.pi / 28**2, rel=1e-3)
    assert rc.nmse(blank) == pytest.approx(1.0)


def test_dark_is_one_minus_bright():
    bright, dark = (pictures(rc.bumps(8, rc.one_hot(8), dark=d)) for d in (False, True))
    assert np.allclose(bright.y + dark.y, 1.0)
    assert np.allclose(intensity(dark.y, dark=True), bright.y, atol=1e-6)


def test_a_stripe_is_a_bump_without_its_other_coordinate():
    task = rc.stripes(rc.bumps(8, rc.local_bump(8)))
    x, y = task.sample(jnp.array([3, rc.ABSENT]), jax.random.key(0))
    assert np.allclose(x[8:], 0.0)
    assert np.allclose(y, y[:1])
    assert np.argmax(y[0]) == 3
    assert len(task.combinations) == 64 + 16
