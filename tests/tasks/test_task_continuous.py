from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine.core import ABSENT
from recombine.encodings.position import local_bump, one_hot, rate
from recombine.tasks.bumps import bumps
from recombine.tasks.continuous import bumps_at, continuous_bumps

SIZE = 8


def test_positions_fill_their_cell_and_code_and_picture_move_together():
    task = continuous_bumps(SIZE, rate(flag=False))
    x, y = jax.jit(jax.vmap(task.sample, in_axes=(None, 0)))(np.array([2, 5]), jax.random.split(jax.random.key(0), 200))
    x = np.asarray(x)
    offsets = x - [2, 5]
    assert np.all(np.abs(offsets) <= 0.5)
    assert np.all(offsets.min(axis=0) < -0.45)
    assert np.all(offsets.max(axis=0) > 0.45)
    row, column = np.arange(SIZE)[:, None], np.arange(SIZE)
    wanted = np.exp(-((column - x[0, 0]) ** 2 + (row - x[0, 1]) ** 2) / 2)
    assert np.allclose(y[0], wanted, atol=1e-6)


def test_the_cells_are_those_of_the_grid():
    assert np.array_equal(
        continuous_bumps(SIZE, local_bump(SIZE)).combinations, bumps(SIZE, local_bump(SIZE)).combinations
    )


def test_an_absent_part_stays_absent():
    x, y = jax.jit(continuous_bumps(SIZE, local_bump(SIZE)).sample)(np.array([3, ABSENT]), jax.random.key(0))
    assert np.all(x[SIZE:] == 0)
    assert np.allclose(y, y[:1])


def test_a_discontinuous_code_is_refused():
    with pytest.raises(ValueError, match="smooth"):
        continuous_bumps(SIZE, one_hot(SIZE))


def test_bumps_at_places_are_the_same_whenever_they_are_shown():
    task = bumps_at(np.array([[2.3, 4.0], [5.0, ABSENT]], np.float32), SIZE, rate(flag=False))
    (x, y), (again, _) = (task.sample(task.combinations[0], jax.random.key(i)) for i in range(2))
    assert np.array_equal(x, again)
    assert np.allclose(x, [2.3, 4.0])
    row, column = np.arange(SIZE)[:, None], np.arange(SIZE)
    assert np.allclose(y, np.exp(-((column - 2.3) ** 2 + (row - 4.0) ** 2) / 2), atol=1e-6)
    _, stripe = task.sample(task.combinations[1], jax.random.key(0))
    assert np.allclose(stripe, stripe[:1])
