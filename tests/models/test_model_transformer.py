from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.transformer import Attention, TransformerDecoder, post_norm, pre_norm


def test_attention_is_the_formula(filled):
    tokens, width, heads = 3, 4, 2
    attention = filled(lambda key: Attention(width, heads, key))
    h = np.random.default_rng(1).normal(size=(tokens, width)).astype(np.float32)
    mixed = np.asarray(attention.mix(h)).reshape(tokens, 3, heads, width // heads)
    seen = np.zeros((tokens, heads, width // heads))
    for head in range(heads):
        query, key, value = (mixed[:, i, head] for i in range(3))
        weights = np.exp(query @ key.T / np.sqrt(width / heads))
        seen[:, head] = weights / weights.sum(axis=1, keepdims=True) @ value
    wanted = attention.read_out(seen.reshape(tokens, width))
    assert np.allclose(eqx.filter_jit(attention)(h), wanted, atol=1e-5)


def test_the_norm_stands_behind_the_sum_or_before_the_sublayer():
    h = jnp.array([1.0, 2.0])
    norm, sublayer = (lambda a: 10 * a), (lambda a: a + 1)
    assert np.allclose(post_norm(norm, sublayer, h), [30, 50])
    assert np.allclose(pre_norm(norm, sublayer, h), [12, 23])


def test_a_decoder_may_have_its_norms_before_its_sublayers():
    model = eqx.filter_eval_shape(
        lambda key: TransformerDecoder(4, 3, width=8, heads=2, depth=3, place=pre_norm, key=key), jax.random.key(0)
    )
    y, acts = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct((4,), np.float32))
    assert y.shape == (3, 3)
    assert list(acts) == ["embedding", "layer0", "layer1", "layer2"]


def test_heads_must_share_the_width():
    with pytest.raises(ValueError, match="cannot be shared"):
        Attention(8, 3, jax.random.key(0))
