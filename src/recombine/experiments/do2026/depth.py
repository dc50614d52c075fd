"""Is there a depth, the target's own, at which pruned networks come out composed?

Networks of the target's units and several depths are trained, pruned by similarity to the same share of weights, and
retrained; the share is the same, so that deeper ones have more weights left. The paper reports a peak at the depth of
the evolved network (12 for the skull, where 11 and 13 already fail). Here the composed network's own depth is asked,
and R, of each network at the moment when its error was as low as 0.005: at a lower error, R is higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _pictures

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """composed pictures to draw; of the three, pruned networks learn the face soonest"""
    offsets: tuple[int, ...] = (-4, -2, 0, 2, 4)
    """hidden layers more or fewer than the composed network has; 0 and some on both sides"""
    share: float = 0.256
    """weights left after pruning, as a share of all"""
    retraining: int = 1500
    """updates after pruning"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining")
        if list(self.offsets) != sorted(set(self.offsets)) or not self.offsets[0] < 0 < self.offsets[-1]:
            raise rc.UserError(f"offsets must rise from below 0 to above it, got {self.offsets}")
        if 0 not in self.offsets:
            raise rc.UserError("offset 0, the composed network's own depth, must be among the offsets")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**_pictures.QUICK | {"offsets": (-1, 0, 1), "retraining": 10})
LAPTOP = Settings(size=24, steps=2000, swept=32, offsets=(-2, -1, 0, 1, 2))
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=15_000,
    retraining=15_000,
    offsets=(-4, -1, 0, 1, 4),
    swept=80,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, offsets=tuple(range(-6, 7)), swept=1000)


@dataclass(frozen=True)
class Cell:
    """The networks of one depth on one picture, for one block of seeds."""

    settings: Settings
    goal: str
    offset: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(settings, goal, offset, members)
        for goal, members in _pictures.every_goal(settings)
        for offset in settings.offsets
    ]


def run(cell: Cell, watch) -> list[dict]:
    settings, goal = cell.settings, _pictures.goals(cell.settings)[cell.goal]
    depth = max(1, len(goal.model.weights) - 1 + cell.offset)
    make, x = _pictures.dense(goal, depth=depth), rc.grid(settings.size)
    dense = _pictures.train(settings, goal, make, cell.members, watch=watch, label="dense")
    target = round(settings.share * _pictures.size(dense))
    lost = dense.diverged_at >= 0
    models = zip(_pictures.members(dense), lost, strict=True)
    start = _pictures.stacked([m if gone else rc.similar_units(m, x, target=target) for m, gone in models])
    steps = settings.retraining
    pruned = _pictures.train(settings, goal, make, cell.members, steps=steps, start=start, watch=watch, label="pruned")
    return rows_of(cell, dense, "dense", depth, watch=watch) + rows_of(cell, pruned, "pruned", depth, watch=watch)


def rows_of(cell: Cell, run: Any, kind: str, depth: int, *, watch: Any) -> list[dict]:
    goal = _pictures.goals(cell.settings)[cell.goal]
    what = {"condition": f"{kind}, {depth} layers, {goal.name}", "kind": kind, "offset": cell.offset, "depth": depth}
    return _pictures.described(cell.settings, goal, run, cell.members, watch=watch, **what)


controls = _pictures.controls


def pruned(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "pruned"]


def at(table: pd.DataFrame, *offsets: float) -> pd.DataFrame:
    """By seed, R of pruned networks of these depths, a column each, over the pictures that all of them draw."""
    return _fair.compared(pruned(table), "r", offsets, by="offset")


def around(table: pd.DataFrame) -> list[float]:
    return sorted(table["offset"].dropna().unique())


def ends(table: pd.DataFrame) -> tuple[float, float]:
    """The shallowest and the deepest tried."""
    return around(table)[0], around(table)[-1]


