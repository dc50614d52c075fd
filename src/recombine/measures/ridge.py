"""Turns activations into linear readings of many targets at once: ridge whose strength is chosen leaving one out.

One decomposition of the Gram matrix serves every strength and every target, labels shuffled for control among them.
"""

from __future__ import annotations

import numpy as np

STRENGTHS = 10.0 ** np.arange(-4, 5)
"""The penalties tried, each times the mean square of a unit."""


def ridge_predictions(
    fit: np.ndarray, targets: np.ndarray, acts: np.ndarray, penalties: np.ndarray | None = None
) -> np.ndarray:
    """Predictions for `acts` of ridge with intercept fitted on rows (`fit`, `targets`), a penalty chosen per target.

    The one with the least error when each row is predicted from all others, e_i / (1 - h_i), exactly.

    >>> rows = np.arange(8.0)[:, None]
    >>> ridge_predictions(rows[:6], 2 * rows[:6], rows[6:]).round(2).tolist()
    [[12.0], [14.0]]
    """
    centre, middle = fit.mean(axis=0, dtype=float), np.asarray(targets, float).mean(axis=0)
    rows, wanted = fit - centre, targets - middle
    values, directions = _basis(rows)
    turned = rows @ directions
    loadings = turned.T @ wanted
    chosen = penalties if penalties is not None else STRENGTHS * max(values.sum() / rows.shape[1], 1e-300)
    best, weights = np.full(wanted.shape[1], np.inf), np.zeros((len(values), wanted.shape[1]))
    squares = turned**2
    for penalty in chosen:
        shrunk = loadings / (values + penalty)[:, None]
        leverage = 1 / len(rows) + squares @ (1 / (values + penalty))
        left_out = np.mean(((wanted - turned @ shrunk) / np.maximum(1 - leverage, 1e-9)[:, None]) ** 2, axis=0)
        better = left_out < best
        best, weights = np.where(better, left_out, best), np.where(better, shrunk, weights)
    return middle + (acts - centre) @ (directions @ weights)


def _basis(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of X^T X and directions, from the smaller of the two Gram matrices."""
    if len(rows) >= rows.shape[1]:
        values, directions = np.linalg.eigh(rows.T @ rows)
    else:
        values, sides = np.linalg.eigh(rows @ rows.T)
        directions = rows.T @ sides / np.sqrt(np.maximum(values, 1e-300))
    kept = values > 1e-10 * max(values.max(initial=0.0), 1e-300)
    return values[kept], directions[:, kept]


def scores(targets: np.ndarray, predictions: np.ndarray, spread: np.ndarray | None = None) -> np.ndarray:
    """R^2 of each column, 1 - sum (t - p)^2 / sum (t - mean t)^2; NaN where a target does not vary.

    >>> scores(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [1.0]])).tolist()
    [0.5]
    """
    from recombine.measures.anova import ratio

    missed = np.sum((targets - predictions) ** 2, axis=0)
    whole = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0) if spread is None else spread
    return 1 - ratio(missed, whole)
