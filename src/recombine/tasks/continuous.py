"""Turns real-valued positions into bumps between the pixels, as Liang et al. (2025) do where they count data."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

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


def bumps_at(
    positions: np.ndarray,
    size: int,
    encode: Callable[[jax.Array], jax.Array],
    *,
    sigma: float = 1.0,
    dark: bool = False,
) -> Task:
    """Bumps and stripes at these positions and no others, so that M of them are M pictures however often one is shown.

    Positions are rows (x, y) of whole or real numbers, from -1/2 to size - 1/2; ABSENT leaves a part out.
    """
    return Task(f"bumps at {len(positions)} places", positions, bumps(size, encode, sigma=sigma, dark=dark).sample)
