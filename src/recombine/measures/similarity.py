"""Turns two sets of pictures, or of cells, into a matrix of how alike they are, and two matrices into an agreement.

Liang, Qian, Ziyin, Fiete (2025), figures 1e and 8. Pictures are intensities: on white ground all of them are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from recombine.core import as_combinations, as_selection

Match = Callable[[np.ndarray], np.ndarray]


def pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The correlation of each row of a with the same row of b; zero where a row is constant.

    >>> pearson(np.array([[1, 2, 3], [1, 1, 1]]), np.array([[2, 1, 0], [2, 1, 0]])).round(2).tolist()
    [-1.0, 0.0]
    """
    a, b = _centred(a), _centred(b)
    if a.shape != b.shape:
        raise ValueError(f"each row is compared with the same row, of one length; got {a.shape} and {b.shape}")
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.divide(np.sum(a * b, axis=1), norms, out=np.zeros(len(a)), where=norms != 0)


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's correlation: of the ranks of two rows of numbers, ties sharing their mean rank.

    >>> round(rank_correlation([1, 2, 3], [1, 10, 100]), 2)
    1.0
    """
    from scipy.stats import rankdata

    return float(pearson(rankdata(a)[None], rankdata(b)[None])[0])


def cosine_matrix(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """<a_i, b_j> / (|a_i| |b_j|); zero where a picture is empty.

    >>> cosine_matrix(np.array([[1, 0]]), np.array([[1, 1], [0, 0]])).round(2).tolist()
    [[0.71, 0.0]]
    """
    a, b = _rows(a), _rows(b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"pictures of one size can be compared, got {a.shape[1]} and {b.shape[1]} pixels")
    norms = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    return np.divide(a @ b.T, norms, out=np.zeros(norms.shape), where=norms != 0)


def distance_matrix(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|a_i - b_j|.

    >>> distance_matrix(np.array([[0, 0]]), np.array([[3, 4]])).tolist()
    [[5.0]]
    """
    from scipy.spatial.distance import cdist

    return cdist(_rows(a), _rows(b))


def overlap_matrix(a: np.ndarray, b: np.ndarray, theta: float) -> np.ndarray:
    """The share of pixels p with a_i[p] > theta and b_j[p] > theta (the paper takes 0.7, which faint answers miss).

    >>> overlap_matrix(np.array([[1.0, 0.9, 0.0, 0.0]]), np.array([[1.0, 0.5, 0.0, 0.0]]), 0.7).tolist()
    [[0.25]]
    """
    a, b = (_rows(pictures) > theta for pictures in (a, b))
    return a.astype(float) @ b.T.astype(float) / a.shape[1]


def same(apart: np.ndarray) -> np.ndarray:
    """The hard match kappa = 1[v = v'].

    >>> same(np.array([-1, 0, 2])).tolist()
    [0.0, 1.0, 0.0]
    """
    return (apart == 0).astype(float)


def near(sigma: float) -> Match:
    """The soft match kappa = exp(-(v - v')^2 / (4 sigma^2)), the overlap of two bumps of width sigma.

    >>> near(0.5)(np.array([0, 1])).round(2).tolist()
    [1.0, 0.37]
    """
    if not isinstance(sigma, Real) or not sigma > 0:
        raise ValueError(f"sigma, the width of a match, must be a number above 0, got {sigma!r}")
    return lambda apart: np.exp(-(apart**2) / (4 * sigma**2))


def or_kernel(z: np.ndarray, other: np.ndarray, match: Match) -> np.ndarray:
    """K_OR = 1 - prod_f (1 - kappa_f): alike if any part matches, as memories that are superposed are.

    >>> or_kernel(np.array([[0, 0]]), np.array([[0, 0], [0, 1], [1, 1]]), same).tolist()
    [[1.0, 1.0, 0.0]]
    """
    return 1 - np.prod(1 - _matched(z, other, match), axis=-1)


def and_kernel(z: np.ndarray, other: np.ndarray, match: Match) -> np.ndarray:
    """K_AND = prod_f kappa_f: alike if every part matches; with the soft match, the cosine of the true pictures.

    >>> and_kernel(np.array([[0, 0]]), np.array([[0, 0], [0, 1], [1, 1]]), same).tolist()
    [[1.0, 0.0, 0.0]]
    """
    return np.prod(_matched(z, other, match), axis=-1)


def agreement(
    matrix: np.ndarray, reference: np.ndarray, rows: np.ndarray | None = None, columns: np.ndarray | None = None
) -> float:
    """The correlation of a matrix with a reference over the block of some rows and columns (masks; all by default).

    >>> round(agreement(np.eye(2), 1 - np.eye(2)), 2)
    -1.0
    """
    matrix, reference = np.asarray(matrix), np.asarray(reference)
    if matrix.ndim != 2 or matrix.shape != reference.shape or not matrix.size:
        raise ValueError(f"two matrices of one shape can agree, got shapes {matrix.shape} and {reference.shape}")
    chosen = zip((rows, columns), matrix.shape, strict=True)
    block = np.ix_(*(np.ones(n, bool) if mask is None else as_selection(mask, (n,)) for mask, n in chosen))
    return float(pearson(matrix[block].reshape(1, -1), reference[block].reshape(1, -1))[0])


def _matched(z: np.ndarray, other: np.ndarray, match: Match) -> np.ndarray:
    z, other = as_combinations(z), as_combinations(other)
    if z.shape[1] != other.shape[1]:
        raise ValueError(f"combinations of {z.shape[1]} and of {other.shape[1]} parts cannot be matched")
    if not callable(match):
        raise TypeError(f"match is a function of differences, such as recombine.near(1.0); got {match!r}")
    return match(z[:, None, :] - other[None, :, :])


def _rows(pictures: np.ndarray) -> np.ndarray:
    found = np.asarray(pictures, float)
    if found.ndim < 2 or 0 in found.shape[1:]:
        raise ValueError(f"pictures or rows are arrays whose first axis counts them, got shape {found.shape}")
    return found.reshape(len(found), -1)


def _centred(pictures: np.ndarray) -> np.ndarray:
    """Each row less its mean, and exactly zero where nothing but rounding is left."""
    rows = _rows(pictures)
    centred = rows - rows.mean(axis=1, keepdims=True)
    rounding = 8 * np.finfo(float).eps * np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(centred).max(axis=1, keepdims=True, initial=0.0) <= rounding, 0.0, centred)
