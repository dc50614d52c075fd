"""Turns a picture network into one with fewer weights: by magnitude, by magnitude times input (Wanda), or at random.

Magnitude within each layer and the return to the initial weights: Frankle and Carbin (2019), "lottery tickets".
|w| times the norm of what it reads, compared within each unit: Sun, Liu, Bair and Kolter (2024), Wanda.

A pruned weight is exactly 0, and one that is 0 already never comes back. All work on one network with matrices
(units before, units after) in `weights`. Where a target is one number, each layer keeps the same share of its weights,
rounded, but at least one; a list of targets gives each layer its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    import jax

    from recombine.cppn.network import CPPN

Matrices = list[np.ndarray]
Target = int | Sequence[int]


def counts(model: CPPN) -> list[int]:
    """How many weights of each layer are not 0."""
    return [int(np.count_nonzero(w)) for w in weights_of(model)]


def count(model: CPPN) -> int:
    """How many weights are not 0."""
    return sum(counts(model))


def alive(model: CPPN) -> np.ndarray:
    """For each output h, s, v: does a path of weights that are not 0 lead there from an input?

    A greyscale picture needs v alone. An output without a path is constant, and if v is 0 nothing can be trained.
    """
    weights = weights_of(model)
    reached = np.ones(len(weights[0]), bool)
    for weight in weights:
        reached = reached @ (weight != 0)
    return reached


def magnitude(model: CPPN, target: Target, *, pooled: bool = False) -> CPPN:
    """Keep the weights with the largest |w| of each layer.

    `pooled` sets one threshold for all layers. It can take all of a layer, or every path to an output: look at `alive`.
    """
    weights = weights_of(model)
    return _keeping_best(model, [np.abs(w).reshape(-1, 1) for w in weights], target, pooled=pooled)


def wanda(model: CPPN, x: np.ndarray, target: Target) -> CPPN:
    """Keep the weights with the largest |w| ||input map||_2 of each unit: the same share of each unit's, rounded.

    x is (pixels, inputs). Each unit keeps at least one parent if the target allows it. What rounding leaves over in a
    layer goes to units whose next weight has the largest score.
    """
    sizes = [np.linalg.norm(read, axis=0) for read in maps_of(model, x)]
    return _keeping_best(model, [np.abs(w) * s[:, None] for w, s in zip(weights_of(model), sizes, strict=True)], target)


def at_random(model: CPPN, rng: np.random.Generator, target: Target, *, pooled: bool = False) -> CPPN:
    """Keep weights drawn at random: within each layer, or (`pooled`) from all of them alike.

    With `counts(other)` as target, each layer keeps as many as another pruned network has there.
    """
    return _keeping_best(model, [rng.random((w.size, 1)) for w in weights_of(model)], target, pooled=pooled)


def rewound(pruned: CPPN, initial: CPPN) -> CPPN:
    """The initial weights at the places that pruning kept."""
    kept, start = weights_of(pruned), weights_of(initial)
    if [w.shape for w in kept] != [w.shape for w in start]:
        raise ValueError("a pruned network goes back to initial weights of its own shape only")
    return with_weights(pruned, [np.where(k != 0, s, 0) for k, s in zip(kept, start, strict=True)])


def rounds(start: int, target: int, share: float = 0.2) -> tuple[int, ...]:
    """How many weights are left after each round that takes this share of them, the last one ending at the target.

    start (1 - share)^k, rounded; a share of 1 is one shot.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a round takes a share of the weights between 0 and 1, got {share}")
    checked_target(target, start)
    left = []
    while (after := round(start * (1 - share) ** (len(left) + 1))) > target:
        left.append(after)
    return (*left, target)


def shares(numbers: Sequence[int], total: int, least: Sequence[int] | None = None) -> list[int]:
    """Split a total among groups of these sizes: in proportion (Webster), but at least 1 or `least` for each."""
    least = [min(n, 1) for n in numbers] if least is None else least
    if not sum(least) <= total <= sum(numbers):
        raise ValueError(
            f"{total} cannot be shared by {len(numbers)} groups with {sum(least)} to {sum(numbers)} in all"
        )
    turns = np.concatenate([_turns(np.arange(n), n, first) for n, first in zip(numbers, least, strict=True)])
    group = np.repeat(np.arange(len(numbers)), numbers)
    return np.bincount(group[np.argsort(turns, kind="stable")[:total]], minlength=len(numbers)).tolist()


