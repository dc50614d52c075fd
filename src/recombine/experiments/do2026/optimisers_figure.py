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
SHOWN = {
    "mse": "mean squared error at the end",
    "R": "R (lines: designed)",
    "map_zip": "size of unit maps (lines: designed)",
}


def of(name: str, stage: str) -> str:
    """The kind of networks that were trained by an optimiser up to a stage."""
    return f"{name}, {stage}"


def figure(settings: Any, table: pd.DataFrame, claims: Sequence[rc.Claim]):
    """The error on the way of the trials by rate; at the best rates errors and both scores by stage; what is judged."""
    from matplotlib.figure import Figure

    plots, rows = rc.plots, rc.networks(table)
    picture = Figure(figsize=(3 * max(5, len(settings.rates)), 11), layout="constrained")
    halves: Any = picture.subfigures(2, 1, height_ratios=(1, 2.4))
    above, below = halves
    places = above.subplots(1, len(settings.rates), sharey=True)
    for place, rate in zip(places, settings.rates, strict=True):
        for name, colour in zip(NAMES, (plots.NEUTRAL, plots.GOOD, plots.BAD), strict=True):
            mine = rows[(rows["rate"] == rate) & (rows["kind"] == of(name, TRIAL))]
            curves = np.stack(list(mine["curve"]))
            x = np.linspace(0, settings.steps, curves.shape[1] + 1)[1:]
            place.plot(x, curves.T, color=colour, alpha=0.2, linewidth=0.6, rasterized=True)
            place.plot(x, np.exp(np.log(curves).mean(axis=0)), color=colour, label=name)
        figures.log_scale(place)
        place.set_xlabel("update")
        place.set_title(f"trials, learning rate {rate:g}", fontsize=9)
    places[0].set_ylabel("mean squared error")
    places[0].legend(fontsize=7, frameon=False)
    stages(below.subplots(1, 5, width_ratios=(1, 1, 1, 0.7, 1.3)), table, claims)
    return picture


def stages(places: Any, table: pd.DataFrame, claims: Sequence[rc.Claim]) -> None:
    """Errors and both scores of living networks by stage, and what is judged."""
    kinds, rows = [of(name, stage) for stage in (DENSE, FIRST, SECOND) for name in NAMES], rc.networks(table)
    rows = rows[rows["kind"].isin(kinds)]
    rows = rows[moments.alive(rows) != 0]
    for place, (column, title) in zip(places, SHOWN.items(), strict=False):
        figures.dots(place, rows, column, by="kind", kinds=kinds)
        place.set_xticks(range(len(kinds)), kinds, rotation=90, fontsize=7)
        place.set_title(title, fontsize=9)
    figures.log_scale(places[0])
    places[0].legend(fontsize=6, frameon=False)
    for place, column in zip(places[1:3], ("R", "map_zip"), strict=True):
        figures.lines(place, {goal: moments.reading(table, "designed", column, goal) for goal in rows["goal"].unique()})
    figures.judged(places[3], table, {"Muon": claims[0], "20 steps": claims[1]})
    figures.judged(
        places[4], table, dict(zip(("SP, Adam", "SP, Muon", "SP, Muon 20", "Muon", "Muon 20"), claims[2:], strict=True))
    )
    for place, title, x in zip(places[3:], ("errors as judged", "structure as judged"), ("decades", "C"), strict=True):
        place.set_title(title, fontsize=9)
        place.set_xlabel(x)
    places[4].legend(fontsize=6, frameon=False, loc="upper left")
