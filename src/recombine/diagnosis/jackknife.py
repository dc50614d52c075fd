"""How far a number of a layer would move with other combinations: each of some groups of them is left out in turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from recombine.measures.gap import LEVEL, Interval

GROUPS = 20


def groups_of(combinations: int, groups: int = GROUPS) -> np.ndarray:
    """Per combination its group, at random and of like sizes."""
    return np.random.default_rng(2).permutation(combinations) % min(groups, max(combinations, 1))


def around(value: float, left_out: ArrayLike) -> Interval:
    """A number and its 95 % interval from what it is without each group; infinite where one of them cannot be told."""
    from scipy.stats import t

    return spread(value, [left_out], float(t.ppf((1 + LEVEL) / 2, max(np.size(left_out) - 1, 1))))


def spread(value: float, sides: list[ArrayLike], scale: float) -> Interval:
    """The same where groups are left out along several sides of a grid, whose variances add up."""
    variance = 0.0
    for side in sides:
        values = np.asarray(side, float)
        if len(values) < 2 or not np.isfinite(values).all():
            return Interval(value, -np.inf, np.inf)
        variance += (len(values) - 1) / len(values) * float(np.sum((values - values.mean()) ** 2))
    half = scale * np.sqrt(variance)
    return Interval(value, float(value - half), float(value + half))


def jackknifed(statistic: Callable[[np.ndarray], float], points: int) -> Interval:
    """A statistic of points, asked as a mask of those that are there, with its interval."""
    groups = groups_of(points)
    left_out = [statistic(groups != k) for k in range(groups.max(initial=-1) + 1)]
    return around(float(statistic(np.ones(points, bool))), left_out)
