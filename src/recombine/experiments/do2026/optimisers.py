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
from recombine.experiments.pictures import compare, figures, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

ADAM, FEW, MANY = "Adam", "Muon, 5 steps", "Muon, 20 steps"


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    rates: tuple[float, ...] = (5e-3, 1e-3)
    """learning rates that every optimiser is tried at"""
    targets: tuple[str, ...] = ("moth",)
    """designed pictures to draw"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rates or len(set(self.rates)) < len(self.rates) or not all(0 < rate < 1 for rate in self.rates):
            raise rc.UserError(f"rates must be different numbers between 0 and 1, got {self.rates}")


QUICK = Settings(**shared.QUICK)
LAPTOP = Settings(size=24, steps=1200, n_weights=32)
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=10_000,
    rates=(5e-3, 1e-3, 5e-4, 1e-4),
    n_weights=80,
)
PAPER = replace(GPU, size=256, steps=100_000)


def optimisers() -> dict[str, Any]:
    return {ADAM: rc.unit_adam, FEW: rc.muon, MANY: partial(rc.muon, newton=20)}


def cells(settings: Settings) -> list[rc.Cell]:
    """The networks of one optimiser on one picture, at all rates, for one block of seeds."""
    names = shared.names(settings)
    return rc.cells(settings, [{"goal": name, "optimiser": one} for name in names for one in (ADAM, FEW, MANY)])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    each = [(rate, seed) for rate in settings.rates for seed in cell.members]
    trained = shared.train(
        settings,
        goal,
        shared.dense(goal),
        [seed for _, seed in each],
        optimiser=optimisers()[cell.optimiser],
        rates=[rate for rate, _ in each],
        monitor=monitor,
        label="networks",
        names=[f"networks, rate {rate:g}, {seed}" for rate, seed in each],
    )
    who = [{"condition": f"{cell.goal}, {cell.optimiser}, rate {rate:g}", "rate": rate, "seed": s} for rate, s in each]
    who = [{**facts, "optimiser": cell.optimiser} for facts in who]
    rows = scoring.described(settings, goal, trained, who, monitor=monitor)
    return [row | {"curve": curve} for row, curve in zip(rows, trained.losses, strict=True)]


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and the error of a plain picture of the mean colour."""
    goals = shared.goals(settings).items()
    plain = {name: float(((goal.picture - goal.picture.mean(axis=(0, 1))) ** 2).mean()) for name, goal in goals}
    made = [{"system": "plain", "goal": name, "seed": 0, "mse": mse} for name, mse in plain.items()]
    return scoring.controls(settings) + made


def at_best(table: pd.DataFrame) -> pd.DataFrame:
    """The networks of each optimiser and picture that were trained at the rate of the lowest mean log error."""
    rows = rc.networks(table)
    means = rows.groupby(["optimiser", "goal", "rate"])["log_mse"].agg(lambda v: v.mean(skipna=False)).fillna(np.inf)
    chosen = set(means.groupby(["optimiser", "goal"]).idxmin())
    return rows[[key in chosen for key in zip(rows["optimiser"], rows["goal"], rows["rate"], strict=True)]]


def plain(table: pd.DataFrame) -> float:
    """The smallest error of a plain picture."""
    return min(compare.known(table, "plain", "mse").values())


def log_error(first: str, second: str) -> dict[str, Any]:
    """By seed and picture, log10 of the error of one optimiser over that of another, each at its best rate."""
    effect = rc.difference("log_mse", first, second, by="optimiser")
    return {"effect": compare.by_picture(effect, among=at_best), "over": compare.PICTURES}


CONTROLS = (*compare.CONTROLS, rc.Check("mean squared error of a plain picture, least of all", plain, at_least=0.01))
LEARNT = (
    rc.Check(
        "error at the best rate (geometric mean) over that of a plain picture, worst optimiser",
        lambda t: 10 ** at_best(t).groupby("optimiser")["log_mse"].mean().max(skipna=False) / plain(t),
        at_most=0.1,
    ),
)
CLAIMS = (
    rc.Claim(
        "Muon reaches a lower error than Adam",
        "After as many updates, each at its best learning rate, Muon draws the picture with a smaller error than Adam.",
        "figures 13 and 38-41",
        **log_error(ADAM, FEW),
        above=0.0,
        unit="log10 of the error, Adam over Muon with 5 steps",
        preconditions=LEARNT,
        controls=CONTROLS,
    ),
    rc.Claim(
        "more Newton-Schulz steps reach a lower error still",
        "With 20 Newton-Schulz steps in place of 5, the error is smaller still.",
        "figure 13",
        **log_error(FEW, MANY),
        above=0.0,
        unit="log10 of the error, Muon with 5 steps over Muon with 20",
        preconditions=LEARNT,
        controls=CONTROLS,
    ),
    rc.Claim(
        "Muon leaves networks less fractured (our reading)",
        "At the best rate of each, single weights of networks trained by Muon make more compressible changes than those"
        " of networks trained by Adam.",
        "figures 13 and 18-23: the optimiser governs the fracture, they say. Stated before any run of it",
        **compare.minus("R", ADAM, FEW, by="optimiser", among=at_best),
        above=0.02,
        unit=f"{compare.R}, Adam minus Muon with 5 steps",
        controls=CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The error on the way, one panel per learning rate; at the best rates, the last error and R at the gate."""
    plots, rows, names = rc.plots, rc.networks(table), (ADAM, FEW, MANY)
    picture, axes = plots.panels(rows=1, columns=len(settings.rates) + 2, side=3.0)
    for place, rate in zip(axes[0], settings.rates, strict=False):
        for name, colour in zip(names, (plots.NEUTRAL, plots.GOOD, plots.BAD), strict=True):
            curves = np.stack(list(rows[(rows["rate"] == rate) & (rows["optimiser"] == name)]["curve"]))
            x = np.linspace(0, settings.steps, curves.shape[1] + 1)[1:]
            place.plot(x, curves.T, color=colour, alpha=0.2, linewidth=0.6, rasterized=True)
            place.plot(x, np.exp(np.log(curves).mean(axis=0)), color=colour, label=name)
        place.set(yscale="log", xlabel="update", title=f"learning rate {rate:g}")
    axes[0, 0].set_ylabel("mean squared error")
    axes[0, 0].legend(fontsize=7, frameon=False)
    error, r = axes[0, -2:]
    shown: dict[str, Any] = {"by": "optimiser", "kinds": names, "names": ["Adam", "Muon 5", "Muon 20"]}
    figures.dots(error, at_best(table), "mse", **shown)
    error.set(yscale="log", title="error at the end, best rates")
    error.legend(fontsize=7, frameon=False)
    figures.dots(r, at_best(table), "R", **shown, gated=True)
    r.set(title=f"R at an error of {compare.GATE:g}, best rates\n(hollow: not reached; lines: designed)")
    figures.lines(r, compare.known(table, "designed", "R"))
    figures.without_highest(r)
    return picture
