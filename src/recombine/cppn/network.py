"""Turns the coordinates of pixels into colours: a network of mixed unit types, without biases, that draws one picture.

Compositional pattern-producing networks (Stanley 2007) in the layered form of Kumar, Clune, Lehman, Stanley (2025).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import UserError, at_least_one
from recombine.kernels import cppn_loss, cppn_tiles
from recombine.keys import one_key
from recombine.models.layers import CUT
from recombine.models.network import Network

Mix = tuple[tuple[str, int], ...]
"""The unit types of a hidden layer and how many units of each there are, in alphabetical order."""

UNITS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "cache": lambda z: z,
    "cos": jnp.cos,
    "gaussian": lambda z: 2 * jnp.exp(-(z**2)) - 1,
    "identity": lambda z: z,
    "relu": jax.nn.relu,
    "sigmoid": lambda z: 2 * jax.nn.sigmoid(z) - 1,
    "sin": jnp.sin,
    "tanh": jnp.tanh,
}
"""What a unit of each type makes of its sum; `cache` only carries a value on."""
LINEAR = ("cache", "identity")
"""The unit types that hand on their sum as it is."""


class CPPN(Network):
    """depth x (linear, each unit by its type) -> linear h, s, v -> r, g, b, along the last axis.

    x may be (pixels, inputs). Activations `layer0` .. `layer{depth-1}` are taken after the units, and `hsv` before the
    colours are made. Weights start normal, cut at 2 sigma, with variance scale / fan_in.
    """

    weights: tuple[jax.Array, ...]
    mix: Mix = eqx.field(static=True)

    def __init__(self, mix: Mix, depth: int, *, inputs: int = 4, scale: float = 1.0, key: jax.Array):
        self.mix = _checked(mix)
        if not scale > 0:
            raise ValueError(f"scale, the variance of the first weights, must be above 0, got {scale}")
        self.weights = _draw(one_key(key), _shapes(mix, depth, inputs), scale)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        acts = {}
        for i, weight in enumerate(self.weights[:-1]):
            x = acts[f"layer{i}"] = bent(self.mix, _product(x, weight)[..., None])[..., 0]
        acts["hsv"] = _product(x, self.weights[-1])
        return hsv_to_rgb(acts["hsv"]), acts

    def batch_error(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """The mean over the pictures of a batch."""
        return jax.vmap(self.squared_error)(x, y).mean()

    def squared_error(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """The mean of (network(x) - y)^2 over a whole picture: in one kernel where it fits, else as above.

        The kernel rounds the factors of products to 16 bits (`cppn_tiles.PRECISION`), for the gradient sums to 11
        and the factors of sums over all pixels to 8; the plain program does not.
        """
        shapes = [w.shape for w in self.weights]
        if cppn_tiles.available() and x.ndim == 2 and cppn_tiles.fits(len(x), shapes, x.dtype):
            return cppn_loss.squared_error(list(self.weights), x, y, kind_of(self.mix))
        return jnp.mean((self._across(x) - jnp.swapaxes(y, -1, -2)) ** 2)

    def _across(self, x: jax.Array) -> jax.Array:
        """The colours (..., 3, pixels), computed with a unit a row: on a CPU that takes a fifth less time."""
        h = jnp.swapaxes(x, -1, -2)
        for weight in self.weights[:-1]:
            h = bent(self.mix, _product(weight.T, h))
        hsv = _product(self.weights[-1].T, h)
        return jnp.stack(channels(*(hsv[..., i, :] for i in range(3))), axis=-2)


def kind_of(mix: Mix) -> cppn_tiles.Kind:
    """What kernels have to know of networks of this mix."""
    return cppn_tiles.Kind(tuple((UNITS[name], count) for name, count in mix), channels)


def bent(mix: Mix, z: jax.Array) -> jax.Array:
    """What the units of a hidden layer make of their sums (..., units, pixels), one unit a row."""
    start = 0
    for name, count in mix:
        mine = slice(start, start + count)
        z = z if name in LINEAR else z.at[..., mine, :].set(UNITS[name](z[..., mine, :]))
        start += count
    return z


def from_weights(mix: Mix, matrices: Sequence[np.ndarray]) -> CPPN:
    """The network of this mix with these matrices: inputs x W, then W x W, and W x 3 at the end."""
    if len(matrices) < 2 or any(np.ndim(m) != 2 for m in matrices):
        raise ValueError("a picture network has at least two matrices")
    depth, inputs = len(matrices) - 1, len(matrices[0])
    found, wanted = [np.shape(m) for m in matrices], _shapes(mix, depth, inputs)
    if found != wanted:
        raise ValueError(f"matrices {found} do not go with {write_mix(depth, mix)}, which needs {wanted}")
    shaped = eqx.filter_eval_shape(lambda key: CPPN(mix, depth, inputs=inputs, key=key), jax.random.key(0))
    return eqx.tree_at(lambda m: m.weights, shaped, tuple(jnp.asarray(m, jnp.float32) for m in matrices))


def hsv_to_rgb(hsv: jax.Array) -> jax.Array:
    """Colours in 0..1 of hue (h + 1) mod 1, saturation clip(s, 0, 1) and value clip(|v|, 0, 1), along the last axis.

    Channel c is v - v s max(0, min(k, 4 - k, 1)) with k = (c + 6 hue) mod 6 and c = 5, 3, 1 for red, green, blue.
    """
    return jnp.stack(channels(*(hsv[..., i] for i in range(3))), axis=-1)


def channels(h: jax.Array, s: jax.Array, v: jax.Array) -> tuple[jax.Array, ...]:
    """Red, green and blue, each as an array of its own."""
    s, v = jnp.clip(s, 0, 1), jnp.clip(jnp.where(v < 0, -v, v) * (v != 0), 0, 1)  # at v = 0 the slope is 0
    hue = 6 * (h + 1 - jnp.floor(h + 1))  # ten times as fast as a remainder
    each = [jnp.where(hue + c >= 6, hue + c - 6, hue + c) for c in (5, 3, 1)]
    return tuple(v - v * s * jnp.clip(jnp.minimum(k, 4 - k), 0, 1) for k in each)


def parse_mix(text: str) -> tuple[int, Mix]:
    """The depth and the mix that a text like "12;cache:15,gaussian:4" names."""
    try:
        depth, types = text.split(";")
        pairs = [part.split(":") for part in types.split(",")]
        named = int(depth), tuple(sorted((name.strip(), int(count)) for name, count in pairs))
        _shapes(named[1], named[0], 1)
    except ValueError as error:
        example = 'a mix reads "12;cache:15,gaussian:4": layers, then unit types and their counts'
        raise UserError(f"{example}; got {text[:80]!r} ({error})") from error
    return named


def write_mix(depth: int, mix: Mix) -> str:
    """The text that `parse_mix` reads."""
    return f"{depth};" + ",".join(f"{name}:{count}" for name, count in mix)


def _checked(mix: Mix) -> Mix:
    if not isinstance(mix, tuple | list) or any(not isinstance(one, tuple | list) or len(one) != 2 for one in mix):
        raise ValueError(f'a mix is pairs of unit type and count, (("cos", 4), ("sin", 4)); got {mix!r}')
    names = [name for name, _ in mix]
    unknown = sorted(set(names) - set(UNITS))
    if unknown:
        raise ValueError(f"no unit type is called {unknown[0]!r}; there are {', '.join(UNITS)}")
    if (
        not mix
        or names != sorted(set(names))
        or any(not isinstance(count, int | np.integer) or count < 1 for _, count in mix)
    ):
        raise ValueError(f"a mix names each type once, in alphabetical order, with a count of 1 or more; got {mix}")
    return tuple((name, count) for name, count in mix)


def _shapes(mix: Mix, depth: int, inputs: int) -> list[tuple[int, int]]:
    at_least_one(depth=depth, inputs=inputs)
    width = sum(count for _, count in _checked(mix))
    return list(pairwise((inputs, *[width] * depth, 3)))


def _draw(key: jax.Array, shapes: list[tuple[int, int]], scale: float) -> tuple[jax.Array, ...]:
    ends = np.cumsum([fan_in * fan_out for fan_in, fan_out in shapes])
    numbers = jnp.split(jax.random.truncated_normal(key, -2.0, 2.0, (ends[-1],)) / CUT, ends[:-1])
    return tuple(n.reshape(shape) * (scale / shape[0]) ** 0.5 for n, shape in zip(numbers, shapes, strict=True))


def _product(x: jax.Array, weight: jax.Array) -> jax.Array:
    # Rounded products would move the bytes of an evolved picture by up to 39.
    exact = weight.dtype == jnp.float32
    return jnp.matmul(x, weight, precision=jax.lax.Precision.HIGHEST if exact else None)
