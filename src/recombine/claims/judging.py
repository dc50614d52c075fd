"""From a table and a claim to a verdict: every part by its interval, groups of parts, preconditions and controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite

import numpy as np
import pandas as pd

from recombine import table as tables
from recombine.claims.reasons import FARTHER, more_seeds, surest, too_few, unseen, way_of_failing
from recombine.claims.verdict import UNFIT, Part, Verdict, interval
from recombine.core import Check, Claim


def judge(table: pd.DataFrame, claim: Claim, *, evidence: bool = True) -> Verdict:
    """Holds if the interval of every part lies within the bounds, fails if one lies outside, else undecided.

    A precondition or control that is not met makes it undecided, and so do too few seeds, or too many that were lost
    or did not fit. Where nothing is evidence, effects of networks that did not fit count as well.
    """
    _check_arguments(table, claim)
    table, claim = tables.modern(table), claim if evidence else replace(claim, fits=(), unsettled=None)
    columns = _columns(claim.effect(table), claim)
    fits = _fits(table, claim, columns)
    if not len(columns.columns):
        return _undecided(claim, "what the claim compares is not trained here", evidence)
    several, open_ = len({_group(name, claim) for name in columns}), claim.unsettled(table) if claim.unsettled else {}
    judged = [_part(str(name), columns[name], fits[name], claim, several) for name in columns]
    judged = judged if claim.agree else [_settled(part, why, open_) for part, why in judged]
    parts, whys, groups = [part for part, _ in judged], [why for _, why in judged], _grouped(judged, claim, open_)
    objection, words = _unmet(table, claim), {word for word, _ in groups.values()}
    verdict = "holds" if words == {"holds"} else "fails" if "fails" in words else "undecided"
    verdict = "undecided" if objection else verdict
    decisive = [i for word, mine in groups.values() for i in mine if objection or _says(word, verdict)]
    numbers = [i for i in decisive if claim.agree and parts[i].seeds]
    first = min(numbers or decisive, key=lambda i: _room(parts[i], claim))
    shown = parts[first]
    said = _summary(groups, parts, claim, open_) if claim.agree else [_named(whys[first], shown.name, len(parts))]
    reason = "; ".join([_held(groups, claim)] * (claim.agree or len(parts) > 1) + said)
    why = objection or reason.replace("seeds", claim.repeats)
    why += _shortfall(table, claim) if UNFIT in why else ""
    return Verdict(
        claim.name, claim.says, claim.source, verdict, shown.effect, shown.low, shown.high, claim.above, claim.below,
        claim.unit, shown.seeds, shown.lost, shown.unfit, shown.how if verdict == "fails" else "",
        why, evidence, claim.repeats, claim.over,
        tuple(parts) if len(parts) > 1 else (), _resting(verdict, parts, shown, claim), agree=claim.agree,
        groups={name: word for name, (word, _) in groups.items()} if len(parts) > 1 else {},
        because={name: open_[name][1] for name in groups if name in open_},
    )  # fmt: skip


def _resting(verdict: str, parts: Sequence[Part], shown: Part, claim: Claim) -> int:
    """On how many single seeds a verdict rests: of all columns that hold the most, of several that fail the least."""
    mine = [part.fragile for part in parts if part.verdict == verdict]
    if claim.agree or not mine:
        return shown.fragile if verdict == shown.verdict else 0
    return min(mine) if verdict == "fails" else max(mine)


def _check_arguments(table: pd.DataFrame, claim: Claim) -> None:
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas DataFrame with one row per network, got a {type(table).__name__}")
    if not isinstance(claim, Claim):
        raise TypeError(f"a claim is a recombine.Claim, got a {type(claim).__name__}")


def _columns(effects: object, claim: Claim) -> pd.DataFrame:
    if isinstance(effects, pd.DataFrame):
        return effects
    if not isinstance(effects, pd.Series):
        needed = "a pandas Series with one number per seed, or a DataFrame of them"
        raise TypeError(f"the effect of the claim {claim.name!r} must give {needed}; got a {type(effects).__name__}")
    return effects.to_frame("")


def _undecided(claim: Claim, why: str, evidence: bool) -> Verdict:
    """The verdict on a claim of which a table has nothing to compare."""
    none = float("nan")
    return Verdict(
        claim.name, claim.says, claim.source, "undecided", none, none, none, claim.above, claim.below, claim.unit,
        0, 0, 0, "", why, evidence, claim.repeats, claim.over,
    )  # fmt: skip


def _group(name: object, claim: Claim) -> str:
    return str(name).partition(": ")[0] if claim.agree else str(name)


def _settled(part: Part, why: str, open_: Mapping[str, tuple[str, str]]) -> tuple[Part, str]:
    """A part, undecided if the claim says of it that no interval can decide it."""
    if part.name not in open_:
        return part, why
    return replace(part, verdict="undecided", how="", fragile=0), open_[part.name][1]


def _grouped(
    judged: Sequence[tuple[Part, str]], claim: Claim, open_: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, list[int]]]:
    """The verdict on each group of columns, and which they are; a column is a group unless several must agree."""
    groups: dict[str, list[int]] = {}
    for i, (part, _) in enumerate(judged):
        groups.setdefault(_group(part.name, claim), []).append(i)
    found = {}
    for name, mine in groups.items():
        words = {judged[i][0].verdict for i in mine}
        mixed = "mixed" if {"holds", "fails"} <= words else "undecided"
        word = words.pop() if len(words) == 1 else mixed
        found[name] = open_.get(name, (word, ""))[0], mine
    return found


def _says(word: str, verdict: str) -> bool:
    return word == verdict or (verdict == "undecided" and word == "mixed")


def _held(groups: Mapping[str, tuple[str, list[int]]], claim: Claim) -> str:
    words = [word for word, _ in groups.values()]
    return f"{words.count('holds')} of {len(words)} {claim.over or 'groups'} hold"


def _summary(
    groups: Mapping[str, tuple[str, list[int]]],
    parts: Sequence[Part],
    claim: Claim,
    open_: Mapping[str, tuple[str, str]],
) -> list[str]:
    """Of each group that does not hold why it does not, or what its scores say."""
    said = []
    for name, (word, mine) in groups.items():
        said_of = [
            (parts[i].name.partition(": ")[2], parts[i].verdict if parts[i].seeds else "no number") for i in mine
        ]
        scores = ", ".join(f"{score} {says}" for score, says in said_of)
        why = f": {open_[name][1]}" if name in open_ else f" ({scores})"
        said += [f"{name} {'' if word == 'fails' else 'is '}{word}{why}"] * (word != "holds")
    return said


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
    verdict, how, why = "undecided", "", too_few(len(sound), lost, bad)
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
    wide = interval(sound, surest(parts))
    if low > above and high < below:
        return "holds", "", f"the whole interval lies within the bounds; {unseen(len(sound))}"
    if wide[1] < above or wide[0] > below:
        how = way_of_failing(wide, claim)
        return "fails", how, f"{how}: the whole interval lies outside the bounds; {unseen(len(sound))}"
    return "undecided", "", more_seeds(sound, claim, parts)


def _room(part: Part, claim: Claim) -> float:
    """How far the interval of a part lies within the bounds; negative outside, least where there is no number."""
    above, below = claim.bounds
    room = min(part.low - above, below - part.high)
    return room if isfinite(room) else -inf


def judge_all(table: pd.DataFrame, claims: Sequence[Claim], *, evidence: bool = True) -> list[Verdict]:
    """A verdict for each claim at the primary protocol, with the word for each variant that has what it compares."""
    if isinstance(claims, Claim):
        raise TypeError("claims are several: judge_all(table, [claim]), or judge(table, claim) for one")
    verdicts = []
    for claim in claims:
        _check_arguments(table, claim)
        (_, primary), *others = judge_variants(table, claim, evidence=evidence).items()
        there = {name: one for name, one in others if one.seeds + one.lost + one.unfit}
        asked = {
            name: _word(one, primary) for name, one in there.items() if _varied(table, claim, name, (primary, one))
        }
        verdicts.append(replace(primary, variants=asked))
    return verdicts


def _word(variant: Verdict, primary: Verdict) -> str:
    """A variant's verdict, and how it fails if the primary protocol fails on the other side."""
    apart = (variant.how == FARTHER) != (primary.how == FARTHER)
    return f"fails, {variant.how}" if apart and variant.verdict == primary.verdict == "fails" else variant.verdict


