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
        " that is always misread, a margin at the ceiling, a margin that an untrained network keeps.\n"
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
    return FOUND if options.strict and (stale or unclean or warnings) else 0


def _print(one: Audit) -> None:
    """One line about a result, and one for each warning about its claims."""
    from rich.markup import escape

    out = streams.console()
    if one.changed is None:
        said = "[yellow]stale[/]: it does not say which code made it"
    elif one.changed:
        said = (
            f"[yellow]stale[/]: changed since: {escape(', '.join(n.removeprefix('recombine.') for n in one.changed))}"
        )
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
