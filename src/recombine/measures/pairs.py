"""Turns one number an example into a picture over the pairs of parts; and what a record must hold to be measured."""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Record


def filled(record: Record) -> Record:
    """The record itself, which must have an example: a mean over none is no number.

    >>> filled(Record([[0]], [0], [[1.0]], [[2.0]]))
    Record(1 examples, x (), y (1,))
    """
    if not isinstance(record, Record):
        raise TypeError(f"a measure of answers reads one recombine.Record, got a {type(record).__name__}")
    if not len(record):
        raise ValueError("a record without examples has nothing to measure: did a mask select none?")
    return record


def parted(record: Record) -> Record:
    """The record itself, whose z must be rows over parts.

    >>> parted(Record([[0]], [0], [[1.0]], [[2.0]]))
    Record(1 examples, x (), y (1,))
    """
    if filled(record).z.ndim != 2:
        raise ValueError(f"z of this record must be rows over parts, (examples, parts); got shape {record.z.shape}")
    return record


def answered_pictures(record: Record) -> np.ndarray:
    """The answers (examples, height, width), where what is asked for is a pair (x, y).

    >>> answered_pictures(Record([[0, 0]], [0], np.ones((1, 1, 1)), np.ones((1, 1, 1)))).tolist()
    [[[1.0]]]
    """
    if filled(record).y_hat.ndim != 3 or record.z.shape[1:] != (2,):
        raise ValueError(f"pairs (x, y) and pictures were expected; got z {record.z.shape}, y_hat {record.y_hat.shape}")
    return record.y_hat


def over_pairs(record: Record, values: np.ndarray) -> np.ndarray:
    """A picture [second part, first part] of one value an example; NaN where no example stands.

    >>> z = [[0, 0], [1, 1]]
    >>> over_pairs(Record(z, z, z, z), np.array([3.0, 4.0])).tolist()
    [[3.0, nan], [nan, 4.0]]
    """
    if filled(record).z.shape[1:] != (2,) or np.any(record.z == ABSENT):
        raise ValueError(f"a picture over pairs needs two parts in every example, none absent; z is {record.z.shape}")
    if not np.issubdtype(record.z.dtype, np.integer) or record.z.min() < 0:
        raise ValueError(f"a picture over pairs needs whole parts from 0 on; z is {record.z.dtype}")
    across, down = record.z.max(axis=0) + 1
    picture = np.full((down, across), np.nan)
    picture[record.z[:, 1], record.z[:, 0]] = values
    return picture
