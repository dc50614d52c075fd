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
    axes.set(xlabel="layer (0 is the task encoding)", xticks=layers)
    r2_limits(axes)


def r2_limits(*places) -> None:
    """One axis for R^2 in some panels: from a little below the lowest that is plotted, -1 at the lowest, to 1."""
    lowest = [place.dataLim.y0 for place in places if np.isfinite(place.dataLim.y0)]  # infinite where all is NaN
    low = max(-1.0, min([*lowest, 0.99]))
    for place in places:
        place.set_ylim(low - 0.05 * (1 - low), 1 + 0.03 * (1 - low))


def legend(axes, **how) -> None:
    """A small legend without a frame."""
    axes.legend(**{"fontsize": 6.5, "title_fontsize": 6.5, "frameon": False} | how)
