"""Turns a Record into how far its answers are sums of what was memorised, one memory for each part.

Liang, Qian, Ziyin, Fiete (2025), section 3 and figure 1d. Answers are intensities, bright on black: sums of pictures
on white ground mean nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.core import ABSENT, Record, as_selection
from recombine.measures.pairs import answered_pictures, filled, parted
from recombine.measures.similarity import pearson


class Superposition(NamedTuple):
    """Mean correlations of answers Q: with their own sums, with the sums of other cells, with the truth."""

    r_sum: float
    r_shuffled: float
    r_truth: float


def memory_superposition(record: Record, train: np.ndarray) -> np.ndarray:
    """S_z = sum over parts f of the mean of the model's own answers to the training combinations that share z_f.

    >>> z, answers = [[0, 0], [0, 1], [1, 0], [1, 1]], [[1.0], [2.0], [4.0], [8.0]]
    >>> record = Record(z, z, answers, answers)
    >>> memory_superposition(record, np.array([True, True, True, False]))[3].tolist()  # 4 + 2
    [6.0]
    """
    train = as_selection(train, (len(parted(record)),))
    known, answers = record.z[train], record.y_hat[train]
    sums = np.zeros(record.y_hat.shape)
    for part, values in enumerate(record.z.T):
        for value in np.unique(values[values != ABSENT]):
            shared = known[:, part] == value
            if shared.any():
                sums[values == value] += answers[shared].mean(axis=0, dtype=float)
    return sums


def code_superposition(z: np.ndarray, by_x: np.ndarray, by_y: np.ndarray) -> np.ndarray:
    """S_xy = D([e(x), mean e(y)]) + D([mean e(x), e(y)]), the answers to one part with the other's code averaged out.

    `by_x[v]` and `by_y[v]` are the answers for the value v; the means run over the codes of the training set.

    >>> code_superposition(np.array([[0, 1], [1, 0]]), np.array([1, 2]), np.array([10, 20])).tolist()
    [21, 12]
    """
    return by_x[z[:, 0]] + by_y[z[:, 1]]


def superposition_score(answers: Record, sums: np.ndarray, rng: np.random.Generator) -> Superposition:
    """(mean Pearson(Q, S), mean Pearson(Q, S of a random other cell), mean Pearson(Q, T)).

    Answers are superpositions if the first far exceeds the second and exceeds the third; the first alone says
    nothing, since a model that always gives the same picture scores one.

    >>> q = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> score = superposition_score(Record([0, 1], [0, 1], 1 - q, q), q, np.random.default_rng(0))
    >>> np.round(score, 2).tolist()
    [1.0, -1.0, -1.0]
    """
    q = filled(answers).y_hat
    if not np.shape(sums) == q.shape == answers.y.shape:
        raise ValueError(f"sums, y and y_hat must have one shape, got {np.shape(sums)}, {answers.y.shape}, {q.shape}")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f'rng must be a NumPy generator, as recombine.rng(0, "shuffle") gives it; got {rng!r}')
    others = sums[derangement(len(q), rng)] if len(q) > 1 else np.full_like(sums, np.nan)
    return Superposition(*(float(np.mean(pearson(q, pictures))) for pictures in (sums, others, answers.y)))


def derangement(n: int, rng: np.random.Generator) -> np.ndarray:
    """A random permutation of n >= 2 places that leaves none where it was (one random cycle through all).

    >>> derangement(2, np.random.default_rng(0)).tolist()
    [1, 0]
    """
    cycle = rng.permutation(n)
    places = np.empty(n, int)
    places[cycle] = np.roll(cycle, 1)
    return places


def cross_share(record: Record, reach: int = 2) -> float:
    """The share of positive intensity in columns x +- reach or rows y +- reach: where either part is right.

    Chance is 1 - (1 - (2 reach + 1)/N)^2 away from the border, 0.33 for N = 28.

    >>> picture = np.ones((1, 2, 2))
    >>> cross_share(Record([[0, 0]], [0], picture, picture), reach=0)
    0.75
    """
    columns, rows = _within(record, reach)
    return _share(record, columns[:, None, :] | rows[:, :, None])


def box_share(record: Record, reach: int = 2) -> float:
    """The share of positive intensity in columns x +- reach and rows y +- reach: where both parts are right.

    >>> picture = np.ones((1, 2, 2))
    >>> box_share(Record([[0, 0]], [0], picture, picture), reach=0)
    0.25
    """
    columns, rows = _within(record, reach)
    return _share(record, columns[:, None, :] & rows[:, :, None])


def _within(record: Record, reach: int) -> list[np.ndarray]:
    height, width = answered_pictures(record).shape[1:]
    return [np.abs(np.arange(n) - v[:, None]) <= reach for n, v in zip((width, height), record.z.T, strict=True)]


def _share(record: Record, where: np.ndarray) -> float:
    """The mean over pictures of the share of positive intensity that lies `where`; an empty picture counts as zero."""
    light = np.maximum(record.y_hat, 0).astype(float)
    total = light.sum(axis=(1, 2))
    inside = np.sum(light * where, axis=(1, 2))
    return float(np.mean(np.divide(inside, total, out=np.zeros(len(light)), where=total != 0)))
