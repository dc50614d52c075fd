"""Turns a pair (x, y) into a picture with one Gaussian bump at that pixel.

Liang, Qian, Ziyin, Fiete, "Compositional Generalization Requires More Than Disentangled Representations" (2025).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task
from recombine.encodings.position import Encoding


def profile(v: jax.Array, size: int, sigma: float) -> jax.Array:
    """The intensity along one axis, exp(-(i - v)^2 / (2 sigma^2)); constant one where the part is absent."""
    return jnp.where(v == ABSENT, 1.0, jnp.exp(-((jnp.arange(size) - v) ** 2) / (2 * sigma**2)))


def bumps(size: int, encode: Callable[[jax.Array], jax.Array], *, sigma: float = 1.0, dark: bool = False) -> Task:
    """Pictures I[row=y, column=x] of a bump with peak 1 at every cell of a size x size grid.

    The input is the code of x followed by the code of y. With `dark`, the bump is dark on white (1 - G).
    An absent part leaves its axis constant, so that (x, ABSENT) is a vertical stripe.
    """
    _check_reach(encode, size)
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        picture = jnp.outer(profile(z[1], size, sigma), profile(z[0], size, sigma))
        return jnp.concatenate([encode(z[0]), encode(z[1])]), intensity(picture, dark=dark)

    return Task(f"bumps {size}x{size}", np.stack([x.ravel(), y.ravel()], axis=1), sample)


def _check_reach(encode: Callable[[jax.Array], jax.Array], size: int) -> None:
    """Refuse one of our codes that has no unit for the last place: it was made for a smaller picture."""
    first, last = (float(jnp.abs(encode(jnp.asarray(place))).max()) for place in (0, size - 1))
    if isinstance(encode, Encoding) and last < first / 2:
        raise ValueError(f"{encode.name} has no unit for the place {size - 1} of a picture of {size} x {size} pixels")


def intensity(picture, *, dark: bool):
    """From a picture to its intensity and back: both ways are 1 - I for dark bumps on white."""
    return 1.0 - picture if dark else picture
