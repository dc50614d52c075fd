"""recombine curve: each claim of an experiment under every protocol variant, as a specification curve."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.claims import judge_variants
from recombine.cli import streams
from recombine.cli.figure import PlotOptions
from recombine.cli.results import Loaded, nothing_there, over_results, read_words
from recombine.core import Claim, UserError
from recombine.engine import catalogue, store
from recombine.engine.words import QUICK, numbers, short


@dataclass(frozen=True)
class CurveOptions(PlotOptions):
    """Where results are, which claims, and where the curves go."""

    claim: str = ""
    """only claims whose name contains this"""


def curve(words: list[str]) -> int:
    """Plot specification curves, one per claim; print what each claim comes to."""
    names, options = read_words(
        CurveOptions,
        words,
        "curve",
        "Each claim under every protocol variant of its table: effect, interval and verdict, lowest first.\n"
        "Example: recombine curve liang2025/amounts --tier gpu --claim cross",
    )
    asked = [name for name in names if any(options.claim in claim.name for claim in catalogue.find(name).claims)]
    if not asked:
        some = f"no claim that contains {options.claim!r}" if options.claim else "no claim"
        raise UserError(f"there is {some} in {', '.join(names)}")
    found = {name: over_results([name], options, lambda one: _curves(one, options)) for name in asked}
    without = [name for name, curves in found.items() if not sum(curves)]
    if not any(found.values()):
        raise nothing_there(asked, options)
    if len(without) == len(found):
        raise _without_variants(asked, options)
    if without:
        streams.complain(f"passed over, having no table with protocol variants: {', '.join(without)}")
    return 0


def _without_variants(names: Sequence[str], options: CurveOptions) -> UserError:
    """What is said where no table has variants, with what runs the first experiment that declares some."""
    able = next((one for one in map(catalogue.find, names) if one.variants), None)
    again = f"run again: recombine run {able.source} --variants all" if able else "none is declared"
    return UserError(f"no table of {' or '.join(names)} in {options.out} has protocol variants ({again})")


def _curves(one: Loaded, options: CurveOptions) -> int:
    """Plot and print the curves of the claims whose name contains a part; how many, none without variants."""
    claims = [claim for claim in one.experiment.claims if options.claim in claim.name]
    if one.table["variant"].nunique() < 2:
        return 0
    print(one.title)
    for claim in claims:
        verdicts = judge_variants(one.table, claim, evidence=one.evidence)
        _print(claim, verdicts, plot(one, claim, verdicts, options.place(one)))
    return len(claims)


def _print(claim: Claim, verdicts: dict[str, Any], path: Path) -> None:
    """A claim's verdict and effect under each protocol, lowest first, and where its curve is."""
    from recombine.plots import lowest_first

    print(f"  {claim.name}: {claim.unit}, margin {next(iter(verdicts.values())).bounds}")
    widest = max(len(numbers(v)) for v in verdicts.values())
    for name in lowest_first(verdicts):
        why = f" ({verdicts[name].why})" * (verdicts[name].verdict == "undecided")
        print(f"    {short(verdicts[name]):12} {numbers(verdicts[name]):{widest}} {name}{why}")
    print(f"    {path}")


def plot(one: Loaded, claim: Claim, verdicts: dict[str, Any], folder: Path) -> Path:
    """One claim's specification curve as a file; returns its path."""
    from recombine import plots

    path = folder / f"curve-{re.sub(r'[^a-z0-9]+', '-', claim.name.lower()).strip('-')}.png"
    sink = io.BytesIO()
    with plots.look():
        title = f"{one.experiment.name}: {claim.name}" + f" ({QUICK})" * (not one.evidence)
        plots.specification_curve(verdicts, title).savefig(sink, dpi=110)
    store.write(path, sink.getvalue())
    return path
