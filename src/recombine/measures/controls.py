"""Systems built to have a property or to lack it: every measure must read these rightly before it may judge."""

from __future__ import annotations

import numpy as np

from recombine.core import Record, as_selection
from recombine.measures.pairs import filled, parted


def blind(record: Record, example: int) -> Record:
    """Gives one example's answer whatever it is asked.

    A fixed answer, not the mean one: the mean picture of a grid of bumps is flat, and its peak an accident of rounding.

    >>> record = Record([[0], [1]], [0, 1], [[1.0], [2.0]], [[0.0], [0.0]])
    >>> blind(record, 1).y_hat.tolist()
    [[2.0], [2.0]]
    """
    if not isinstance(example, int | np.integer) or not -len(filled(record)) <= example < len(record):
        raise ValueError(f"example must be the number of one of {len(record)} examples, got {example!r}")
    return record.answering(np.broadcast_to(record.y[example], record.y.shape))


def nearest_memory(record: Record, train: np.ndarray) -> Record:
    """Remembers its training answers and gives the one whose combination lies nearest (a pure memoriser).

    >>> record = Record([[0], [1], [5]], [0, 1, 5], [[1.0], [2.0], [3.0]], np.zeros((3, 1)))
    >>> nearest_memory(record, np.array([True, False, True])).y_hat.tolist()
    [[1.0], [1.0], [3.0]]
    """
    train = as_selection(train, (len(parted(record)),))
    known = record.z[train]
    nearest = [int(np.argmin(np.abs(known - z).sum(axis=1))) for z in record.z]
    return record.answering(record.y[train][nearest])


def superposition(record: Record, train: np.ndarray) -> Record:
    """Adds the mean memory that shares the first part to the mean memory that shares the second.

    It is the failure that Liang et al. (2025) describe: each part is right, the pair is not.

    >>> z = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> record = Record(z, z, [[1.0], [2.0], [4.0], [8.0]], np.zeros((4, 1)))
    >>> superposition(record, np.array([True, True, True, False])).y_hat[3].tolist()  # 4 + 2
    [6.0]
    """
    train = as_selection(train, (len(parted(record)),))
    known, answers = record.z[train], record.y[train]

    def recall(z: np.ndarray) -> np.ndarray:
        shared = [answers[known[:, part] == value] for part, value in enumerate(z)]
        return np.sum([a.mean(axis=0) for a in shared if len(a)], axis=0)

    return record.answering(np.stack([recall(z) for z in record.z]))
