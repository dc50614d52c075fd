"""Known answers: quadratic losses, linear maps, and what ties the two together."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from recombine.theory.flatness import hessian_trace, noise_sensitivity, relative, there

KEY = jax.random.key(0)


def quadratic(matrix: np.ndarray):
    return lambda w: 0.5 * w["a"] @ matrix @ w["a"]


def test_the_trace_of_a_diagonal_quadratic_is_exact_from_one_probe_on():
    diagonal = np.array([3.0, -1.0, 0.5, 2.0])
    found, error = hessian_trace(quadratic(np.diag(diagonal)), *scaled(there, np.ones(4)), KEY, probes=2)
    assert np.isclose(found, diagonal.sum(), atol=1e-5)
    assert error < 1e-5


def test_the_trace_of_any_quadratic_is_within_its_error():
    root = np.random.default_rng(0).normal(size=(20, 20))
    matrix = (root @ root.T).astype(np.float32)
    found, error = hessian_trace(quadratic(matrix), *scaled(there, np.ones(20)), KEY, probes=400)
    assert abs(found - np.trace(matrix)) < 4 * error < 0.2 * np.trace(matrix)


def test_weights_that_are_not_there_do_not_count_and_relative_moves_are_squared():
    diagonal = np.array([1.0, 10.0, 100.0])
    weights = np.array([2.0, 0.0, -1.0])
    absolute, _ = hessian_trace(quadratic(np.diag(diagonal)), *scaled(there, weights), KEY)
    own, _ = hessian_trace(quadratic(np.diag(diagonal)), *scaled(relative, weights), KEY)
    assert np.isclose(absolute, 101, rtol=1e-5)
    assert np.isclose(own, 4 * 1 + 1 * 100, rtol=1e-5)


def test_noise_in_the_weights_of_a_linear_map_shows_as_its_squared_entries():
    matrix = np.random.default_rng(1).normal(size=(30, 5)).astype(np.float32)
    for scale, weights in ((there, np.ones(5)), (relative, np.arange(5.0))):
        params, moves = scaled(scale, weights)
        wanted = ((matrix * np.asarray(moves["a"])) ** 2).sum() / 30
        for sigma in (0.01, 1.0):
            found = noise_sensitivity(lambda w: matrix @ w["a"], params, moves, KEY, sigma=sigma, draws=4000)
            assert np.isclose(found, wanted, rtol=0.1)


def test_at_no_error_the_trace_is_twice_the_sensitivity_to_little_noise():
    x = jnp.linspace(-1, 1, 50)

    def curve(w):
        return jnp.sin(w["a"][0] * x) + w["a"][1] * x**2

    params, moves = scaled(there, np.array([1.0, 0.5]))
    goal = curve(params)
    trace, _ = hessian_trace(lambda w: jnp.mean((curve(w) - goal) ** 2), params, moves, KEY, probes=500)
    noise = noise_sensitivity(curve, params, moves, KEY, sigma=1e-2, draws=2000)
    assert np.isclose(trace, 2 * noise, rtol=0.1)


def scaled(scale, weights: np.ndarray):
    params = {"a": jnp.asarray(weights, jnp.float32)}
    return params, scale(params)
