"""The figure of optimisers: errors on the way, errors and scores by stage, and what is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import figures, moments

if TYPE_CHECKING:
    import pandas as pd

ADAM, FEW, MANY = "Adam", "Muon, 5 steps", "Muon, 20 steps"
NAMES = (ADAM, FEW, MANY)
TRIAL, DENSE, FIRST, SECOND = "trial", "dense", "round 1", "round 2"
SHOWN = {"mse": "mean squared error at the end", "R": "R (lines: designed)", "map_zip": "size of unit maps"}


def of(name: str, stage: str) -> str:
    """The kind of networks that were trained by an optimiser up to a stage."""
    return f"{name}, {stage}"


def figure(settings: Any, table: pd.DataFrame, claims: Sequence[rc.Claim]):
    """The error on the way of the trials by rate; at the best rates errors and both scores by stage; what is judged."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=2, columns=max(5, len(settings.rates)), side=2.8)
    for place, rate in zip(axes[0], settings.rates, strict=False):
        for name, colour in zip(NAMES, (plots.NEUTRAL, plots.GOOD, plots.BAD), strict=True):
            mine = rows[(rows["rate"] == rate) & (rows["kind"] == of(name, TRIAL))]
            curves = np.stack(list(mine["curve"]))
            x = np.linspace(0, settings.steps, curves.shape[1] + 1)[1:]
            place.plot(x, curves.T, color=colour, alpha=0.2, linewidth=0.6, rasterized=True)
            place.plot(x, np.exp(np.log(curves).mean(axis=0)), color=colour, label=name)
        figures.log_scale(place)
        place.set(xlabel="update", title=f"trials, learning rate {rate:g}")
    axes[0, 0].set_ylabel("mean squared error")
    axes[0, 0].legend(fontsize=7, frameon=False)
    kinds = [of(name, stage) for stage in (DENSE, FIRST, SECOND) for name in NAMES]
    shown: dict[str, Any] = {"by": "kind", "kinds": kinds}
    for place, (column, title) in zip(axes[1], SHOWN.items(), strict=False):
        figures.dots(place, rows[rows["kind"].isin(kinds)], column, **shown)
        place.set_title(title)
    figures.log_scale(axes[1, 0])
    axes[1, 0].legend(fontsize=6, frameon=False)
    for place, column in zip(axes[1, 1:3], ("R", "map_zip"), strict=True):
        figures.lines(place, {goal: moments.reading(table, "designed", column, goal) for goal in rows["goal"].unique()})
    figures.judged(axes[1, 3], table, {"Muon": claims[0], "20 steps": claims[1]})
    axes[1, 3].set(title="errors as judged", xlabel="decades")
    closer = ("SP, Adam", "SP, Muon", "SP, Muon 20", "Muon", "Muon 20")
    figures.judged(axes[1, 4], table, dict(zip(closer, claims[2:], strict=True)))
    axes[1, 4].set(title="structure as judged", xlabel="C")
    for place in axes.ravel():
        if not place.has_data():
            place.set_axis_off()
    return picture
