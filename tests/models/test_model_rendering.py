from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.rendering import Rendering, tables

SIZE, RANK = 4, 3


def make(key):
    return Rendering(SIZE, rank=RANK, channels=2, depth=1, key=key)


def code(x: int, y: int) -> np.ndarray:
    return np.concatenate([np.arange(SIZE) == x, np.arange(SIZE) == y]).astype(np.float32)


def test_the_network_as_released_has_its_number_of_parameters():
    model = eqx.filter_eval_shape(lambda key: Rendering(32, channels=2, key=key), jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == 133_218


def test_vectors_start_at_length_one_and_lambda_at_variance_one_over_size():
    model = eqx.filter_jit(lambda key: Rendering(16, depth=0, key=key))(jax.random.key(0))
    assert np.allclose(np.linalg.norm(np.asarray(model.u), axis=-1), 1.0, atol=1e-5)
    assert np.allclose(np.linalg.norm(np.asarray(model.v), axis=-1), 1.0, atol=1e-5)
    assert np.std(np.asarray(model.lambdas)) == pytest.approx(1 / 4, rel=0.15)


def test_the_maps_of_a_pair_are_the_sums_of_their_modes(filled):
    model = filled(make)
    _, acts = eqx.filter_jit(model)(code(3, 1))
    for factor, token in enumerate((3, 1)):
        u, v, scale = (np.asarray(a)[factor, token] for a in (model.u, model.v, model.lambdas))
        u, v = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (u, v))
        wanted = sum(np.outer(u[n], v[n]) * scale[n] for n in range(RANK))
        assert np.allclose(acts[("embed_x", "embed_y")[factor]], wanted, atol=1e-5)


def test_tables_are_plain_arrays_and_agree_with_the_network(filled):
    model = filled(make)
    stored = tables(model)
    shapes = {"lambda_x": (4, 3), "lambda_y": (4, 3), "map_x": (4, 4, 4), "map_y": (4, 4, 4)}
    assert {name: a.shape for name, a in stored.items()} == shapes
    assert all(type(a) is np.ndarray for a in stored.values())
    _, acts = eqx.filter_jit(model)(code(3, 0))
    assert np.allclose(stored["map_x"][3], acts["embed_x"], atol=1e-6)
    assert np.allclose(stored["map_y"][0], acts["embed_y"], atol=1e-6)


def test_tables_of_a_population_are_stacked(filled):
    stored = tables(filled(make, 5))
    assert stored["map_y"].shape == (5, 4, 4, 4)
    assert stored["lambda_x"].shape == (5, 4, 3)


def test_an_absent_factor_is_an_empty_map_and_empty_tables_have_finite_gradients(filled):
    model = filled(make)
    _, acts = eqx.filter_jit(model)(code(2, -1))
    assert not np.any(np.asarray(acts["embed_y"]))
    empty = eqx.tree_at(lambda m: m.u, model, jnp.zeros_like(model.u))
    slopes = eqx.filter_jit(eqx.filter_grad(lambda m: jnp.sum(m(code(2, -1))[0] ** 2)))(empty)
    assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(slopes))
