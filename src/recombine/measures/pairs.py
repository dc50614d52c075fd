"""Turns one number an example into a picture over the pairs of parts."""

from __future__ import annotations

import numpy as np

from recombine.core import Record


def over_pairs(record: Record, values: np.ndarray) -> np.ndarray:
    """A picture [second part, first part] of one value an example; NaN where no example stands.

    >>> z = [[0, 0], [1, 1]]
    >>> over_pairs(Record(z, z, z, z), np.array([3.0, 4.0])).tolist()
    [[3.0, nan], [nan, 4.0]]
    """
    across, down = record.z.max(axis=0) + 1
    picture = np.full((down, across), np.nan)
    picture[record.z[:, 1], record.z[:, 0]] = values
    return picture
