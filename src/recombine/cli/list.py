"""recombine list: every experiment, its question, and what has been run."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.cli.results import ResultOptions, chosen_or_all, passing_over, split_names, studies
from recombine.core import UserError
from recombine.engine import catalogue, store
from recombine.engine.words import NONE, tally

if TYPE_CHECKING:
    from rich.console import Console


OWN = "Your own studies"
TIERS = "tiers: quick (never evidence), laptop (minutes), gpu, paper; --claims lists every claim"
STALE = "stale: made by other code than today's; 'recombine verify' says which"


@dataclass(frozen=True)
class ListOptions(ResultOptions):
    """Where results are, and how much is listed."""

    claims: bool = False
    """also every claim, with its source and what was found"""


class Listed(NamedTuple):
    """An experiment as it is listed: its paper, what names it, its question and, by name, what its claims say."""

    paper: str
    name: str
    question: str
    claims: dict[str, str]
    experiment: catalogue.Experiment


def list_experiments(words: list[str]) -> int:
    """Print every experiment, or those that are named or searched for, with what has been run of each."""
    named, flags = split_names(words)
    options = parse(
        ListOptions,
        flags,
        "recombine list [NAME or WORD ...]",
        "Every experiment, your own studies that have results, and what has been run; after a word that is\n"
        "no name, those that speak of it: in their question, claims or text, or in the title of their paper.\n"
        "Examples: recombine list --claims, recombine list depth, recombine list liang2025/stripes",
    )
    from rich.markup import escape

    out, paper, stale = streams.console(), "", 0
    for one, home in _chosen(named, options.out):
        if one.paper != paper:
            paper = one.paper
            out.print(f"\n[bold]{escape(paper)}[/]", highlight=False)
        _indented(out, 2, f"{one.name}  {one.question}", lead=one.name)
        ran = _verdict_words(home)
        marks = {run: _stale(one, home / run) for run in ran}
        stale += sum(map(bool, marks.values()))
        counts = [f"{run}: {tally(words.values()) or 'no claims'}{marks[run]}" for run, words in ran.items()]
        _indented(out, 6, "; ".join(counts) or "not run yet", "dim")
        for claim, says in one.claims.items() if options.claims else ():
            found = ", ".join(f"{run}: {words[claim]}" for run, words in ran.items() if claim in words)
            _indented(out, 4, f"- {claim}: {says}")
            _indented(out, 6, found or "not run yet", "dim")
    out.print(f"\n{TIERS}", style="dim", highlight=False)
    if stale:
        out.print(STALE, style="dim", highlight=False)
    return 0


def _stale(one: Listed, folder: Path) -> str:
    """A mark if other code than today's made a result, or code that it does not name."""
    from recombine.engine.run import code_changes

    with suppress(UserError, AttributeError, OSError, SyntaxError, ValueError):  # of a user's file
        return " (stale)" * (code_changes(one.experiment, folder) != [])
    return ""


def _chosen(named: list[str], out: Path) -> Iterator[tuple[Listed, Path]]:
    """What is listed, each with the folder of its results; without names also the user's own studies."""
    for name in dict.fromkeys(chosen_or_all([name for word in named for name in _standing_for(word)])):
        experiment = catalogue.find(name)
        says = {claim.name: f"{claim.says} ({claim.source})" for claim in experiment.claims}
        paper = experiment.paper if experiment.source == experiment.name else OWN
        yield Listed(paper, experiment.source, experiment.question, says, experiment), out / experiment.name
    for name, source in () if named else studies(out).items():
        yield _own_study(source, out / name), out / name


def _standing_for(word: str) -> list[str]:
    """What a word names, else the experiments that speak of it."""
    if "/" in word or word.endswith(".py") or not {*catalogue.chosen([word])}.isdisjoint(catalogue.names()):
        return [word]
    if found := [name for name in catalogue.names() if word.lower() in _told(catalogue.find(name))]:
        return found
    hint = catalogue.did_you_mean(word, sorted({name.split("/")[0] for name in catalogue.names()}))
    raise UserError(f"no experiment is called {word!r}{hint}, and none speaks of it; 'recombine list' shows all")


def _told(experiment: catalogue.Experiment) -> str:
    """Claims, paper and what is written about an experiment, in small letters and on one line."""
    package = import_module(experiment.module.__package__) if experiment.module.__package__ else experiment.module
    claims = [text for claim in experiment.claims for text in (claim.name, claim.says, claim.source)]
    said = [experiment.name, f"{package.__doc__} {experiment.module.__doc__}", *claims]
    return " ".join(" ".join(said).lower().split())


def _own_study(source: str, home: Path) -> Listed:
    """A user's own study, from its file and its verdicts; the file is read, but not run."""
    try:
        question = (ast.get_docstring(ast.parse(Path(source).read_text())) or "").partition("\n")[0]
    except (OSError, SyntaxError, ValueError):
        question = "(its file cannot be read any more)"
    says = {}
    for path in sorted(home.glob("*/verdicts.json")):
        with suppress(UserError, TypeError, KeyError):
            says |= {str(row["claim"]): f"{row['says']} ({row['source']})" for row in store.read_json(path)}
    unread = ModuleType(home.name)
    unread.__file__ = source
    return Listed(OWN, source, question, says, catalogue.Experiment(home.name, unread))


def _indented(out: Console, by: int, text: str, style: str = "", lead: str = "") -> None:
    """A paragraph whose every line stands that far from the left; names of folders stay whole."""
    from rich.text import Text

    margin = " " * by
    lines = textwrap.wrap(
        text, max(20, out.width - 1), initial_indent=margin, subsequent_indent=margin, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    shown = Text("\n".join(lines), style)
    if lead:
        shown.stylize("cyan", by, by + len(lead))
    out.print(shown, soft_wrap=True)


def _verdict_words(home: Path) -> dict[str, dict[str, str]]:
    """For each run, the verdict word of each claim."""
    found = {}
    for path in sorted(home.glob("*/verdicts.json")):
        with passing_over(path.parent):
            rows = store.read_json(path)
            words = {str(r["claim"]): r["verdict"] if r["evidence"] else NONE for r in rows}
            if not all(isinstance(word, str) for word in words.values()):
                raise UserError(f"{path} is damaged: a verdict is a word")
            found[path.parent.name] = words
    return found