def _varied(table: pd.DataFrame, claim: Claim, name: str, verdicts: tuple[Verdict, Verdict]) -> bool:
    """Whether a variant trained anew what a claim compares; it may repeat networks of the primary protocol."""
    seen = [[(p.effect, p.low, p.high, p.seeds) for p in v.parts or (v,)] for v in verdicts]
    if not set(seen[1]) <= set(seen[0]):
        return True
    rows = tables.modern(table)
    mine, numbers = rows["variant"] == name, rows.select_dtypes("number").fillna(np.inf)
    known = set(map(tuple, numbers[rows["variant"] == tables.PRIMARY].to_numpy()))
    repeated = np.array([tuple(row) in known for row in numbers.to_numpy()]) & (rows["system"] == tables.NETWORK)
    try:
        left = judge(rows[mine & ~repeated], claim)
    except (ValueError, KeyError, IndexError):  # nothing of it is left
        return False
    return bool(left.seeds + left.lost + left.unfit)


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
    """The variants in which a verdict is the opposite one, fails on the other side, or is no longer decided."""
    return [name for name, word in verdict.variants.items() if word != verdict.verdict]


def _unmet(table: pd.DataFrame, claim: Claim) -> str:
    """The first control or precondition of a claim that this table does not meet, or nothing."""
    for kind, checks in (("control misread", claim.controls), ("precondition not met", claim.preconditions)):
        for check in checks:
            if said := failed(table, check):
                return f"{kind}: {said}"
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
