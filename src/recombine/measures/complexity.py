"""Turns a function on the grid of two parts into how many products of one-part functions it takes, pixel by pixel.

Liang, Qian, Ziyin, Fiete (2025), equations 13-20. For three parts and more see `cp_rank`, for distributions
`nonnegative_rank`. Good for targets; on a trained network small noise inflates it, so it measures no success.
"""

from __future__ import annotations

import numpy as np


def pixel_ranks(values: np.ndarray, tolerance: float = 1e-5) -> np.ndarray:
    """The rank of the matrix f_m(x, y) of each pixel m: singular values above `tolerance` times its largest.

    `values` is [x, y, pixels...]; the tolerance lies above the rounding of single precision.

    >>> pixel_ranks(np.stack([np.ones((2, 2)), np.eye(2)], axis=-1)).tolist()
    [1, 2]
    """
    strengths = _singular_values(values)
    ranks = np.sum(strengths > tolerance * strengths[:, :1], axis=1)
    return ranks.reshape(values.shape[2:])


def exact_rank(values: np.ndarray, tolerance: float = 1e-5) -> int:
    """R* = max_m rank f_m: how many element-wise products of f(x) and h(y) the whole picture needs.

    >>> exact_rank(np.stack([np.ones((2, 2)), np.eye(2)], axis=-1))
    2
    """
    return int(np.max(pixel_ranks(values, tolerance)))


def epsilon_rank(values: np.ndarray, epsilon: float) -> int:
    """The smallest R with sqrt(sum_m sum_{r>R} s_mr^2) <= epsilon sqrt(sum_m |f_m|^2) (best by Eckart and Young).

    >>> epsilon_rank(np.diag([1.0, 0.1, 0.01]), 0.05)
    2
    """
    energy = np.sum(_singular_values(values) ** 2, axis=0)
    tails = np.cumsum(energy[::-1])  # already summed over pixels: one R for the whole picture
    return int(np.sum(tails > epsilon**2 * tails[-1]))


def _singular_values(values: np.ndarray) -> np.ndarray:
    """One row of singular values for each pixel, largest first."""
    first, second = values.shape[:2]
    pixels = np.asarray(values, float).reshape(first, second, -1).transpose(2, 0, 1)
    return np.linalg.svd(pixels, compute_uv=False)
