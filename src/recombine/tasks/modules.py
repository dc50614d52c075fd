"""Turns a number of modules into all masks of at most K active ones, and a mask into magnitudes (constituents).

Redhardt, Akram, Schug, "Scaling can lead to compositional generalization" (2025). A law is a function of a mask and of
as many numbers u, uniform on [0, 1), so that a single draw can serve a whole example.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import UserError, at_least_one
from recombine.device import MOST_COMBINATIONS

Law = Callable[[jax.Array, jax.Array], jax.Array]


def masks(modules: int, max_active: int) -> np.ndarray:
    """All masks with 1 to `max_active` active modules, as rows of 0 and 1: fewer active first, then alphabetically."""
    at_least_one(modules=modules, max_active=max_active)
    if max_active > modules:
        raise ValueError(f"between 1 and {modules} of {modules} modules can be active, got {max_active}")
    if sum(comb(modules, k) for k in range(1, max_active + 1)) > MOST_COMBINATIONS:
        raise UserError(
            f"the masks of up to {max_active} of {modules} modules are more than {MOST_COMBINATIONS:,} rows"
        )
    active, found = np.empty((1, 0), np.int8), []
    for _ in range(max_active):
        active = _longer(active, modules)
        rows = np.zeros((len(active), modules), np.int8)
        np.put_along_axis(rows, active.astype(np.intp), 1, axis=1)
        found.append(rows)
    return np.concatenate(found)


def _longer(active: np.ndarray, modules: int) -> np.ndarray:
    """Every ascending row of modules with each larger module appended; alphabetical rows stay so."""
    last = active[:, -1].astype(np.intp) if active.shape[1] else np.array([-1])
    count = modules - 1 - last
    start = last + 1 - (np.cumsum(count) - count)
    added = np.repeat(start, count) + np.arange(count.sum())
    return np.column_stack([np.repeat(active, count, axis=0), added.astype(np.int8)])


def check_law(law: Law) -> None:
    """Refuse what is not a function."""
    if not callable(law):
        raise TypeError(f"law is a function of a mask and uniform numbers, such as discrete or khot; got {law!r}")


def discrete(mask: jax.Array, u: jax.Array) -> jax.Array:
    """Each active entry is one of .5, .6, .., 1, all equally likely."""
    return jnp.where(mask > 0, (5 + jnp.floor(6 * u)) / 10, 0.0)


def khot(mask: jax.Array, u: jax.Array) -> jax.Array:
    """Each active entry is one."""
    return jnp.where(mask > 0, 1.0, jnp.zeros_like(u))


def continuous(mask: jax.Array, u: jax.Array) -> jax.Array:
    """Each active entry is (1 + e / (1 + sum e)) / 2, where e ~ Exp(1) on the active entries."""
    e = jnp.where(mask > 0, -jnp.log1p(-u), 0.0)
    return jnp.where(mask > 0, (1 + e / (1 + e.sum())) / 2, 0.0)
