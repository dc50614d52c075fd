"""Where the bump is: does the brightest pixel of an answer stand at the pair (x, y) that was asked for?"""

from __future__ import annotations

import numpy as np

from recombine.core import Record


def peaks(pictures: np.ndarray) -> np.ndarray:
    """The (column, row) of each picture's brightest pixel."""
    flat = pictures.reshape(len(pictures), -1).argmax(axis=1)
    row, column = np.unravel_index(flat, pictures.shape[1:])
    return np.stack([column, row], axis=1)


def peak_accuracy(record: Record, tolerance: int = 0) -> float:
    """The share of answers whose peak is within `tolerance` pixels of (x, y) along both axes.

    Both axes at once: a superposition of two memories is right along each axis and wrong jointly.
    """
    right = np.all(np.abs(peaks(record.y_hat) - record.z) <= tolerance, axis=1)
    sound = np.isfinite(record.y_hat).all(axis=(1, 2))
    return float(np.mean(right & sound))
