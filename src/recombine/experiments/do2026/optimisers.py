"""Does Muon draw a picture better than Adam, and better still with more Newton-Schulz steps?

Optimisers compared at several learning rates, each network with as many updates; the best rate of each is judged, as
the paper shows losses for several. It is the best of those tried, on the same seeds, and may be the largest of them.
Errors are those at the end; R is that of each network when its error was as low as 0.005.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _looks, _pictures

if TYPE_CHECKING:
    import pandas as pd

ADAM, FEW, MANY = "Adam", "Muon, 5 steps", "Muon, 20 steps"


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    rates: tuple[float, ...] = (5e-3, 1e-3)
    """learning rates that every optimiser is tried at"""
    targets: tuple[str, ...] = ("moth",)
    """composed pictures to draw"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rates or len(set(self.rates)) < len(self.rates) or not all(0 < rate < 1 for rate in self.rates):
            raise rc.UserError(f"rates must be different numbers between 0 and 1, got {self.rates}")


QUICK = Settings(**_pictures.QUICK)
LAPTOP = Settings(size=24, steps=1200, swept=32)
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=10_000,
    rates=(5e-3, 1e-3, 5e-4, 1e-4),
    swept=80,
)
PAPER = replace(GPU, size=256, steps=100_000)


def optimisers() -> dict[str, Any]:
    return {ADAM: rc.unit_adam, FEW: rc.muon, MANY: partial(rc.muon, newton=20)}


@dataclass(frozen=True)
class Cell:
    """The networks of one optimiser on one picture, at all rates, for one block of seeds."""

    settings: Settings
    goal: str
    optimiser: str
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    every = _pictures.every_goal(settings)
    return [Cell(settings, goal, optimiser, members) for goal, members in every for optimiser in (ADAM, FEW, MANY)]


def run(cell: Cell, watch) -> list[dict]:
    settings, goal = cell.settings, _pictures.goals(cell.settings)[cell.goal]
    who = [(rate, seed) for rate in settings.rates for seed in cell.members]
    rates, seeds = [rate for rate, _ in who], [seed for _, seed in who]
    trained = _pictures.train(
        settings,
        goal,
        _pictures.dense(goal),
        seeds,
        optimiser=optimisers()[cell.optimiser],
        rates=rates,
        watch=watch,
        label="networks",
        names=[f"networks, rate {rate:g}, {seed}" for rate, seed in who],
    )
    rows = _pictures.described(settings, goal, trained, seeds, watch=watch, optimiser=cell.optimiser)
    return [row | named(cell, rate, curve) for row, rate, curve in zip(rows, rates, trained.losses, strict=True)]


def named(cell: Cell, rate: float, curve: np.ndarray) -> dict[str, Any]:
    return {"condition": f"{cell.goal}, {cell.optimiser}, rate {rate:g}", "rate": rate, "curve": curve}


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and the error of a plain picture of the mean colour."""
    goals = _pictures.goals(settings).items()
    plain = {name: float(((goal.picture - goal.picture.mean(axis=(0, 1))) ** 2).mean()) for name, goal in goals}
    made = [{"condition": f"control: plain, {n}", "goal": n, "seed": 0, "mse": mse} for n, mse in plain.items()]
    return _pictures.controls(settings) + made


def at_best(table: pd.DataFrame) -> pd.DataFrame:
    """The networks of each optimiser and picture that were trained at the rate of the lowest mean log error."""
    rows = table[table["optimiser"].notna()]
    means = rows.groupby(["optimiser", "goal", "rate"])["log_mse"].agg(lambda v: v.mean(skipna=False)).fillna(np.inf)
    chosen = means.groupby(["optimiser", "goal"]).idxmin()
    return rows[[key in set(chosen) for key in zip(rows["optimiser"], rows["goal"], rows["rate"], strict=True)]]


def best(table: pd.DataFrame, optimiser: str) -> pd.Series:
    """By seed, log10 of the error at the optimiser's best rate, averaged over the pictures."""
    rows = at_best(table)
    return _fair.over_pictures(rows[rows["optimiser"] == optimiser], "log_mse")


