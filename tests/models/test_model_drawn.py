"""The kernel of picture networks, interpreted: the plain program's error and gradients, also when stacked."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc
from recombine.models import drawn
from recombine.models.cppn import UNITS, channels

MIX = (("cache", 2), ("gaussian", 2), ("sigmoid", 1), ("sin", 1))


def test_the_kernel_gives_the_plain_networks_error_and_gradients():
    models = rc.newborn(lambda key: rc.CPPN(MIX, 3, key=key), rc.member_keys(0, range(2)))
    x = jnp.asarray(rc.grid(16))
    y = jnp.asarray(np.random.default_rng(0).uniform(size=(256, 3)), jnp.float32)
    one = jax.tree.map(lambda a: a[0], models)
    kind = drawn.Kind(tuple((UNITS[name], count) for name, count in MIX), channels, interpret=True)

    def kernel(weights):
        return drawn.squared_error(list(weights), x, y, kind)

    def plain(weights):
        return eqx.tree_at(lambda m: m.weights, one, weights).squared_error(x, y)

    found, wanted = (jax.vmap(jax.value_and_grad(f))(models.weights) for f in (kernel, plain))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_the_kernel_takes_whole_tiles_of_small_networks_in_float32():
    shapes = [(4, 22), *[(22, 22)] * 11, (22, 3)]
    assert drawn.fits(256 * 256, shapes, jnp.float32)
    assert not drawn.fits(100, shapes, jnp.float32)
    assert not drawn.fits(256, shapes, jnp.bfloat16)
    assert not drawn.fits(256, [(4, 38), *[(38, 38)] * 32, (38, 3)], jnp.float32)
