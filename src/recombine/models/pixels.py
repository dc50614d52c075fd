"""A decoder that computes every pixel by itself, from the code and the position of the pixel.

The position-aware network of Liang et al. (2025): one small fully connected network, shared by all pixels.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models import positions
from recombine.models.layers import Linear, PReLU, linears
from recombine.models.network import Network


class PixelMLP(Network):
    """Linear(code) + position of the pixel -> depth x (linear, PReLU) -> linear to 1, the same weights at each pixel.

    Activations: `embedding`, the sum of code and position, and `layer0` .. `layer{depth-1}` after each PReLU, all of
    shape (size, size, width). The positions are fixed.
    """

    embed: Linear
    hidden: tuple[Linear, ...]
    slopes: tuple[PReLU, ...]
    read_out: Linear
    size: int = eqx.field(static=True)

    def __init__(self, inputs: int, size: int, *, width: int = 256, depth: int = 2, key: jax.Array):
        at_least_one(inputs=inputs, size=size, width=width, depth=depth)
        self.embed, *hidden, self.read_out = linears(one_key(key), (inputs, *[width] * (depth + 1), 1))
        self.hidden = tuple(hidden)
        self.slopes = tuple(PReLU() for _ in hidden)
        self.size = size

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        code = self.embed(x)
        h = code + jnp.asarray(positions.embedding(self.size, len(code)), code.dtype)
        acts = {"embedding": h}
        for i, (layer, slope) in enumerate(zip(self.hidden, self.slopes, strict=True)):
            h = acts[f"layer{i}"] = slope(layer(h))
        return self.read_out(h)[..., 0], acts
