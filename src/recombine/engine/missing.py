"""Which value a claim picks that no network of a table has, such as a misspelt condition."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from recombine.table import networks

if TYPE_CHECKING:
    import pandas as pd


class NoSuchValue(ValueError):
    """No network has a value, such as a condition, that an effect picks."""

    def __init__(self, column: str, value: Any, known: Iterable[Any]):
        self.column, there = column, [str(one) for one in known]
        close = difflib.get_close_matches(str(value), there, n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        said = f"; there are {', '.join(there)}" if 0 < len(there) <= 8 else ""
        super().__init__(f"no network has the {column} {value!r}{hint}{said}")


def no_such_value(table: pd.DataFrame, error: ValueError) -> NoSuchValue | None:
    """The value that no network has, where `by_seed` complains that it finds no row."""
    words, complains, _ = str(error).partition(" must pick one row per seed, it picks 0")
    where = ast.literal_eval(words) if complains and words.startswith("{") else {}
    for column, value in where.items():
        if column == "system":  # controls are rows of their own, which no cell has
            continue
        known = networks(table)[column].dropna().unique().tolist()
        if missing := [v for v in (value if isinstance(value, list | tuple) else [value]) if v not in known]:
            return NoSuchValue(column, missing[0], known)
    return None
