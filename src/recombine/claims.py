"""Turns a table of runs and a Claim into a verdict: holds, fails or undecided, by a rule stated beforehand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from recombine.core import Check, Claim
from recombine.measures.similarity import rank_correlation

MIN_SEEDS = 5
"""Below this nothing is decided: four equal coin tosses happen by chance once in sixteen, five once in thirty-two."""

MAX_LOST = 0.1
"""The share of seeds that may have diverged before a verdict on the rest would be a verdict on survivors."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Verdict:
    """What the runs say about a claim. `low` and `high` bound the mean effect over training seeds, or other repeats."""

    claim: str
    says: str
    source: str
    verdict: str
    effect: float
    low: float
    high: float
    margin: float
    unit: str
    seeds: int
    lost: int
    why: str
    evidence: bool
    repeats: str = "seeds"


def by_seed(table: pd.DataFrame, column: str, **where) -> pd.Series:
    """One value a training seed, from the rows that match; the pieces of which effects are made."""
    rows = table
    for name, value in where.items():
        rows = rows[rows[name] == value]
    if rows.empty or rows["seed"].duplicated().any():
        raise ValueError(f"{where} must pick one row a seed, it picks {len(rows)}")
    return rows.set_index("seed")[column]


def interval(effects: np.ndarray) -> tuple[float, float]:
    """Student's 95 % interval for the mean effect (calibrated for few seeds, where the bootstrap is too narrow)."""
    half = _half_width(float(np.std(effects, ddof=1)), len(effects))
    return float(np.mean(effects) - half), float(np.mean(effects) + half)


def grouped_correlation(
    rows: pd.DataFrame, group: str, first: str, second: str, *, draws: int = 1000
) -> tuple[float, float, float]:
    """The rank correlation of two columns over all rows, with the 95 % interval of a bootstrap over groups.

    Networks of one group are alike, so that whole groups are drawn: it says how far the number rests on those tried.
    """
    rows = rows[[group, first, second]].dropna()
    groups = [part[[first, second]].to_numpy() for _, part in rows.groupby(group)]
    if len(groups) < 2:
        return float("nan"), float("nan"), float("nan")
    rng = np.random.default_rng(0)

    def correlation(chosen: np.ndarray) -> float:
        pairs = np.concatenate([groups[i] for i in chosen])
        return rank_correlation(pairs[:, 0], pairs[:, 1])

    again = [correlation(rng.integers(len(groups), size=len(groups))) for _ in range(draws)]
    low, high = np.quantile(again, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return correlation(np.arange(len(groups))), float(low), float(high)


def _half_width(spread: float, seeds: int) -> float:
    return float(special.stdtrit(seeds - 1, (1 + CONFIDENCE) / 2) * spread / np.sqrt(seeds))


def judge(table: pd.DataFrame, claim: Claim, *, evidence: bool = True) -> Verdict:
    """Holds if the whole interval lies above the margin, fails if it lies below, else undecided.

    A precondition or control that is not met makes it undecided, and so do too few or too many lost seeds.
    """
    effects = np.asarray(claim.effect(table), float)
    sound = effects[np.isfinite(effects)]
    lost = len(effects) - len(sound)
    low, high = interval(sound) if len(sound) > 1 else (float("nan"), float("nan"))
    mean = float(np.mean(sound)) if len(sound) else float("nan")
    objection = _objection(table, claim, len(sound), lost)
    if objection:
        verdict, why = "undecided", objection
    elif low > claim.margin:
        verdict, why = "holds", f"the whole interval lies above the margin; {_unseen(len(sound))}"
    elif high < claim.margin:
        verdict, why = "fails", f"the whole interval lies below the margin; {_unseen(len(sound))}"
    else:
        verdict, why = "undecided", _more_seeds(sound, claim.margin)
    words = (claim.name, claim.says, claim.source)
    numbers = (mean, low, high, claim.margin, claim.unit, len(sound), lost)
    return Verdict(*words, verdict, *numbers, why.replace("seeds", claim.repeats), evidence, claim.repeats)


def judge_all(table: pd.DataFrame, claims: Sequence[Claim], *, evidence: bool = True) -> list[Verdict]:
    return [judge(table, claim, evidence=evidence) for claim in claims]


def _objection(table: pd.DataFrame, claim: Claim, seeds: int, lost: int) -> str:
    """Why the claim may not be judged on this table, or nothing."""
    for kind, checks in (("control misread", claim.controls), ("precondition not met", claim.preconditions)):
        for check in checks:
            if said := _failed(table, check):
                return f"{kind}: {said}"
    if lost > MAX_LOST * (seeds + lost):
        return f"{lost} of {seeds + lost} seeds give no number (lost, or unfit to be compared)"
    if seeds < MIN_SEEDS:
        return f"{seeds} seeds are too few: a verdict needs {MIN_SEEDS}"
    return ""


def _failed(table: pd.DataFrame, check: Check) -> str:
    value = float(check.value(table))
    if value >= check.at_least:
        return ""
    amount = f"needs {check.at_least:g}, is {value:.3g}" if check.at_least else f"short by {-value:.3g}"
    return f"{check.says} ({amount})"


def _unseen(seeds: int) -> str:
    """How frequent an outcome of another kind could be without one among these seeds, at the same confidence."""
    share = 1 - (1 - CONFIDENCE) ** (1 / seeds)
    return f"an outcome unlike all of these {seeds} could still come in up to {share:.0%} of seeds"


def _more_seeds(effects: np.ndarray, margin: float) -> str:
    """How many seeds would probably decide, if mean and spread stay as they are."""
    distance, spread = abs(float(np.mean(effects)) - margin), float(np.std(effects, ddof=1))
    choices = range(len(effects) + 1, 1_001)
    first = bisect_left(choices, True, key=lambda n: _half_width(spread, n) < distance)
    if first == len(choices):
        return "the interval straddles the margin, and no affordable number of seeds would decide"
    return f"the interval straddles the margin; about {choices[first]} seeds would probably decide"
