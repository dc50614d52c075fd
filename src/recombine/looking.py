"""What the command line reads: the list of experiments, verdicts judged anew, figures drawn again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.arguments import parse
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Where:
    """Options of commands that read results."""

    out: Path = Path("results")
    """folder with the results"""


@dataclass(frozen=True)
class OfTier(Where):
    """Where results are, and which of them."""

    tier: str = ""
    """only runs of this tier"""


@dataclass(frozen=True)
class Judged(OfTier):
    """Where results are, and how verdicts are printed."""

    markdown: bool = False
    """print tables for a document: every claim in full, one column a run"""


def name_and_flags(words: list[str], command: str) -> tuple[list[str], list[str]]:
    """Experiments' names, first or last, and the flags."""
    named, flags = split_names(words)
    if not named and not {"-h", "--help"} & set(words):
        raise UserError(f"say which experiment: recombine {command} NAME ('recombine list' shows them)")
    return named, flags


def split_names(words: list[str]) -> tuple[list[str], list[str]]:
    """Words before the first flag and names of experiments anywhere; and all others."""
    known = catalogue.names()
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    named = [i for i, word in enumerate(words) if i < first or word in known or word.endswith(".py")]
    return [words[i] for i in named], [word for i, word in enumerate(words) if i not in named]


@dataclass(frozen=True)
class Listed(Where):
    """Where results are, and how much is listed."""

    claims: bool = False
    """also every claim, with its source and what was found"""


def list_experiments(words: list[str]) -> int:
    where = parse(
        Listed, words, "recombine list", "Every experiment, and what has been run.\nExample: recombine list --claims"
    )
    from rich.markup import escape

    out = console()
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
        rows = store.read_json(path)
        found[path.parent.name] = {r["claim"]: r["verdict"] if r["evidence"] else "not evidence" for r in rows}
    return found


def verdicts(words: list[str]) -> int:
    """Judge again whatever has been run, from the tables."""
    from recombine import engine
    from recombine.claims import judge_all
    from recombine.progress import markdown, show

    names, flags = split_names(words)
    where = parse(
        Judged,
        flags,
        "recombine verdicts [NAME ...]",
        "What the runs so far say; nothing is written. The name of a paper stands for all of its experiments.\n"
        "Example: recombine verdicts redhardt2025 --tier gpu",
    )
    catalogue.check_tier(where.tier)
    names, shown = catalogue.chosen(names) or catalogue.names(), []
    for name in names:
        experiment = catalogue.find(name)
        for folder in _folders(where.out / experiment.name):
            try:
                tier, _, table = engine.load(experiment, folder)
                if where.tier in ("", tier):
                    verdicts = judge_all(table, experiment.claims, evidence=tier != "quick")
                    shown.append((f"{name}, {folder.name}", folder, verdicts))
            except UserError as error:
                print(f"recombine: passed over: {error}", file=sys.stderr)
            except (KeyError, AttributeError) as error:
                print(f"recombine: passed over: {folder} lacks what its claims ask for: {error}", file=sys.stderr)
    if not shown:
        hint = f"{_try(names[0], where.tier)}, or name a study of your own by its file"
        raise UserError(f"nothing of this has been run in {where.out}: {hint}")
    print(markdown(shown)) if where.markdown else show(console(), shown)
    return 0


def figure(words: list[str]) -> int:
    """Draw the figures of an experiment again, from its tables."""
    from recombine import engine

    names, flags = name_and_flags(words, "figure")
    where = parse(
        OfTier,
        flags,
        "recombine figure NAME",
        "Draw it again from the table.\nExample: recombine figure liang2025/stripes --tier laptop",
    )
    catalogue.check_tier(where.tier)
    for name in catalogue.chosen(names):
        experiment = catalogue.find(name)
        loaded = [(folder, *engine.load(experiment, folder)) for folder in _folders(where.out / experiment.name)]
        chosen = [one for one in loaded if where.tier in ("", one[1])]
        if not chosen:
            raise UserError(f"{name} has not been run in {where.out}: {_try(name, where.tier)}")
        for folder, _, settings, table in chosen:
            print(*engine.draw(experiment, settings, table, folder), sep="\n")
    return 0


def _try(name: str, tier: str) -> str:
    return f"try 'recombine run {name}{f' --tier {tier}' * bool(tier)}'"


def _folders(home: Path) -> list[Path]:
    return sorted(path.parent for path in home.glob("*/settings.json"))


def console() -> Console:
    from rich.console import Console

    return Console()
