"""recombine compare: what two results of one experiment say of its claims, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.claims import Verdict, judge_all
from recombine.cli import report, streams
from recombine.cli.options import parse
from recombine.cli.results import load
from recombine.core import UserError
from recombine.engine import catalogue, store


@dataclass(frozen=True)
class CompareOptions:
    """No options yet: the two folders are what is compared."""


def compare(words: list[str]) -> int:
    """Judge two results and print, for each claim, both effects and verdicts; and which settings differ."""
    places = [Path(word) for word in words if not word.startswith("-")]
    parse(
        CompareOptions,
        [word for word in words if word.startswith("-")],
        "recombine compare FOLDER FOLDER",
        "Two results of one experiment side by side: settings that differ, and each claim's effect and verdict.\n"
        "Example: recombine compare results/liang2025/stripes/laptop results/liang2025/stripes/gpu",
    )
    if len(places) != 2:
        raise UserError("name two results folders: recombine compare FOLDER FOLDER (--help shows how)")
    (one, settings, first), (other, changed, second) = (_judged(place) for place in places)
    if one != other:
        raise UserError(
            f"{places[0]} is of {one} and {places[1]} of {other}: results of one experiment can be compared"
        )
    differ = {name: (value, changed.get(name)) for name, value in settings.items() if value != changed.get(name)}
    for name, (a, b) in differ.items():
        print(f"{name}: {a} / {b}")
    streams.console().print(_side_by_side(first, second, [str(place) for place in places]))
    return 0


def _judged(folder: Path) -> tuple[str, dict[str, Any], dict[str, Verdict]]:
    facts = store.read_json(folder / "settings.json")
    source = facts.get("source") or facts.get("experiment") if isinstance(facts, dict) else None
    if not isinstance(source, str):
        raise UserError(f"{folder / 'settings.json'} is damaged: it does not name its experiment")
    experiment = catalogue.find(source)
    _, settings, table = load(experiment, folder)
    return experiment.name, vars(settings), {v.claim: v for v in judge_all(table, experiment.claims)}


def _side_by_side(first: dict[str, Verdict], second: dict[str, Verdict], titles: list[str]):
    from rich.table import Table

    shown = Table("claim", *titles)
    for claim, verdict in first.items():
        shown.add_row(claim, *(_cell(v) for v in (verdict, second[claim])))
    return shown


def _cell(v: Verdict) -> str:
    from rich.markup import escape

    return f"[{report.COLOURS[v.verdict]}]{v.verdict}[/]\n{escape(report.numbers(v))}"
