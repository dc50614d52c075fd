"""Where does a computation go wrong: at a step of its own, or by passing on an error made before?

A computation is a graph: each row has values at its nodes, and a node is computed from its parents, which stand before
it. Dziri et al. (2023, arXiv 2305.18654) tell four outcomes of a node apart. Arrays are (rows, nodes).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RIGHT, LOCAL, PROPAGATED, RESTORED = range(4)
OUTCOMES = ("right", "local", "propagated", "restored")


def node_errors(
    written: np.ndarray, truth: np.ndarray, computed: np.ndarray, parents: Sequence[Sequence[int]]
) -> np.ndarray:
    """The outcome of each node, as a number of OUTCOMES.

    `written` are a network's values, `computed` what each node would rightly be given the written values of its
    parents. Right: the value and all its ancestors are. Restored: the value is right, an ancestor is not. Of wrong
    values, propagated ones follow from the written parents, and local ones do not.

    >>> parents = [(), (0,), (1,)]  # each is one more than the one before
    >>> written, truth = np.array([[1, 3, 4], [2, 3, 3]]), np.array([[1, 2, 3], [1, 2, 3]])
    >>> computed = np.array([[1, 2, 4], [1, 3, 4]])
    >>> [[OUTCOMES[i] for i in row] for row in node_errors(written, truth, computed, parents)]
    [['right', 'local', 'propagated'], ['local', 'propagated', 'restored']]
    """
    wrong = written != truth
    sound = ~wrong
    for node, above in enumerate(parents):
        for parent in above:
            if parent >= node:
                raise ValueError(f"the parents of a node stand before it; node {node} has the parent {parent}")
            sound[:, node] &= sound[:, parent]
    of_wrong = np.where(written == computed, PROPAGATED, LOCAL)
    return np.where(wrong, of_wrong, np.where(sound, RIGHT, RESTORED))


def predicted_exact(right: np.ndarray) -> float:
    """The share of rows without an error if errors at their places were independent: the product of all accuracies.

    `right` (rows, places) says whether each prediction is right given a right beginning. NaN marks no place.

    >>> predicted_exact(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, np.nan]]))
    0.5
    """
    return float(np.prod(np.nanmean(np.asarray(right, float), axis=0)))


def seen_more(counts: np.ndarray, right: np.ndarray, least: int = 1) -> float:
    """How much more often the subgraphs of right nodes were seen: mean log10(1 + count), right minus wrong ones.

    Averaged over the columns (depths) with at least so many nodes of either kind; NaN if there are none.

    >>> float(seen_more(np.array([[9, 5], [0, 5]]), np.array([[True, True], [False, True]])))
    1.0
    """
    seen, apart = np.log10(1.0 + counts), []
    for column, good in zip(seen.T, np.asarray(right, bool).T, strict=True):
        if min(good.sum(), (~good).sum()) >= least:
            apart.append(column[good].mean() - column[~good].mean())
    return float(np.mean(apart)) if apart else float("nan")
