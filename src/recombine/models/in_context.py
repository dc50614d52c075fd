"""A causal transformer that reads the code of a task as its first token and then answers one input after the other.

Redhardt, Akram and Schug (2025, arXiv 2507.07207) compare it with fully connected networks; which parts have biases
follows from its 3,161,104 parameters for codes, inputs and outputs of size 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models.layers import Linear
from recombine.models.network import Network


class CausalLayer(eqx.Module):
    """h + attention(norm(h)), then h + down(GELU(up(norm(h)))): a token (tokens, width) sees itself and those before.

    Queries and keys are normalised in each head and turned by their place. No biases, in the norms neither.
    """

    mix: jax.Array
    merge: jax.Array
    up: jax.Array
    down: jax.Array
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.LayerNorm]
    norm_query: eqx.nn.LayerNorm
    norm_key: eqx.nn.LayerNorm
    heads: int = eqx.field(static=True)

    def __init__(self, weights: Sequence[jax.Array], heads: int):
        self.mix, self.merge, self.up, self.down = weights
        width = len(self.mix)
        self.norms = (_norm(width), _norm(width))
        self.norm_query, self.norm_key = _norm(width // heads), _norm(width // heads)
        self.heads = heads

    def __call__(self, h: jax.Array) -> jax.Array:
        h = h + self.attend(jax.vmap(self.norms[0])(h))
        return h + jax.nn.gelu(jax.vmap(self.norms[1])(h) @ self.up) @ self.down

    def attend(self, h: jax.Array) -> jax.Array:
        """softmax(Q K^T / sqrt(width / heads)) V over this and earlier tokens in each head, then a linear map."""
        tokens, width = h.shape
        query, key, value = (h @ self.mix).reshape(tokens, 3, self.heads, -1).swapaxes(0, 1)
        query, key = (turn(jax.vmap(jax.vmap(n))(a)) for n, a in ((self.norm_query, query), (self.norm_key, key)))
        return jax.nn.dot_product_attention(query, key, value, is_causal=True).reshape(tokens, width) @ self.merge


class InContextTransformer(Network):
    """x (samples, code + inputs), the code alike in all samples -> y (samples, outputs).

    Tokens: code C, then x_s W + b for each sample; `depth` causal layers; LayerNorm; linear to the outputs at the
    samples' tokens. Activations `layer0` .. are the samples' tokens (samples, width) after each layer. The layers'
    weights are drawn after Glorot, U(-1, 1) sqrt(6 / (inputs + outputs)), the others as U(-1, 1) sqrt(3 / inputs).
    """

    read_code: jax.Array
    read_in: Linear
    layers: tuple[CausalLayer, ...]
    norm: eqx.nn.LayerNorm
    read_out: Linear

    def __init__(
        self,
        code: int,
        inputs: int,
        outputs: int,
        *,
        width: int = 256,
        depth: int = 4,
        heads: int = 4,
        inner: int = 1024,
        key: jax.Array,
    ):
        at_least_one(code=code, inputs=inputs, outputs=outputs, width=width, depth=depth, heads=heads, inner=inner)
        if width % (2 * heads):
            raise ValueError(f"a width of {width} cannot be shared by {heads} heads of even size")
        ends = [(code, width), (inputs, width), (width, outputs)]
        each = [(width, 3 * width), (width, width), (width, inner), (inner, width)]
        bounds = [3 / fan for fan, _ in ends] + [6 / (fan + out) for fan, out in ((width, width), *each[1:])] * depth
        drawn = _uniform(one_key(key), [*ends, *each * depth], [bound**0.5 for bound in bounds])
        self.read_code = drawn[0]
        self.read_in = Linear(drawn[1], jnp.zeros(width))
        self.read_out = Linear(drawn[2], jnp.zeros(outputs))
        self.layers = tuple(CausalLayer(drawn[i : i + 4], heads) for i in range(3, len(drawn), 4))
        self.norm = _norm(width)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        code, inputs = jnp.split(x, [len(self.read_code)], axis=1)
        h = jnp.concatenate([code[:1] @ self.read_code, self.read_in(inputs)])
        acts = {}
        for i, layer in enumerate(self.layers):
            h = layer(h)
            acts[f"layer{i}"] = h[1:]
        return self.read_out(jax.vmap(self.norm)(h[1:])), acts


def turn(h: jax.Array) -> jax.Array:
    """Rotary positions: in h (tokens, heads, size), pair (k, k + size/2) of token t turns by t 10000^(-2k / size)."""
    cos, sin = (jnp.asarray(a, h.dtype) for a in _waves(len(h), h.shape[-1]))
    first, last = jnp.split(h, 2, axis=-1)
    return jnp.concatenate([first * cos - last * sin, last * cos + first * sin], axis=-1)


@cache
def _waves(tokens: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    angles = np.arange(tokens)[:, None, None] * 10000.0 ** (-2 * np.arange(size // 2) / size)
    return np.cos(angles), np.sin(angles)


def _norm(width: int) -> eqx.nn.LayerNorm:
    return eqx.nn.LayerNorm(width, eps=1e-6, use_bias=False)


def _uniform(key: jax.Array, shapes: Sequence[tuple[int, int]], bounds: Sequence[float]) -> list[jax.Array]:
    """Matrices of these shapes ~ U(-bound, bound), all from one draw."""
    ends = np.cumsum([prod(shape) for shape in shapes])
    numbers = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-1.0, maxval=1.0), ends[:-1])
    return [n.reshape(shape) * b for n, shape, b in zip(numbers, shapes, bounds, strict=True)]
