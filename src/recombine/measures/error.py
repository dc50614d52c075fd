"""How wrong: squared error of a Record's answers, whole, normalised, or cell by cell."""

from __future__ import annotations

import numpy as np

from recombine.core import Record
from recombine.measures.pairs import filled, over_pairs


def errors(record: Record) -> np.ndarray:
    """Each example's mean squared error.

    >>> errors(Record([[0], [1]], [0, 1], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]])).tolist()
    [0.5, 0.0]
    """
    y, y_hat = comparable(record)
    return np.mean((y_hat - y) ** 2, axis=tuple(range(1, y.ndim)))


def comparable(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """y and y_hat, which must have one shape to be subtracted: logits are no estimates of a class.

    >>> [a.tolist() for a in comparable(Record([[0]], [0], [[1.0]], [[2.0]]))]
    [[[1.0]], [[2.0]]]
    """
    if filled(record).y.shape != record.y_hat.shape:
        raise ValueError(f"an error needs y and y_hat of one shape, got {record.y.shape} and {record.y_hat.shape}")
    return record.y, record.y_hat


def mse(record: Record) -> float:
    """Mean squared error over all examples and outputs.

    >>> mse(Record([[0], [1]], [0, 1], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]]))
    0.25
    """
    return float(np.mean(errors(record)))


def nmse(record: Record) -> float:
    """Squared error over the mean square of the truth: 1 is what an empty answer gets.

    >>> nmse(Record([[0], [1]], [0, 1], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]]))
    0.1
    """
    error, size = mse(record), float(np.mean(record.y**2))
    if size == 0:
        raise ValueError("the truth of this record is zero everywhere, so no error can be compared with its size")
    return error / size


def error_map(record: Record) -> np.ndarray:
    """The error of each pair of parts as a picture [second part, first part]; NaN where no example stands.

    >>> error_map(Record([[0, 0], [1, 1]], [0, 1], [[1.0], [2.0]], [[1.0], [0.0]])).tolist()
    [[0.0, nan], [nan, 4.0]]
    """
    return over_pairs(record, errors(record))
