"""How the experiments of this paper are judged and plotted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

FIT = 0.9
"""R^2 on training tasks from which on a student has learnt what it was trained on."""


def fits(**where):
    """By seed, whether the students that match have learnt the tasks they were trained on."""
    return rc.fitted("r2_seen", at_least=FIT, **where)


def reads(system: str, column: str, **bounds: float) -> rc.Check:
    """The check that a system whose answer is known has the R^2 that it must, where it has one."""
    value = rc.reads(system, column).value
    return rc.Check(f"{column} of the control {system}", lambda t: value(t[t[column].notna()]), **bounds)


R2_CONTROLS = (
    reads("perfect", "r2_unseen", at_least=0.999),
    reads("mean", "r2_unseen", at_most=0.05),
    reads("nearest task", "r2_unseen", at_most=0.7),
)
claim = partial(rc.Claim, controls=R2_CONTROLS)
"""A claim on R^2, with the controls that every one of them has."""


def lines(axes, groups: dict[str, pd.DataFrame], x: str, y: str, colours: Sequence[str]) -> None:
    """A thin line per seed and a thick one for the mean, one colour per group."""
    for (name, rows), colour in zip(groups.items(), colours, strict=False):
        for _, seed in rows.groupby("seed"):
            one = seed.sort_values(x)
            axes.plot(one[x], one[y], color=colour, alpha=0.25, linewidth=0.8)
        mean = rows.groupby(x)[y].mean()
        axes.plot(mean.index, mean.to_numpy(), "o-", color=colour, markersize=4, label=name)


def by_layer(axes, rows: pd.DataFrame, colour: str, label: str, *, first: int = 0) -> None:
    """R^2 of the constituents decoded from each layer, plotted as -1 where lower: a thin line per seed.

    Layer 0 is the task encoding; `first` is the first layer that is plotted.
    """
    values = np.maximum(np.stack(list(rows["probes_unseen"])), -1)[:, first:]
    layers = range(first, first + values.shape[1])
    axes.plot(layers, values.T, color=colour, alpha=0.25, linewidth=0.8)
    axes.plot(layers, values.mean(axis=0), "o-", color=colour, markersize=4, label=label)
    axes.set(xlabel="layer (0 is the task encoding)", xticks=layers, ylim=(-1.05, 1.05))


def r2_limits(axes, values: pd.Series) -> None:
    """An axis for R^2 from 0, or from the lowest where that is below, to 1."""
    axes.set_ylim(min([-0.05, *(values.dropna() - 0.05)]), 1.05)
