"""Turns a pair (x, y) into a picture with one Gaussian bump at that pixel.

Liang, Qian, Ziyin, Fiete, "Compositional Generalization Requires More Than Disentangled Representations" (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task, UserError, at_least_one
from recombine.device import MOST_COMBINATIONS
from recombine.encodings.position import width


def profile(v: jax.Array, size: int, sigma: float) -> jax.Array:
    """The intensity along one axis, exp(-(i - v)^2 / (2 sigma^2)); constant one where the part is absent."""
    return jnp.where(v == ABSENT, 1.0, jnp.exp(-((jnp.arange(size) - v) ** 2) / (2 * sigma**2)))


def bumps(size: int, encode: Callable[[jax.Array], jax.Array], *, sigma: float = 1.0, dark: bool = False) -> Task:
    """Pictures I[row=y, column=x] of a bump with peak 1 at every cell of a size x size grid.

    The input is the code of x followed by the code of y. With `dark`, the bump is dark on white (1 - G).
    An absent part leaves its axis constant, so that (x, ABSENT) is a vertical stripe.
    """
    at_least_one(size=size)
    if size**2 > MOST_COMBINATIONS:
        raise UserError(f"a grid of {size} x {size} cells makes more than {MOST_COMBINATIONS:,} rows")
    width(encode, jnp.int32)  # refuses what is no encoding
    if not isinstance(sigma, Real) or not sigma > 0:
        raise ValueError(f"sigma, the width of a bump, must be a number above 0, got {sigma!r}")
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        picture = jnp.outer(profile(z[1], size, sigma), profile(z[0], size, sigma))
        return jnp.concatenate([encode(z[0]), encode(z[1])]), intensity(picture, dark=dark)

    return Task(f"bumps {size}x{size}", np.stack([x.ravel(), y.ravel()], axis=1), sample)


def intensity(picture, *, dark: bool):
    """From a picture to its intensity and back: both ways are 1 - I for dark bumps on white."""
    return 1.0 - picture if dark else picture
