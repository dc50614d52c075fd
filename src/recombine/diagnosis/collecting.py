"""Which combinations to train on, to collect and to hold out, so that a model can be told, or mended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as choose
from math import prod

import numpy as np

from recombine.measures.recall import steps_apart

COLLECT = 14
"""Combinations that are asked for at most."""
_GRID, _PAIRS = 100_000, 4_000_000
_FAILURES = 1000


def packed(rows: np.ndarray, sizes: Sequence[int], parts: Sequence[int]) -> np.ndarray:
    """One whole number per row, the same for rows that are alike in these parts."""
    chosen = rows[:, list(parts)]
    if prod(sizes[p] for p in parts) >= 2**62:
        return np.unique(chosen, axis=0, return_inverse=True)[1].reshape(-1)
    strides = [prod(sizes[p] for p in parts[i + 1 :]) for i in range(len(parts))]
    return chosen @ np.array(strides, np.int64)


def pairs_of(rows: np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, int]:
    """For each row and pair of parts a whole number that names the pair of values, and how many there are."""
    found, start = [], 0
    for a, c in choose(range(len(sizes)), 2):
        found.append(start + rows[:, a] * sizes[c] + rows[:, c])
        start += sizes[a] * sizes[c]
    return np.stack(found, axis=1), start


def _free(seen: np.ndarray, known: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Combinations of seen values that are not among those known: all of them, or many at random."""
    values = [np.unique(part) for part in seen.T]
    most = min(_GRID, _PAIRS // len(list(choose(sizes, 2))))
    if prod(len(v) for v in values) <= most:
        grid = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(sizes))
    else:
        rng = np.random.default_rng(0)
        grid = np.stack([rng.choice(v, most) for v in values], axis=1)
    both = packed(np.concatenate([known, grid]), sizes, range(len(sizes)))
    return grid[~np.isin(both[len(known) :], both[: len(known)])]


def linking(seen: np.ndarray, there: np.ndarray, sizes: Sequence[int], label: np.ndarray) -> tuple[np.ndarray, int]:
    """Untrained combinations that link groups of values if they are trained on, and how many groups are then left.

    Each links as many groups as can be; rather such as the data have already, and values that were not chosen yet.
    """
    label, chosen = label.copy(), np.empty((0, len(sizes)), int)
    if (left := len(np.unique(label[label >= 0]))) < 2:
        return chosen, left
    free, columns = _free(seen, seen, sizes), np.arange(len(sizes))
    both = packed(np.concatenate([there, free]), sizes, columns.tolist())
    absent, uses = ~np.isin(both[len(there) :], both[: len(there)]), np.zeros(label.shape)
    while len(chosen) < COLLECT and left > 1 and len(free):
        groups = np.sort(label[columns, free], axis=1)
        spans = 1 + np.sum(np.diff(groups, axis=1) > 0, axis=1)
        best = int(np.lexsort((uses[columns, free].sum(axis=1), absent, -spans))[0])
        if spans[best] < 2:
            break
        label[np.isin(label, groups[best])] = groups[best, 0]
        uses[columns, free[best]] += 1
        chosen = np.concatenate([chosen, free[best][None]])
        left = len(np.unique(label[label >= 0]))
    return chosen, left


def testing(seen: np.ndarray, there: np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, float]:
    """Combinations of seen values that are not there, with most pairs that are not there; and their share of these."""
    free, columns = _free(seen, there, sizes), np.arange(len(sizes))
    chosen = np.empty((0, len(sizes)), int)
    if not len(free):
        return chosen, 0.0
    names, count = pairs_of(free, sizes)
    lacking = np.zeros(count, bool)
    lacking[names] = True
    lacking[pairs_of(there, sizes)[0]] = False
    whole, uses = lacking.sum(), np.zeros((len(sizes), max(sizes)))
    while len(chosen) < min(COLLECT, len(free)):
        gains = lacking[names].sum(axis=1)
        best = int(np.lexsort((uses[columns, free].sum(axis=1), -gains))[0])
        if len(chosen) and not gains[best]:
            break
        lacking[names[best]] = False
        uses[columns, free[best]] += 1
        chosen = np.concatenate([chosen, free[best][None]])
    return chosen, float(1 - lacking.sum() / whole) if whole else 0.0


def held_out(seen: np.ndarray) -> np.ndarray:
    """Some of the seen combinations that could be left out of training: each value stays in others."""
    counts, chosen = [np.bincount(part) for part in seen.T], []
    for row in np.random.default_rng(0).permutation(seen).tolist():
        if len(chosen) < COLLECT and all(c[v] > 2 and c[v] > 0.5 * c.max() for c, v in zip(counts, row, strict=True)):
            chosen.append(row)
            for c, v in zip(counts, row, strict=True):
                c[v] -= 1
    return np.array(chosen, int).reshape(-1, seen.shape[1])


def covering(failed: np.ndarray, steps: np.ndarray, ordered: np.ndarray) -> tuple[np.ndarray, float]:
    """Which of the failed combinations to train on, and how near a trained one the failed ones then are, on average.

    Each brings them nearer by as much as can be (`steps` is how far they are now), then has values not chosen yet.
    At most half of them, so that others are left to test on.
    """
    failed, steps = failed[:_FAILURES], np.asarray(steps, float)[:_FAILURES].copy()
    apart, chosen = steps_apart(failed, failed, ordered), []
    uses, columns = np.zeros((failed.shape[1], failed.max(initial=0) + 1)), np.arange(failed.shape[1])
    for _ in range(min(COLLECT, len(failed) // 2)):
        left = np.minimum(apart, steps).sum(axis=1)
        left[chosen] = np.inf
        best = int(np.lexsort((uses[columns, failed].sum(axis=1), np.round(left, 6)))[0])
        chosen.append(best)
        steps = np.minimum(steps, apart[best])
        uses[columns, failed[best]] += 1
    rest = np.setdiff1d(np.arange(len(failed)), chosen)
    return np.array(chosen, int), float(steps[rest].mean()) if len(rest) else 0.0
