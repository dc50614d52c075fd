"""Turns a table of runs and a Claim into a verdict: holds, fails or undecided, by a rule stated beforehand.

An effect has one number per training seed, or a column of them for each rival, picture or depth. It *holds* if the 95 %
interval of every column lies within the bounds (an intersection-union test: no correction is needed), and *fails* if
the interval of one column lies outside, at a level that is corrected for their number. `docs/rules.md` tabulates how
often each rule errs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite

import numpy as np
import pandas as pd
from scipy import special

from recombine import table as tables
from recombine.core import Check, Claim

MIN_SEEDS = 5
"""Below this nothing is decided: four equal coin tosses happen by chance once in sixteen, five once in thirty-two."""

MAX_LOST = 0.1
"""The share of seeds that may have diverged before a verdict on the rest would be a verdict on survivors."""

MIN_FIT = 0.5
"""The share of seeds whose networks must have learnt what they were shown, for a sentence about such networks."""

CONFIDENCE = 0.95
UNFIT = "learnt what they were shown"


@dataclass(frozen=True)
class Part:
    """One column of an effect: its mean over seeds, the bounds of that mean, and the verdict on it alone."""

    name: str
    effect: float
    low: float
    high: float
    seeds: int
    lost: int
    unfit: int
    verdict: str
    how: str
    fragile: int = 0


@dataclass(frozen=True)
class Verdict:
    """What the runs say about a claim; numbers are those of the least favourable part, of which most have one only.

    `lost` seeds diverged; those of `unfit` seeds did not learn what they were shown. `how` says in which way a claim
    fails; `fragile` how many single seeds decide it: without one of them it would be undecided. `variants` has the
    word for each protocol variant that was run.
    """

    claim: str
    says: str
    source: str
    verdict: str
    effect: float
    low: float
    high: float
    above: float | None
    below: float | None
    unit: str
    seeds: int
    lost: int
    unfit: int
    how: str
    why: str
    evidence: bool
    repeats: str = "seeds"
    over: str = ""
    parts: tuple[Part, ...] = ()
    fragile: int = 0
    variants: Mapping[str, str] = field(default_factory=dict)
    agree: bool = False

    @property
    def bounds(self) -> str:
        """What was asked for, as "> 0.5", "< 0.02" or "0.8 .. 1.2"."""
        if self.above is not None and self.below is not None:
            return f"{self.above:.3g} .. {self.below:.3g}"
        return f"> {self.above:.3g}" if self.above is not None else f"< {self.below:.3g}"


def interval(effects: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval for the mean effect (calibrated for few seeds, where the bootstrap is too narrow)."""
    half = _half_width(float(np.std(effects, ddof=1)), len(effects), confidence)
    return float(np.mean(effects) - half), float(np.mean(effects) + half)


def _half_width(spread: float, seeds: int, confidence: float = CONFIDENCE) -> float:
    return float(special.stdtrit(seeds - 1, (1 + confidence) / 2) * spread / np.sqrt(seeds))


def judge(table: pd.DataFrame, claim: Claim, *, evidence: bool = True) -> Verdict:
    """Holds if the interval of every part lies within the bounds, fails if one lies outside, else undecided.

    A precondition or control that is not met makes it undecided, and so do too few seeds, or too many that were lost
    or did not fit. Where nothing is evidence, effects of networks that did not fit count as well.
    """
    table, claim = tables.modern(table), claim if evidence else replace(claim, fits=())
    effects = claim.effect(table)
    columns = effects if isinstance(effects, pd.DataFrame) else effects.to_frame("")
    fits = _fits(table, claim, columns)
    if not len(columns.columns):
        return _undecided(claim, "there is nothing of what the claim compares", evidence)
    several = len({_group(name, claim) for name in columns})
    judged = [_part(str(name), columns[name], fits[name], claim, several) for name in columns]
    parts, whys, groups = [part for part, _ in judged], [why for _, why in judged], _grouped(judged, claim)
    objection, words = _unmet(table, claim), {word for word, _ in groups.values()}
    verdict = "holds" if words == {"holds"} else "fails" if "fails" in words else "undecided"
    verdict = "undecided" if objection else verdict
    decisive = [i for word, mine in groups.values() for i in mine if objection or _says(word, verdict)]
    numbers = [i for i in decisive if claim.agree and parts[i].seeds]
    first = min(numbers or decisive, key=lambda i: _room(parts[i], claim))
    shown = parts[first]
    reason = _summary(groups, parts, claim) if claim.agree else _named(whys[first], shown.name, len(parts))
    why = objection or reason.replace("seeds", claim.repeats)
    why += _shortfall(table, claim) if UNFIT in why else ""
    return Verdict(
        claim.name, claim.says, claim.source, verdict, shown.effect, shown.low, shown.high, claim.above, claim.below,
        claim.unit, shown.seeds, shown.lost, shown.unfit, shown.how if verdict == "fails" else "",
        why, evidence, claim.repeats, claim.over,
        tuple(parts) if len(parts) > 1 else (), shown.fragile if verdict == shown.verdict else 0, agree=claim.agree,
    )  # fmt: skip


