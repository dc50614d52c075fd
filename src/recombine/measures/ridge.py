"""Turns activations into linear readings of many targets at once: ridge whose strength is chosen leaving one out.

One decomposition of the Gram matrix serves every strength and every target, labels shuffled for control among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STRENGTHS = 10.0 ** np.arange(-4, 5)
"""The penalties tried, each times the mean square of a unit."""
LARGEST = 32
"""Rows of a group that choose the penalty, at most: blocks of that size are solved."""
_JUDGES = 3000
"""Rows, in whole groups, on which penalties are compared where rows come in groups."""


class _Fit(NamedTuple):
    """Rows along the directions of their Gram matrix, and what ridge of any penalty needs of the targets."""

    centre: np.ndarray
    middle: np.ndarray
    wanted: np.ndarray
    values: np.ndarray
    directions: np.ndarray
    turned: np.ndarray
    loadings: np.ndarray
    penalties: np.ndarray


def ridge_predictions(
    fit: np.ndarray,
    targets: np.ndarray,
    acts: np.ndarray,
    penalties: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Predictions for `acts` of ridge with intercept fitted on rows (`fit`, `targets`), a penalty chosen per target.

    The one with the least error when each row is predicted from all others, e_i / (1 - h_i), exactly. Rows of one of
    the `groups` (whole numbers) are left out together, (1 - H_GG)^-1 e_G: repeats of a row must not predict it.

    >>> rows = np.arange(8.0)[:, None]
    >>> ridge_predictions(rows[:6], 2 * rows[:6], rows[6:]).round(2).tolist()
    [[12.0], [14.0]]
    """
    whole = _fitted(fit, targets, penalties)
    if groups is None or len(np.unique(groups)) < 2:
        errors = _rows_left_out(whole)
    else:
        some = _at_most(np.asarray(groups), LARGEST)
        judged = whole if len(some) == len(fit) else _fitted(fit[some], np.asarray(targets)[some], penalties)
        errors = _groups_left_out(judged, np.asarray(groups)[some])
    chosen = whole.penalties[errors.argmin(axis=0)]
    weights = whole.loadings / (whole.values[:, None] + chosen)
    return whole.middle + (acts - whole.centre) @ (whole.directions @ weights)


def _fitted(rows: np.ndarray, targets: np.ndarray, penalties: np.ndarray | None) -> _Fit:
    centre, middle = rows.mean(axis=0, dtype=float), np.asarray(targets, float).mean(axis=0)
    rows, wanted = rows - centre, targets - middle
    values, directions = _basis(rows)
    turned = rows @ directions
    chosen = penalties if penalties is not None else STRENGTHS * max(values.sum() / rows.shape[1], 1e-300)
    return _Fit(centre, middle, wanted, values, directions, turned, turned.T @ wanted, np.asarray(chosen))


def _rows_left_out(f: _Fit) -> np.ndarray:
    """Mean squared errors (penalties, targets) on rows that are left out one by one."""
    squares, found = f.turned**2, []
    for penalty in f.penalties:
        shrink = 1 / (f.values + penalty)
        missed = f.wanted - f.turned @ (f.loadings * shrink[:, None])
        leverage = 1 / len(squares) + squares @ shrink
        found.append(np.mean((missed / np.maximum(1 - leverage, 1e-9)[:, None]) ** 2, axis=0))
    return np.stack(found)


def _groups_left_out(f: _Fit, groups: np.ndarray) -> np.ndarray:
    """Mean squared errors (penalties, targets) over groups that are left out one by one; of many, over some of them."""
    found = np.zeros((len(f.penalties), f.wanted.shape[1]))
    for block in _blocks(groups, _JUDGES):  # (groups of one size, rows of each)
        turned, wanted = f.turned[block], f.wanted[block]
        unit = np.eye(block.shape[1]) * (1 + 1e-9) - 1 / len(f.turned)
        for i, penalty in enumerate(f.penalties):
            shrunk = turned / (f.values + penalty)
            missed = wanted - shrunk @ f.loadings
            left_out = np.linalg.solve(unit - shrunk @ turned.swapaxes(1, 2), missed)
            found[i] += np.mean(left_out**2, axis=1).sum(axis=0)
    return found


def _blocks(groups: np.ndarray, most: int) -> list[np.ndarray]:
    """Rows of groups, those of one size together; of many rows, whole groups at random up to so many rows."""
    names, of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order, starts = np.argsort(of, kind="stable"), np.cumsum(sizes) - sizes
    turn = np.random.default_rng(0).permutation(len(names))
    kept = turn[np.cumsum(sizes[turn]) <= max(most, sizes.max())]
    return [order[starts[kept[sizes[kept] == size], None] + np.arange(size)] for size in np.unique(sizes[kept])]


def _at_most(groups: np.ndarray, most: int) -> np.ndarray:
    """Rows of which each group has at most so many."""
    order = np.argsort(groups, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(groups[order], groups[order])
    return np.sort(order[place < most])


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
