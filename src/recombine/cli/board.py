"""recombine board: a page per paper with every claim and what each run says of it, written from the results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recombine.cli import report, streams
from recombine.cli.options import parse
from recombine.cli.results import ResultOptions, TierOptions, over_results, studies
from recombine.cli.verdicts import judged_result
from recombine.core import UserError
from recombine.engine import catalogue

HEAD = """# {paper}

Written by `recombine board` from `{out}/`; do not edit. {totals}.
`docs/rules.md` says how a verdict is reached. A run marked *stale* was made by code that has changed since
(`recombine verify` says which); its verdicts are judged with today's claims.
"""


@dataclass(frozen=True)
class BoardOptions(ResultOptions):
    """Where results are, and where the pages go."""

    to: Path | None = None
    """folder for the pages, one per paper; docs/board, or `board` in the folder that --out names"""


def board(words: list[str]) -> int:
    """Write the pages of all papers that have results."""
    about = "Write a page per paper with every claim and its verdicts.\nExample: recombine board --to docs/board"
    options = parse(BoardOptions, words, "recombine board", about)
    to = options.to or (Path("docs/board") if options.out == Path("results") else options.out / "board")
    if options.out.is_dir():
        to.mkdir(parents=True, exist_ok=True)  # before all is judged, which takes a minute
    found, own = pages(options.out), studies(options.out)
    left = f"own studies have no page: {', '.join(own)} ('recombine verdicts FILE --markdown' prints their tables)"
    if not found:
        raise UserError(left if own else f"nothing has been run in {options.out}")
    for paper, text in found.items():
        (to / f"{paper}.md").write_text(text)
        print(to / f"{paper}.md")
    if own:
        streams.complain(left)
    return 0


def pages(out: Path) -> dict[str, str]:
    """The page of each paper that has results, by the paper's name."""
    shown = over_results(catalogue.names(), TierOptions(out), judged_result, doing="judging")
    papers: dict[str, list[report.Shown]] = {}
    for one in shown:
        papers.setdefault(one.name.split("/")[0], []).append(one)
    return {paper: page(catalogue.find(mine[0].name).paper, mine, out.name) for paper, mine in papers.items()}


def page(title: str, shown: list[report.Shown], out: str) -> str:
    """One paper's page: how many verdicts of each kind per tier, then a table per experiment."""
    each = report.by_tier(shown)
    totals = "; ".join(f"{tier}: {report.totals(verdicts)}" for tier, verdicts in each.items() if tier)
    return HEAD.format(paper=title, totals=totals, out=out) + "\n" + report.markdown(shown) + "\n"
