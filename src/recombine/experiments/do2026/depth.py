"""Is there a depth, the target's own, at which pruned networks come out designed?

Networks of the target's units and several depths are trained, pruned by similarity to the same share of weights, and
retrained; the share is the same, so that deeper ones have more weights left. The paper reports a peak at the depth of
the evolved network (12 for the skull, where 11 and 13 already fail). Here the designed network's own depth is asked,
and R, of each network at the moment when its error was as low as 0.005: at a lower error, R is higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import compare, scoring, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """designed pictures to draw; of the three, pruned networks learn the face soonest"""
    offsets: tuple[int, ...] = (-4, -2, 0, 2, 4)
    """hidden layers more or fewer than the designed network has; 0 and some on both sides"""
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
            raise rc.UserError("offset 0, the designed network's own depth, must be among the offsets")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**shared.QUICK | {"offsets": (-1, 0, 1), "retraining": 10})
LAPTOP = Settings(size=24, steps=2000, n_weights=32, offsets=(-2, -1, 0, 1, 2))
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=15_000,
    retraining=15_000,
    offsets=(-4, -1, 0, 1, 4),
    n_weights=80,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, offsets=tuple(range(-6, 7)), n_weights=1000)


def cells(settings: Settings) -> list[rc.Cell]:
    names = shared.names(settings)
    return rc.cells(settings, [{"goal": name, "offset": offset} for name in names for offset in settings.offsets])


def layers(goal: shared.Goal, offset: int) -> int:
    """The hidden layers of networks at an offset from the designed network's depth."""
    return max(1, len(goal.model.weights) - 1 + offset)


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.cppn.prune.similarity import similar_units

    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    make, x = shared.dense(goal, depth=layers(goal, cell.offset)), rc.grid(settings.size)
    dense = shared.train(settings, goal, make, cell.members, monitor=monitor, label="dense")
    target = round(settings.share * shared.size(dense))
    diverged = dense.diverged_at >= 0
    models = zip(shared.members(dense), diverged, strict=True)
    start = shared.stacked([m if gone else similar_units(m, x, target=target) for m, gone in models])
    steps = settings.retraining
    pruned = shared.train(settings, goal, make, cell.members, steps=steps, start=start, monitor=monitor, label="pruned")
    return rows_of(cell, dense, "dense", monitor=monitor) + rows_of(cell, pruned, "pruned", monitor=monitor)


def rows_of(cell: rc.Cell, run: Any, kind: str, *, monitor: Any) -> list[dict]:
    goal = shared.goals(cell.settings)[cell.goal]
    depth = layers(goal, cell.offset)
    what = {"condition": f"{kind}, {depth} layers, {goal.name}", "kind": kind, "offset": cell.offset, "depth": depth}
    who = [{**what, "seed": seed} for seed in cell.members]
    return scoring.described(cell.settings, goal, run, who, monitor=monitor)


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and networks at their initial weights of the other depths."""
    rows = scoring.controls(settings)
    for goal in shared.goals(settings).values():
        for offset in (o for o in settings.offsets if o):
            depth = layers(goal, offset)
            model = scoring.untrained(settings, shared.dense(goal, depth=depth))
            rows += scoring.known_rows(settings, goal, {"untrained": model}, offset=offset, depth=depth)
    return rows


def around(table: pd.DataFrame) -> list[float]:
    return sorted(rc.networks(table)["offset"].dropna().unique())


def shallowest(table: pd.DataFrame) -> float:
    return around(table)[0]


def deepest(table: pd.DataFrame) -> float:
    return around(table)[-1]


def below(table: pd.DataFrame) -> float:
    """The next depth tried below the designed network's."""
    return max(offset for offset in around(table) if offset < 0)


def above(table: pd.DataFrame) -> float:
    """The next depth tried above it."""
    return min(offset for offset in around(table) if offset > 0)


def peak(**depths: Callable[[pd.DataFrame], float]) -> dict[str, Any]:
    """By seed, R at each of some depths minus that at the designed network's, a column for each depth and picture."""
    return compare.each_minus(depths, 0.0, by="offset", kind="pruned", over="depths and pictures")


NEXT = rc.Check(
    "layers between the designed network's depth and the next tried", lambda t: max(-below(t), above(t)), at_most=1.0
)
CLAIMS = (
    rc.Claim(
        "composition peaks at the target's depth (the paper)",
        "At the designed network's own depth R is lower than at the shallowest and at the deepest tried.",
        "figure 3",
        **peak(shallowest=shallowest, deepest=deepest),
        above=0.01,
        unit=f"{compare.R}, the shallowest or deepest minus the designed network's depth",
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "depths next to the target's already fail (the paper)",
        "At the designed network's own depth R is lower than at the depths next to it that were tried.",
        "figures 16-17",
        **peak(shallower=below, deeper=above),
        above=0.01,
        unit=f"{compare.R}, a depth next to it minus the designed network's depth",
        preconditions=(NEXT,),
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "deeper networks make less compressible changes (ours)",
        "From the shallowest to the deepest, R rises; the share of weights left is the same, so that their number rises"
        " as well.",
        "ours; the prototypes' reading",
        **compare.minus("R", deepest, shallowest, by="offset", kind="pruned"),
        above=0.0,
        unit=f"{compare.R}, deepest minus shallowest",
        controls=compare.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R and purity of networks that draw (their number, if not all), and error, against depth; one row per picture."""
    plots, rows = rc.plots, rc.networks(table)
    names = sorted(rows["goal"].unique())
    picture, axes = plots.panels(rows=len(names), columns=3, side=3.0)
    for line, name in zip(axes, names, strict=True):
        for kind, colour in (("dense", plots.NEUTRAL), ("pruned", plots.GOOD)):
            mine = rows[(rows["goal"] == name) & (rows["kind"] == kind)]
            drawn = mine[mine["draws"] == 1]
            for place, column, some in zip(line, ("R", "purity", "log_mse"), (drawn, drawn, mine), strict=True):
                band(place, some.groupby("depth")[column], colour, kind, settings.seeds)
        own = shared.goals(settings)[name].model if name in settings.targets else None
        for place, title in zip(
            line, ("R at the gate (lower: designed)", "purity of unit maps", "mean squared error"), strict=True
        ):
            place.set(xlabel="hidden layers", ylabel=title, title=name)
            if own is not None:
                place.axvline(len(own.weights) - 1, color="black", linestyle=":", linewidth=0.9)
        line[2].set_yscale("log")
        line[2].axhline(compare.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
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
