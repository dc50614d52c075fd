"""The kernels, interpreted: the same numbers and gradients as a chain of products, also when members are stacked."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.kernels import relu_narrow, relu_wide

KERNELS = {
    "fused": (lambda x, layers: relu_narrow.relu_network(x, layers, interpret=True), (12, 32, 16, 10)),
    "passes": (lambda x, layers: relu_wide.relu_network(x, layers, True), (12, 512, 10)),
}


def drawn(sizes):
    rng = np.random.default_rng(0)
    shapes = pairwise(sizes)
    return [
        (jnp.asarray(rng.normal(size=s) / s[0] ** 0.5, jnp.float32), jnp.asarray(rng.normal(size=s[1]), jnp.float32))
        for s in shapes
    ]


def plain(x, layers):
    for weight, bias in layers[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    return x @ layers[-1][0] + layers[-1][1]


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_give_the_plain_networks_answers_and_gradients(name):
    network, sizes = KERNELS[name]
    x = jnp.asarray(np.random.default_rng(1).normal(size=(2 * relu_narrow.TILE, sizes[0])), jnp.float32)
    many = jax.tree.map(lambda a: jnp.stack([a, 1.1 * a]), drawn(sizes))

    def with_gradients(network):
        return jax.vmap(jax.value_and_grad(lambda p, x: jnp.mean(network(x, p) ** 2), (0, 1)), (0, None))(many, x)

    found, wanted = with_gradients(network), with_gradients(plain)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_the_kernels_take_whole_tiles_of_bfloat16_and_widths_that_are_powers_of_two():
    assert relu_narrow.fits(4 * relu_narrow.TILE, [256, 256], jnp.bfloat16)
    assert not relu_narrow.fits(4 * relu_narrow.TILE + 1, [256], jnp.bfloat16)
    assert not relu_narrow.fits(4 * relu_narrow.TILE, [256], jnp.float32)
    assert not relu_narrow.fits(4 * relu_narrow.TILE, [100], jnp.bfloat16)
    assert not relu_narrow.fits(4 * relu_narrow.TILE, [512], jnp.bfloat16)
    assert relu_wide.fits(4 * relu_narrow.TILE, [512, 1024], jnp.bfloat16)
    assert not relu_wide.fits(4 * relu_narrow.TILE, [256], jnp.bfloat16)
    assert not relu_wide.fits(4 * relu_narrow.TILE, [1000], jnp.bfloat16)


def test_a_batch_at_once_is_the_model_for_each():
    model = rc.StudentMLP(6, 3, width=8, depth=2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (5, 4, 6))
    assert np.allclose(model.many(x), jax.vmap(model)(x)[0], atol=1e-6)
