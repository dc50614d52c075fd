"""recombine table: what is in the tables of an experiment: its columns, and their means per condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from recombine.cli import streams
from recombine.cli.results import Loaded, TierOptions, nothing_there, over_results, read_words
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    import pandas as pd

Lines = list[list[str]]
"""A table of words, its first line and first column the headings."""
FEWER = "*"
"""The mark of a mean over fewer networks than n, since the others have no such number."""
GAP = 3


@dataclass(frozen=True)
class TableOptions(TierOptions):
    """Where results are, and what of them is shown."""

    columns: tuple[str, ...] = ()
    """only these columns; by default every column of plain numbers"""
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
    loaded = over_results(names, options, lambda one: one)
    if not loaded:
        raise nothing_there(names, options)
    known = list(dict.fromkeys(str(column) for one in loaded for column in one.table))
    if unknown := [column for column in options.columns if column not in known]:
        hint = catalogue.did_you_mean(unknown[0], known) or f"; there are {', '.join(known)}"
        raise UserError(f"no column is called {unknown[0]!r}{hint}")
    for one in loaded:
        _show(one, options)
    return 0


def _show(one: Loaded, options: TableOptions) -> None:
    rows = one.table
    numbers = [str(c) for c in rows.select_dtypes("number") if c not in ("seed", "diverged_at")]
    chosen = [c for c in options.columns if c in rows] or numbers
    if options.csv:
        named = [c for c in ("variant", "system", "condition", "seed") if c in rows and c not in chosen]
        print(rows[named + chosen].to_csv(index=False), end="")
        return
    print(f"{one.title}: means over the n networks of a condition, and what each control reads")
    lines = means(rows, [c for c in chosen if c in numbers])
    _print(lines)
    if any(word.endswith(FEWER) for line in lines for word in line):
        print(f"{FEWER} over fewer than n: the others have no such number")
    if other := [c for c in chosen if c not in numbers]:
        print(f"not a number in every row: {', '.join(other)} (--csv prints them)")
    print()


def means(rows: pd.DataFrame, columns: list[str]) -> Lines:
    """The mean of each column in each condition of the primary protocol, and for each control; n once.

    Whichever are more stand below each other, conditions or columns.
    """
    primary = rows[rows["variant"] == "primary"]
    condition = primary.get("condition", primary["system"])
    kinds = [_kind(*both) for both in zip(primary["system"], condition, strict=True)]
    groups = [(str(name), mine) for name, mine in primary.groupby(np.array(kinds), sort=False)]
    by_kind = [[name, str(len(mine)), *(_mean(mine[c]) for c in columns)] for name, mine in groups]
    lines = [["", "n", *columns], *by_kind]
    return lines if len(groups) > len(columns) else [list(line) for line in zip(*lines, strict=True)]


def _kind(system: str, condition: object) -> str:
    """What a row is of: a condition of networks, or a control, of which a condition may say more (its picture)."""
    if system == "network":
        return condition if isinstance(condition, str) else "networks"
    return f"control {condition if str(condition).startswith(system) else system}"


def _mean(values: pd.Series) -> str:
    """The mean in three significant digits, marked if some have no number; nothing if none has."""
    found = values.dropna()
    if found.empty:
        return "-"
    mean = found.mean()
    return (f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.3g}") + FEWER * (len(found) < len(values))


def _print(lines: Lines) -> None:
    """A table as wide as the terminal, in several blocks of columns where it is wider; aligned text in a log."""
    out = streams.console()
    for number, block in enumerate(blocks(lines, out.width)):
        print("\n" * (number > 0), end="")
        widths = [max(map(len, column)) for column in zip(*block, strict=True)]
        if out.is_terminal:
            from rich.table import Table

            shown = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
            for i, head in enumerate(block[0]):
                shown.add_column(head, justify="right" if i else "left", no_wrap=True)
            for line in block[1:]:
                shown.add_row(*line)
            out.print(shown)
        else:
            for first, *others in block:
                cells = [word.rjust(width) for word, width in zip(others, widths[1:], strict=True)]
                print((" " * GAP).join([first.ljust(widths[0]), *cells]).rstrip())


def blocks(lines: Lines, width: int) -> Iterator[Lines]:
    """A table cut between columns into tables of at most this width; each begins with the first column."""
    widths = [max(map(len, column)) + GAP for column in zip(*lines, strict=True)]
    start = 1
    while start < len(widths):
        fits = [total for total in accumulate(widths[start:], initial=widths[0]) if total - GAP <= width]
        end = start + max(1, len(fits) - 1)
        yield lines if (start, end) == (1, len(widths)) else [[line[0], *line[start:end]] for line in lines]
        start = end
