"""Where the bump is: does the brightest pixel of an answer stand at the pair (x, y) that was asked for?"""

from __future__ import annotations

import numpy as np

from recombine.core import Record
from recombine.measures.pairs import answered_pictures, over_pairs


def peaks(pictures: np.ndarray) -> np.ndarray:
    """The (column, row) of each picture's brightest pixel.

    >>> peaks(np.array([[[0, 0, 9], [0, 0, 0]]])).tolist()
    [[2, 0]]
    """
    flat = pictures.reshape(len(pictures), -1).argmax(axis=1)
    row, column = np.unravel_index(flat, pictures.shape[1:])
    return np.stack([column, row], axis=1)


def misplacement(record: Record) -> np.ndarray:
    """How far each answer's peak is from (x, y), in pixels along the worse axis; infinite if it has no peak.

    The worse axis: a superposition of two memories is right along each axis in turn and wrong jointly.

    >>> pictures = np.array([[[9, 0, 0]], [[9, 0, 0]]])
    >>> misplacement(Record([[0, 0], [2, 0]], [0, 1], pictures, pictures)).tolist()
    [0.0, 2.0]
    """
    away = np.abs(peaks(answered_pictures(record)) - record.z).max(axis=1).astype(float)
    return np.where(np.isfinite(record.y_hat).all(axis=(1, 2)), away, np.inf)


def peak_accuracy(record: Record, tolerance: int = 0) -> float:
    """The share of answers whose peak is within `tolerance` pixels of (x, y) along both axes.

    >>> pictures = np.array([[[9, 0, 0]], [[9, 0, 0]]])
    >>> peak_accuracy(Record([[0, 0], [2, 0]], [0, 1], pictures, pictures))
    0.5
    """
    return float(np.mean(misplacement(record) <= tolerance))


def peak_map(record: Record) -> np.ndarray:
    """The misplacement of each pair as a picture [y, x].

    >>> pictures = np.array([[[9, 0]], [[9, 0]]])
    >>> peak_map(Record([[0, 0], [1, 0]], [0, 1], pictures, pictures)).tolist()
    [[0.0, 1.0]]
    """
    return over_pairs(record, misplacement(record))


def regions(pictures: np.ndarray, level: float = 0.5, floor: float = 0.0) -> np.ndarray:
    """How many separate regions of each picture lie above `level` times its maximum: one bump is one region.

    Pixels that touch at a corner belong together. What does not exceed `floor` is no bump, however faint the picture.

    >>> regions(np.array([[[9, 0, 8]], [[9, 8, 0]]])).tolist()
    [2, 1]
    >>> regions(np.array([[[9, 0, 8]], [[3, 0, 2]]]), floor=4).tolist()
    [2, 0]
    """
    from scipy.ndimage import label

    above = [picture > max(level * picture.max(), floor) for picture in pictures]
    return np.array([label(one, np.ones((3, 3)))[1] for one in above])
