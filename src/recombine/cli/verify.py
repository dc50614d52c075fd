"""recombine verify: results made by other code than today's, and claims that cannot be judged as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.cli import streams
from recombine.cli.results import TierOptions, nothing_there, over_results, read_words

if TYPE_CHECKING:
    from recombine.engine.audit import Audit

FOUND = 4
"""The exit code of --strict if anything was found."""


@dataclass(frozen=True)
class VerifyOptions(TierOptions):
    """Where results are, and how strict to be."""

    strict: bool = False
    """exit with code 4 if a result is stale, comes from no clean commit, or a claim has a warning"""


def verify(words: list[str]) -> int:
    """Audit every result: its code, its commit, its claims."""
    from recombine.engine.audit import audit

    names, options = read_words(
        VerifyOptions,
        words,
        "verify",
        "Which results were made by other code than today's, and which claims cannot be judged as they are: a control"
        " that is always misread, a margin at the ceiling, a margin that an untrained network keeps. All results of"
        " this repository take one to two minutes.\n"
        "Example: recombine verify liang2025 --tier gpu",
        all_by_default=True,
    )
    found = over_results(names, options, lambda one: audit(one.experiment, one.folder, one.table), doing="auditing")
    if not found:
        raise nothing_there(names, options)
    for one in found:
        _print(one)
    stale, unclean = sum(one.stale for one in found), sum(not one.clean for one in found)
    warnings = sum(len(one.warnings) for one in found)
    print(f"\n{len(found)} results: {stale} stale, {unclean} not from a clean commit; {warnings} warnings about claims")
    if warnings:
        print(_summed([word for one in found for word in one.warnings]))
    return FOUND if options.strict and (stale or unclean or warnings) else 0


def _changed(modules: list[str]) -> str:
    """How many modules changed since, and the first of them, those of the experiment before those of the library."""
    names = sorted((n.removeprefix("recombine.") for n in modules), key=lambda n: not n.startswith("experiments."))
    said = f"code changed: {len(names)} module{'s' * (len(names) != 1)}, {', '.join(names[:3])}"
    return said + (", ..." if len(names) > 3 else "")


MEANINGS = {
    "kept by untrained": "a margin that untrained networks keep, too: the claim says little",
    "at the ceiling": "a margin at the ceiling: perfect networks of one kind would clear it by less than half of the"
    " interval, so the claim can hardly hold",
    "misread": "a control that is misread whatever is trained: the claim stays undecided",
}
"""What the warnings about claims mean, by a part of each."""


def _summed(warnings: list[str]) -> str:
    """The warnings in one line: how many of each kind, and what they mean."""
    counts = {meaning: sum(part in word for word in warnings) for part, meaning in MEANINGS.items()}
    return "warnings: " + "; ".join(f"{n} x {meaning}" for meaning, n in counts.items() if n)


def _print(one: Audit) -> None:
    """One line about a result, and one for each warning about its claims."""
    from rich.markup import escape

    out = streams.console()
    if one.changed is None:
        said = "[yellow]stale[/]: it does not say which code made it"
    elif one.changed:
        said = f"[yellow]stale[/]: {escape(_changed(one.changed))}"
    else:
        said = "[green]up to date[/]"
    commit = (
        "" if one.clean else f"; [yellow]no clean commit[/] ({escape(', '.join(c[:12] + c[40:] for c in one.commits))})"
    )
    out.print(
        f"[bold]{escape(one.name)}[/], {escape(one.folder.name)}: {said}{commit}", highlight=False, soft_wrap=True
    )
    for warning in one.warnings:
        out.print(f"  [red]warning[/] {escape(warning)}", highlight=False, soft_wrap=True)
