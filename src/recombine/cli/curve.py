"""recombine curve: each claim of an experiment under every protocol variant, as a specification curve."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.claims import judge_variants
from recombine.cli.report import numbers
from recombine.cli.results import Loaded, TierOptions, over_results, read_words
from recombine.core import Claim, UserError
from recombine.engine import catalogue, store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CurveOptions(TierOptions):
    """Where results are, and which claims."""

    claim: str = ""
    """only claims whose name contains this"""


def curve(words: list[str]) -> int:
    """Plot specification curves, one per claim, beside the tables; print what each claim comes to."""
    names, options = read_words(
        CurveOptions,
        words,
        "curve",
        "Each claim under every protocol variant of its table: effect, interval and verdict, lowest first.\n"
        "Example: recombine curve liang2025/amounts --tier gpu --claim cross",
    )
    for name in names:
        experiment = catalogue.find(name)
        if not any(options.claim in claim.name for claim in experiment.claims):
            raise UserError(f"{name} has no claim that contains {options.claim!r}")
        if not sum(over_results([name], options, lambda one: _curves(one, options.claim))):
            many = "it declares none" if not experiment.variants else f"run it again: recombine run {experiment.source}"
            raise UserError(f"no table of {name} in {options.out} has protocol variants ({many})")
    return 0


def _curves(one: Loaded, part: str) -> int:
    """Plot and print the curves of the claims whose name contains a part; how many, none without variants."""
    claims = [claim for claim in one.experiment.claims if part in claim.name]
    if one.table["variant"].nunique() < 2:
        return 0
    for claim in claims:
        _print(claim, judge_variants(one.table, claim), plot(one.experiment, claim, one.table, one.folder))
    return len(claims)


def _print(claim: Claim, verdicts: dict[str, Any], path: Path) -> None:
    """A claim's verdict and effect under each protocol, and where its curve is."""
    print(f"{claim.name}: {claim.unit}")
    for name, v in verdicts.items():
        print(f"  {v.verdict:10} {numbers(v):32} {name}")
    print(f"  {path}")


def plot(experiment: catalogue.Experiment, claim: Claim, table: pd.DataFrame, folder: Path) -> Path:
    """One claim's specification curve, as a file beside its table; returns its path."""
    from recombine import plots

    verdicts: dict[str, Any] = judge_variants(table, claim)
    path = folder / f"curve-{re.sub(r'[^a-z0-9]+', '-', claim.name.lower()).strip('-')}.png"
    sink = io.BytesIO()
    with plots.look():
        plots.specification_curve(verdicts, f"{experiment.name}: {claim.name}").savefig(sink, dpi=110)
    store.write(path, sink.getvalue())
    return path
