"""Guards of a verdict: whether less than composing explains right answers, and whether one combination decides.

Each is a function of errors on new combinations that the rules ask before they say *composes* or *memorizes*.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from itertools import combinations as choose
from typing import NamedTuple

import numpy as np

from recombine.diagnosis.behaviour import SUM, Behaviour
from recombine.measures.gap import Interval, gap

MOST_TABLES = 64
"""Sets of factors of which a table is tried: all of them up to six factors, else the smallest and the largest."""
ALIKE = 1e-6
"""Spread of the new targets, over that of all, below which they are one and the same."""


def proper_sets(factors: int) -> list[tuple[int, ...]]:
    """Sets of factors that leave one out or more; the smallest and the largest if there are many.

    >>> proper_sets(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    sizes = range(1, factors) if 2**factors - 2 <= MOST_TABLES else (1, factors - 1)
    return list(chain.from_iterable(choose(range(factors), size) for size in sizes))[: 2 * MOST_TABLES]


class Table(NamedTuple):
    """A table of the seen answers by some factors: what room it leaves on new combinations, and G against it."""

    factors: tuple[str, ...]
    room: float
    gap: Interval


def by_table(b: Behaviour) -> Table | None:
    """The table of seen answers by some of the factors that does best on new combinations.

    The table answers with the mean of the seen targets that have the same values of these factors, and with the mean of
    all where none has. None where a factor is continuous.
    """
    e, a = b.evidence, b.evidence.answers
    if e.continuous:
        return None
    memory, known, asked = e.by_combination(a.truth, e.trained)[e.seen], e.combinations[e.seen], e.combinations[e.new]
    within = e.by_combination(a.errors(a.truth, b.truth[e.of]))[e.new]
    found = {}
    for chosen in proper_sets(len(e.factors)):
        answers = _looked_up(known[:, chosen], memory, asked[:, chosen])
        found[chosen] = a.errors(a.hardened(answers), b.truth[e.new]) + within
    best = min(found, key=lambda chosen: found[chosen].mean())
    room = (found[best].mean() - b.errors[b.seen].mean()) / b.variance
    return Table(tuple(e.names[i] for i in best), float(room), gap(b.errors[b.new], found[best], b.errors[b.seen]))


def _looked_up(known: np.ndarray, memory: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The mean memory of equal rows for each row asked, of all of them where there is none."""
    rows, of = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    total, count = np.zeros((len(rows), memory.shape[1])), np.bincount(of[: len(known)], minlength=len(rows))
    np.add.at(total, of[: len(known)], memory)
    means = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], memory.mean(axis=0))
    return means[of[len(known) :]]


def values_where(b: Behaviour, asked: Callable[[np.ndarray, float], bool]) -> list[str]:
    """Values of factors whose new combinations are as asked, each at a level for as many values."""
    e = b.evidence
    if e.continuous:
        return []
    each = [(i, code) for i, f in enumerate(e.factors) for code in range(len(f.values))]
    level = 1 - 0.05 / len(each)
    found = [(e.factors[i], code) for i, code in each if asked(b.new & (e.combinations[:, i] == code), level)]
    return [f"{factor.name} is {factor.values[code]}" for factor, code in found]


def without_each(b: Behaviour) -> np.ndarray:
    """G against the best memory without each of the new combinations in turn."""
    rows = np.flatnonzero(b.new)
    errors, memory, floor = b.errors[rows], b.references[b.best(b.new)][rows], b.errors[b.seen].mean()
    left = [(values.sum() - values) / (len(rows) - 1) - floor for values in (errors, memory)]
    return np.divide(left[0], left[1], out=np.full(len(rows), np.inf), where=left[1] > 0)


def named(b: Behaviour, place: int) -> str:
    """A new combination in words, by its number among the new ones."""
    e = b.evidence
    codes = e.combinations[np.flatnonzero(b.new)[place]]
    return ", ".join(f"{f.name} {f.values[code]}" for f, code in zip(e.factors, codes, strict=True))


def same_everywhere(b: Behaviour) -> bool:
    """Is the target the same for all new combinations?"""
    whole = float(b.truth.std(axis=0).max())
    return float(b.truth[b.new].std(axis=0).max()) <= ALIKE * max(whole, 1e-300)


def additive(b: Behaviour, room: float) -> bool:
    """Is the target a sum of its parts, by the targets alone: the sum of seen parts misses little but their noise?

    Noise is the spread of targets within a combination. With one example each it is not known and counts as none: the
    model's own error cannot stand for it, since a model that only adds up errs by what it misses.
    """
    return float(b.references[SUM][b.new].mean()) - (noise(b) or 0.0) < room * b.variance


def noise(b: Behaviour) -> float | None:
    """The mean squared spread of targets within a combination; None where no combination has several examples."""
    e, a = b.evidence, b.evidence.answers
    counts = np.bincount(e.of, minlength=len(e.combinations))
    several = counts > 1
    if not several.any():
        return None
    within = e.by_combination(a.errors(a.truth, b.truth[e.of]))
    return float(np.mean(within[several] * (counts / np.maximum(counts - 1, 1))[several]))


def may_have_learnt_noise(b: Behaviour, room: float) -> bool:
    """Are errors on seen combinations those of trained examples, so that noise which was learnt looks like a gap?"""
    e, known = b.evidence, noise(b)
    of_trained = bool(np.any(e.counted & e.trained))
    return of_trained and not e.answers.labels and (known is None or known > room * b.variance)
