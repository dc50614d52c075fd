"""Systems built to have a property or to lack it: every measure must read these rightly before it may judge."""

from __future__ import annotations

import numpy as np

from recombine.core import Record


def blind(record: Record, example: int) -> Record:
    """Gives one example's answer whatever it is asked.

    A fixed answer, not the mean one: the mean picture of a grid of bumps is flat, and its peak an accident of rounding.
    """
    return record.answering(np.broadcast_to(record.y[example], record.y.shape))


def nearest_memory(record: Record, train: np.ndarray) -> Record:
    """Remembers its training answers and gives the one whose combination lies nearest (a pure memoriser)."""
    known = record.z[train]
    nearest = [int(np.argmin(np.abs(known - z).sum(axis=1))) for z in record.z]
    return record.answering(record.y[train][nearest])


def superposition(record: Record, train: np.ndarray) -> Record:
    """Adds the mean memory that shares the first part to the mean memory that shares the second.

    It is the failure that Liang et al. (2025) describe: each part is right, the pair is not.
    """
    known, answers = record.z[train], record.y[train]

    def recall(z: np.ndarray) -> np.ndarray:
        shared = [answers[known[:, part] == value] for part, value in enumerate(z)]
        return np.sum([a.mean(axis=0) for a in shared if len(a)], axis=0)

    return record.answering(np.stack([recall(z) for z in record.z]))
