"""recombine table: what is in the tables of an experiment: its columns, and their means per condition."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.cli.results import TierOptions, folders, load, name_and_flags, passing_over, try_running
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TableOptions(TierOptions):
    """Where results are, and what of them is shown."""

    columns: tuple[str, ...] = ()
    """only these columns (default: every column of plain numbers)"""
    csv: bool = False
    """print every row, as comma-separated values, for another program"""


def table(words: list[str]) -> int:
    """Print the means of each column per condition, or all rows."""
    names, flags = name_and_flags(words, "table")
    options = parse(
        TableOptions,
        flags,
        "recombine table NAME",
        "The columns of an experiment's tables, with the mean of each over the networks of a condition.\n"
        "Example: recombine table liang2025/stripes --tier gpu --columns accuracy0_interior mse_hole",
    )
    catalogue.check_tier(options.tier)
    shown = 0
    for name in catalogue.chosen(names):
        experiment = catalogue.find(name)
        for folder in folders(options.out / experiment.name):
            with passing_over(folder):
                tier, _, rows = load(experiment, folder)
                if options.tier in ("", tier):
                    _show(rows, f"{name}, {folder.name}", options)
                    shown += 1
    if not shown:
        raise UserError(f"nothing of this has been run in {options.out}: {try_running(names[0], options.tier)}")
    return 0


def _show(rows: pd.DataFrame, title: str, options: TableOptions) -> None:
    if unknown := [c for c in options.columns if c not in rows]:
        raise UserError(f"no column is called {unknown[0]!r}{catalogue.did_you_mean(unknown[0], list(map(str, rows)))}")
    numbers = [str(c) for c in rows.select_dtypes("number") if c != "seed"]
    chosen = list(options.columns) or numbers
    if options.csv:
        named = [c for c in ("variant", "system", "condition", "seed") if c in rows]
        print(rows[named + chosen].to_csv(index=False), end="")
        return
    print(f"{title}: {len(rows)} rows; mean of each column over the networks of a condition, and of each control")
    for column in chosen:
        said = "; ".join(means(rows, column)) if column in numbers else "not a number in every row"
        print(
            textwrap.fill(f"{column}: {said}", streams.console().width, initial_indent="  ", subsequent_indent="    ")
        )


def means(rows: pd.DataFrame, column: str) -> list[str]:
    """What a column comes to in each condition of the primary protocol, and for each control."""
    primary = rows[rows["variant"] == "primary"].dropna(subset=[column])
    condition = primary["condition"] if "condition" in primary else primary["system"]
    kind = condition.where(primary["system"] == "network", "control " + primary["system"].astype(str))
    groups = primary.groupby(kind.fillna("networks"), sort=False)[column]
    return [f"{name} {values.mean():.3g} (n = {len(values)})" for name, values in groups]
