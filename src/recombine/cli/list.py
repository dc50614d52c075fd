"""recombine list: every experiment, its question, and what has been run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.cli.results import ResultOptions, passing_over
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class ListOptions(ResultOptions):
    """Where results are, and how much is listed."""

    claims: bool = False
    """also every claim, with its source and what was found"""


def list_experiments(words: list[str]) -> int:
    where = parse(
        ListOptions,
        words,
        "recombine list",
        "Every experiment, and what has been run.\nExample: recombine list --claims",
    )
    from rich.markup import escape

    out = streams.console()
    paper = ""
    for name in catalogue.names():
        experiment = catalogue.find(name)
        if experiment.paper != paper:
            paper = experiment.paper
            out.print(f"\n[bold]{escape(paper)}[/]", highlight=False)
        _indented(out, 2, f"[cyan]{name}[/]  {escape(experiment.question)}")
        ran = _verdict_words(where.out / name)
        counts = [f"{tier}: {_counted(list(words.values()))}" for tier, words in ran.items()]
        _indented(out, 6, f"[dim]{'; '.join(counts) or 'not run yet'}[/]")
        for claim in experiment.claims if where.claims else ():
            said = ", ".join(f"{tier}: {words[claim.name]}" for tier, words in ran.items() if claim.name in words)
            _indented(out, 4, f"- {escape(claim.name)}: {escape(claim.says)} [dim]({escape(claim.source)})[/]")
            _indented(out, 6, f"[dim]{said or 'not run yet'}[/]")
    out.print(
        "\ntiers: quick (never evidence), laptop (minutes), gpu, paper; --claims lists every claim",
        style="dim",
        highlight=False,
    )
    return 0


def _indented(out: Console, by: int, markup: str) -> None:
    """A paragraph whose every line stands that far from the left."""
    from rich.padding import Padding

    out.print(Padding(markup, (0, 0, 0, by)), highlight=False)


def _counted(words: list[str]) -> str:
    """How often each verdict was reached, as 3 holds, 1 fails."""
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _verdict_words(home: Path) -> dict[str, dict[str, str]]:
    """For each tier that was run, the verdict word of each claim."""
    from recombine.engine import store

    found = {}
    for path in sorted(home.glob("*/verdicts.json")):
        with passing_over(path.parent):
            rows = store.read_json(path)
            words = {str(r["claim"]): r["verdict"] if r["evidence"] else "not evidence" for r in rows}
            if not all(isinstance(word, str) for word in words.values()):
                raise UserError(f"{path} is damaged: a verdict is a word")
            found[path.parent.name] = words
    return found
