from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc


def test_a_part_depends_on_its_own_two_numbers_and_all_parts_add_up():
    task = rc.sum_of_parts(3, points=64)
    x, y = task.sample(jnp.zeros(1, int), jax.random.key(0))
    assert x.shape == (64, 6)
    assert y.shape == (64, 1)
    wanted = sum(np.sin(np.pi * (x[:, 2 * p] + c * x[:, 2 * p + 1])) for p, c in enumerate((-1.0, 0.0, 1.0)))
    assert np.allclose(y[:, 0], wanted * (2 / 3) ** 0.5, atol=1e-5)


def test_a_sum_of_no_parts_is_refused():
    with pytest.raises(ValueError, match="a part and a point"):
        rc.sum_of_parts(0)
