"""Turns answers into which combination they look like, part by part: the nearest target names it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recombine.measures.similarity import distance_matrix


def identified(
    answers: np.ndarray, targets: np.ndarray, z: np.ndarray, asked: np.ndarray, slack: ArrayLike = 0.0
) -> np.ndarray:
    """For each answer and part, the share of its nearest targets that have the part's value asked for.

    Rows of `targets` belong to rows of `z`, rows of `answers` to rows of `asked`. Targets that are alike tie: a part
    that does not change the target is identified by chance. With `slack`, values that near count as well.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> identified(np.array([[0.9, 0.2]]), z.astype(float), z, np.array([[1, 1]])).tolist()
    [[1.0, 0.0]]
    """
    apart = distance_matrix(answers, targets)
    nearest = apart <= apart.min(axis=1, keepdims=True) + 1e-9 * (1 + apart.max())
    share, slack = nearest / nearest.sum(axis=1, keepdims=True), np.broadcast_to(slack, z.shape[1])
    parts = zip(z.T, asked.T, slack, strict=True)  # part by part, to bound memory
    return np.stack([np.sum(share * (np.abs(v - w[:, None]) <= s), axis=1) for v, w, s in parts], axis=1)


def chance(z: np.ndarray, slack: ArrayLike = 0.0) -> np.ndarray:
    """For each part, the chance that two combinations have like values: what a fixed answer is identified by.

    >>> chance(np.array([[0, 0], [1, 0]])).tolist()
    [0.5, 1.0]
    """
    slack = np.broadcast_to(slack, z.shape[1])
    return np.array([np.mean(np.abs(v[:, None] - v) <= s) for v, s in zip(z.T, slack, strict=True)])


def explained_by_parts(answers: np.ndarray, parts: np.ndarray, truth: np.ndarray) -> tuple[float, float, np.ndarray]:
    """R^2 of answers ~ mu + sum_f b_f M_f, R^2 of answers ~ mu + b T, and b_f: the superposition test.

    `parts` (parts, answers, numbers) has the system's own mean answer to what it has seen of each part. NaN where the
    answers are all the same.

    >>> parts = np.array([[[0.0], [1.0], [0.0]], [[0.0], [0.0], [2.0]]])
    >>> by_parts, by_truth, weights = explained_by_parts(parts.sum(axis=0), parts, np.array([[0.0], [0.0], [1.0]]))
    >>> round(by_parts, 2), by_truth < 1, weights.round(2).tolist()
    (1.0, True, [1.0, 1.0])
    """
    spread = answers - answers.mean(axis=0)
    total = np.sum(spread**2)
    if not total > 1e-9 * np.sum(answers**2):
        return float("nan"), float("nan"), np.full(len(parts), np.nan)
    by_parts, weights = _fit(spread, parts - parts.mean(axis=1, keepdims=True))
    by_truth, _ = _fit(spread, (truth - truth.mean(axis=0))[None])
    return by_parts, by_truth, weights


def _fit(wanted: np.ndarray, columns: np.ndarray) -> tuple[float, np.ndarray]:
    """R^2 and weights of least squares, all numbers of all rows together."""
    flat = columns.reshape(len(columns), -1)
    gram = flat @ flat.T
    weights = np.linalg.lstsq(gram, flat @ wanted.ravel(), rcond=1e-10)[0]
    return float(1 - np.sum((wanted.ravel() - weights @ flat) ** 2) / np.sum(wanted**2)), weights
