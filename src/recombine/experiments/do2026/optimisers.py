"""Does Muon draw a picture better than Adam, and better still with more Newton-Schulz steps?

Optimisers compared at several learning rates, each network with as many updates; the best rate of each is judged, as
the paper shows losses for several. Rates are chosen on the same seeds for all: that favours none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _pictures, _seeds

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
LAPTOP = Settings(steps=1200)
GPU = Settings(
    seeds=8, block=8, targets=("face", "moth", "flower"), size=64, steps=20_000, rates=(5e-3, 1e-3, 5e-4, 1e-4)
)
PAPER = replace(GPU, size=256, steps=100_000)


def optimisers() -> dict[str, Any]:
    return {ADAM: rc.unit_adam, FEW: rc.muon, MANY: partial(rc.muon, newton=20)}


@dataclass(frozen=True)
class Cell:
    """The networks of one optimiser and one learning rate on one picture, for one block of seeds."""

    settings: Settings
    goal: str
    optimiser: str
    rate: float
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(settings, goal, optimiser, rate, members)
        for goal, members in _pictures.every_goal(settings)
        for optimiser in (ADAM, FEW, MANY)
        for rate in settings.rates
    ]


def run(cell: Cell, watch) -> list[dict]:
    settings = replace(cell.settings, learning_rate=cell.rate)
    goal = _pictures.goals(settings)[cell.goal]
    trained = _pictures.train(
        settings,
        goal,
        _pictures.dense(goal),
        cell.members,
        optimiser=optimisers()[cell.optimiser],
        watch=watch,
        label="networks",
    )
    condition = f"{cell.goal}, {cell.optimiser}, rate {cell.rate:g}"
    what = {"condition": condition, "goal": cell.goal, "optimiser": cell.optimiser, "rate": cell.rate}
    rows = []
    for i, (seed, model) in enumerate(zip(cell.members, _pictures.members(trained), strict=True)):
        lost = trained.diverged_at[i]
        found = {"mse": _pictures.error(settings, goal, model), "curve": trained.losses[i]}
        rows.append(what | {"seed": seed, "diverged_at": int(lost)} | _seeds.unless_lost(found, lost))
    return rows


def controls(settings: Settings) -> list[dict]:
    """The error of the composed network itself, and of a plain picture of the mean colour."""
    rows = []
    for name, goal in _pictures.goals(settings).items():
        plain = float(((goal.picture - goal.picture.mean(axis=(0, 1))) ** 2).mean())
        systems = {"composed": _pictures.error(settings, goal, goal.model), "plain": plain}
        rows += [{"condition": f"control: {k}, {name}", "goal": name, "seed": 0, "mse": v} for k, v in systems.items()]
    return rows


def best(table: pd.DataFrame, optimiser: str) -> pd.Series:
    """By seed, log10 of the error at the optimiser's best rate, averaged over the pictures."""
    rows = table[table["optimiser"] == optimiser]
    logs = rows.assign(log=np.log10(rows["mse"]))
    means = logs.groupby(["goal", "rate"])["log"].mean()
    chosen = [
        logs[(logs["goal"] == g) & (logs["rate"] == means[g].fillna(np.inf).idxmin())]
        for g in means.index.unique("goal")
    ]
    return sum((rows.set_index("seed")["log"] for rows in chosen[1:]), chosen[0].set_index("seed")["log"]) / len(chosen)


def control(table: pd.DataFrame, name: str, at_most: bool) -> float:
    """The smallest or largest error of a made-up network over the pictures."""
    found = table.loc[table["condition"].str.startswith(f"control: {name}"), "mse"]
    return float(found.max() if at_most else found.min())


CONTROLS = (
    rc.Check("the composed network draws its picture", lambda t: 1e-6 - control(t, "composed", True), at_least=0.0),
    rc.Check("a plain picture is far from it", lambda t: control(t, "plain", False), at_least=0.01),
)
LEARNT = (
    rc.Check(
        "every optimiser draws better than a plain picture, a tenth of its error at most",
        lambda t: 0.1 * control(t, "plain", False) - max(10 ** best(t, name).mean() for name in (ADAM, FEW, MANY)),
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
)


def figure(settings: Settings, table: pd.DataFrame):
    """The error on the way, one panel a learning rate; and the last error, a dot a network."""
    plots, rows = rc.plots, table[table["optimiser"].notna()]
    picture, axes = plots.panels(rows=1, columns=len(settings.rates) + 1, side=3.0)
    colours = dict(zip((ADAM, FEW, MANY), (plots.NEUTRAL, plots.GOOD, plots.BAD), strict=True))
    for place, rate in zip(axes[0], settings.rates, strict=False):
        for name, colour in colours.items():
            curves = np.stack(list(rows[(rows["rate"] == rate) & (rows["optimiser"] == name)]["curve"]))
            x = np.linspace(0, settings.steps, curves.shape[1] + 1)[1:]
            place.plot(x, curves.T, color=colour, alpha=0.2, linewidth=0.6)
            place.plot(x, np.exp(np.log(curves).mean(axis=0)), color=colour, label=name)
        place.set(yscale="log", xlabel="update", title=f"learning rate {rate:g}")
    axes[0, 0].set_ylabel("mean squared error")
    axes[0, 0].legend(fontsize=7, frameon=False)
    last = axes[0, -1]
    for j, (name, colour) in enumerate(colours.items()):
        for rate, mark in zip(settings.rates, "osv^", strict=False):
            mine = rows[(rows["optimiser"] == name) & (rows["rate"] == rate)]["mse"]
            last.plot(np.full(len(mine), j), mine, mark, color=colour, markersize=4, alpha=0.7)
    last.set(yscale="log", title="at the end (marks: rates, in order)")
    last.set_xticks(range(3), ["Adam", "Muon 5", "Muon 20"])
    return picture
