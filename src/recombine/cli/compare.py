"""recombine compare: what two results of one experiment say of its claims, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from recombine.claims import Verdict, judge_all
from recombine.cli import report, streams
from recombine.cli.options import parse
from recombine.cli.results import Loaded, ResultOptions, folders, load
from recombine.core import UserError
from recombine.engine import catalogue, store

USE = "recombine compare NAME RUN RUN, or recombine compare FOLDER FOLDER"


@dataclass(frozen=True)
class CompareOptions(ResultOptions):
    """Where the results of a named experiment are."""


def compare(words: list[str]) -> int:
    """Judge two results and print, for each claim, both effects and verdicts; and which settings differ."""
    named = list(takewhile(lambda word: not word.startswith("-"), words))
    options = parse(
        CompareOptions,
        words[len(named) :],
        "recombine compare NAME RUN RUN",
        "Two results of one experiment side by side: settings that differ, and each claim's effect and verdict. A run"
        " is named by its folder: its tier, or the label that `run --name` gave. Two folders may be given instead.\n"
        "Example: recombine compare liang2025/stripes laptop gpu",
    )
    places = _places(named, options.out)
    if places[0].resolve() == places[1].resolve():
        raise UserError(f"{places[0]} is named twice: name two different results")
    first, second = (_loaded(place) for place in places)
    one, other = first.experiment, second.experiment
    if one.name != other.name:
        raise UserError(
            f"{places[0]} is of {one.name} and {places[1]} of {other.name}: results of one experiment can be compared"
        )
    print(f"{first.title}\n{second.title}")
    before, after = vars(first.settings), vars(second.settings)
    for name in [name for name, value in before.items() if value != after.get(name)]:
        print(f"{name}: {before[name]} / {after.get(name)}")
    shown = [judge_all(run.table, run.experiment.claims, evidence=run.evidence) for run in (first, second)]
    if not one.claims:
        print("no claims, so no verdicts")
        return 0
    streams.console().print(_side_by_side(*shown, titles=_tails(places)), soft_wrap=False)
    if not first.evidence or not second.evidence:
        print("not evidence: effects of the quick tier are shown as measured, whether networks fitted or not")
    return 0


def _run(word: str, there: Sequence[str]) -> str:
    """The run that a word names: a folder, or the only one of a tier."""
    of_tier = [name for name in there if name.split(",")[0] == word]
    return of_tier[0] if word not in there and len(of_tier) == 1 else word


def _places(words: Sequence[str], out: Path) -> tuple[Path, Path]:
    """The two folders that words name: themselves, or as two runs of an experiment."""
    if len(words) == 3:
        home = out / catalogue.find(words[0]).name
        there = [folder.name for folder in folders(home)]
        runs = [_run(word, there) for word in words[1:]]
        for word, run in zip(words[1:], runs, strict=True):
            if run not in there:
                said = f"there are {', '.join(there)}" if there else f"nothing of {words[0]} was run in {out}"
                raise UserError(f"{home} has no run {word!r}{catalogue.did_you_mean(word, there)}; {said}")
        return home / runs[0], home / runs[1]
    if len(words) != 2:
        raise UserError(f"name two results: {USE} (--help shows how)")
    if not any(Path(word).is_dir() for word in words):
        raise UserError(f"neither {words[0]} nor {words[1]} is a folder; for two runs of an experiment: {USE}")
    return Path(words[0]), Path(words[1])


def _tails(places: Sequence[Path]) -> list[str]:
    """The ends of two paths, as long as it takes to tell them apart."""
    parts = [place.absolute().parts for place in places]
    length = next((n for n in range(1, max(map(len, parts))) if parts[0][-n:] != parts[1][-n:]), 1)
    return ["/".join(each[-length:]) for each in parts]


def _loaded(folder: Path) -> Loaded:
    facts = store.read_json(folder / "settings.json")
    source = facts.get("source") or facts.get("experiment") if isinstance(facts, dict) else None
    if not isinstance(source, str):
        raise UserError(f"{folder / 'settings.json'} is damaged: it does not name its experiment")
    experiment = catalogue.find(source)
    return Loaded(experiment, folder, *load(experiment, folder))


def _side_by_side(first: list[Verdict], second: list[Verdict], *, titles: list[str]):
    from rich.markup import escape
    from rich.table import Column, Table

    shown = Table("claim", "margin", *(Column(escape(title), overflow="fold") for title in titles))
    other = {v.claim: v for v in second}
    for verdict in first:
        shown.add_row(escape(verdict.claim), verdict.bounds, *(_cell(v) for v in (verdict, other[verdict.claim])))
    return shown


def _cell(v: Verdict) -> str:
    """The verdict, its numbers and, where it is undecided, why."""
    from rich.markup import escape

    word = report.short(v)
    why = [v.why] if word == "undecided" else []
    return "\n".join([f"[{report.COLOURS[word]}]{word}[/]", *map(escape, [report.numbers(v), *why])])
