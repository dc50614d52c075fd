"""A fully connected decoder: from a code vector to a picture, through layers that know nothing of space.

Liang et al. (2025), Figs. 13 and 14; with two inputs it also draws the rotated digit of Fig. 9.
"""

from __future__ import annotations

import equinox as eqx
import jax

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models.layers import Linear, linears
from recombine.models.network import Network


class MLPDecoder(Network):
    """Code -> depth x (linear to `width`, ReLU) -> linear to size x size.

    Activations `layer0` .. `layer{depth-1}` are the vectors after each ReLU. Weights are drawn as PyTorch draws them.
    """

    hidden: tuple[Linear, ...]
    read_out: Linear
    size: int = eqx.field(static=True)

    def __init__(self, inputs: int, size: int, *, width: int = 256, depth: int = 3, key: jax.Array):
        at_least_one(inputs=inputs, size=size, width=width, depth=depth)
        *hidden, self.read_out = linears(one_key(key), (inputs, *[width] * depth, size**2))
        self.hidden = tuple(hidden)
        self.size = size

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        acts = {}
        for i, layer in enumerate(self.hidden):
            x = acts[f"layer{i}"] = jax.nn.relu(layer(x))
        return self.read_out(x).reshape(self.size, self.size), acts
