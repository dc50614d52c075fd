"""recombine verdicts: what the runs so far say, judged again from their tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.cli import streams
from recombine.cli.results import Loaded, TierOptions, nothing_there, over_results, read_words

if TYPE_CHECKING:
    from recombine.cli.report import Shown


@dataclass(frozen=True)
class VerdictOptions(TierOptions):
    """Where results are, and how verdicts are printed."""

    markdown: bool = False
    """print tables for a document: every claim in full, one column per run"""


def verdicts(words: list[str]) -> int:
    """Judge again whatever has been run, from the tables."""
    from recombine.cli import report

    names, options = read_words(
        VerdictOptions,
        words,
        "verdicts",
        "What the runs so far say, those of your own studies too; nothing is written. The name of a paper stands for"
        " all of its experiments.\n"
        "Example: recombine verdicts redhardt2025 --tier gpu",
        all_by_default=True,
    )
    shown = over_results(names, options, judged_result, doing="judging")
    if not shown:
        raise nothing_there(names, options)
    print(report.markdown(shown)) if options.markdown else report.show(streams.console(), shown)
    return 0


def judged_result(loaded: Loaded) -> Shown:
    """The verdicts on one result, marked if its code has changed since."""
    from recombine.claims import judge_all
    from recombine.cli.report import Shown

    mine = loaded.experiment
    verdicts = judge_all(loaded.table, mine.claims, evidence=loaded.evidence)
    named = {"source": mine.source, "tier": loaded.tier, "deciding": mine.deciding}
    return Shown(mine.name, loaded.folder, verdicts, stale=loaded.stale, **named)
