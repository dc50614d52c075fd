"""Which combinations were seen and which are new, and which should be collected to know more."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations as choose

import numpy as np

from recombine.core import Split
from recombine.diagnosis.evidence import Evidence

COLLECT = 14
"""Combinations that are asked for at most."""
_GRID = 100_000


@dataclass(frozen=True)
class Coverage:
    """Counts of combinations, the shares of values, pairs and whole combinations seen, and what hangs together.

    Shares are of all that the values of the data could form (`pairs`, `whole`). `parts` counts the groups of values
    that no chain of seen combinations links.
    """

    combinations: int
    seen: int
    new: int
    unseen_values: int
    tuples: dict[int, float]
    parts: int
    farthest: float
    collect: tuple[tuple[str, ...], ...] = ()
    links: int = 0
    tests: float = 0.0
    hold_out: tuple[tuple[str, ...], ...] = ()

    @property
    def connected(self) -> bool:
        return self.parts == 1


def coverage(e: Evidence) -> Coverage:
    """The numbers, and what to collect."""
    codes, index = np.unique(e.combinations, axis=0, return_index=True)  # bands of one cell count once
    seen = e.seen[index]
    split = Split(codes, seen)
    sizes = [len(f.values) for f in e.factors]
    tuples = {k: _share(codes[seen], sizes, k) for k in range(1, len(sizes) + 1)}
    groups = components(codes[seen], sizes) if seen.any() else []
    chosen, links, tests = collect(codes[seen], codes, sizes, groups) if seen.any() else ([], 0, 0.0)
    words = tuple(tuple(f.values[v] for f, v in zip(e.factors, row, strict=True)) for row in chosen)
    new = int(e.new[index].sum())
    return Coverage(
        len(codes),
        int(seen.sum()),
        new,
        int((~split.train).sum()) - new,
        tuples,
        len(groups),
        float(np.max(e.distance[e.new], initial=0.0)),
        words,
        links,
        tests,
        () if words or not seen.any() else _held_out(e, codes[seen]),
    )


def _held_out(e: Evidence, seen: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Some of the seen combinations that could be left out of training: each value stays in others."""
    counts = [np.bincount(part) for part in seen.T]
    chosen = []
    for row in np.random.default_rng(0).permutation(seen).tolist():
        if len(chosen) < COLLECT and all(c[v] > 2 and c[v] > 0.5 * c.max() for c, v in zip(counts, row, strict=True)):
            chosen.append(tuple(f.values[v] for f, v in zip(e.factors, row, strict=True)))
            for c, v in zip(counts, row, strict=True):
                c[v] -= 1
    return tuple(chosen)


def _share(seen: np.ndarray, sizes: list[int], k: int) -> float:
    """The share of all k-tuples of values that seen combinations have."""
    found = whole = 0
    for parts in choose(range(len(sizes)), k):
        found += len(np.unique(seen[:, list(parts)], axis=0)) if len(seen) else 0
        whole += int(np.prod([sizes[p] for p in parts]))
    return found / whole


def components(seen: np.ndarray, sizes: list[int]) -> list[set[tuple[int, int]]]:
    """Groups of (factor, value) that chains of seen combinations link; only values that were seen."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nodes = seen + starts
    first = np.repeat(nodes[:, 0], nodes.shape[1])
    graph = coo_matrix((np.ones(len(first)), (first, nodes.reshape(-1))), shape=(sum(sizes), sum(sizes)))
    _, labels = connected_components(graph, directed=False)
    there = np.unique(nodes)
    named = {int(node): (int(np.searchsorted(starts, node, side="right") - 1), node) for node in there}
    return [
        {(part, int(node - starts[part])) for n, (part, node) in named.items() if labels[n] == label}
        for label in np.unique(labels[there])
    ]


def collect(
    seen: np.ndarray, there: np.ndarray, sizes: list[int], groups: list[set[tuple[int, int]]]
) -> tuple[list[tuple[int, ...]], int, float]:
    """Combinations of seen values that are not `there` yet: first such as link two groups, then such as have new pairs.

    Returns them, how many link groups, and the share that they have of the pairs that are not there.
    """
    values = [np.unique(part) for part in seen.T]
    grid = (
        np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(sizes))
        if (np.prod([len(v) for v in values]) <= _GRID)
        else np.stack([np.random.default_rng(0).choice(v, _GRID) for v in values], axis=1)
    )
    known = {tuple(row) for row in there.tolist()}
    free = np.array([row for row in grid.tolist() if tuple(row) not in known], int).reshape(-1, len(sizes))
    label = {node: i for i, group in enumerate(groups) for node in group}
    pairs = [_pairs(row) for row in free.tolist()]
    fresh = set().union(*pairs) - set().union(*(_pairs(row) for row in there.tolist())) if pairs else set()
    left, uses, chosen, links = set(fresh), np.zeros((len(sizes), max(sizes))), [], 0
    while len(chosen) < COLLECT and len(free):
        spans = np.array([len({label[p, v] for p, v in enumerate(row)}) for row in free.tolist()])
        gains = np.array([len(p & left) for p in pairs])
        worn = uses[np.arange(len(sizes)), free].sum(axis=1)  # rather values that were not chosen yet
        best = int(np.lexsort((worn, -gains, -spans))[0])
        if spans[best] < 2 and chosen and not gains[best]:
            break
        row = free[best]
        if spans[best] > 1:
            links, joined = links + 1, {label[p, v] for p, v in enumerate(row.tolist())}
            label = {node: min(joined) if i in joined else i for node, i in label.items()}
        left -= pairs[best]
        uses[np.arange(len(sizes)), row] += 1
        chosen.append(tuple(row.tolist()))
        free, pairs = np.delete(free, best, axis=0), pairs[:best] + pairs[best + 1 :]
    return chosen, links, 1 - len(left) / len(fresh) if fresh else 0.0


def _pairs(row: list[int]) -> set[tuple[int, int, int, int]]:
    return {(a, row[a], c, row[c]) for a, c in choose(range(len(row)), 2)}
