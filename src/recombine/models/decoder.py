"""A causal transformer over tokens: it reads a row of ids and says at each place which id comes next.

Where a token stands is told by a function of the tokens to *places*, whole numbers by which queries and keys are
rotated: their index (`plain`), nothing (`nowhere`), or a numbering of the task's own, in which tokens that belong
together share a place (position coupling, Cho et al. 2024, arXiv 2405.20671). Or a vector is learned for each index.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import UserError
from recombine.measures.tokens import need_known
from recombine.models.network import Network

Places = Callable[[jax.Array], jax.Array]
"""tokens (.., T) -> a whole number for each, or for each of the last axis; only their differences count."""


def plain(tokens: jax.Array) -> jax.Array:
    """0, 1, 2, ...: each token's own index."""
    return jnp.arange(tokens.shape[-1])


def nowhere(tokens: jax.Array) -> jax.Array:
    """0 throughout: the order of tokens is known only by which of them see which."""
    return jnp.zeros(tokens.shape[-1], jnp.int32)


class Layer(eqx.Module):
    """h + attention(norm(h)), then h + down(GELU(up(norm(h)))): a token sees itself and those before it in its row.

    h (rows * T, W) holds the tokens of one row or of several: a CPU multiplies such a matrix nearly twice as fast as
    the same numbers with an axis for rows. Weights: 4 W^2 + 2 W inner, and how sharply each head looks. No biases.
    """

    mix: jax.Array
    merge: jax.Array
    up: jax.Array
    down: jax.Array
    sharpness: jax.Array

    def __call__(self, h: jax.Array, tokens: int, waves: tuple[jax.Array, jax.Array]) -> jax.Array:
        h = h + self.attend(norm(h), tokens, waves) @ self.merge
        return h + jax.nn.gelu(norm(h) @ self.up) @ self.down

    def attend(self, h: jax.Array, tokens: int, waves: tuple[jax.Array, jax.Array]) -> jax.Array:
        """softmax(s Q K^T / sqrt(size)) V in each head, where |q| = |k| = sqrt(size) and s is the head's sharpness.

        Scores are summed and normalised in float32, also in half precision.
        """
        parts = (h @ self.mix).reshape(-1, tokens, 3, len(self.sharpness), h.shape[-1] // len(self.sharpness))
        query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]  # (rows, T, heads, size)
        query = norm(query) * (self.sharpness * query.shape[-1] ** -0.5)[:, None]
        query, key = rotate(query, *waves), rotate(norm(key), *waves)
        scores = jnp.einsum("rqhs,rkhs->rhqk", query, key, preferred_element_type=jnp.float32)
        seen = np.tri(tokens, dtype=bool)
        weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1).astype(h.dtype)
        return jnp.einsum("rhqk,rkhs->rqhs", weights, value).reshape(h.shape)


