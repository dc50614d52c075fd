"""Turns the nodes of each combination into what training covers of them: single nodes, pairs of neighbours, subgraphs.

A node is a piece of a computation with a number: a function of a chain, a one-digit product, the whole ancestry of a
value (its subgraph). `nodes` is an array (combinations, nodes) of these numbers, ABSENT where a combination has fewer.
"""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Split, UserError, as_mask


def occurrences(nodes: np.ndarray, train: np.ndarray) -> np.ndarray:
    """In how many training combinations each node occurs, in the shape of `nodes`; 0 where there is none.

    >>> nodes = np.array([[7, 8], [7, 7], [9, ABSENT]])
    >>> occurrences(nodes, np.array([True, True, False])).tolist()
    [[2, 1], [2, 2], [0, 0]]
    """
    train = as_mask(train, nodes.shape[:1])
    values, number = np.unique(nodes, return_inverse=True)
    number = number.reshape(nodes.shape)
    shown = np.sort(number[train], axis=1)
    first = np.ones(shown.shape, bool)  # a combination that has a node twice counts once
    first[:, 1:] = shown[:, 1:] != shown[:, :-1]
    counts = np.bincount(shown[first], minlength=len(values))
    counts[values == ABSENT] = 0
    return counts[number]


def seen_share(nodes: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Of the nodes of each combination, the share that some training combination has; 1 where there are none.

    >>> seen_share(np.array([[7, 8], [7, 9], [ABSENT, ABSENT]]), np.array([True, False, False])).tolist()
    [1.0, 0.5, 1.0]
    """
    there = nodes != ABSENT
    seen = np.sum(occurrences(nodes, train) > 0, axis=1)
    return np.where(there.any(axis=1), seen / np.maximum(there.sum(axis=1), 1), 1.0)


def covered(nodes: np.ndarray, train: np.ndarray) -> float:
    """Of the distinct nodes of all combinations, the share that some training combination has.

    >>> covered(np.array([[7, 8], [7, 9], [9, ABSENT]]), np.array([True, False, False]))
    0.6666666666666666
    """
    every = np.unique(nodes[nodes != ABSENT])
    shown = np.unique(nodes[as_mask(train, nodes.shape[:1])])
    return float(np.isin(every, shown).mean()) if len(every) else 1.0


def neighbours(nodes: np.ndarray) -> np.ndarray:
    """The ordered pairs of nodes in adjacent columns, numbered; ABSENT where one of the two is.

    >>> neighbours(np.array([[0, 1, 0], [1, 0, ABSENT]])).tolist()
    [[1, 2], [2, -1]]
    """
    values, number = np.unique(nodes, return_inverse=True)
    number = number.reshape(nodes.shape) - int(ABSENT in values)
    first, second = number[:, :-1], number[:, 1:]
    there = (nodes[:, :-1] != ABSENT) & (nodes[:, 1:] != ABSENT)
    return np.where(there, first * len(values[values != ABSENT]) + second, ABSENT)


def withholding(combinations: np.ndarray, contains: np.ndarray) -> Split:
    """Hold out every combination that contains what is withheld; refused if nothing is left on either side.

    >>> withholding(np.arange(3)[:, None], np.array([False, True, False])).train.tolist()
    [True, False, True]
    """
    contains = as_mask(contains, combinations.shape[:1])
    if contains.all() or not contains.any():
        which = "all" if contains.all() else "none"
        raise UserError(f"{which} of {len(combinations)} combinations contain what is withheld: nothing to compare")
    return Split(combinations, ~contains)


def need_covered(nodes: np.ndarray, train: np.ndarray, what: str) -> None:
    """Refuse training combinations that cover no node of a kind; `what` names the kind.

    >>> need_covered(np.array([[7], [8]]), np.array([True, False]), "pair of functions")
    """
    if not (nodes[as_mask(train, nodes.shape[:1])] != ABSENT).any():
        raise UserError(f"this split leaves no {what} covered: hold out less")


def by_hash(nodes: np.ndarray, share: float, salt: int) -> np.ndarray:
    """A share of rows, or of single numbers, chosen by a hash of their numbers: whatever their order or company.

    >>> rows = np.arange(12).reshape(6, 2)
    >>> chosen = by_hash(rows, 0.5, salt=1)
    >>> np.array_equal(by_hash(rows[::-1], 0.5, salt=1), chosen[::-1])
    True
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, got {share}")
    columns = nodes.reshape(len(nodes), -1).astype(np.int64).view(np.uint64).T
    state = np.full(len(nodes), salt, np.uint64)
    for column in columns:
        state = _mixed(state ^ _mixed(column))
    return state < np.uint64(share * float(2**64)) if share < 1 else np.ones(len(nodes), bool)


def _mixed(state: np.ndarray) -> np.ndarray:
    """Whole numbers of 64 bits, each turned into another that looks random (splitmix64, a public-domain generator)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
