"""Answers that need no composition: what memories of seen points say of other points.

Points are rows over parts. A part that is ordered counts its steps, any other counts one if it differs. Each function
takes seen points, their answers (points, numbers) and other points; it returns answers for these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

_AT_ONCE = 256
WIDTHS = (0.75, 1.5, 3.0, 6.0)
"""Widths of a smooth surface, in steps."""
_RIDGES = (1e-8, 1e-5, 1e-2, 1e-1)
_MOST = 600


def steps_apart(z: np.ndarray, other: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """The sum over parts of |v - v'| where a part is ordered, and of 1[v != v'] where it is not.

    >>> steps_apart(np.array([[0, 0]]), np.array([[3, 3]]), np.array([True, False])).tolist()
    [[4.0]]
    """
    apart = np.zeros((len(z), len(other)))
    for part, steps in enumerate(ordered):
        away = np.abs(z[:, part, None] - other[None, :, part])
        apart += away if steps else away != 0
    return apart


def nearest_seen(seen: np.ndarray, other: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """For each other point the distance to the nearest seen one.

    >>> nearest_seen(np.array([[0, 0]]), np.array([[3, 1]]), np.array([True, True])).tolist()
    [4.0]
    """
    return np.concatenate([d.min(axis=1) for _, d in _distances(seen, other, ordered)])


def squared(given: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The squared error of each row, summed over outputs.

    >>> squared(np.array([[1.0, 3.0]]), np.zeros((1, 2))).tolist()
    [10.0]
    """
    return np.sum((given - truth) ** 2, axis=1)


def nearest_errors(
    seen: np.ndarray,
    answers: np.ndarray,
    other: np.ndarray,
    truth: np.ndarray,
    ordered: np.ndarray,
    *,
    errors: Callable[[np.ndarray, np.ndarray], np.ndarray] = squared,
) -> np.ndarray:
    """The mean error of giving the answer of a nearest seen point, chosen at random: squared, summed over outputs.

    >>> z, y = np.array([[0], [2]]), np.array([[0.0], [2.0]])
    >>> nearest_errors(z, y, np.array([[1]]), np.array([[0.0]]), np.array([True])).tolist()
    [2.0]
    """
    found = np.empty(len(other))
    for rows, d in _distances(seen, other, ordered):
        ties = d <= d.min(axis=1, keepdims=True) + 1e-9
        for row, tied in zip(rows, ties, strict=True):
            found[row] = np.mean(errors(answers[tied], truth[row][None]))
    return found


def interpolated(seen: np.ndarray, answers: np.ndarray, other: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """The mean of the seen answers, weighted by 1 / distance^(2 parts): what a local average of memories says.

    >>> interpolated(np.array([[0], [2]]), np.array([[0.0], [2.0]]), np.array([[1]]), np.array([True])).tolist()
    [[1.0]]
    """
    found = np.empty((len(other), answers.shape[1]))
    for rows, d in _distances(seen, other, ordered):
        weights = 1 / np.maximum(d, 1e-6) ** (2 * seen.shape[1])
        found[rows] = weights @ answers / weights.sum(axis=1, keepdims=True)
    return found


def smoothed(
    seen: np.ndarray, answers: np.ndarray, other: np.ndarray, widths: tuple[float, ...] = WIDTHS
) -> np.ndarray:
    """A smooth surface through the memories of ordered parts: Gaussian kernel ridge, chosen leaving one out.

    It knows nothing of parts: only that near points have like answers. Width and ridge are chosen by the exact
    leave-one-out error. At most 600 seen points are used, evenly.

    >>> z = np.arange(9.0)[:, None]
    >>> bool(abs(smoothed(z[::2], np.sin(z[::2]), z)[3, 0] - np.sin(3)) < 0.2)
    True
    """
    rows = np.unique(np.linspace(0, len(seen) - 1, min(len(seen), _MOST)).astype(int))
    seen, answers = np.asarray(seen, float)[rows], answers[rows]
    middle, squared = answers.mean(axis=0), _squared(seen, seen)
    best: tuple[float, float, np.ndarray] = (np.inf, 1.0, np.zeros_like(answers))
    for width in widths:
        values, sides = np.linalg.eigh(np.exp(-squared / (2 * width**2)))
        turned = sides.T @ (answers - middle)
        for ridge in _RIDGES:
            inverse = 1 / (np.maximum(values, 0) + ridge)
            weights, own = sides @ (inverse[:, None] * turned), sides**2 @ inverse
            left_out = np.mean((weights / own[:, None]) ** 2)
            if left_out < best[0]:
                best = (float(left_out), width, weights)
    return middle + np.exp(-_squared(np.asarray(other, float), seen) / (2 * best[1] ** 2)) @ best[2]


def hats(values: np.ndarray, knots: int) -> np.ndarray:
    """Values in [0, knots - 1] as weights of the two whole numbers around them: one-hot at whole numbers.

    >>> hats(np.array([0.0, 1.25]), 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.75, 0.25]]
    """
    return np.maximum(0.0, 1 - np.abs(np.asarray(values, float)[:, None] - np.arange(knots)))


def recalled(seen: np.ndarray, answers: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The mean over parts of the mean answer to seen points that share the part: memories laid over each other.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> recalled(z[:3], np.array([[0.0], [1.0], [10.0]]), z)[3].tolist()
    [5.5]
    """
    found = np.zeros((len(other), answers.shape[1]))
    for mine, asked in zip(seen.T, other.T, strict=True):
        knots = int(np.ceil(max(mine.max(), asked.max()))) + 1
        weights, wanted = hats(mine, knots), hats(asked, knots)
        means = weights.T @ answers / np.maximum(weights.sum(axis=0), 1e-9)[:, None]
        found += wanted @ means / wanted.sum(axis=1, keepdims=True)
    return found / seen.shape[1]


def sum_of_parts(seen: np.ndarray, answers: np.ndarray, other: np.ndarray) -> np.ndarray:
    """mu + sum_f a_f(z_f) by least squares on the seen points: each part is known, nothing of how they combine.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> sum_of_parts(z[:3], np.array([[0.0], [1.0], [10.0]]), z)[3].round(2).tolist()
    [11.0]
    """
    knots = [int(np.ceil(max(a.max(), b.max()))) + 1 for a, b in zip(seen.T, other.T, strict=True)]
    design, asked = (
        np.concatenate([hats(part, k) for part, k in zip(z.T, knots, strict=True)], axis=1) for z in (seen, other)
    )
    middle = answers.mean(axis=0)
    gram = design.T @ design
    gram += 1e-6 * max(1.0, np.trace(gram) / len(gram)) * np.eye(len(gram))
    return middle + asked @ np.linalg.solve(gram, design.T @ (answers - middle))


def _distances(seen: np.ndarray, other: np.ndarray, ordered: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of `other`, some at a time, and their distances to all seen points."""
    for start in range(0, len(other), _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, len(other)))
        yield rows, steps_apart(other[rows], seen, ordered)


def _squared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(a, b, "sqeuclidean")
