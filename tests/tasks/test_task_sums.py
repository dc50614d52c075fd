from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.tasks.sums import compositions, values


def test_a_part_depends_on_its_own_two_numbers_and_all_parts_add_up():
    task = rc.sum_of_parts(3, points=64)
    x, y = task.sample(jnp.asarray(task.combinations[0]), jax.random.key(0))
    assert x.shape == (64, 6)
    assert y.shape == (64, 1)
    wanted = sum(np.sin(np.pi * (x[:, 2 * p] + c * x[:, 2 * p + 1])) for p, c in enumerate((-1.0, 0.0, 1.0)))
    assert np.allclose(y[:, 0], wanted * (2 / 3) ** 0.5, atol=1e-5)


def test_two_parts_in_two_steps_are_one_function_of_two_functions():
    task = compositions((2, 4), (2,), points=512)
    x, y = task.sample(jnp.array([2, 2]), jax.random.key(1))
    assert np.all(np.asarray(x[:, 4:]) == 0)
    g1, g2 = (np.sin(np.pi * (x[:, 2 * p] + c * x[:, 2 * p + 1])) for p, c in enumerate((-1.0, 1.0)))
    assert np.allclose(y[:, 0], 2**0.5 * np.sin(np.pi / 2 * (g1 + g2)), atol=1e-5)


def test_targets_of_all_steps_vary_alike():
    task = compositions((2, 5), points=4096)
    for z in task.combinations:
        assert 0.8 < float(task.sample(jnp.asarray(z), jax.random.key(2))[1].var()) < 1.2


def test_the_third_step_reads_the_first_part_again():
    slopes = jax.jacobian(lambda x: values(x, 2)[0])(jnp.array([0.1, 0.2, 0.3, -0.2]))
    v, w = slopes[2], slopes[3]
    cos = jnp.abs(v @ w) / jnp.linalg.norm(v) / jnp.linalg.norm(w)
    assert cos < 0.99


def test_a_sum_of_no_parts_is_refused():
    with pytest.raises(ValueError, match="must be a whole number"):
        rc.sum_of_parts(0)
