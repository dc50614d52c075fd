"""The rules that find a model right on part of what is new: nearby, in some pairs or factors."""

from __future__ import annotations

from itertools import combinations as choose

import numpy as np

from recombine.diagnosis.behaviour import MEMORIES, Behaviour
from recombine.diagnosis.collecting import packed
from recombine.diagnosis.ruling import (
    ALWAYS,
    ALWAYS_NEARLY,
    COMPOSES,
    FAILED,
    FEWEST,
    MEMORIZES,
    PARTLY,
    ROOM,
    SOLVED,
    Ruling,
    verdict_on,
)
from recombine.diagnosis.tells import Tells
from recombine.diagnosis.words import percent
from recombine.measures.gap import share_interval


def nearby(b: Behaviour) -> Ruling | None:
    """Right near to the seen region and wrong far from it; every distance is tried, at a level for as many tries."""
    steps = b.evidence.distance
    cuts = np.unique(steps[b.new])[:-1]
    level = 1 - 0.05 / max(1, len(cuts))
    for cut in cuts:
        near, far = b.new & (steps <= cut), b.new & (steps > cut)
        if verdict_on(b, near, level) == COMPOSES and verdict_on(b, far, level) == MEMORIZES:
            why = f"it composes within {cut:g} step{'' if cut == 1 else 's'} of the seen combinations, and not beyond"
            return Ruling(PARTLY, "near", why)
    return None


def by_pair(b: Behaviour) -> Ruling | None:
    """Of three factors and more: right where some pairs of values are new, and wrong where others are."""
    e = b.evidence
    if len(e.factors) < 3:
        return None
    groups = new_pairs(b)
    level = 1 - 0.05 / max(1, len(groups))
    found = {name: verdict_on(b, rows, level) for name, rows in groups.items()}
    right, wrong = ([n for n, word in found.items() if word == which] for which in (COMPOSES, MEMORIZES))
    if right and wrong:
        why = f"it composes what is new in {' and in '.join(right)}, but not what is new in {' or in '.join(wrong)}"
        return Ruling(PARTLY, "pairs", why)
    return None


def new_pairs(b: Behaviour) -> dict[str, np.ndarray]:
    """New combinations by the one pair of factors whose values were never seen together, or "the whole" if all were."""
    e = b.evidence
    pairs, sizes = list(choose(range(len(e.factors)), 2)), [len(f.values) for f in e.factors]
    values = [packed(e.combinations, sizes, pair) for pair in pairs]
    fresh = [~np.isin(v, v[e.seen]) for v in values]
    count = np.sum(fresh, axis=0)
    named = {f"{e.names[a]} x {e.names[c]}": f for (a, c), f in zip(pairs, fresh, strict=True)}
    groups = {name: b.new & f & (count == 1) for name, f in named.items()}
    groups["the whole, every pair being seen"] = b.new & (count == 0)
    return {name: rows for name, rows in groups.items() if rows.any()}


def some_factors(b: Behaviour, t: Tells) -> Ruling | None:
    """Some factors are always right on new combinations, and others never."""
    readable = {name: r.kept for name, r in t.readings.items() if r.readable}
    enough = ALWAYS_NEARLY if b.evidence.continuous else ALWAYS
    kept = [name for name, share in readable.items() if share.value >= enough and share.low > 0.5]
    lost = [name for name, share in readable.items() if share.value < 0.5 and share.high < FAILED]
    if not kept or len(kept) + len(lost) < len(readable) or not lost:
        return None
    why = f"on new combinations its answers are right in {' and '.join(kept)} and wrong in {' and '.join(lost)}"
    return Ruling(PARTLY, "factors", why, factors=tuple(kept))


def mixture(b: Behaviour) -> Ruling | None:
    """Some new combinations are solved, more than a memory solves by luck, and others are not at all."""
    memory = b.references[b.best(b.new)]
    floor = b.errors[b.seen].mean()
    scale = memory[b.new].mean() - floor
    told = b.new & (memory - floor > 0.5 * scale)
    if told.sum() < FEWEST or b.room(b.new) < ROOM:
        return None
    share = (b.errors[told] - floor) / (memory[told] - floor)
    solved, failed = (
        share_interval(np.sum(share < SOLVED), len(share)),
        share_interval(np.sum(share > FAILED), len(share)),
    )
    if solved.low > 0.1 and failed.low > 0.1 and solved.low > luck(b, told, floor):
        why = f"it solves {percent(solved.value)} of the new combinations and fails on {percent(failed.value)}"
        return Ruling(PARTLY, "mixture", why)
    return None


def luck(b: Behaviour, told: np.ndarray, floor: float) -> float:
    """The largest share of these combinations that any memory solves, or any fixed label."""
    best, names = b.references[b.best(b.new)][told] - floor, [n for n in MEMORIES if n in b.references]
    shares = [float(np.mean((b.references[n][told] - floor) / best < SOLVED)) for n in names]
    fixed = float(b.truth[told].mean(axis=0).max()) if b.evidence.answers.labels else 0.0
    return max(*shares, fixed)