def peak(table: pd.DataFrame, low: float, high: float) -> pd.Series:
    """By seed, how much lower R is at the composed network's depth than at the one of two others that is better."""
    every = at(table, low, 0.0, high)
    return _fair.rival(every[[low, high]]) - every[0.0]


def nearest(table: pd.DataFrame) -> tuple[float, float]:
    """The depths tried that are next to the composed network's."""
    offsets = around(table)
    return max(o for o in offsets if o < 0), min(o for o in offsets if o > 0)


def fit(which: Callable[[Any], tuple[float, float]], *also: float) -> rc.Check:
    """Of each picture most seeds draw it at all the depths compared."""
    return _fair.fit("offset", lambda t: (*which(t), *also), only=pruned)


NEXT = rc.Check("depths one layer away were tried", lambda t: 1.0 - max(map(abs, nearest(t))), at_least=0.0)
CLAIMS = (
    rc.Claim(
        "composition peaks at the target's depth (the paper)",
        "At the composed network's own depth R is lower than at the shallowest and at the deepest tried.",
        "figure 3",
        effect=lambda t: peak(t, *ends(t)),
        margin=0.01,
        unit="R, the better of shallowest and deepest minus the composed network's depth",
        preconditions=(fit(ends, 0.0),),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "and its neighbours already fail (the paper)",
        "At the composed network's own depth R is lower than at the depths next to it that were tried.",
        "figures 16-17",
        effect=lambda t: peak(t, *nearest(t)),
        margin=0.01,
        unit="R, the better of the two depths next to it minus the composed network's depth",
        preconditions=(fit(nearest, 0.0), NEXT),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "deeper is worse (ours)",
        "From the shallowest to the deepest, R rises.",
        "ours; the prototypes' reading",
        effect=lambda t: _fair.drop(pruned(t), *reversed(ends(t)), by="offset"),
        margin=0.0,
        unit="R, deepest minus shallowest",
        preconditions=(fit(ends),),
        controls=_fair.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R and purity of networks that draw (their number, if not all), and error, against depth; one row a picture."""
    plots, rows = rc.plots, table[table["offset"].notna()]
    names = sorted(rows["goal"].unique())
    picture, axes = plots.panels(rows=len(names), columns=3, side=3.0)
    for line, name in zip(axes, names, strict=True):
        for kind, colour in (("dense", plots.NEUTRAL), ("pruned", plots.GOOD)):
            mine = rows[(rows["goal"] == name) & (rows["kind"] == kind)]
            drawn = mine[mine["draws"] == 1]
            for place, column, some in zip(line, ("r", "purity", "log_mse"), (drawn, drawn, mine), strict=True):
                band(place, some.groupby("depth")[column], colour, kind, settings.seeds)
        own = _pictures.goals(settings)[name].model if name in settings.targets else None
        for place, title in zip(
            line, ("R (lower: composed)", "purity of unit maps", "mean squared error"), strict=True
        ):
            place.set(xlabel="hidden layers", ylabel=title, title=name)
            if own is not None:
                place.axvline(len(own.weights) - 1, color="black", linestyle=":", linewidth=0.9)
        line[2].set_yscale("log")
        line[2].axhline(_fair.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
        line[0].legend(fontsize=7, frameon=False)
    return picture


def band(place: Any, by: Any, colour: str, kind: str, seeds: int) -> None:
    """Mean over seeds and twice its error against depth; the number of networks if not all; logarithms as powers."""
    middle, wide = by.mean(), 2 * by.std() / np.sqrt(by.count())
    log = str(middle.name).startswith("log_")
    low, middle, high = (10**v if log else v for v in (middle - wide, middle, middle + wide))
    place.fill_between(middle.index, low, high, color=colour, alpha=0.2, linewidth=0)
    place.plot(middle.index, middle, "o-", color=colour, markersize=4, label=kind)
    for depth, count in by.count()[lambda n: n < seeds].items():
        above = {"xytext": (4, 5), "textcoords": "offset points"}
        place.annotate(f"n = {count}", (depth, middle[depth]), color=colour, fontsize=7, **above)
