"""Systems built to have a property or to lack it: every measure must read these rightly before it may judge."""

from __future__ import annotations

import numpy as np

from recombine.core import Record, as_selection
from recombine.measures.pairs import filled, parted


def blind(record: Record, example: int) -> Record:
    """Gives one example's answer whatever it is asked.

    A fixed answer, not the mean one: the mean picture of a grid of bumps is flat, and its peak an accident of rounding.

    >>> record = Record([[0], [1]], [0, 1], [[1.0], [2.0]], [[0.0], [0.0]])
    >>> blind(record, 1).y_hat.tolist()
    [[2.0], [2.0]]
    """
    if not isinstance(example, int | np.integer) or not -len(filled(record)) <= example < len(record):
        raise ValueError(f"example must be the number of one of {len(record)} examples, got {example!r}")
    return record.answering(np.broadcast_to(record.y[example], record.y.shape))


def nearest_memory(record: Record, train: np.ndarray) -> Record:
    """Remembers its training answers and gives the one whose combination lies nearest (a pure memoriser).

    >>> record = Record([[0], [1], [5]], [0, 1, 5], [[1.0], [2.0], [3.0]], np.zeros((3, 1)))
    >>> nearest_memory(record, np.array([True, False, True])).y_hat.tolist()
    [[1.0], [1.0], [3.0]]
    """
    train = as_selection(train, (len(parted(record)),))
    known = record.z[train]
    nearest = [int(np.argmin(np.abs(known - z).sum(axis=1))) for z in record.z]
    return record.answering(record.y[train][nearest])


def superposition(record: Record, train: np.ndarray) -> Record:
    """Adds the mean memory that shares the first part to the mean memory that shares the second.

    It is the failure that Liang et al. (2025) describe: each part is right, the pair is not.

    >>> z = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> record = Record(z, z, [[1.0], [2.0], [4.0], [8.0]], np.zeros((4, 1)))
    >>> superposition(record, np.array([True, True, True, False])).y_hat[3].tolist()  # 4 + 2
    [6.0]
    """
    train = as_selection(train, (len(parted(record)),))
    known, answers = record.z[train], record.y[train]

    def recall(z: np.ndarray) -> np.ndarray:
        shared = [answers[known[:, part] == value] for part, value in enumerate(z)]
        return np.sum([a.mean(axis=0) for a in shared if len(a)], axis=0)

    return record.answering(np.stack([recall(z) for z in record.z]))


def vote(
    contexts: np.ndarray, answers: np.ndarray, train: np.ndarray, otherwise: np.ndarray | None = None
) -> np.ndarray:
    """The commonest training answer among the rows of equal context; where there is none, that of another voter.

    contexts (rows, ..) and answers (rows,) are whole numbers; of equally common answers the least is given. A voter
    never looks at what its context leaves out: what it gets right was not composed. With nobody to ask `otherwise`,
    it gives the commonest of all training answers.

    >>> vote(np.array([[0], [0], [0], [1]]), np.array([2, 2, 3, 4]), np.array([True, True, True, False])).tolist()
    [2, 2, 2, 2]
    """
    train = as_selection(train, (len(answers),))
    _, where = np.unique(contexts, axis=0, return_inverse=True)
    counts = np.zeros((where.max() + 1, int(answers.max()) + 1), int)
    np.add.at(counts, (where.ravel()[train], answers[train]), 1)
    own, known = counts.argmax(axis=1)[where.ravel()], counts.sum(axis=1)[where.ravel()] > 0
    return np.where(known, own, counts.sum(axis=0).argmax() if otherwise is None else otherwise)


def longest_prefix(rows: np.ndarray, answers: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The answer of the training row that shares the longest beginning, the first of them: a pure rememberer.

    >>> rows = np.array([[0, 1, 2], [0, 3, 4], [0, 1, 5]])
    >>> longest_prefix(rows, np.array([7, 8, 9]), np.array([True, True, False])).tolist()
    [7, 8, 7]
    """
    train = as_selection(train, (len(answers),))
    found = np.full(len(rows), answers[train][0])
    for k in range(1, rows.shape[1] + 1):
        _, where = np.unique(rows[:, :k], axis=0, return_inverse=True)
        first = np.full(where.max() + 1, -1)
        numbers = np.flatnonzero(train)[::-1]
        first[where.ravel()[numbers]] = numbers
        known = first[where.ravel()]
        found = np.where(known >= 0, answers[known], found)
    return found
