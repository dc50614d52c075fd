"""Turns weights into the changes of them that alter a picture equally much.

At one fixed change, weights that draw much look destructive and idle ones look tidy: effects are compared at one size.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from recombine.cppn.network import CPPN
from recombine.cppn.sweep.sweep import WeightIndex, forward, sweep

TARGET = 0.10
"""The root mean square change of a picture at which weights are compared."""
INERT_BELOW = 0.04
"""A weight that cannot change the picture by this much is inert."""
MOST = 2.0
GRID, STEPS, LEAST = 7, 5, 1e-4


class Matched(NamedTuple):
    """For each weight, downwards and upwards: the signed change, and the root mean square change of the picture."""

    deltas: np.ndarray
    rms: np.ndarray

    @property
    def inert(self) -> np.ndarray:
        """Which changes stay below 0.04, whatever their size, or make no picture at all."""
        return ~(self.rms >= INERT_BELOW)


def rms_change(picture: jax.Array, changed: jax.Array) -> jax.Array:
    """sqrt(mean (I' - I)^2)."""
    return jnp.sqrt(jnp.mean((changed - picture) ** 2))


def matched(model: CPPN, where: WeightIndex, size: int, *, target: float = TARGET, most: float = MOST) -> Matched:
    """The smallest change of each weight, both ways, that alters the picture by `target`.

    On a grid of 7 sizes up to `most`, equal in the logarithm, the first that reaches the target is found, and the gap
    below it is halved or interpolated 5 times. A change that does not reach the target is the one that comes closest.
    """
    signs, reduce = np.array([-1.0, 1.0]), Partial(rms_change, forward(model, size)[0])

    def at(logs: np.ndarray) -> np.ndarray:
        """The logarithms of the sizes (weights, signs, sizes), and what they do to the picture."""
        deltas = (np.exp(logs) * signs[:, None]).reshape(len(logs), -1)
        return np.stack([logs, sweep(model, where, deltas, size, reduce=reduce).reshape(logs.shape)])

    tried = at(np.broadcast_to(np.log(most * np.geomspace(LEAST, 1, GRID)), (len(where.layer), 2, GRID)))
    reaches = tried[1] >= target
    reached = reaches.any(axis=-1, keepdims=True)
    first = np.where(reached, reaches.argmax(axis=-1, keepdims=True), tried[1].argmax(axis=-1, keepdims=True))
    high, low = (np.take_along_axis(tried, np.maximum(i, 0)[None], axis=-1) for i in (first, first - 1))
    low = np.where(first > 0, low, np.stack([high[0] + np.log(LEAST), LEAST * high[1]]))
    for step in range(STEPS):
        new = at(_between(low, high, target, halve=step % 2 == 1))
        above = new[1] >= target
        low, high = np.where(above, low, new), np.where(above, new, high)
    nearer = reached & (np.abs(low[1] - target) < np.abs(high[1] - target))
    logs, rms = np.where(nearer, low, high)[..., 0]
    return Matched(np.exp(logs) * signs, rms)


def _between(low: np.ndarray, high: np.ndarray, target: float, *, halve: bool) -> np.ndarray:
    """A size inside the bracket: its middle, or where a power law through both ends meets the target."""
    ends = np.log(np.maximum([low[1], high[1]], 1e-12))
    share = np.clip((np.log(target) - ends[0]) / np.maximum(ends[1] - ends[0], 1e-12), 0.02, 0.98)
    return low[0] + (0.5 if halve else share) * (high[0] - low[0])
