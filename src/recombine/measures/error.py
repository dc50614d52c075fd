"""How wrong: squared error of a Record's answers, whole, normalised, or cell by cell."""

from __future__ import annotations

import numpy as np

from recombine.core import Record


def errors(record: Record) -> np.ndarray:
    """Each example's mean squared error."""
    return np.mean((record.y_hat - record.y) ** 2, axis=tuple(range(1, record.y.ndim)))


def mse(record: Record) -> float:
    """Mean squared error over all examples and outputs."""
    return float(np.mean(errors(record)))


def nmse(record: Record) -> float:
    """Squared error over the mean square of the truth: 1 is what an empty answer gets."""
    return mse(record) / float(np.mean(record.y**2))


def error_map(record: Record) -> np.ndarray:
    """The error of each pair of parts as a picture [second part, first part]; NaN where no example stands."""
    across, down = record.z.max(axis=0) + 1
    picture = np.full((down, across), np.nan)
    picture[record.z[:, 1], record.z[:, 0]] = errors(record)
    return picture
