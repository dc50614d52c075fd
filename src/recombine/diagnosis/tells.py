"""What the answers on new combinations look like: which factors are right, copies of seen answers, sums of parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.diagnosis.behaviour import Behaviour
from recombine.diagnosis.evidence import sampled
from recombine.diagnosis.jackknife import around, groups_of
from recombine.measures import identify, recall
from recombine.measures.gap import Interval, share_interval
from recombine.measures.memory import derangement

ALIKE = 0.02
"""Two answers are the same if they differ by less than this share of the targets' variance."""
_MOST = 2000


@dataclass(frozen=True)
class Reading:
    """How often a factor can be read off the answers: the model's, the truth's, and by chance."""

    share: Interval
    truth: float
    chance: float

    @property
    def readable(self) -> bool:
        """Does the target tell this factor's value? If not, the factor does not matter or is mixed with others."""
        return self.truth - self.chance >= 0.5

    @property
    def kept(self) -> Interval:
        """The share on a scale on which chance is 0 and the truth 1."""
        return Interval(*((v - self.chance) / max(self.truth - self.chance, 1e-9) for v in self.share))


@dataclass(frozen=True)
class Tells:
    """`readings` by factor; `copies` of any seen answer and `near_copies` of a nearest seen one; sums of parts.

    `true_copies` is how many true answers look like copies of a nearest seen one: their control.
    """

    readings: dict[str, Reading]
    copies: float
    near_copies: float
    true_copies: float
    r2_parts: float
    r2_truth: float
    r2_shuffled: float
    weights: tuple[float, ...]
    r2_interval: Interval | None = None

    @property
    def superposed(self) -> bool:
        """Do the parts explain the answers nearly wholly, better than the truth does, and each for its share?"""
        lead = self.r2_parts - max(self.r2_truth, self.r2_shuffled)
        return bool(self.r2_parts >= 0.75 and lead > 0.1 and min(self.weights) > 0.2)


def tells(b: Behaviour) -> Tells:
    """Read the answers on new combinations."""
    new = sampled(np.flatnonzero(b.new), _MOST)
    copies, near = _copies(b, new, b.given)
    _, by_truth = _copies(b, new, b.truth)
    return Tells(_readings(b, new), copies, near, by_truth, *_superposition(b, new))


def _readings(b: Behaviour, new: np.ndarray) -> dict[str, Reading]:
    """Combinations are compared by their means; with a continuous factor single examples are, to within a bin."""
    e = b.evidence
    slack = np.array([1.0 if f.continuous else 0.0 for f in e.factors])
    if e.continuous:
        asked = np.flatnonzero(e.new[e.of])
        rows = sampled(asked[::2], _MOST // 2)  # no example may be identified by itself
        known = np.setdiff1d(np.union1d(sampled(np.arange(len(e.of)), _MOST), sampled(asked, _MOST)), rows)
        z, truth, given = e.at, e.answers.truth, e.answers.given
    else:
        rows, z, truth, given = new, e.combinations, b.truth, b.given
        known = np.union1d(sampled(np.arange(len(z)), _MOST), new)
    mine, best = (identify.identified(a[rows], truth[known], z[known], z[rows], slack) for a in (given, truth))
    luck = identify.chance(z[known], slack)
    return {
        name: Reading(share_interval(mine[:, i].mean() * len(new), len(new)), float(best[:, i].mean()), float(luck[i]))
        for i, name in enumerate(e.names)
    }


def _copies(b: Behaviour, new: np.ndarray, given: np.ndarray) -> tuple[float, float]:
    """The shares of new combinations answered as some seen one is, and as a nearest seen one is."""
    if b.evidence.continuous:  # no two examples are alike
        return 0.0, 0.0
    e, seen = b.evidence, sampled(np.flatnonzero(b.evidence.seen), _MOST)
    alike = e.answers.apart(given[new], given[seen]) <= ALIKE * b.variance
    steps = recall.steps_apart(e.combinations[new], e.combinations[seen], e.ordered)
    nearest = steps <= steps.min(axis=1, keepdims=True)
    return float(alike.any(axis=1).mean()), float((alike & nearest).any(axis=1).mean())


def _superposition(b: Behaviour, new: np.ndarray) -> tuple[float, float, float, tuple[float, ...], Interval | None]:
    """R^2 of the answers by parts, by the truth and by parts of other combinations, weights, interval of the first."""
    e, given = b.evidence, b.given
    known = np.flatnonzero(e.seen)
    parts = []
    for part, values in enumerate(e.combinations[new].T):
        found = np.empty((len(new), given.shape[1]))
        for value in np.unique(values):
            found[values == value] = given[known[e.combinations[known, part] == value]].mean(axis=0)
        parts.append(found)
    own = identify.explained_by_parts(given[new], np.stack(parts), b.truth[new])
    if len(new) < 2:
        return own[0], own[1], float("nan"), tuple(own[2].tolist()), None
    other = derangement(len(new), np.random.default_rng(0))
    shuffled = identify.explained_by_parts(given[new], np.stack(parts)[:, other], b.truth[new])
    return own[0], own[1], shuffled[0], tuple(own[2].tolist()), _r2_interval(own[0], given[new], np.stack(parts))


def _r2_interval(value: float, answers: np.ndarray, parts: np.ndarray) -> Interval | None:
    """Of R² by parts, leaving out groups of new combinations; means stay those of all."""
    if not np.isfinite(value):
        return None
    groups = groups_of(len(answers))
    rows = np.concatenate([parts, answers[None]]) - np.concatenate([parts, answers[None]]).mean(axis=1, keepdims=True)
    sums = np.stack([np.einsum("fnd,gnd->fg", rows[:, groups == k], rows[:, groups == k]) for k in np.unique(groups)])
    left_out = []
    for kept in sums.sum(axis=0) - sums:
        weights = np.linalg.lstsq(kept[:-1, :-1], kept[:-1, -1], rcond=1e-10)[0]
        left_out.append(weights @ kept[:-1, -1] / max(kept[-1, -1], 1e-300))
    return around(value, left_out)
