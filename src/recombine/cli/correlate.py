"""recombine correlate: do two columns go together over all networks trained?"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.options import parse
from recombine.cli.results import ResultOptions, folders, load, passing_over, split_names
from recombine.core import UserError
from recombine.engine import catalogue, store
from recombine.table import networks

if TYPE_CHECKING:
    import pandas as pd

_COLUMN = re.compile(r"(\w+)(?:\[(-?\d+)\])?")
DRAWN_AS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class CorrelateOptions(ResultOptions):
    """Where results are, which of them, and how far a number may fall."""

    tier: str = "laptop"
    """only runs of this tier"""
    low: float = -1.0
    """numbers below this count as this: an R2 can fall without end"""
    figure: Path | None = None
    """also draw it, one dot per network, into this file: PNG, SVG or PDF"""


def correlate(words: list[str]) -> int:
    """The rank correlation of two columns over the networks of several experiments."""
    names, rest = split_names(words)
    columns = [word for word in names if _COLUMN.fullmatch(word) and catalogue.chosen([word]) == [word]]
    names = [word for word in names if word not in columns]
    where = parse(
        CorrelateOptions,
        rest,
        "recombine correlate COLUMN COLUMN [NAME ...]",
        "Do two columns go together over all networks trained? COLUMN[-1] takes the last number of a list.\n"
        "Example: recombine correlate 'probes_unseen[-1]' r2_unseen redhardt2025/data redhardt2025/support",
    )
    if len(columns) != 2:
        raise UserError(f"name two columns, got {' '.join(columns) or 'none'} (recombine correlate --help shows how)")
    catalogue.check_tier(where.tier)
    if where.figure and where.figure.suffix not in DRAWN_AS:
        raise UserError(f"a figure is drawn as {', '.join(DRAWN_AS)}, got {where.figure}")
    from recombine.table import grouped_correlation

    rows = pooled(columns, catalogue.chosen(names) or catalogue.names(), where)
    middle, low, high = grouped_correlation(rows, "group", "first", "second")
    groups, sources = rows["group"].nunique(), rows["experiment"].nunique()
    print(
        f"rank correlation of {columns[0]} with {columns[1]}: {middle:.2f} [{low:.2f}, {high:.2f}]"
        f" over {len(rows)} networks of {groups} conditions in {sources} experiments, {where.tier} tier"
        " (95 % interval over conditions)"
    )
    if where.figure:
        draw(rows, columns, where.figure, f"rank correlation {middle:.2f} [{low:.2f}, {high:.2f}]")
        print(where.figure)
    return 0


def pooled(columns: list[str], names: list[str], where: CorrelateOptions) -> pd.DataFrame:
    """One row per trained network that has both numbers: `first`, `second`, its experiment and its condition."""
    import pandas as pd

    found, known = [], set()
    for experiment in map(catalogue.find, names):
        table = _networks(experiment, where)
        known |= set(table)
        if len(table) and all(_parts(column)[0] in table for column in columns):
            first, second = (number(table, column).clip(lower=where.low) for column in columns)
            group = experiment.name + ": " + table["condition"].astype(str)
            each = {"experiment": experiment.name, "group": group, "first": first, "second": second}
            found.append(pd.DataFrame(each))
    if unknown := [_parts(column)[0] for column in columns if known and _parts(column)[0] not in known]:
        raise UserError(f"no table has a column {unknown[0]!r}{catalogue.did_you_mean(unknown[0], sorted(known))}")
    rows = pd.concat(found).dropna() if found else pd.DataFrame()
    if rows.empty or rows["group"].nunique() < 2:
        raise UserError(f"fewer than 2 conditions in {where.out}, {where.tier} tier, have both {' and '.join(columns)}")
    return rows


def _networks(experiment: catalogue.Experiment, where: CorrelateOptions) -> pd.DataFrame:
    """The rows of an experiment's trained networks; none if it was not run, or if its results are damaged."""
    import pandas as pd

    found = []
    for folder in folders(where.out / experiment.name):
        with passing_over(folder):
            tier, _, table = load(experiment, folder)
            if tier == where.tier:
                found.append(networks(table))
    return pd.concat(found) if found else pd.DataFrame()


def number(table: pd.DataFrame, column: str) -> pd.Series:
    """A column of numbers, or one place of a column of lists."""
    name, place = _parts(column)
    values = table[name]
    try:
        if place is not None:
            values = values.map(lambda v: v[place] if v is not None and hasattr(v, "__len__") else float("nan"))
        return values.astype(float)
    except (TypeError, ValueError, IndexError) as error:
        raise UserError(f"{column} is no number in every row: COLUMN[-1] takes the last number of a list") from error


def _parts(column: str) -> tuple[str, int | None]:
    match = _COLUMN.fullmatch(column)
    if not match:
        raise UserError(f"a column is written NAME or NAME[PLACE], got {column!r}")
    return match[1], None if match[2] is None else int(match[2])


def draw(rows: pd.DataFrame, columns: list[str], path: Path, title: str) -> None:
    """One dot per network, one colour per experiment."""
    from recombine import plots

    picture, axes = plots.panels(rows=1, columns=1, side=4.2)
    for name, mine in rows.groupby("experiment"):
        axes[0, 0].plot(mine["first"], mine["second"], "o", alpha=0.6, markersize=3.5, label=name)
    axes[0, 0].set(xlabel=columns[0], ylabel=columns[1], title=title)
    axes[0, 0].legend(fontsize=6.5, frameon=False)
    sink = io.BytesIO()
    picture.savefig(sink, format=path.suffix[1:], dpi=150)
    store.write(path, sink.getvalue())