def plain(table: pd.DataFrame) -> float:
    """The smallest error of a plain picture."""
    return float(table.loc[table["condition"].str.startswith("control: plain"), "mse"].min())


CONTROLS = (*_fair.CONTROLS, rc.Check("a plain picture is far from it", plain, at_least=0.01))
LEARNT = (
    rc.Check(
        "every optimiser draws better than a plain picture, a tenth of its error at most",
        lambda t: 0.1 * plain(t) - max(10 ** best(t, name).mean() for name in (ADAM, FEW, MANY)),
        at_least=0.0,
    ),
)
CLAIMS = (
    rc.Claim(
        "Muon reaches a lower error than Adam",
        "After as many updates, each at its best learning rate, Muon draws the picture with a smaller error than Adam.",
        "figures 13 and 38-41",
        effect=lambda t: best(t, ADAM) - best(t, FEW),
        margin=0.0,
        unit="log10 of the error, Adam minus Muon with 5 steps",
        preconditions=LEARNT,
        controls=CONTROLS,
    ),
    rc.Claim(
        "more Newton-Schulz steps, lower still",
        "With 20 Newton-Schulz steps in place of 5, the error is smaller still.",
        "figure 13",
        effect=lambda t: best(t, FEW) - best(t, MANY),
        margin=0.0,
        unit="log10 of the error, Muon with 5 steps minus Muon with 20",
        preconditions=LEARNT,
        controls=CONTROLS,
    ),
    rc.Claim(
        "Muon leaves networks less fractured (our reading)",
        "At the best rate of each, single weights of networks trained by Muon make more compressible changes than those"
        " of networks trained by Adam.",
        "figures 13 and 18-23: the optimiser governs the fracture, they say. Stated before any run of it",
        effect=lambda t: _fair.drop(at_best(t), ADAM, FEW, by="optimiser"),
        margin=0.02,
        unit="R, Adam minus Muon with 5 steps",
        preconditions=(_fair.fit("optimiser", (ADAM, FEW), only=at_best),),
        controls=CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The error on the way, one panel a learning rate; the last error; R where the error fell to the gate, or last."""
    plots, rows = rc.plots, table[table["optimiser"].notna()]
    picture, axes = plots.panels(rows=1, columns=len(settings.rates) + 2, side=3.0)
    colours = dict(zip((ADAM, FEW, MANY), (plots.NEUTRAL, plots.GOOD, plots.BAD), strict=True))
    for place, rate in zip(axes[0], settings.rates, strict=False):
        for name, colour in colours.items():
            curves = np.stack(list(rows[(rows["rate"] == rate) & (rows["optimiser"] == name)]["curve"]))
            x = np.linspace(0, settings.steps, curves.shape[1] + 1)[1:]
            place.plot(x, curves.T, color=colour, alpha=0.2, linewidth=0.6, rasterized=True)
            place.plot(x, np.exp(np.log(curves).mean(axis=0)), color=colour, label=name)
        place.set(yscale="log", xlabel="update", title=f"learning rate {rate:g}")
    axes[0, 0].set_ylabel("mean squared error")
    axes[0, 0].legend(fontsize=7, frameon=False)
    for last, column in zip(axes[0, -2:], ("mse", "r"), strict=True):
        for j, (name, colour) in enumerate(colours.items()):
            for rate, mark in zip(settings.rates, "osv^", strict=False):
                mine = rows[(rows["optimiser"] == name) & (rows["rate"] == rate)][column]
                last.plot(np.full(len(mine), j), mine, mark, color=colour, markersize=4, alpha=0.7)
        last.set_xticks(range(3), ["Adam", "Muon 5", "Muon 20"])
    axes[0, -2].set(yscale="log", title="error at the end (marks: rates, in order)")
    axes[0, -1].set(title=f"R at an error of {_fair.GATE:g} (lines: composed)")
    for value in _fair.composed_scores(table, "r").values():
        axes[0, -1].axhline(value, color="black", linewidth=0.8)
    _looks.without_highest(axes[0, -1])
    return picture
