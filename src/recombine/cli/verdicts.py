"""recombine verdicts: what the runs so far say, judged again from their tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.cli.results import TierOptions, folders, load, passing_over, split_names, try_running
from recombine.core import UserError
from recombine.engine import catalogue


@dataclass(frozen=True)
class VerdictOptions(TierOptions):
    """Where results are, and how verdicts are printed."""

    markdown: bool = False
    """print tables for a document: every claim in full, one column per run"""


def verdicts(words: list[str]) -> int:
    """Judge again whatever has been run, from the tables."""
    from recombine.cli import report

    names, flags = split_names(words)
    options = parse(
        VerdictOptions,
        flags,
        "recombine verdicts [NAME ...]",
        "What the runs so far say; nothing is written. The name of a paper stands for all of its experiments.\n"
        "Example: recombine verdicts redhardt2025 --tier gpu",
    )
    catalogue.check_tier(options.tier)
    names = catalogue.chosen(names) or catalogue.names()
    shown = [one for name in names for one in judged(catalogue.find(name), options.out, options.tier)]
    if not shown:
        hint = f"{try_running(names[0], options.tier)}, or name a study of your own by its file"
        raise UserError(f"nothing of this has been run in {options.out}: {hint}")
    print(report.markdown(shown)) if options.markdown else report.show(streams.console(), shown)
    return 0


def judged(experiment: catalogue.Experiment, out: Path, tier: str = "") -> list:
    """The verdicts on every readable result of an experiment, each marked if its code has changed since."""
    from recombine.claims import judge_all
    from recombine.cli.report import Shown
    from recombine.engine.run import code_changes

    found = []
    for folder in folders(out / experiment.name):
        with passing_over(folder):
            of_tier, _, table = load(experiment, folder)
            if tier in ("", of_tier):
                verdicts = judge_all(table, experiment.claims, evidence=of_tier != "quick")
                changed = code_changes(experiment, folder)
                found.append(Shown(experiment.name, folder, verdicts, stale=changed is None or bool(changed)))
    return found
