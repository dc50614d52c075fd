from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine.models.mlp import MLPDecoder


def test_weights_are_drawn_within_one_over_the_root_of_the_inputs():
    model = MLPDecoder(36, 6, width=36, depth=2, key=jax.random.key(0))
    for layer in (*model.hidden, model.read_out):
        bound = layer.weight.shape[1] ** -0.5
        assert np.abs(np.asarray(layer.weight)).max() == pytest.approx(bound, rel=0.05)
        assert np.abs(np.asarray(layer.bias)).max() <= bound


def test_the_answer_is_the_formula(filled):
    model = filled(lambda key: MLPDecoder(2, 3, width=4, depth=1, key=key))
    x = np.array([0.5, -1.0], np.float32)
    hidden = np.maximum(np.asarray(model.hidden[0].weight) @ x + np.asarray(model.hidden[0].bias), 0)
    y, acts = model(x)
    assert np.allclose(acts["layer0"], hidden)
    assert np.allclose(
        y.ravel(), np.asarray(model.read_out.weight) @ hidden + np.asarray(model.read_out.bias), atol=1e-6
    )


def test_a_decoder_without_hidden_layers_is_refused():
    with pytest.raises(ValueError, match="at least one hidden layer"):
        MLPDecoder(2, 3, depth=0, key=jax.random.key(0))
