"""Turns the value of one part into the vector that tells it to a model."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from recombine.core import ABSENT

Encoding = Callable[[jax.Array], jax.Array]


def one_hot(size: int) -> Encoding:
    """e_k = 1 where k = v; zeros where the part is absent. Discontinuous in v."""
    return lambda v: (jnp.arange(size) == v).astype(jnp.float32)


def local_bump(size: int, sigma: float = 1.0, multiplier: float = 1.0) -> Encoding:
    """e_k = exp(-(k - v)^2 / (2 m sigma^2)), k = 0..size-1, where m scales the variance; zeros where absent."""

    def encode(v: jax.Array) -> jax.Array:
        code = jnp.exp(-((jnp.arange(size) - v) ** 2) / (2 * multiplier * sigma**2))
        return jnp.where(v == ABSENT, 0.0, code)

    return encode