def _undecided(claim: Claim, why: str, evidence: bool) -> Verdict:
    """The verdict on a claim of which a table has nothing to compare."""
    none = float("nan")
    return Verdict(
        claim.name, claim.says, claim.source, "undecided", none, none, none, claim.above, claim.below, claim.unit,
        0, 0, 0, "", why, evidence, claim.repeats, claim.over,
    )  # fmt: skip


def _group(name: object, claim: Claim) -> str:
    return str(name).partition(": ")[0] if claim.agree else str(name)


def _grouped(judged: Sequence[tuple[Part, str]], claim: Claim) -> dict[str, tuple[str, list[int]]]:
    """The verdict on each group of columns, and which they are; a column is a group unless several must agree."""
    groups: dict[str, list[int]] = {}
    for i, (part, _) in enumerate(judged):
        groups.setdefault(_group(part.name, claim), []).append(i)
    found = {}
    for name, mine in groups.items():
        words = {judged[i][0].verdict for i in mine}
        mixed = "mixed" if {"holds", "fails"} <= words else "undecided"
        found[name] = (words.pop() if len(words) == 1 else mixed), mine
    return found


def _says(word: str, verdict: str) -> bool:
    return word == verdict or (verdict == "undecided" and word == "mixed")


def _summary(groups: Mapping[str, tuple[str, list[int]]], parts: Sequence[Part], claim: Claim) -> str:
    """How many groups hold, and of each other group what its scores say."""
    words = [word for word, _ in groups.values()]
    said = [f"{words.count('holds')} of {len(words)} {claim.over or 'groups'} hold"]
    for name, (word, mine) in groups.items():
        said_of = [
            (parts[i].name.partition(": ")[2], parts[i].verdict if parts[i].seeds else "no number") for i in mine
        ]
        scores = ", ".join(f"{score} {says}" for score, says in said_of)
        said += [f"{name} {'' if word == 'fails' else 'is '}{word} ({scores})"] * (word != "holds")
    return "; ".join(said)


def _named(why: str, part: str, parts: int) -> str:
    return f"{part}: {why}" if parts > 1 and part else why


def _fits(table: pd.DataFrame, claim: Claim, columns: pd.DataFrame) -> pd.DataFrame:
    """For each number of the effect 1 if its networks fit what they were shown, 0 if one does not, else NaN."""
    every = []
    for fits in claim.fits:
        found = fits(table)
        one = found if isinstance(found, pd.DataFrame) else pd.DataFrame(dict.fromkeys(columns, found))
        if missing := [str(name) for name in columns if name not in one]:
            raise ValueError(f"the claim {claim.name!r} does not say whether networks of {missing[0]!r} fit")
        every.append(one.reindex(index=columns.index, columns=columns.columns).to_numpy(float))
    stacked = np.stack([np.ones(columns.shape), *every])
    known = np.where(np.isnan(stacked).any(axis=0), np.nan, 1.0)
    return pd.DataFrame(np.where((stacked == 0).any(axis=0), 0.0, known), columns.index, columns.columns)


def _shortfall(table: pd.DataFrame, claim: Claim) -> str:
    """Which conditions did not fit, with their numbers, where the claim says how that is measured."""
    said = [fits.shortfall(table) for fits in claim.fits if isinstance(fits, tables.Fitted)]
    return "".join(f" ({one})" for one in said if one)


def _part(name: str, effects: pd.Series, fits: pd.Series, claim: Claim, parts: int) -> tuple[Part, str]:
    """One column judged by itself, and why."""
    numbers, fit = effects.to_numpy(float), fits.to_numpy(float)
    sound = numbers[np.isfinite(numbers) & (fit == 1)]
    bad = int((fit == 0).sum())
    lost = len(numbers) - len(sound) - bad
    mean = float(np.mean(sound)) if len(sound) else float("nan")
    low, high = interval(sound) if len(sound) > 1 else (float("nan"), float("nan"))
    verdict, how, why = "undecided", "", _too_few(len(sound), lost, bad)
    if not why:
        verdict, how, why = decide(sound, claim, parts)
    why += f"; {len(sound)} of {len(sound) + bad} networks fitted" if bad and verdict != "undecided" else ""
    fragile = _fragile(sound, claim, parts, verdict) if verdict != "undecided" else 0
    return Part(name, mean, low, high, len(sound), lost, bad, verdict, how, fragile), why


def _fragile(sound: np.ndarray, claim: Claim, parts: int, verdict: str) -> int:
    """Without how many of the single seeds another verdict would be given."""
    return sum(decide(np.delete(sound, i), claim, parts)[0] != verdict for i in range(len(sound)))


