"""Turns answers to many small regression tasks into R^2, as an average over units or over all numbers together.

Redhardt, Akram, Schug (2025) report the first. Records hold y as (examples, samples, outputs): an example is a task.
"""

from __future__ import annotations

import numpy as np

from recombine.core import Record
from recombine.measures.anova import ratio
from recombine.measures.error import comparable

FLOOR = 1e-3
"""The least variance of a unit within a task, as a share of the mean one: a dead unit would outweigh all others."""


def r2_by_unit(record: Record, floor: float = FLOOR) -> float:
    """The mean of 1 - (y - y_hat)^2 / v, where v is the variance of that unit over the samples of that task.

    v counts as at least `floor` times its mean. A unit that hardly varies weighs as much as any other.

    >>> y, y_hat = [[[0, 0], [2, 20]]], [[[0, 0], [1, 20]]]
    >>> r2_by_unit(Record([[0]], [0], y, y_hat))
    0.75
    """
    return float(np.mean(r2_by_task(record, floor)))


def r2_by_task(record: Record, floor: float = FLOOR) -> np.ndarray:
    """The same for each task: its mean over samples and units.

    >>> y, y_hat = [[[0, 0], [2, 20]], [[0, 0], [2, 2]]], [[[0, 0], [1, 20]], [[0, 0], [2, 2]]]
    >>> r2_by_task(Record([[0], [1]], [0, 0], y, y_hat)).tolist()
    [0.75, 1.0]
    """
    missed, y = _missed(record)
    variance = y.var(axis=1, keepdims=True)
    return np.mean(1 - ratio(missed, np.maximum(variance, floor * variance.mean())), axis=(1, 2))


def r2_pooled(record: Record) -> float:
    """1 - sum (y - y_hat)^2 / sum (y - m)^2, where m is the mean of that unit over all samples of all tasks.

    >>> y, y_hat = [[[0, 0], [2, 20]]], [[[0, 0], [1, 20]]]
    >>> round(r2_pooled(Record([[0]], [0], y, y_hat)), 3)
    0.995
    """
    missed, y = _missed(record)
    return float(1 - ratio(missed.sum(), np.sum((y - y.mean(axis=(0, 1))) ** 2)))


def _missed(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """The squared errors and the truth."""
    y, y_hat = comparable(record)
    y = np.asarray(y, float)
    if y.ndim != 3:
        raise ValueError(f"a task has samples and outputs, so y has three axes; got shape {y.shape}")
    return (y - y_hat) ** 2, y
