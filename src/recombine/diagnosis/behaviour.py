"""Errors on seen and new combinations, beside what memories of the seen ones would answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.diagnosis.evidence import Evidence, sampled
from recombine.measures import recall
from recombine.measures.gap import Interval, gap, mean_interval

MEMORIES = ("mean", "nearest", "interpolated", "recalled")
"""References that recall what was seen, whole or laid over each other."""
SUM = "sum of parts"
"""A reference that knows each part, but not how they combine."""
LOCAL, SMOOTH = "smoothed nearby", "smoothed"
"""References that know only that near combinations have like answers: up to a few steps away, or any."""


@dataclass(frozen=True, eq=False)
class Behaviour:
    """Per combination: errors of the model and of references (NaN on seen ones), means of targets and outputs."""

    evidence: Evidence
    errors: np.ndarray
    references: dict[str, np.ndarray]
    truth: np.ndarray
    given: np.ndarray

    @cached_property
    def seen(self) -> np.ndarray:
        """Seen combinations that have an error."""
        return self.evidence.seen & np.isfinite(self.errors)

    @property
    def new(self) -> np.ndarray:
        return self.evidence.new

    @cached_property
    def fit(self) -> float:
        """R^2 of the mean outputs of seen combinations; for labels, the share of errors of the commonest label avoided.

        Means over examples, so that noise in the targets counts little; 0 is what a constant answer gets.
        """
        answers, rows = self.evidence.answers, self.seen
        if answers.labels:
            fixed = answers.hardened(self.truth[rows].mean(axis=0)[None])
            blind = np.mean(answers.errors(fixed, self.truth[rows]) + self._within[rows])
            return float(1 - self.errors[rows].mean() / blind) if blind else float(not self.errors[rows].any())
        e = self.evidence
        truth, given = (e.by_combination(a, e.counted)[rows] for a in (answers.truth, answers.given))
        spread = np.sum((truth - truth.mean(axis=0)) ** 2)
        if spread <= 1e-12 * np.sum(truth**2):
            return float(np.allclose(given, truth))
        return float(1 - np.sum((given - truth) ** 2) / spread)

    @cached_property
    def _within(self) -> np.ndarray:
        """Mean squared distance of the targets of a combination from their mean."""
        a, e = self.evidence.answers, self.evidence
        return e.by_combination(a.errors(a.truth, self.truth[e.of]), e.counted)

    @cached_property
    def variance(self) -> float:
        """The error of the seen mean on new combinations, less that of a perfect answer to each combination."""
        return float(np.mean(self.references["mean"][self.new] - self._within[self.new]))

    @property
    def flat(self) -> bool:
        """Is the target on new combinations the mean of the seen ones, but for rounding?"""
        return not self.variance > 1e-12 * np.mean(self.truth**2)

    @cached_property
    def irrelevant(self) -> tuple[str, ...]:
        """Factors on which the target does not depend: combinations that differ in nothing else have like targets."""
        e = self.evidence
        if e.continuous:
            return ()
        whole, found = np.sum((self.truth - self.truth.mean(axis=0)) ** 2), []
        for part, name in enumerate(e.names):
            groups = np.unique(np.delete(e.combinations, part, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
            counts = np.bincount(groups)
            means = np.zeros((len(counts), self.truth.shape[1]))
            np.add.at(means, groups, self.truth)
            apart = np.sum((self.truth - (means / counts[:, None])[groups]) ** 2)
            if np.any(counts > 1) and apart < 1e-3 * whole:
                found.append(name)
        return tuple(found)

    def best(self, rows: np.ndarray, names: tuple[str, ...] = MEMORIES) -> str:
        """The memory with the least error on these combinations.

        Of labels, a vote among memories of parts is a sum of parts: there only whole memories count.
        """
        whole = names[:2] if self.evidence.answers.labels else names
        return min((n for n in whole if n in self.references), key=lambda n: self.references[n][rows].mean())

    def gap(self, rows: np.ndarray, against: str | None = None, level: float = 0.95) -> Interval:
        """G of the model on these combinations, against a reference (the best memory by default)."""
        name = against or self.best(rows)
        return gap(self.errors[rows], self.references[name][rows], self.errors[self.seen], level)

    def room(self, rows: np.ndarray, against: str | None = None) -> float:
        """How much worse a reference is than the model is on seen combinations, as a share of the targets' variance."""
        name = against or self.best(rows)
        above = self.references[name][rows].mean() - self.errors[self.seen].mean()
        return float(above / self.variance) if self.variance > 0 else 0.0

    def error(self, rows: np.ndarray) -> Interval:
        """The mean error over combinations, with an interval over them."""
        return mean_interval(self.errors[rows])


def behaviour(e: Evidence) -> Behaviour:
    """Errors by combination; references for new combinations where some were seen."""
    a = e.answers
    errors = e.by_combination(a.errors(a.given, a.truth), e.counted)
    truth, given = e.by_combination(a.truth), e.by_combination(a.given)
    references = _references(e, truth) if e.seen.any() and e.new.any() else {}
    return Behaviour(e, errors, references, truth, given)


def _references(e: Evidence, truth: np.ndarray) -> dict[str, np.ndarray]:
    """The errors of each reference, in the mean over the examples of each new combination.

    Points are combinations, or single examples where a factor is continuous and values within a bin differ.
    """
    a = e.answers
    if e.continuous:
        known, asked = sampled(np.flatnonzero(e.trained)), sampled(np.flatnonzero(e.new[e.of]))
        points, others, memory, wanted, of = e.at[known], e.at[asked], a.truth[known], a.truth[asked], e.of[asked]
        within = np.zeros(len(asked))
    else:
        memory = e.by_combination(a.truth, e.trained)[e.seen]
        points, others, wanted = e.combinations[e.seen], e.combinations[e.new], truth[e.new]
        of = np.flatnonzero(e.new)
        within = e.by_combination(a.errors(a.truth, truth[e.of]))[e.new]
    spread = np.zeros(len(e.combinations)), np.zeros(len(e.combinations))

    def laid(errors: np.ndarray) -> np.ndarray:
        total, count = (s.copy() for s in spread)
        np.add.at(total, of, errors + within)
        np.add.at(count, of, 1)
        return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)

    soft = {
        "mean": np.broadcast_to(memory.mean(axis=0), wanted.shape),
        "interpolated": recall.interpolated(points, memory, others, e.ordered),
        "recalled": recall.recalled(points, memory, others),
        SUM: recall.sum_of_parts(points, memory, others),
    }
    if e.ordered.all():
        few = recall.WIDTHS[: 2 if e.continuous else 3]  # single examples lie closer than combinations
        soft[LOCAL] = recall.smoothed(points, memory, others, few)
        soft[SMOOTH] = recall.smoothed(points, memory, others)
    found = {name: laid(a.errors(a.hardened(np.asarray(given)), wanted)) for name, given in soft.items()}
    nearest = recall.nearest_errors(points, memory, others, wanted, e.ordered, errors=a.errors)
    return {**found, "nearest": laid(nearest)}