def weights_of(model: CPPN) -> Matrices:
    """The matrices of one network, as NumPy arrays that must be numbers."""
    weights = [np.asarray(w) for w in model.weights]
    if any(w.ndim != 2 for w in weights):
        raise ValueError(f"one network at a time is pruned, with matrices; got shapes {[w.shape for w in weights]}")
    if any(a.shape[1] != len(b) for a, b in pairwise(weights)):
        raise ValueError(f"layers of shapes {[w.shape for w in weights]} do not follow each other")
    if not all(np.isfinite(w).all() for w in weights):
        raise ValueError("a network with weights that are not numbers cannot be pruned")
    return weights


def with_weights(model: CPPN, weights: Matrices) -> CPPN:
    """The same network with other weights, in the precision that it had."""
    new = tuple(jnp.asarray(w, old.dtype) for w, old in zip(weights, model.weights, strict=True))
    return eqx.tree_at(lambda m: m.weights, model, new)


def maps_of(model: CPPN, x: np.ndarray) -> Matrices:
    """What each matrix reads at every pixel: the inputs x, then the units of each hidden layer; (pixels, units)."""
    inputs = len(weights_of(model)[0])
    if np.ndim(x) != 2 or np.shape(x)[1] != inputs or not len(x):
        raise ValueError(f"maps are made of pixels x {inputs} inputs, got {np.shape(x)}")
    acts = _acts(model, jnp.asarray(x))
    read = [np.asarray(a, float) for a in (x, *(acts[f"layer{i}"] for i in range(len(model.weights) - 1)))]
    if not all(np.isfinite(r).all() for r in read):
        raise ValueError("the maps of the network are not all numbers")
    return read


def checked_target(target: Target | None, there: int) -> int:
    """The target, if so many weights can be kept."""
    if isinstance(target, bool) or not isinstance(target, int | np.integer) or not 1 <= target <= there:
        raise ValueError(f"a target is a whole number of weights from 1 to the {there} there are, got {target}")
    return int(target)


@eqx.filter_jit
def _acts(model: CPPN, x: jax.Array) -> dict[str, jax.Array]:
    return model(x)[1]


def _keeping_best(model: CPPN, scores: Matrices, target: Target, *, pooled: bool = False) -> CPPN:
    """Keep the best of each column of the scores, as many in each column; `pooled` makes one column of all layers."""
    weights = weights_of(model)
    present = [w != 0 for w in weights]
    if pooled:
        number = checked_target(target, count(model))
        every = _best(np.concatenate(scores), np.concatenate([p.reshape(-1, 1) for p in present]), number)
        kept = np.split(every, np.cumsum([w.size for w in weights])[:-1])
    else:
        numbers = _per_layer(target, [p.reshape(s.shape).sum(axis=0) for p, s in zip(present, scores, strict=True)])
        kept = [_best(s, p.reshape(s.shape), n) for s, p, n in zip(scores, present, numbers, strict=True)]
    return with_weights(model, [np.where(k.reshape(w.shape), w, 0) for k, w in zip(kept, weights, strict=True)])


def _per_layer(target: Target, columns: Matrices) -> list[int]:
    """How many entries each layer keeps of so many in each of its columns."""
    there = [int(c.sum()) for c in columns]
    if not isinstance(target, Sequence):
        total, each = checked_target(target, sum(there)), [int(np.count_nonzero(c)) for c in columns]
        return shares(there, total, each if sum(each) <= total else None)
    if len(target) != len(there) or any(t not in range(n + 1) for t, n in zip(target, there, strict=True)):
        raise ValueError(f"targets for each layer are at most {there}, got {list(target)}")
    return [int(t) for t in target]


def _best(scores: np.ndarray, present: np.ndarray, number: int) -> np.ndarray:
    """The `number` best present entries, each column in turn giving its next best, at a pace set by its size."""
    order = np.argsort(np.where(present, -scores, np.inf), axis=0, kind="stable")
    turns = _turns(np.argsort(order, axis=0), present.sum(axis=0), 1)
    first = np.lexsort((-scores.ravel(), np.where(present, turns, np.inf).ravel()))[:number]
    kept = np.zeros(scores.size, bool)
    kept[first] = True
    return kept.reshape(scores.shape)


def _turns(rank: np.ndarray, size: np.ndarray | int, first: int) -> np.ndarray:
    """When the entry of this rank in a group of this size is taken: so many first, the others by Webster's method."""
    return np.where(rank < first, 0.0, (rank + 0.5) / np.maximum(size, 1))
