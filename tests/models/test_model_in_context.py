from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.in_context import InContextTransformer, turn

CODE, INPUTS, OUTPUTS, SAMPLES, WIDTH, HEADS = 3, 2, 4, 5, 8, 2


def make(key):
    return InContextTransformer(CODE, INPUTS, OUTPUTS, width=WIDTH, depth=2, heads=HEADS, inner=6, key=key)


def asked() -> np.ndarray:
    x = np.random.default_rng(1).normal(size=(SAMPLES, CODE + INPUTS)).astype(np.float32)
    x[:, :CODE] = x[0, :CODE]
    return x


def test_the_network_of_the_paper_has_its_number_of_parameters():
    model = eqx.filter_eval_shape(lambda key: InContextTransformer(16, 16, 16, key=key), jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == 3_161_104


def normal(v, scale):
    centred = v - v.mean(axis=-1, keepdims=True)
    return scale * centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-6)


def turned(v, t):
    """Each pair (k, k + size/2) as one complex number, turned."""
    half = len(v) // 2
    pairs = (v[:half] + 1j * v[half:]) * np.exp(1j * t * 10000.0 ** (-2 * np.arange(half) / len(v)))
    return np.concatenate([pairs.real, pairs.imag])


def attended(layer, h):
    """Head by head and token by token: what each token reads in itself and its predecessors."""
    tokens, size = len(h), WIDTH // HEADS
    query, key, value = np.moveaxis((h @ np.asarray(layer.mix)).reshape(tokens, 3, HEADS, size), 1, 0)
    query, key = (normal(a, np.asarray(n.weight)) for a, n in ((query, layer.norm_query), (key, layer.norm_key)))
    seen = np.zeros((tokens, HEADS, size))
    for head in range(HEADS):
        for t in range(tokens):
            turned_query = turned(query[t, head], t)
            weight = np.exp([turned_query @ turned(key[s, head], s) / np.sqrt(size) for s in range(t + 1)])
            seen[t, head] = weight / weight.sum() @ value[: t + 1, head]
    return seen.reshape(tokens, WIDTH) @ np.asarray(layer.merge)


def test_the_answer_is_the_formula(filled):
    model = filled(make)
    x = asked()
    h = np.concatenate([x[:1, :CODE] @ np.asarray(model.read_code), np.asarray(model.read_in(x[:, CODE:]))])
    y, acts = eqx.filter_jit(model)(x)
    for i, layer in enumerate(model.layers):
        first, second = (np.asarray(norm.weight) for norm in layer.norms)
        h = h + attended(layer, normal(h, first))
        h = h + np.asarray(jax.nn.gelu(normal(h, second) @ np.asarray(layer.up))) @ np.asarray(layer.down)
        assert np.allclose(acts[f"layer{i}"], h[1:], atol=1e-4)
    wanted = normal(h[1:], np.asarray(model.norm.weight)) @ np.asarray(model.read_out.weight)
    assert np.allclose(y, wanted + np.asarray(model.read_out.bias), atol=1e-4)
    assert y.shape == (SAMPLES, OUTPUTS)


def test_an_answer_depends_on_the_code_and_on_earlier_samples_alone(filled):
    answer = eqx.filter_jit(lambda x: filled(make)(x)[0])
    x = asked()
    later, code = x.copy(), x.copy()
    later[3:, CODE:] += 1.0
    code[:, 0] += 1.0
    assert np.array_equal(answer(x)[:3], answer(later)[:3])
    assert not np.any(np.isclose(answer(x)[3:], answer(later)[3:]).all(axis=1))
    assert not np.any(np.isclose(answer(x), answer(code)).all(axis=1))


def test_turning_leaves_lengths_and_makes_products_depend_on_distance():
    v = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    query, key = (np.asarray(turn(jnp.asarray(np.tile(a, (6, 1, 1))))) for a in v)
    assert np.allclose(np.linalg.norm(query, axis=-1), np.linalg.norm(v[0]), atol=1e-5)
    products = np.einsum("thk,shk->ts", query, key)
    assert np.allclose(products[1:, 1:], products[:-1, :-1], atol=1e-5)
    assert not np.allclose(products[0, 0], products[1, 0], atol=1e-2)


def test_weights_start_in_their_range_with_different_numbers():
    model = eqx.filter_jit(lambda key: InContextTransformer(64, 4, 4, width=64, depth=2, inner=32, key=key))(
        jax.random.key(0)
    )
    wanted = {"mix": 6 / 128, "merge": 6 / 128, "up": 6 / 96, "down": 6 / 96}
    for name, bound in wanted.items():
        first, second = (np.asarray(getattr(layer, name)) for layer in model.layers)
        assert np.abs(first).max() == pytest.approx(bound**0.5, rel=0.02)
        assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.1
    assert np.abs(model.read_code).max() == pytest.approx((3 / 64) ** 0.5, rel=0.02)
    assert not np.any(model.read_in.bias)
    assert {a.weak_type for a in jax.tree.leaves(model)} == {False}


def test_heads_must_share_the_width_in_even_parts():
    with pytest.raises(ValueError, match="cannot be shared"):
        InContextTransformer(2, 2, 2, width=12, heads=4, key=jax.random.key(0))
