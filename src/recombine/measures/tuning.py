"""Turns activations on the grid of parts into what each unit is tuned to: x, y, or their conjunction.

Liang, Qian, Ziyin, Fiete (2025), figures 4e, 4f and 15. `acts` is [x, y, units...].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.measures.anova import anova_energies, ratio


class Tuning(NamedTuple):
    """The shares of each unit's variance over the grid; they add up to one, and are NaN for a unit that is constant."""

    x: np.ndarray
    y: np.ndarray
    xy: np.ndarray


def tuning_curves(acts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each unit's mean over y as a function of x, and its mean over x as a function of y.

    >>> [curve.tolist() for curve in tuning_curves(np.array([[0, 1], [2, 3]]))]
    [[0.5, 2.5], [1.0, 2.0]]
    """
    return acts.mean(axis=1), acts.mean(axis=0)


def tuning_shares(acts: np.ndarray) -> Tuning:
    """V_x, V_y, V_xy of a two-way analysis of variance, over their sum.

    >>> [float(share) for share in tuning_shares(np.array([[0.0, 1.0], [2.0, 3.0]]))]
    [0.8, 0.2, 0.0]
    """
    energies = anova_energies(acts)
    parts = [energies[s] for s in ((0,), (1,), (0, 1))]
    return Tuning(*(ratio(v, sum(parts)) for v in parts))


def stripe_index(tuning: Tuning) -> np.ndarray:
    """|V_x - V_y| / (V_x + V_y + V_xy): one for a unit that answers to one part only.

    >>> stripe_index(Tuning(x=np.array([1.0, 0.5]), y=np.array([0.0, 0.5]), xy=np.zeros(2))).tolist()
    [1.0, 0.0]
    """
    return np.abs(tuning.x - tuning.y)


def bump_index(tuning: Tuning) -> np.ndarray:
    """V_xy / (V_x + V_y + V_xy): near one for a unit that answers to one small place.

    Weighted by each unit's variance, its mean over a layer is one minus `additive_share`.

    >>> bump_index(Tuning(x=np.array([1.0, 0.0]), y=np.zeros(2), xy=np.array([0.0, 1.0]))).tolist()
    [0.0, 1.0]
    """
    return tuning.xy
