"""A small transformer decoder: every pixel is a token that is told the code and its place, and may look at the others.

Liang et al. (2025) stack two to five standard encoder layers with four heads. The width of the layers' inner network
is not given; four times the width is the usual choice, and ours.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.models import positions

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

    mix: jax.Array
    mix_bias: jax.Array
    read_out: jax.Array
    read_out_bias: jax.Array
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, key: jax.Array):
        if width % heads:
            raise ValueError(f"a width of {width} cannot be shared by {heads} heads")
        first, last = jax.random.split(key)
        glorot, bound = (6 / (4 * width)) ** 0.5, width**-0.5
        self.mix = jax.random.uniform(first, (width, 3 * width), minval=-glorot, maxval=glorot)
        self.read_out = jax.random.uniform(last, (width, width), minval=-bound, maxval=bound)
        self.mix_bias, self.read_out_bias = jnp.zeros(3 * width), jnp.zeros(width)
        self.heads = heads

    def __call__(self, h: jax.Array) -> jax.Array:
        tokens, width = h.shape
        mixed = h @ self.mix + self.mix_bias
        query, key, value = mixed.reshape(tokens, 3, self.heads, -1).swapaxes(0, 1)
        seen = jax.nn.dot_product_attention(query, key, value)
        return seen.reshape(tokens, width) @ self.read_out + self.read_out_bias


class Layer(eqx.Module):
    """One encoder layer: attention, then a network of one ReLU layer for each token, both with a way around them."""

    attention: Attention
    inner: tuple[eqx.nn.Linear, eqx.nn.Linear]
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.LayerNorm]
    place: Place = eqx.field(static=True)

    def __init__(self, width: int, heads: int, place: Place, key: jax.Array):
        looks, up, down = jax.random.split(key, 3)
        self.attention = Attention(width, heads, looks)
        self.inner = (eqx.nn.Linear(width, 4 * width, key=up), eqx.nn.Linear(4 * width, width, key=down))
        self.norms = (eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width))
        self.place = place

    def __call__(self, h: jax.Array) -> jax.Array:
        h = self.place(jax.vmap(self.norms[0]), self.attention, h)
        return self.place(jax.vmap(self.norms[1]), jax.vmap(self.think), h)

    def think(self, h: jax.Array) -> jax.Array:
        """The inner network, on one token."""
        return self.inner[1](jax.nn.relu(self.inner[0](h)))


class TransformerDecoder(eqx.Module):
    """Linear(code) + position of the pixel -> depth encoder layers over all pixels -> linear to 1 at each pixel.

    Activations: `embedding`, then `layer0` .. `layer{depth-1}`, all of shape (size, size, width). Positions are fixed.
    """

    embed: eqx.nn.Linear
    layers: tuple[Layer, ...]
    read_out: eqx.nn.Linear
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
        first, last, *keys = jax.random.split(key, depth + 2)
        self.embed = eqx.nn.Linear(inputs, width, key=first)
        self.layers = tuple(Layer(width, heads, place, k) for k in keys)
        self.read_out = eqx.nn.Linear(width, 1, key=last)
        self.size = size

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        code = self.embed(x)
        h = code + jnp.asarray(positions.embedding(self.size, len(code)), code.dtype)
        acts, shape = {"embedding": h}, h.shape
        h = h.reshape(-1, len(code))
        for i, layer in enumerate(self.layers):
            h = layer(h)
            acts[f"layer{i}"] = h.reshape(shape)
        return jax.vmap(self.read_out)(h).reshape(self.size, self.size), acts