def decide(sound: np.ndarray, claim: Claim, parts: int) -> tuple[str, str, str]:
    """The verdict on one of so many columns, with enough numbers; in which way it fails; and why."""
    (above, below), (low, high) = claim.bounds, interval(sound)
    surest = interval(sound, 1 - (1 - CONFIDENCE) / parts)  # one of several may lie outside by chance
    if low > above and high < below:
        return "holds", "", f"the whole interval lies within the bounds; {_unseen(len(sound))}"
    if surest[1] < above or surest[0] > below:
        how = _how(surest, claim)
        return "fails", how, f"{how}: the whole interval lies outside the bounds; {_unseen(len(sound))}"
    return "undecided", "", _more_seeds(sound, claim)


def _how(bounds: tuple[float, float], claim: Claim) -> str:
    """In which way an effect fails whose interval lies wholly outside: set against the effect of nothing, `null`."""
    (low, high), (above, below), null = bounds, claim.bounds, claim.null
    if above < null < below:  # it was to be small
        return "larger than asked"
    if low <= null <= high:
        return "no effect"
    upwards = above >= null  # on which side of nothing it was to lie
    if (high < null) if upwards else (low > null):
        return "reversed"
    farther = low > below if upwards else high < above
    return "larger than asked" if farther else "smaller than asked"


def _room(part: Part, claim: Claim) -> float:
    """How far the interval of a part lies within the bounds; negative outside, least where there is no number."""
    above, below = claim.bounds
    room = min(part.low - above, below - part.high)
    return room if isfinite(room) else -inf


def judge_all(table: pd.DataFrame, claims: Sequence[Claim], *, evidence: bool = True) -> list[Verdict]:
    """A verdict for each claim at the primary protocol, with the word for each variant in the table beside it."""
    verdicts = []
    for claim in claims:
        primary, *others = judge_variants(table, claim, evidence=evidence).items()
        verdicts.append(replace(primary[1], variants={name: verdict.verdict for name, verdict in others}))
    return verdicts


def judge_variants(table: pd.DataFrame, claim: Claim, *, evidence: bool = True) -> dict[str, Verdict]:
    """The verdict on a claim at the primary protocol, and then under each variant in the table."""
    table = tables.modern(table)
    names = [tables.PRIMARY, *(n for n in table["variant"].unique() if n != tables.PRIMARY)]
    found = {tables.PRIMARY: judge(table[table["variant"] == tables.PRIMARY], claim, evidence=evidence)}
    for name in map(str, names[1:]):
        try:
            found[name] = judge(table[table["variant"] == name], claim, evidence=evidence)
        except (ValueError, KeyError, IndexError) as error:  # a variant may lack what a claim compares
            found[name] = _undecided(claim, f"it cannot be judged under this variant: {error}", evidence)
    return found


def turns(verdict: Verdict) -> list[str]:
    """The variants in which a verdict is the opposite one, or is no longer decided."""
    return [name for name, word in verdict.variants.items() if word != verdict.verdict]


def _unmet(table: pd.DataFrame, claim: Claim) -> str:
    """The first control or precondition of a claim that this table does not meet, or nothing."""
    for kind, checks in (("control misread", claim.controls), ("precondition not met", claim.preconditions)):
        for check in checks:
            if said := failed(table, check):
                return f"{kind}: {said}"
    return ""


def _too_few(seeds: int, lost: int, unfit: int) -> str:
    """Why these numbers are too few to judge, or nothing."""
    if lost > MAX_LOST * (seeds + unfit + lost):
        return f"{lost} of {seeds + unfit + lost} seeds diverged or give no number"
    if unfit and seeds < MIN_FIT * (seeds + unfit):
        return f"only {seeds} of {seeds + unfit} seeds {UNFIT}"
    if seeds < MIN_SEEDS:
        return f"{seeds} seeds are too few: a verdict needs {MIN_SEEDS}"
    return ""


def failed(table: pd.DataFrame, check: Check) -> str:
    """What a check reads and should read, if it is not met."""
    try:
        value = float(check.value(table))
    except (tables.NoSuchRow, tables.NoSuchColumn, IndexError) as error:
        return f"{check.says} ({error})"
    if check.at_least <= value <= check.at_most:
        return ""
    asked = [f"at least {check.at_least:g}"] * isfinite(check.at_least)
    asked += [f"at most {check.at_most:g}"] * isfinite(check.at_most)
    return f"{check.says} (is {value:.3g}, should be {' and '.join(asked)})"


def _unseen(seeds: int) -> str:
    """How frequent an outcome of another kind could be without one among these seeds, at the same confidence."""
    share = 1 - (1 - CONFIDENCE) ** (1 / seeds)
    return f"an outcome unlike all of these {seeds} could still come in up to {share:.0%} of seeds"


def _more_seeds(effects: np.ndarray, claim: Claim) -> str:
    """How many seeds would probably decide, if mean and spread stay as they are."""
    mean, spread = float(np.mean(effects)), float(np.std(effects, ddof=1))
    distance = min(abs(mean - bound) for bound in claim.bounds if isfinite(bound))
    choices = range(len(effects) + 1, 1_001)
    first = bisect_left(choices, True, key=lambda n: _half_width(spread, n) < distance)
    if first == len(choices):
        return "the interval straddles the margin, and no affordable number of seeds would decide"
    return f"the interval straddles the margin; about {choices[first]} seeds would probably decide"
