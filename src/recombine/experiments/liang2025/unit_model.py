"""Some units of one layer, so that a wide layer need not leave the device."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.models.network import Network


class Units(Network):
    """A model whose one activation, `units`, holds some units of one of its layers."""

    model: Any
    layer: str = eqx.field(static=True)
    rows: jax.Array

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        y, acts = self.model(x)
        return y, {"units": acts[self.layer].ravel()[self.rows]}


def some(models, layer: str, count: int, x: jax.Array, key: jax.Array) -> Units:
    """At most `count` units of a layer drawn at random, the same for every member of a population."""
    first = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, models)
    size = eqx.filter_eval_shape(lambda m, x: m(x)[1][layer], first, x).size
    members = len(jax.tree.leaves(eqx.filter(models, eqx.is_array))[0])
    rows = jax.random.permutation(key, size)[:count]
    return Units(models, layer, jnp.broadcast_to(rows, (members, len(rows))))
