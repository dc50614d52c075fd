"""How many pictures are needed: training sets of several sizes, thresholds, their power law, and two known solvers."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

GOAL = 0.9
"""the share of all bumps that must be placed within one pixel"""
BUMPS, STRIPES = "bumps only", "stripes only"


@cache
def grid(side: int) -> rc.Task:
    """Bumps and stripes; one object per side, to compile once."""
    return rc.stripes(rc.bumps(side, rc.local_bump(side)))


def bump_sizes(side: int, count: int) -> np.ndarray:
    """From N to N^2, evenly in the logarithm."""
    return np.unique(np.geomspace(side, side**2, count).round().astype(int))


def stripe_sizes(side: int, count: int) -> np.ndarray:
    """From about N / 2 to 2 N, evenly in the logarithm, as many of each axis."""
    return 2 * np.unique(np.geomspace(side / 4, side, count).round().astype(int))


def some_bumps(task: rc.Task, size: int, key) -> np.ndarray:
    return rc.sample(rc.whole(task.combinations), size, key)


def some_stripes(task: rc.Task, size: int, key) -> np.ndarray:
    """Half of them vertical, half horizontal."""
    import jax

    horizontal, vertical = (task.combinations == rc.ABSENT).T
    first, second = jax.random.split(key)
    return rc.sample(vertical, size // 2, first) | rc.sample(horizontal, size // 2, second)


KINDS = {BUMPS: (bump_sizes, some_bumps), STRIPES: (stripe_sizes, some_stripes)}
"""How many pictures the training sets of a kind have, for a side and a count of sets; and which pictures those are."""


def curve(sizes: np.ndarray, accuracies: np.ndarray) -> dict:
    """The columns of a row: accuracy against the size of the training set, and the size that is needed."""
    return {"sizes": sizes, "accuracies": accuracies, "threshold": threshold(sizes, accuracies)}


def threshold(sizes: np.ndarray, accuracies: np.ndarray) -> float:
    """The smallest M with accuracy GOAL, linear in log M between the two sizes around it.

    Accuracies count as the best that so many pictures or fewer gave. NaN unless the smallest set falls short of GOAL
    and a larger one reaches it.

    >>> round(threshold(np.array([4, 16, 64]), np.array([0.0, 0.8, 1.0])), 6)
    32.0
    """
    best = np.maximum.accumulate(accuracies)
    if not best[0] < GOAL <= best[-1]:
        return float("nan")
    i = int(np.argmax(best >= GOAL))
    return float(np.exp(np.interp(GOAL, best[i - 1 : i + 1], np.log(sizes[i - 1 : i + 1]))))


def thresholds(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per seed, one column per side."""
    return rows.pivot(index="seed", columns="side", values="threshold")


def exponents(rows: pd.DataFrame) -> pd.Series:
    """The slope of log threshold over log N by least squares, by seed; NaN where a threshold is missing."""
    found = thresholds(rows).map(np.log)
    side = np.log(found.columns.to_numpy(float))
    side -= side.mean()
    return found.mul(side).sum(axis=1, skipna=False) / np.sum(side**2)


def remembered(side: int, shown: np.ndarray) -> float:
    """The share of cells within one pixel of a cell that was shown."""
    seen = np.zeros((side + 2, side + 2), bool)
    for step in product(range(3), repeat=2):
        seen[tuple((shown + step).T)] = True
    return float(seen[1:-1, 1:-1].mean())


def composed(side: int, shown: np.ndarray) -> float:
    """The share of cells whose x and y are each within one pixel of one that was shown."""
    near = [np.isin(np.arange(side), [v[v != rc.ABSENT] + step for step in (-1, 0, 1)]) for v in shown.T]
    return float(np.mean(near, axis=1).prod())
