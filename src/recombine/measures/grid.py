"""Turns one value an example into an array over the whole grid of parts, for measures that compare neighbours."""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Record, as_combinations
from recombine.measures.pairs import parted


def on_grid(record: Record, values: np.ndarray) -> np.ndarray:
    """Values laid out as [first part, second part, ...]; every cell of the grid must stand in the record once.

    Pictures from `over_pairs` are indexed [second part, first part], as pictures are; these arrays are not.

    >>> z = [[1, 0], [0, 0], [1, 1], [0, 1]]
    >>> on_grid(Record(z, z, z, z), np.array([10, 0, 11, 1])).tolist()
    [[0, 1], [10, 11]]
    """
    values = np.asarray(values)
    if values.shape[:1] != (len(parted(record)),):
        raise ValueError(f"values {values.shape} for {len(record)} examples; one value per example was expected")
    order, sizes = grid_order(record.z)
    return values[order].reshape(*sizes, *values.shape[1:])


def grid_order(z: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """The rows of z sorted by first part, then second, ..., and how many values each part takes.

    >>> order, sizes = grid_order(np.array([[1, 0], [0, 0], [1, 1], [0, 1]]))
    >>> order.tolist(), sizes
    ([1, 3, 0, 2], (2, 2))
    """
    z = as_combinations(z)
    sizes = tuple(len(np.unique(part)) for part in z.T)
    if len(z) != np.prod(sizes) or len(np.unique(z, axis=0)) != len(z) or np.any(z == ABSENT):
        raise ValueError(f"{len(z)} combinations do not fill a grid of {' x '.join(map(str, sizes))} cells once each")
    return np.lexsort(z.T[::-1]), sizes