class TokenDecoder(Network):
    """x (T,) ids below `vocabulary` -> y (T, vocabulary), the logits of the next id at each place.

    sqrt(W) E[x] (+ a learned vector for each index), `depth` causal layers, all of them `repeats` times in turn
    (looped, with shared weights), then norm(h) E^T: the embedding E is tied. Activations are `embedding` and `layer0`
    .. `layer{depth * repeats - 1}`, (T, W). `rest` goes on from any of them.
    """

    embed: jax.Array
    index: jax.Array | None
    layers: tuple[Layer, ...]
    places: Places = eqx.field(static=True)
    repeats: int = eqx.field(static=True)

    def __init__(
        self,
        vocabulary: int,
        *,
        width: int = 32,
        depth: int = 3,
        heads: int = 4,
        inner: int | None = None,
        places: Places = plain,
        learned: int = 0,
        repeats: int = 1,
        key: jax.Array,
    ):
        """`learned` is the number of places that have a vector of their own, 0 for none; rows may not be longer."""
        if not all(isinstance(n, int | np.integer) for n in (vocabulary, width, depth, heads, learned, repeats)):
            sizes = f"{vocabulary!r:.80}, {width}, {depth}, {heads}, {learned} and {repeats}"
            raise UserError(
                f"vocabulary, width, depth, heads, learned and repeats are whole numbers, as len(words) is; got {sizes}"
            )
        if not isinstance(inner, int | np.integer | None):
            raise UserError(f"inner is a whole number, or None for four times the width; got {inner!r}")
        if min(width, heads) < 1 or learned < 0 or (inner is not None and inner < 1):
            raise UserError(
                f"width, heads and inner are at least 1, learned at least 0; got {width}, {heads}, {inner}, {learned}"
            )
        if width % (2 * heads):
            raise UserError(f"a width of {width} cannot be shared by {heads} heads of even size")
        if min(vocabulary, depth, repeats) < 1:
            raise UserError(f"vocabulary, depth and repeats are at least 1, got {vocabulary}, {depth} and {repeats}")
        inner = 4 * width if inner is None else inner
        each = [(width, 3 * width), (width, width), (width, inner), (inner, width)]
        embed, index, *drawn = _uniform(key, [(vocabulary, width), (learned, width), *each * depth])
        quiet = (2 * depth * repeats) ** -0.5  # each layer adds twice to h, which stays about as large as it began
        scales = (width**-0.5, quiet * width**-0.5, width**-0.5, quiet * inner**-0.5)
        weights = [a * scale for a, scale in zip(drawn, scales * depth, strict=True)]
        mix, merge, up, down = (weights[i::4] for i in range(4))  # of all layers
        each = zip(mix, merge, up, down, strict=True)
        self.layers = tuple(Layer(*four, sharpness=jnp.ones(heads)) for four in each)
        self.embed = embed * width**-0.5
        self.index = index * width**-0.5 if learned else None
        self.places, self.repeats = places, repeats

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        h = self.read(x)
        return self.rest(h, x, 0, acts := {"embedding": h}), acts

    def many(self, x: jax.Array) -> jax.Array:
        """The logits (rows, T, vocabulary) of rows (rows, T)."""
        return self.rest(self.read(x), x, 0).reshape(*x.shape, -1)

    def read(self, x: jax.Array) -> jax.Array:
        """h (rows * T, W) before the first layer, of rows x (rows, T) or one row (T,).

        An unknown id is refused; in a compiled program, which cannot refuse, it gives NaN.
        """
        if self.embed.ndim != 2:
            raise UserError("this is a population of decoders: ask it by `records`, or take one network, run[i].model")
        if not isinstance(x, jax.core.Tracer):
            need_known(np.asarray(x), len(self.embed))
        known = jnp.where(x < 0, len(self.embed), x).astype(jnp.int32)  # a negative index would count from the end
        h = self.embed.at[known].get(mode="fill", fill_value=jnp.nan)
        if self.index is not None:
            if x.shape[-1] > len(self.index):
                raise UserError(f"a row of {x.shape[-1]} tokens is longer than the {len(self.index)} learned places")
            h = h + self.index[: x.shape[-1]]
        return h.reshape(-1, h.shape[-1]) * h.shape[-1] ** 0.5

    def rest(self, h: jax.Array, x: jax.Array, first: int, acts: dict[str, jax.Array] | None = None) -> jax.Array:
        """The logits (rows * T, vocabulary) from h before layer `first` of rows x; `acts` is filled on the way."""
        size = h.shape[-1] // len(self.layers[0].sharpness)
        waves = _waves(self.places(x.astype(jnp.int32)), size, h.dtype)
        for i, layer in list(enumerate(self.layers * self.repeats))[first:]:
            h = layer(h, x.shape[-1], waves)
            if acts is not None:
                acts[f"layer{i}"] = h
        return norm(h) @ self.embed.T


def norm(h: jax.Array) -> jax.Array:
    """h / sqrt(mean h^2) along the last axis, the mean in float32."""
    square = jnp.mean(jnp.square(h.astype(jnp.float32)), axis=-1, keepdims=True)
    return h * jax.lax.rsqrt(square + 1e-6).astype(h.dtype)


def rotate(h: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
    """In h (.., T, heads, size), pair (k, k + size/2) turned by an angle (.., T, 1, size/2), its token's."""
    first, last = jnp.split(h, 2, axis=-1)
    return jnp.concatenate([first * cos - last * sin, last * cos + first * sin], axis=-1)


def _waves(places: jax.Array, size: int, dtype: jnp.dtype) -> tuple[jax.Array, jax.Array]:
    """cos and sin (.., T, 1, size/2) of place * 10000^(-2k / size)."""
    angles = places[..., None, None] * (10000.0 ** (-2 * np.arange(size // 2) / size)).astype(np.float32)
    return jnp.cos(angles).astype(dtype), jnp.sin(angles).astype(dtype)


def _uniform(key: jax.Array, shapes: list[tuple[int, int]]) -> list[jax.Array]:
    """Matrices of these shapes of variance 1, ~ U(-sqrt(3), sqrt(3)), all from one draw."""
    ends = np.cumsum([prod(shape) for shape in shapes])
    numbers = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-(3.0**0.5), maxval=3.0**0.5), ends[:-1])
    return [n.reshape(shape) for n, shape in zip(numbers, shapes, strict=True)]
