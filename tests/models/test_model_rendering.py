from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.rendering import Rendering, tables


def code(size: int, x: int, y: int) -> jax.Array:
    return jax.nn.one_hot(jnp.array([x, y]), size).ravel()


def test_the_network_as_released_has_its_number_of_parameters():
    model = eqx.filter_eval_shape(lambda key: Rendering(32, channels=2, key=key), jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == 133_218


def test_vectors_start_at_length_one_and_lambda_at_variance_one_over_size():
    model = Rendering(16, key=jax.random.key(0))
    assert np.allclose(np.linalg.norm(model.u, axis=-1), 1.0, atol=1e-5)
    assert np.allclose(np.linalg.norm(model.v, axis=-1), 1.0, atol=1e-5)
    assert np.std(model.lambdas) == pytest.approx(1 / 4, rel=0.15)


def test_the_maps_of_a_pair_are_the_sums_of_their_modes():
    model = Rendering(6, rank=3, channels=2, key=jax.random.key(0))
    model = eqx.tree_at(lambda m: m.u, model, 3.0 * model.u)  # stored length is of no account
    _, acts = model(code(6, 4, 1))
    for factor, token in enumerate((4, 1)):
        u, v = (np.asarray(a)[factor, token] for a in (model.u, model.v))
        u, v = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (u, v))
        wanted = sum(u[n][:, None] * float(model.lambdas[factor, token, n]) * v[n] for n in range(3))
        assert np.allclose(acts[("embed_x", "embed_y")[factor]], wanted, atol=1e-5)


def test_tables_are_plain_arrays_and_agree_with_the_network():
    model = Rendering(4, rank=2, key=jax.random.key(0))
    stored = tables(model)
    assert {name: a.shape for name, a in stored.items()} == {
        "lambda_x": (4, 2),
        "lambda_y": (4, 2),
        "map_x": (4, 4, 4),
        "map_y": (4, 4, 4),
    }
    assert all(type(a) is np.ndarray for a in stored.values())
    _, acts = model(code(4, 3, 0))
    assert np.allclose(stored["map_x"][3], acts["embed_x"], atol=1e-6)
    assert np.allclose(stored["map_y"][0], acts["embed_y"], atol=1e-6)


def test_tables_of_a_population_are_stacked():
    models = eqx.filter_vmap(lambda key: Rendering(4, key=key))(jax.random.split(jax.random.key(0), 3))
    assert tables(models)["map_y"].shape == (3, 4, 4, 4)
    assert tables(models)["lambda_x"].shape == (3, 4, 4)


def test_an_absent_factor_is_an_empty_map_with_finite_gradients():
    model = Rendering(4, key=jax.random.key(0))
    absent = code(4, 2, -1)
    _, acts = model(absent)
    assert np.all(acts["embed_y"] == 0)
    empty = eqx.tree_at(lambda m: m.u, model, jnp.zeros_like(model.u))
    slopes = eqx.filter_grad(lambda m: jnp.sum(m(absent)[0] ** 2))(empty)
    assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(slopes))
