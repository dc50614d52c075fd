"""Which combinations were seen and which are new, how many pairs and k-tuples of values, and what hangs together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations as choose
from math import comb, prod

import numpy as np

from recombine.core import Split
from recombine.diagnosis import collecting
from recombine.diagnosis.evidence import Evidence

MOST_CHOICES = 200
"""k-tuples are counted where at most so many choices of k factors exist; pairs are counted always."""


@dataclass(frozen=True)
class Coverage:
    """Counts of combinations, the shares of values, pairs and whole combinations seen, and what hangs together.

    Shares are of all that the values of the data could form. `parts` counts the groups of values that no chain of seen
    combinations links. Of what to do: `link` are untrained combinations that leave `parts_left` parts if they are
    trained on; `test` are combinations that the data lack, which, held out, test a share `tests` of the pairs that the
    data lack; `hold_out` are trained ones that the next training could leave out, to test on them.
    """

    combinations: int
    seen: int
    new: int
    unseen_values: int
    tuples: dict[int, float]
    parts: int
    farthest: float
    link: tuple[tuple[str, ...], ...] = ()
    parts_left: int = 0
    test: tuple[tuple[str, ...], ...] = ()
    tests: float = 0.0
    hold_out: tuple[tuple[str, ...], ...] = ()

    @property
    def connected(self) -> bool:
        return self.parts == 1


def coverage(e: Evidence) -> Coverage:
    """The numbers, and what to collect."""
    codes, index = np.unique(e.combinations, axis=0, return_index=True)  # bands of one cell count once
    seen = e.seen[index]
    sizes = [len(f.values) for f in e.factors]
    new = int(e.new[index].sum())
    farthest = float(np.max(e.distance[e.new], initial=0.0))
    counts = (len(codes), int(seen.sum()), new, int((~Split(codes, seen).train).sum()) - new)
    known = codes[seen]
    tuples = {k: _share(known, sizes, k) for k in counted(len(sizes))}
    if not seen.any():
        return Coverage(*counts, tuples, 0, farthest)
    label = components(known, sizes)
    link, left = collecting.linking(known, codes, sizes, label)
    test, tests = collecting.testing(known, np.concatenate([codes, link]), sizes)
    parts = len(np.unique(label[label >= 0]))
    words = [in_words(e, rows) for rows in (link, test, collecting.held_out(known))]
    return Coverage(*counts, tuples, parts, farthest, words[0], left, words[1], tests, words[2])


def in_words(e: Evidence, rows: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Rows of codes as their values' words."""
    return tuple(tuple(f.values[v] for f, v in zip(e.factors, row, strict=True)) for row in rows)


def counted(factors: int) -> list[int]:
    """The k whose k-tuples are counted."""
    return [k for k in range(1, factors + 1) if k <= 2 or comb(factors, k) <= MOST_CHOICES]


def uncounted_note(factors: int) -> list[str]:
    """Which k-tuples are left out, where some are."""
    left = sorted(set(range(1, factors + 1)) - set(counted(factors)))
    if not left:
        return []
    return [f"coverage of {left[0]}- to {left[-1]}-tuples is not counted: {factors} factors have too many of them"]


def _share(seen: np.ndarray, sizes: list[int], k: int) -> float:
    """The share of all k-tuples of values that seen combinations have."""
    found = whole = 0
    for parts in choose(range(len(sizes)), k):
        found += len(np.unique(collecting.packed(seen, sizes, parts)))
        whole += prod(sizes[p] for p in parts)
    return found / whole


def components(seen: np.ndarray, sizes: list[int]) -> np.ndarray:
    """For each (factor, value) the group of values that chains of seen combinations link; -1 if it was never seen."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nodes = seen + starts
    first = np.repeat(nodes[:, 0], nodes.shape[1])
    graph = coo_matrix((np.ones(len(first)), (first, nodes.reshape(-1))), shape=(sum(sizes), sum(sizes)))
    _, labels = connected_components(graph, directed=False)
    found = np.full((len(sizes), max(sizes)), -1)
    for part, column in enumerate(seen.T):
        values = np.unique(column)
        found[part, values] = labels[starts[part] + values]
    return found
