"""recombine list: every experiment, its question, and what has been run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.cli.results import ResultOptions, chosen_or_all, passing_over, split_names, studies
from recombine.core import UserError
from recombine.engine import catalogue, store

if TYPE_CHECKING:
    from rich.console import Console


OWN = "Your own studies"


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


def list_experiments(words: list[str]) -> int:
    """Print every experiment, or those that are named, with what has been run of each."""
    named, flags = split_names(words)
    options = parse(
        ListOptions,
        flags,
        "recombine list [NAME ...]",
        "Every experiment, your own studies that have results, and what has been run.\n"
        "Example: recombine list --claims",
    )
    from rich.markup import escape

    out, paper = streams.console(), ""
    for one, home in _chosen(named, options.out):
        if one.paper != paper:
            paper = one.paper
            out.print(f"\n[bold]{escape(paper)}[/]", highlight=False)
        _indented(out, 2, f"[cyan]{escape(one.name)}[/]  {escape(one.question)}")
        ran = _verdict_words(home)
        counts = [f"{escape(run)}: {_counted(list(words.values()))}" for run, words in ran.items()]
        _indented(out, 6, f"[dim]{'; '.join(counts) or 'not run yet'}[/]")
        for claim, says in one.claims.items() if options.claims else ():
            found = ", ".join(f"{escape(run)}: {words[claim]}" for run, words in ran.items() if claim in words)
            _indented(out, 4, f"- {escape(claim)}: {escape(says)}")
            _indented(out, 6, f"[dim]{found or 'not run yet'}[/]")
    tiers = "tiers: quick (never evidence), laptop (minutes), gpu, paper; --claims lists every claim"
    out.print(f"\n{tiers}", style="dim", highlight=False)
    return 0


def _chosen(named: list[str], out: Path) -> Iterator[tuple[Listed, Path]]:
    """What is listed, each with the folder of its results; without names also the user's own studies."""
    for name in chosen_or_all(named):
        experiment = catalogue.find(name)
        says = {claim.name: f"{claim.says} ({claim.source})" for claim in experiment.claims}
        paper = experiment.paper if experiment.source == experiment.name else OWN
        yield Listed(paper, experiment.source, experiment.question, says), out / experiment.name
    for name, source in () if named else studies(out).items():
        yield _own_study(source, out / name), out / name


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
    return Listed(OWN, source, question, says)


def _indented(out: Console, by: int, markup: str) -> None:
    """A paragraph whose every line stands that far from the left."""
    from rich.padding import Padding

    out.print(Padding(markup, (0, 0, 0, by)), highlight=False)


def _counted(words: list[str]) -> str:
    """How often each verdict was reached, as 3 holds, 1 fails."""
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _verdict_words(home: Path) -> dict[str, dict[str, str]]:
    """For each run, the verdict word of each claim."""
    found = {}
    for path in sorted(home.glob("*/verdicts.json")):
        with passing_over(path.parent):
            rows = store.read_json(path)
            words = {str(r["claim"]): r["verdict"] if r["evidence"] else "not evidence" for r in rows}
            if not all(isinstance(word, str) for word in words.values()):
                raise UserError(f"{path} is damaged: a verdict is a word")
            found[path.parent.name] = words
    return found
