"""Turns one number an example into a picture over the pairs of parts."""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Record


def pictures(record: Record) -> np.ndarray:
    """The answers (examples, height, width), where what is asked for is a pair (x, y).

    >>> pictures(Record([[0, 0]], [0], np.ones((1, 1, 1)), np.ones((1, 1, 1)))).tolist()
    [[[1.0]]]
    """
    if record.y_hat.ndim != 3 or record.z.shape[1:] != (2,):
        raise ValueError(f"pairs (x, y) and pictures were expected; got z {record.z.shape}, y_hat {record.y_hat.shape}")
    return record.y_hat


def over_pairs(record: Record, values: np.ndarray) -> np.ndarray:
    """A picture [second part, first part] of one value an example; NaN where no example stands.

    >>> z = [[0, 0], [1, 1]]
    >>> over_pairs(Record(z, z, z, z), np.array([3.0, 4.0])).tolist()
    [[3.0, nan], [nan, 4.0]]
    """
    if record.z.shape[1:] != (2,) or np.any(record.z == ABSENT):
        raise ValueError(f"a picture over pairs needs two parts in every example, none absent; z is {record.z.shape}")
    across, down = record.z.max(axis=0) + 1
    picture = np.full((down, across), np.nan)
    picture[record.z[:, 1], record.z[:, 0]] = values
    return picture
