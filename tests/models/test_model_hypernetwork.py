from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.hypernetwork import Hypernetwork

CODE, INPUTS, OUTPUTS, SAMPLES, WIDTH = 3, 2, 4, 5, 6


def make(key):
    return Hypernetwork(CODE, INPUTS, OUTPUTS, width=WIDTH, key=key)


def test_the_network_as_released_has_its_number_of_parameters():
    model = eqx.filter_eval_shape(lambda key: Hypernetwork(16, 16, 16, key=key), jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == 574_768


def test_the_answer_is_the_formula(filled):
    model = filled(make)
    x = np.random.default_rng(1).normal(size=(SAMPLES, CODE + INPUTS)).astype(np.float32)
    x[:, :CODE] = x[0, :CODE]
    code, inputs = x[0, :CODE], x[:, CODE:]
    code = (code - code.mean()) / np.sqrt(code.var() + 1e-6) * np.asarray(model.norm.weight)
    written = (code + np.asarray(model.norm.bias)) @ np.asarray(model.write.weight) + np.asarray(model.write.bias)
    w, b, v, c = np.split(written, np.cumsum([INPUTS * WIDTH, WIDTH, WIDTH * OUTPUTS]))
    h = inputs @ w.reshape(INPUTS, WIDTH) / np.sqrt(INPUTS) + b
    y, acts = eqx.filter_jit(model)(x)
    assert np.allclose(acts["layer0"], h, atol=1e-5)
    assert np.allclose(y, np.maximum(h, 0) @ v.reshape(WIDTH, OUTPUTS) / np.sqrt(WIDTH) + c, atol=1e-5)


def test_written_weights_start_at_variance_one_over_the_inputs():
    model = eqx.filter_jit(lambda key: Hypernetwork(16, 16, 16, width=64, key=key))(jax.random.key(0))
    layers = model.target(jnp.asarray(np.random.default_rng(0).normal(size=16), jnp.float32))
    for layer in layers:
        assert np.var(np.asarray(layer.weight)) == pytest.approx(1 / len(layer.weight), rel=0.15)
    assert not np.any(model.write.bias)
    assert {a.weak_type for a in jax.tree.leaves(model)} == {False}


def test_without_layer_norm_the_scale_of_the_code_is_kept():
    code = jnp.asarray([0.2, 0.4, 0.9])
    plain = Hypernetwork(CODE, INPUTS, OUTPUTS, width=WIDTH, normalise=False, key=jax.random.key(0))
    normed = make(jax.random.key(0))
    for model, same in ((plain, False), (normed, True)):
        one, two = (np.asarray(model.target(scale * code)[0].weight) for scale in (1, 2))
        assert np.allclose(one, two, atol=1e-4) == same
    assert np.allclose(2 * np.asarray(plain.target(code)[0].weight), np.asarray(plain.target(2 * code)[0].weight))
