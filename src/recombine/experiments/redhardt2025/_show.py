"""How the experiments of this paper are judged and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd


def control(name: str, table: pd.DataFrame) -> float:
    """R^2 on unseen tasks of a made-up student."""
    return float(rc.by_seed(table, "r2_unseen", condition=f"control: {name}").iloc[0])


R2_CONTROLS = (
    rc.Check("a perfect student's R2 is 1", lambda t: control("perfect", t), at_least=0.999),
    rc.Check("one that knows only means has none", lambda t: 0.05 - control("mean", t), at_least=0.0),
    rc.Check(
        "one that answers as the nearest seen task stays below 0.7", lambda t: 0.7 - control("nearest task", t), 0.0
    ),
)


def trained(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of students, without controls."""
    return table[table["diverged_at"].notna()]


def fitted(at_least: float, **where) -> rc.Check:
    """A student that has not learnt the tasks it was shown says nothing about others."""

    def worst(table: pd.DataFrame) -> float:
        rows = trained(table)
        for name, value in where.items():
            rows = rows[rows[name].isin(value if isinstance(value, list) else [value])]
        return rows["r2_seen"].min()

    named = {k: ", ".join(map(str, v)) if isinstance(v, list) else v for k, v in where.items()}
    which = "; ".join(f"{k} {v}" for k, v in named.items()) or "every student"
    return rc.Check(f"{which}: R2 on tasks it was shown is at least {at_least:g}", worst, at_least)


def least(series: Sequence[pd.Series]) -> pd.Series:
    """Of each seed the smallest; lost if one of its students is."""
    lowest = series[0]
    for other in series[1:]:
        lowest = lowest.where(lowest.isna() | (lowest < other), other)
    return lowest


def lines(axes, groups: dict[str, pd.DataFrame], x: str, y: str, colours: Sequence[str]) -> None:
    """A thin line a seed and a thick one for the mean, one colour a group."""
    for (name, rows), colour in zip(groups.items(), colours, strict=False):
        for _, seed in rows.groupby("seed"):
            one = seed.sort_values(x)
            axes.plot(one[x], one[y], color=colour, alpha=0.25, linewidth=0.8)
        mean = rows.groupby(x)[y].mean()
        axes.plot(mean.index, mean.to_numpy(), "o-", color=colour, markersize=4, label=name)


def by_layer(axes, rows: pd.DataFrame, colour: str, label: str, *, first: int = 0) -> None:
    """How well the constituents are read off each layer: a thin line a seed, from the code (0) or a later layer on."""
    values = np.maximum(np.stack(list(rows["probes_unseen"])), -1)[:, first:]
    layers = range(first, first + values.shape[1])
    axes.plot(layers, values.T, color=colour, alpha=0.25, linewidth=0.8)
    axes.plot(layers, values.mean(axis=0), "o-", color=colour, markersize=4, label=label)
    axes.set(xlabel="layer (0 is the code)", xticks=layers, ylim=(-1.05, 1.05))


def r2_limits(axes, values: pd.Series) -> None:
    """An axis for R^2 from 0, or from the lowest where that is below, to 1."""
    axes.set_ylim(min([-0.05, *(values.dropna() - 0.05)]), 1.05)
