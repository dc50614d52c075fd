from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from recombine.models.student import StudentMLP, decays


def test_the_answer_is_the_formula_along_the_last_axis(filled):
    model = filled(lambda key: StudentMLP(3, 2, width=4, depth=2, key=key))
    (first, second), last = ([(np.asarray(a.weight), np.asarray(a.bias)) for a in model.hidden], model.read_out)
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    before = x @ first[0] + first[1]
    deep = np.maximum(before, 0) @ second[0] + second[1]
    y, acts = eqx.filter_jit(model)(x)
    assert list(acts) == ["layer0", "layer1"]
    assert np.allclose(acts["layer0"], before, atol=1e-5)
    assert np.allclose(acts["layer1"], deep, atol=1e-5)
    assert np.allclose(y, np.maximum(deep, 0) @ np.asarray(last.weight) + last.bias, atol=1e-5)


def test_the_student_of_the_paper_has_its_number_of_parameters():
    model = eqx.filter_eval_shape(lambda key: StudentMLP(32, 16, key=key), jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == 3_198_992


def test_weights_start_cut_normal_and_biases_at_zero():
    model = eqx.filter_jit(lambda key: StudentMLP(64, 100, width=256, depth=1, key=key))(jax.random.key(0))
    for layer, fan_in in zip((*model.hidden, model.read_out), (64, 256), strict=True):
        weight = np.asarray(layer.weight) * fan_in**0.5
        assert np.std(weight) == pytest.approx(1.0, rel=0.03)
        assert np.abs(weight).max() == pytest.approx(2 / 0.8796, rel=0.01)
        assert not np.any(layer.bias)
        assert not layer.bias.weak_type


def test_only_matrices_decay(filled):
    model = filled(lambda key: StudentMLP(3, 2, width=4, depth=1, key=key))
    optimiser = optax.adamw(1.0, weight_decay=0.25, mask=decays)
    updates, _ = optimiser.update(jax.tree.map(jnp.zeros_like, model), optimiser.init(model), model)
    for before, change in zip(jax.tree.leaves(model), jax.tree.leaves(updates), strict=True):
        assert np.allclose(change, -0.25 * before if before.ndim == 2 else 0)


def test_a_student_without_hidden_layers_is_refused():
    with pytest.raises(ValueError, match="depth must be a whole number of at least 1"):
        StudentMLP(2, 3, depth=0, key=jax.random.key(0))
