"""recombine table: what is in the tables of an experiment: its columns, and their means per condition."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.cli import streams
from recombine.cli.results import Loaded, TierOptions, nothing_there, over_results, read_words
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
    names, options = read_words(
        TableOptions,
        words,
        "table",
        "The columns of an experiment's tables, with the mean of each over the networks of a condition.\n"
        "Example: recombine table liang2025/stripes --tier gpu --columns accuracy0_interior mse_hole",
    )
    if not over_results(names, options, lambda one: _show(one, options)):
        raise nothing_there(names, options)
    return 0


def _show(one: Loaded, options: TableOptions) -> None:
    rows = one.table
    if unknown := [c for c in options.columns if c not in rows]:
        raise UserError(f"no column is called {unknown[0]!r}{catalogue.did_you_mean(unknown[0], list(map(str, rows)))}")
    numbers = [str(c) for c in rows.select_dtypes("number") if c != "seed"]
    chosen = list(options.columns) or numbers
    if options.csv:
        named = [c for c in ("variant", "system", "condition", "seed") if c in rows]
        print(rows[named + chosen].to_csv(index=False), end="")
        return
    title = f"{one.experiment.name}, {one.folder.name}: {len(rows)} rows"
    print(f"{title}; mean of each column over the networks of a condition, and of each control")
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
