from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine.models.mlp import MLPDecoder


def test_the_answer_is_the_formula(filled):
    model = filled(lambda key: MLPDecoder(2, 3, width=4, depth=1, key=key))
    first, last = (tuple(map(np.asarray, (a.weight, a.bias))) for a in (*model.hidden, model.read_out))
    x = np.array([0.5, -1.0], np.float32)
    hidden = np.maximum(x @ first[0] + first[1], 0)
    y, acts = model(x)
    assert np.allclose(acts["layer0"], hidden, atol=1e-6)
    assert np.allclose(y, (hidden @ last[0] + last[1]).reshape(3, 3), atol=1e-6)


def test_a_decoder_without_hidden_layers_is_refused():
    with pytest.raises(ValueError, match="depth must be a whole number of at least 1"):
        MLPDecoder(2, 3, depth=0, key=jax.random.key(0))
