"""Turns singular values into how many directions matter: p_r = s_r^2 / sum s^2 along the last axis."""

from __future__ import annotations

import numpy as np

from recombine.measures.anova import ratio


def rank_at(singular_values: np.ndarray, tolerance: float = 1e-6) -> np.ndarray:
    """The smallest R with sum_{r > R} s_r^2 <= tolerance * sum_r s_r^2.

    >>> int(rank_at(np.array([2.0, 1.0, 0.0])))
    2
    """
    energy = np.sort(np.square(np.asarray(singular_values, float)), axis=-1)
    tails = np.cumsum(energy, axis=-1)
    return np.sum(tails > tolerance * tails[..., -1:], axis=-1)


def effective_rank(singular_values: np.ndarray) -> np.ndarray:
    """exp(-sum_r p_r ln p_r): one if a single direction carries all, R if R carry alike; NaN if nothing is there.

    >>> float(effective_rank(np.array([1.0, 1.0, 0.0])).round(2))
    2.0
    """
    from scipy.special import entr

    return np.exp(np.sum(entr(_weights(singular_values)), axis=-1))


def top_share(singular_values: np.ndarray) -> np.ndarray:
    """p_1, the share of the strongest direction.

    >>> float(top_share(np.array([2.0, 1.0, 0.0])).round(2))
    0.8
    """
    return np.max(_weights(singular_values), axis=-1)


def _weights(singular_values: np.ndarray) -> np.ndarray:
    energy = np.square(np.asarray(singular_values, float))
    return ratio(energy, energy.sum(axis=-1, keepdims=True))
