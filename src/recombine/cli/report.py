"""Verdicts in words: as lines for a terminal, and as tables for a document."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from recombine.claims import turns
from recombine.cli import groups
from recombine.cli.results import results_folder
from recombine.engine.catalogue import TIERS
from recombine.engine.words import NONE, counted, in_numbers, numbers, short, tally

if TYPE_CHECKING:
    from rich.console import Console

    from recombine.claims import Verdict

COLOURS = {"holds": "green", "fails": "red", "undecided": "yellow", NONE: "dim"}
UNCLAIMED = "  no claims, so no verdicts"


@dataclass(frozen=True)
class Shown:
    """The verdicts of one run, whether its code has changed since, and what names the study on a command line.

    `deciding` is the tier at which it gives evidence.
    """

    name: str
    folder: Path
    verdicts: list[Verdict]
    stale: bool = False
    source: str = ""
    tier: str = ""
    deciding: str = "laptop"


def verdict_lines(verdicts: list[Verdict], width: int) -> Iterator[str]:
    """The verdicts of one run: each claim, its numbers and what they are, and why an undecided one is so."""
    first = 4 + max((len(short(v)) for v in verdicts), default=0)
    for v in verdicts:
        said = [v.claim, in_numbers(v), *filter(None, (reason(v), fragility(v), robustness(v), groups.held(v)))]
        lines = [line for text in said for line in textwrap.wrap(text, max(20, width - first - 1))]
        head = f"  [{COLOURS[short(v)]}]{short(v)}[/]" + " " * (first - 2 - len(short(v)))
        yield head + escape(lines[0])
        yield from (" " * first + escape(line) for line in lines[1:])
        yield from map(escape, _grid(v, first, width))


def _grid(v: Verdict, first: int, width: int) -> list[str]:
    """What is said of each group, below its claim; farther to the left where it would not fit."""
    if not v.parts:
        return []
    found = groups.lines(v, width - first - 3)
    fits = max(map(len, found)) + first < width
    return [" " * (first if fits else 4) + line for line in found]


def reason(v: Verdict) -> str:
    """Why a claim is undecided; nothing where the table of its groups says so of each."""
    if v.verdict != "undecided" or not v.evidence:
        return ""
    tally_, _, rest = v.why.partition(" hold; ")
    by_group = bool(v.parts) and groups.held(v).endswith(f" {tally_}")  # no control, no precondition
    return ("" if v.agree else rest) if by_group else v.why


def plumbing(one: Shown) -> list[str]:
    """What a run is good for whose effects are no evidence, and which command gives some; nothing for others."""
    if not one.verdicts or any(v.evidence for v in one.verdicts):
        return []
    return [
        "  [dim]The quick tier proves that everything runs; effects of networks this small mean little.[/]",
        f"  [dim]Evidence: {escape(_for_evidence(one))}[/]",
    ]


def _for_evidence(one: Shown) -> str:
    """The command that runs the same where it was run, at a tier that decides."""
    words, out = ["recombine", "run", one.source or one.name, "--tier", one.deciding], Path(*one.folder.parts[:-3])
    return shlex.join(words + (["--out", str(out)] if out not in (Path(), results_folder()) else []))


def fragility(v: Verdict) -> str:
    """Whether a verdict rests on single seeds."""
    return f"undecided without one seed, for {v.fragile} of the {v.seeds} seeds" if v.fragile and v.evidence else ""


def robustness(v: Verdict) -> str:
    """In how many protocol variants a verdict is the same, and which turn it."""
    if not v.variants or not v.evidence:
        return ""
    if v.verdict == "undecided":
        return f"in {len(v.variants)} protocol variants: {tally(v.variants.values())}"
    turned = turns(v)
    said = f"{len(v.variants) - len(turned)} of {len(v.variants)} protocol variants say the same"
    return said + (f"; turns with {', '.join(f'{name} ({v.variants[name]})' for name in turned)}" if turned else "")


def totals(verdicts: Iterable[Verdict]) -> str:
    """How many claims hold, fail and are undecided."""
    return tally(map(short, verdicts))


def by_tier(results: Iterable[Shown]) -> dict[str, list[Verdict]]:
    """The verdicts of each tier, one run of an experiment; those of other runs (a label, more settings) at ""."""
    found: dict[str, list[Verdict]] = {}
    seen = set()
    for one in results:  # a run of a tier may have been given more settings, such as evolved networks
        main = one.folder.name.split(",")[0] == one.tier and (one.tier, one.name) not in seen
        seen |= {(one.tier, one.name)} if main else set()
        found.setdefault(one.tier if main else "", []).extend(one.verdicts)
    return found


def summed(results: list[Shown]) -> list[str]:
    """How many claims hold, fail and are undecided: one line per tier, and one for all other runs."""
    each = {tier: totals(verdicts) for tier, verdicts in by_tier(results).items() if verdicts}
    if len(each) < 2:
        return list(each.values())
    return [f"{tier or 'other runs'}: {each[tier]}" for tier in (*TIERS, "") if tier in each]


def show(console: Console, results: list[Shown]) -> None:
    """The verdicts of some runs, why the undecided ones are so, and where the figures are."""
    initials = f"; {groups.INITIALS}" if any(v.agree and v.parts for one in results for v in one.verdicts) else ""
    console.print(f"\n[dim]effect \\[95 % interval], margin, what is measured{initials}[/]", highlight=False)
    for one in results:
        mark = "  [yellow](stale: not made by today's code)[/]" if one.stale else ""
        console.print(f"\n[bold]{escape(one.name)}[/], {escape(one.folder.name)}{mark}", highlight=False)
        for line in [*plumbing(one), *(verdict_lines(one.verdicts, console.width) if one.verdicts else [UNCLAIMED])]:
            console.print(line, highlight=False, soft_wrap=True)
        console.print(f"  [dim]{escape(str(one.folder / 'figure.png'))}[/]", highlight=False, soft_wrap=True)
    console.print("\n" + "\n".join(summed(results)), highlight=False)
    if stale := sum(one.stale for one in results):
        said = f"{stale} of {len(results)} result{'s' * (len(results) != 1)} stale: 'recombine verify' says why"
        console.print(said, highlight=False)


def markdown(results: list[Shown]) -> str:
    """The same as tables for a document, one per experiment: every claim in full, one column per run."""
    runs: dict[str, dict[str, Shown]] = {}
    for one in results:
        runs.setdefault(one.name, {})[one.folder.name] = one
    return "\n\n".join(_document_table(name, columns) for name, columns in runs.items())


def _document_table(name: str, columns: dict[str, Shown]) -> str:
    if not any(one.verdicts for one in columns.values()):
        return f"### {name}\n\n{UNCLAIMED.strip().capitalize()}."
    claims = {v.claim: v for run in columns.values() for v in run.verdicts}
    said = {run: {v.claim: _in_words(v) for v in one.verdicts} for run, one in columns.items()}
    rows = [
        f"| {c.claim} | {c.says} ({c.source}) | {c.unit} ({c.bounds}) | "
        + " | ".join(words.get(c.claim, "not run") for words in said.values())
        + " |"
        for c in claims.values()
    ]
    heads = [f"{run}, {_most(one.verdicts)}{', stale' * one.stale}" for run, one in columns.items()]
    head = ["claim", "what is said", "effect (margin)", *heads]
    folds = [fold for claim in claims if (fold := _fold(claim, columns))]
    return "\n".join([f"### {name}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows, *folds])


def _fold(claim: str, columns: dict[str, Shown]) -> str:
    """The tables of a claim's groups, one per run, folded away; nothing where a claim is not about several."""
    each = [groups.table(v, run) for run, one in columns.items() for v in one.verdicts if v.claim == claim and v.parts]
    said = "\n\n".join(each)
    return f"\n<details><summary>{claim}</summary>\n\n{said}\n\n</details>" if each else ""


def _most(verdicts: list[Verdict]) -> str:
    """The most seeds, or what else effects are numbers of, that any claim of a run has, whether they count or not."""
    every = [replace(v, seeds=v.seeds + v.unfit + v.lost, unfit=0, lost=0) for v in verdicts]
    return counted(max(every, key=lambda v: v.seeds))


def _in_words(v: Verdict) -> str:
    """A verdict with its numbers, for how many of its groups it holds, one reason in short, and what else turns it."""
    first = next(iter(v.because.values()), "") if v.verdict == "undecided" and v.agree else ""
    why = (reason(v) or first).split(" (")[0]
    more = [groups.held(v), "" if "straddles" in why else why, fragility(v), robustness(v)]
    return f"**{short(v)}** {numbers(v)}" + "".join(f"; {said}" for said in more if said)
