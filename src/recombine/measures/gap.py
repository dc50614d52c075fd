"""Turns errors on new combinations into the share of the way to a memory's errors, with an interval over combinations.

G = (E_new - E_seen) / (E_memory - E_seen): 0 for a system that errs no more on new combinations than on seen ones, 1
for one that errs as a memory does. What all three errors share, as noise in the targets, cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.95


class Interval(NamedTuple):
    """A number and the interval that it lies in at the level asked for."""

    value: float
    low: float
    high: float


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """The mean and Student's t interval; infinitely wide for fewer than two numbers.

    >>> [round(v, 2) for v in mean_interval([0.0, 2.0, 4.0])]
    [2.0, -2.97, 6.97]
    """
    values = np.asarray(values, float)
    return _around(float(values.mean()), values - values.mean(), 0.0, level)


def gap(errors: ArrayLike, memory: ArrayLike, floor: ArrayLike, level: float = LEVEL) -> Interval:
    """G with its interval: errors of a system and of a memory on the same new combinations, and errors on seen ones.

    The interval linearises the ratio of means (Student's t over new combinations, with the error of the floor added).
    Infinite where the memory errs no more than the floor: then nothing can be told.

    >>> [round(v, 2) for v in gap([0.1, 0.1, 0.1], [1.1, 1.1, 1.1], [0.1, 0.1])]
    [0.0, 0.0, 0.0]
    >>> gap([1.0, 1.0], [0.5, 0.5], [0.5, 0.5]).value
    inf
    """
    e, m, seen = (np.asarray(v, float) for v in (errors, memory, floor))
    room = m.mean() - seen.mean()
    if room <= 1e-12 * max(abs(m.mean()), abs(seen.mean()), 1e-300):
        return Interval(np.inf, -np.inf, np.inf)
    value = float((e.mean() - seen.mean()) / room)
    residuals = (e - value * m - (1 - value) * seen.mean()) / room
    of_floor = (1 - value) * seen.std(ddof=1) / np.sqrt(len(seen)) / room if len(seen) > 1 else 0.0
    return _around(value, residuals, float(of_floor), level)


def share_interval(hits: float, of: int, level: float = LEVEL) -> Interval:
    """A share and Wilson's interval, which stays within [0, 1] and is honest for few.

    >>> [round(v, 2) for v in share_interval(5, 5)]
    [1.0, 0.57, 1.0]
    """
    from scipy.stats import norm

    if not of:
        return Interval(np.nan, 0.0, 1.0)
    z, p = norm.ppf((1 + level) / 2), hits / of
    middle, half = p + z**2 / (2 * of), z * np.sqrt(p * (1 - p) / of + z**2 / (4 * of**2))
    low, high = (middle - half) / (1 + z**2 / of), (middle + half) / (1 + z**2 / of)
    return Interval(float(p), float(max(low, 0.0)), float(min(high, 1.0)))


def _around(value: float, residuals: np.ndarray, other: float, level: float) -> Interval:
    from scipy.stats import t

    n = len(residuals)
    if n < 2:
        return Interval(value, -np.inf, np.inf)
    half = t.ppf((1 + level) / 2, n - 1) * np.hypot(residuals.std(ddof=1) / np.sqrt(n), other)
    return Interval(value, float(value - half), float(value + half))
