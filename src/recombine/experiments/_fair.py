"""How picture networks are compared: at one error, at the pictures that all draw, with rivals chosen in other seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import recombine as rc

GATE = 5e-3
"""Mean squared error at which networks are compared: R rises as the error falls, by about .08 a decade."""
DRAWN = 1e-2
"""The same at the end of training, where networks are set beside composed ones, which are not off at all."""
SLACK = 0.2
"""How much more still counts: a loss of a part of the pixels is not the error of all."""


def drawn(column: str, *kinds: str) -> rc.Check:
    """Every single network of these kinds draws its picture in the end; one that was lost does not."""
    return rc.Check(
        f"{', '.join(kinds)}: share of networks with a mean squared error of at most {DRAWN:g} at the end",
        lambda table: float((table[table[column].isin(kinds)]["mse"] <= DRAWN).mean()),
        at_least=1.0,
    )


def compared(rows: Any, column: str, kinds: Sequence[Any], *, by: str) -> Any:
    """By seed, a score of each kind (a column each): the mean over the pictures that networks of all kinds draw.

    A seed of which they draw no picture gives no number, as one that was lost does.
    """
    mine = rows[rows[by].isin(kinds)]
    values = mine.pivot_table(index=["seed", "goal"], columns=by, values=column, dropna=False)
    there = values.reindex(columns=list(kinds))[_all_draw(rows, kinds, by).reindex(values.index, fill_value=False)]
    return there.dropna(how="any").groupby("seed").mean().reindex(sorted(mine["seed"].unique()))


def drop(rows: Any, before: Any, after: Any, *, by: str, column: str = "r") -> Any:
    """By seed, a score of networks of one kind less that of another, over the pictures that both draw."""
    every = compared(rows, column, (before, after), by=by)
    return every[before] - every[after]


def _all_draw(rows: Any, kinds: Sequence[Any], by: str) -> Any:
    """By seed and picture, whether a network of each kind is there and draws it."""
    each = rows[rows[by].isin(kinds)].pivot_table(index=["seed", "goal"], columns=by, values="draws", dropna=False)
    return (each.reindex(columns=list(kinds)) == 1).all(axis=1)


Kinds = Callable[[Any], Sequence[Any]]
"""The kinds of networks that a table lets one compare."""


def fit(by: str, kinds: Sequence[Any] | Kinds, *, only: Callable[[Any], Any] = lambda rows: rows) -> rc.Check:
    """Of each picture most seeds can be compared: networks of every kind draw it."""
    named = "all that are compared" if callable(kinds) else ", ".join(map(str, kinds))

    def share(table: Any) -> float:
        chosen = kinds(table) if callable(kinds) else kinds
        both = _all_draw(only(table), chosen, by)
        return float(both.groupby("goal").mean().min()) if len(chosen) and len(both) else 0.0

    says = f"{named}: share of seeds that draw the picture, at a mean squared error of {GATE:g}; worst picture"
    return rc.Check(says, share, at_least=0.5)


def over_pictures(rows: Any, column: str) -> Any:
    """By seed, the mean over the pictures; lost if one of them is."""
    return rows.groupby("seed")[column].agg(lambda values: values.mean(skipna=False))


def rival(each: Any) -> Any:
    """By seed, the value of the column that is lowest on average over all other seeds: chosen without a look at it.

    The lowest of each seed itself would be lower by chance, the more so the more columns there are. A seed without
    all numbers, or without two others, gives none.
    """
    whole = each.dropna(how="any")
    if len(whole) < 3:
        return each.sum(axis=1) * np.nan
    others = (whole.sum() - whole) / (len(whole) - 1)
    return whole.apply(lambda row: row[others.loc[row.name].idxmin()], axis=1).reindex(each.index)


def composed_scores(table: Any, column: str) -> dict[str, float]:
    """A score of each picture's composed network."""
    return _controls(table, "composed", column)


def _controls(table: Any, name: str, column: str) -> dict[str, float]:
    rows = table[table["condition"].str.startswith(f"control: {name}, ")]
    return dict(zip(rows["goal"], rows[column], strict=True))


CONTROLS = (
    rc.Check(
        "composed networks draw their pictures",
        lambda t: 1e-6 - max(composed_scores(t, "mse").values()),
        at_least=0.0,
    ),
    rc.Check(
        "turned, they draw the same, and their maps are reused less",
        lambda t: min(
            1e-6 - max(_controls(t, "turned", "mse").values()),
            *(_controls(t, "turned", "reuse")[g] - r for g, r in composed_scores(t, "reuse").items()),
        ),
        at_least=0.0,
    ),
)
