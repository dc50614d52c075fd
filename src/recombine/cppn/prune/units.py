"""Turns a picture network into one with fewer units: one unit at a time, with all weights into it and out of it.

Importance by first-order Taylor expansion: Ma, Fang and Wang (2023), LLM-Pruner. A unit counts as there while something
reads it; the last unit of a layer always stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import equinox as eqx
import numpy as np

from recombine.cppn.prune.magnitude import Matrices, checked_target, count, weights_of, with_weights

if TYPE_CHECKING:
    import jax

    from recombine.cppn.network import CPPN

Among = Callable[[np.ndarray], np.ndarray]
"""From the number of units of each hidden layer: which layers may lose the next one."""


def everywhere(widths: np.ndarray) -> np.ndarray:
    """Any layer: layers compete."""
    return np.ones(len(widths), bool)


def widest(widths: np.ndarray) -> np.ndarray:
    """The widest layers only: equal units per layer, give or take one on the way."""
    return widths == widths.max()


def layer_widths(model: CPPN) -> list[int]:
    """How many units of each hidden layer are read by something."""
    return units_read(weights_of(model)).sum(axis=1).tolist()


def taylor_units(model: CPPN, loss: Callable[[CPPN], jax.Array], target: int, *, among: Among = widest) -> CPPN:
    """Remove the units of least importance until the count is nearest to the target; units' weights are not merged.

    The importance of a unit is the sum of |w dL/dw| over all weights into it and out of it, taken once.
    """
    checked_target(target, count(model))
    scores = taylor_importance(model, loss)

    def smaller(weights: Matrices) -> Matrices | None:
        there = units_read(weights)
        widths = there.sum(axis=1)
        open_ = there & (among(widths) & (widths > 1))[:, None]
        if not open_.any():
            return None
        layer, unit = np.unravel_index(np.argmin(np.where(open_, scores, np.inf)), scores.shape)
        return without_unit(weights, int(layer), int(unit))

    return with_weights(model, nearest(shrinking(weights_of(model), smaller), target))


def taylor_importance(model: CPPN, loss: Callable[[CPPN], jax.Array]) -> np.ndarray:
    """For each hidden layer and unit: the sum of |w dL/dw| over the weights into it and out of it."""
    slopes = eqx.filter_grad(loss)(model).weights
    moved = [np.abs(w.astype(float) * np.asarray(g, float)) for w, g in zip(weights_of(model), slopes, strict=True)]
    if not all(np.isfinite(m).all() for m in moved):
        raise ValueError("the gradient of the loss is not all numbers")
    return np.stack([a.sum(axis=0) + b.sum(axis=1) for a, b in pairwise(moved)])


def trimmed(weights: Matrices) -> Matrices:
    """Without the weights into units that nothing reads: what they carry is lost anyway."""
    kept = [weights[-1]]
    for weight in reversed(weights[:-1]):
        kept.insert(0, np.where(kept[0].any(axis=1), weight, 0))
    return kept


def units_read(weights: Matrices) -> np.ndarray:
    """(hidden layers, units): does the unit have a weight out of it?"""
    return np.stack([w.any(axis=1) for w in weights[1:]])


def without_unit(weights: Matrices, layer: int, unit: int) -> Matrices:
    """The same matrices, less all weights into and out of a unit of a hidden layer."""
    into, out = weights[layer].copy(), weights[layer + 1].copy()
    into[:, unit], out[unit] = 0, 0
    return [*weights[:layer], into, out, *weights[layer + 2 :]]


def shrinking(weights: Matrices, smaller: Callable[[Matrices], Matrices | None]) -> Iterator[Matrices]:
    """The matrices as they are, trimmed, and after each step, trimmed, until a step gives None."""
    yield weights
    left: Matrices | None = weights
    while left is not None:
        weights = trimmed(left)
        yield weights
        left = smaller(weights)


def nearest(states: Iterator[Matrices], target: int) -> Matrices:
    """The state of a shrinking network whose count is nearest to the target, the smaller one of two as near."""
    best, apart = [], np.inf
    for state in states:
        left = sum(np.count_nonzero(w) for w in state)
        if abs(left - target) <= apart:
            best, apart = state, abs(left - target)
        if left <= target:
            break
    return best
