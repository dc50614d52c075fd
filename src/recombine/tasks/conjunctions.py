"""Turns a pair (x, y) into a picture that joins a profile of x and one of y: by product, sum, OR, or not at all.

The targets by which the complexity of Liang, Qian, Ziyin, Fiete (2025), appendix A.1, can be told apart: R* is 1 for a
bright bump, 2 for a dark one, a cross and an OR, and large for a slanted bump.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task

KINDS = ("bright", "dark", "cross", "OR", "slanted")


def conjunctions(
    size: int, encode: Callable[[jax.Array], jax.Array], *, sigma: float = 1.0, slant: float = 0.8
) -> Task:
    """Pictures I[row=y, column=x] of every kind, pair and single factor; z is (kind, x, y), the kind is not told.

    With profiles a(x), b(y) of Gaussian shape: bright ab, dark 1 - ab, cross a + b, OR a + b - ab, and slanted
    exp(-(u^2 + v^2 - 2 s u v) / (2 sigma^2 (1 - s^2))), s the slant. A factor alone is the stripe a(x), or b(y), for
    all of them but the dark one, whose stripe is 1 - a(x).
    """
    places = jnp.arange(size)

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        kind, x, y = z
        u, v = (jnp.where(part == ABSENT, 0.0, places - part) for part in (x, y))
        a, b = jnp.exp(-(u**2) / (2 * sigma**2))[None, :], jnp.exp(-(v**2) / (2 * sigma**2))[:, None]
        alone = (x == ABSENT) | (y == ABSENT)
        turned = u[None, :] ** 2 + v[:, None] ** 2 - 2 * slant * u[None, :] * v[:, None]
        slanted = jnp.where(alone, a * b, jnp.exp(-turned / (2 * sigma**2 * (1 - slant**2))))
        either = jnp.where(alone, a * b, a + b - a * b)
        pictures = jnp.stack([a * b, 1 - a * b, jnp.where(alone, a * b, a + b), either, slanted])
        return jnp.concatenate([encode(x), encode(y)]), pictures[kind]

    pairs = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), axis=-1).reshape(-1, 2)
    values, absent = np.arange(size), np.full(size, ABSENT)
    single = np.concatenate([np.stack([values, absent], axis=1), np.stack([absent, values], axis=1)])
    rows = np.concatenate([pairs, single])
    every = [np.column_stack([np.full(len(rows), kind), rows]) for kind in range(len(KINDS))]
    return Task(f"conjunctions {size}x{size}", np.concatenate(every), sample)


def graded_bumps(size: int, levels: int, encode: Callable[[jax.Array], jax.Array], *, sigma: float = 1.0) -> Task:
    """Bright bumps of several grades: z is (x, y, level), the picture (level + 1) / levels times the bump at (x, y).

    The input is the code of x, that of y, and the level as a one-hot code.
    """
    places = jnp.arange(size)

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        a, b = (jnp.exp(-((places - part) ** 2) / (2 * sigma**2)) for part in z[:2])
        grade = jax.nn.one_hot(z[2], levels)
        return jnp.concatenate([encode(z[0]), encode(z[1]), grade]), (z[2] + 1) / levels * jnp.outer(b, a)

    axes = np.arange(size), np.arange(size), np.arange(levels)
    return Task("graded bumps", np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), sample)
