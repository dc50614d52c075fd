"""A small transformer decoder: every pixel is a token that is given the code and its place, and may look at the others.

Liang et al. (2025) stack two to five standard encoder layers with four heads. The width of the layers' inner network
is not given; four times the width is the usual choice, and ours.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models import positions
from recombine.models.layers import Linear, linears
from recombine.models.network import Network

Place = Callable[[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array], jax.Array], jax.Array]
"""Where the normalisation stands: (norm, sublayer, h) -> h."""


def post_norm(norm, sublayer, h: jax.Array) -> jax.Array:
    """norm(h + sublayer(h)), as in the first transformers."""
    return norm(h + sublayer(h))


def pre_norm(norm, sublayer, h: jax.Array) -> jax.Array:
    """h + sublayer(norm(h)), which trains more easily when deep."""
    return h + sublayer(norm(h))


class Attention(eqx.Module):
    """Self-attention of tokens (count, width): softmax(Q K^T / sqrt(width / heads)) V in each head, then a linear map.

    Q, K and V are one linear map of the tokens, its weights drawn after Glorot; all biases start at zero.
    """

    mix: Linear
    read_out: Linear
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, key: jax.Array):
        if width % heads:
            raise ValueError(f"a width of {width} cannot be shared by {heads} heads")
        mix, read_out = jnp.split(jax.random.uniform(key, (width, 4 * width), minval=-1.0, maxval=1.0), [3 * width], 1)
        self.mix = Linear(mix * (6 / (4 * width)) ** 0.5, jnp.zeros(3 * width))
        self.read_out = Linear(read_out * width**-0.5, jnp.zeros(width))
        self.heads = heads

    def __call__(self, h: jax.Array) -> jax.Array:
        tokens, width = h.shape
        query, key, value = self.mix(h).reshape(tokens, 3, self.heads, -1).swapaxes(0, 1)
        seen = jax.nn.dot_product_attention(query, key, value)
        return self.read_out(seen.reshape(tokens, width))


class Layer(eqx.Module):
    """One encoder layer: attention, then a network of one ReLU layer for each token, both with a way around them."""

    attention: Attention
    inner: tuple[Linear, Linear]
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.LayerNorm]
    place: Place = eqx.field(static=True)

    def __init__(self, width: int, heads: int, place: Place, key: jax.Array):
        first, last = jax.random.split(key)
        self.attention = Attention(width, heads, first)
        up, down = linears(last, (width, 4 * width, width))
        self.inner = (up, down)
        self.norms = (eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width))
        self.place = place

    def __call__(self, h: jax.Array) -> jax.Array:
        h = self.place(jax.vmap(self.norms[0]), self.attention, h)
        return self.place(jax.vmap(self.norms[1]), self.think, h)

    def think(self, h: jax.Array) -> jax.Array:
        """The inner network, on each token by itself."""
        return self.inner[1](jax.nn.relu(self.inner[0](h)))


class TransformerDecoder(Network):
    """Linear(code) + position of the pixel -> depth encoder layers over all pixels -> linear to 1 at each pixel.

    Activations: `embedding`, then `layer0` .. `layer{depth-1}`, all of shape (size, size, width). Positions are fixed.
    """

    embed: Linear
    layers: tuple[Layer, ...]
    read_out: Linear
    size: int = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        size: int,
        *,
        width: int = 128,
        depth: int = 2,
        heads: int = 4,
        place: Place = post_norm,
        key: jax.Array,
    ):
        at_least_one(inputs=inputs, size=size, width=width, depth=depth, heads=heads)
        first, last, *keys = jax.random.split(one_key(key), depth + 2)
        (self.embed,) = linears(first, (inputs, width))
        self.layers = tuple(Layer(width, heads, place, k) for k in keys)
        (self.read_out,) = linears(last, (width, 1))
        self.size = size

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        code = self.embed(x)
        h = code + jnp.asarray(positions.embedding(self.size, len(code)), code.dtype)
        acts, shape = {"embedding": h}, h.shape
        h = h.reshape(-1, len(code))
        for i, layer in enumerate(self.layers):
            h = layer(h)
            acts[f"layer{i}"] = h.reshape(shape)
        return self.read_out(h).reshape(self.size, self.size), acts
