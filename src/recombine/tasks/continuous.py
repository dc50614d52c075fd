"""Turns a cell of the grid into a bump somewhere inside that cell, as Liang et al. (2025) do where they count data."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from recombine.core import ABSENT, Task
from recombine.tasks.bumps import bumps


def continuous_bumps(
    size: int, encode: Callable[[jax.Array], jax.Array], *, sigma: float = 1.0, dark: bool = False
) -> Task:
    """The cells of `bumps`, each asked at z + U(-1/2, 1/2) in both coordinates: code and picture move together.

    Absent parts stay absent. The code must follow v between cells, so one that says it is not smooth is refused.
    """
    if not getattr(encode, "smooth", True):
        raise ValueError("positions between cells need a smooth encoding")
    cells = bumps(size, encode, sigma=sigma, dark=dark)

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        moved = z + jax.random.uniform(key, z.shape, minval=-0.5, maxval=0.5)
        return cells.sample(jnp.where(z == ABSENT, float(ABSENT), moved), key)

    return Task(f"continuous {cells.name}", cells.combinations, sample)
