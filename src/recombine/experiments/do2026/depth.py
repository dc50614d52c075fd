"""Is there a depth, the target's own, at which pruned networks come out designed?

Networks of the target's units and several depths are trained, pruned by similarity and retrained: to the same share of
their weights, and to the same number of weights as at the target's own depth. The paper reports a peak at the depth of
the evolved network (12 for the skull, where 11 and 13 already fail), and that networks which violate either the depth
or the connectivity render the picture and are fractured all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import closeness, moments, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

DENSE, SHARE, COUNT = "dense", "pruned to one share", "pruned to one count"
KEPT = {"skull": 1404, "butterfly": 3405}
"""Weights that the paper leaves of the networks of two pictures, at their own depth."""


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """designed pictures to draw; of the first three, pruned networks learn the face soonest"""
    offsets: tuple[int, ...] = (-4, -1, 0, 1, 4)
    """hidden layers more or fewer than the designed network has; 0 and some on both sides"""
    share: float = 0.33
    """weights left after pruning, as a share of all, where the paper names no number"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if list(self.offsets) != sorted(set(self.offsets)) or not self.offsets[0] < 0 < self.offsets[-1]:
            raise rc.UserError(f"offsets must rise from below 0 to above it, got {self.offsets}")
        if 0 not in self.offsets:
            raise rc.UserError("offset 0, the designed network's own depth, must be among the offsets")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**shared.QUICK | {"offsets": (-1, 0, 1)})
LAPTOP = Settings(seeds=6, block=6, size=24, steps=2500, n_weights=60)
GPU = Settings(seed=1, evolved=("skull",), seeds=40, block=40, size=64, steps=30_000, n_weights=200)
PAPER = replace(GPU, size=256, steps=100_000, offsets=tuple(range(-6, 7)), n_weights=1000)

cells = shared.cells


def layers(goal: shared.Goal, offset: int) -> int:
    """The hidden layers of networks at an offset from the designed network's depth."""
    return max(1, len(goal.model.weights) - 1 + offset)


def kind(name: str, offset: int) -> str:
    """Networks of one depth: dense, or pruned to one share or count, which is the same at the target's own depth."""
    return f"{SHARE if offset == 0 and name == COUNT else name}, {offset:+d} layers"


def run(cell: rc.Cell, monitor) -> list[dict]:
    """All depths of a picture in one cell; networks of one depth share a program, trained, pruned or retrained."""
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    every: list[scoring.Entry] = []
    for offset in settings.offsets:
        dense, found = trained(cell, goal, offset, DENSE, monitor=monitor)
        every += found
        for name, target in left(settings, goal, shared.size(dense)).items():
            if name == SHARE or offset:
                start = shared.stacked(pruned(settings, found, target))
                every += trained(cell, goal, offset, name, start=start, monitor=monitor)[1]
    return scoring.scored(settings, goal, every, monitor=monitor)


def left(settings: Settings, goal: shared.Goal, size: int) -> dict[str, int]:
    """The weights that each way of pruning leaves of a network of so many."""
    own = sum(w.size for w in goal.model.weights)
    count = KEPT.get(goal.name, 0) * goal.evolved or round(settings.share * own)
    return {SHARE: round(count / own * size), COUNT: min(count, round(0.95 * size))}


def trained(
    cell: rc.Cell, goal: shared.Goal, offset: int, name: str, *, start: Any = None, monitor: Any
) -> tuple[Any, list[scoring.Entry]]:
    """Networks of one depth, trained from their first weights or from those given."""
    make, label = shared.dense(goal, depth=layers(goal, offset)), kind(name, offset)
    more = {"start": start, "until": moments.until(goal.picture), "monitor": monitor, "label": label}
    run = shared.train(cell.settings, goal, make, cell.members, **more)
    facts = {"condition": f"{label}, {goal.name}", "kind": label, "way": name, "offset": offset}
    depth = {"depth": layers(goal, offset)}
    return run, scoring.entries(run, [{**facts, **depth, "seed": seed} for seed in cell.members])


def pruned(settings: Settings, dense: Sequence[scoring.Entry], target: int) -> list[Any]:
    """Every network pruned by similar units to so many weights; one that diverged is left alone."""
    from recombine.cppn.prune.similarity import similar_units

    x = rc.grid(settings.size)

    def one(entry: scoring.Entry) -> Any:
        return entry.model if entry.diverged_at >= 0 else similar_units(entry.model, x, target=target)

    return scoring.in_threads(one, dense)


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and networks at initial weights of each depth, dense and pruned to one share."""
    rows = scoring.controls(settings)
    for goal in shared.goals(settings).values():
        for offset in settings.offsets:
            born = scoring.untrained(settings, shared.dense(goal, depth=layers(goal, offset)))
            target = left(settings, goal, sum(w.size for w in born[0].weights))[SHARE]
            sparse = pruned(settings, [scoring.Entry({}, one, {}, np.nan, -1) for one in born], target)
            dense = {f"untrained, {offset:+d} layers": born} if offset else {}
            rows += scoring.known_rows(settings, goal, dense | {f"untrained and pruned, {offset:+d} layers": sparse})
    return rows


OWN, OWN_DENSE = kind(SHARE, 0), kind(DENSE, 0)


def against(name: str, *offsets: int) -> dict[str, Any]:
    """What a claim needs that networks of the target's own depth are closer than those of other depths."""
    rivals = {f"{offset:+d} layers": kind(name, offset) for offset in offsets}
    return closeness.each_closer(OWN, rivals, dense=OWN_DENSE) | {"over": "depths and pictures"}


def silently(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, 1 if a network of a wrong depth or connectivity renders the picture: a column for each and picture."""
    import pandas as pd

    wrong = {"dense": OWN_DENSE} | {f"{n:+d} layers, {way}": kind(way, n) for way in (SHARE, COUNT) for n in (-4, 4)}
    every = [(name, one, p) for name, one in wrong.items() for p in moments.pictures(table, one)]
    return pd.DataFrame({f"{name}, {p}": moments.attained(table, one, p) for name, one, p in every})


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    return rc.Claim(name, says, source, controls=moments.CONTROLS, **more)


CLAIMS = (
    claim(
        "composition peaks at the target's depth, equal share of weights (the paper)",
        "Pruned to one share of their weights, networks of the designed network's own depth are closer to it than those"
        " of four layers fewer and of four more.",
        "abstract and figure 3",
        **against(SHARE, -4, 4),
    ),
    claim(
        "depths next to the target's already fail, equal share of weights (the paper)",
        "Pruned to one share of their weights, networks of the designed network's own depth are closer to it than those"
        " of one layer fewer and of one more.",
        "figures 16-17",
        **against(SHARE, -1, 1),
    ),
    claim(
        "composition peaks at the target's depth, equal number of weights",
        "The same as for the equal share, of networks pruned to one number of weights.",
        "abstract and figure 3; the share leaves deeper networks more weights",
        **against(COUNT, -4, 4),
    ),
    claim(
        "depths next to the target's already fail, equal number of weights",
        "The same as for the equal share, of networks pruned to one number of weights.",
        "figures 16-17",
        **against(COUNT, -1, 1),
    ),
    claim(
        "at the target's depth pruned networks are closer to the designed one than dense ones",
        "At the designed network's own depth, pruned networks are closer to it than dense ones.",
        "abstract: both the depth and the connectivity are needed; SP stands for the right connectivity",
        **closeness.closer(OWN, OWN_DENSE, dense=OWN_DENSE),
    ),
    claim(
        "networks of a wrong depth or connectivity render the picture all the same",
        "Most dense networks of the right depth, and most pruned ones of a wrong depth, reach a low error: where they"
        " are fractured, the error does not tell.",
        "abstract: such networks converge silently to fractured solutions",
        effect=silently,
        above=0.5,
        null=-np.inf,
        over="kinds and pictures",
        unit=f"share of networks whose error falls to {moments.DRAWN:.0%} of the picture's variance",
    ),
    *(
        claim(
            f"the target's depth reaches the picture more often than a shallower one, {way}",
            f"More networks of the designed network's own depth render the picture than of four fewer layers, {way}.",
            "figure 3, where shallower networks fail; ours as an outcome of its own",
            **moments.reaches(OWN, kind(way, -4)),
        )
        for way in (SHARE, COUNT)
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Both scores on the scale from dense to designed, and error, against depth; one row per picture."""
    plots, rows = rc.plots, rc.networks(table)
    names = sorted(rows["goal"].unique())
    picture, axes = plots.panels(rows=len(names), columns=3, side=3.2)
    for line, name in zip(axes, names, strict=True):
        for way, colour in ((DENSE, plots.NEUTRAL), (SHARE, plots.GOOD), (COUNT, plots.BAD)):
            mine = rows[(rows["goal"] == name) & (rows["way"] == way)]
            living = mine[moments.alive(mine) != 0]
            for place, score in zip(line, moments.SCORES, strict=False):
                scale = closeness.closeness(OWN_DENSE)(table, score, name)(living)
                band(place, scale.groupby(living["depth"]), colour, way)
            band(line[2], np.log10(mine["share_left"]).groupby(mine["depth"]), colour, way)
        titles = [f"{name}: {of}, 0 dense, 1 designed" for of in moments.SCORES.values()]
        for place, title in zip(line, [*titles, "log10 of error / variance"], strict=True):
            place.set(xlabel="hidden layers (dotted: the target's)", title=title)
            place.axvline(rows[(rows["goal"] == name) & (rows["offset"] == 0)]["depth"].max(), color="black", ls=":")
        line[0].legend(fontsize=7, frameon=False)
    return picture


def band(place: Any, by: Any, colour: str, label: str) -> None:
    """Mean over seeds and twice its error against depth."""
    middle, wide = by.mean(), 2 * by.std() / np.sqrt(by.count())
    place.fill_between(middle.index, middle - wide, middle + wide, color=colour, alpha=0.2, linewidth=0)
    place.plot(middle.index, middle, "o-", color=colour, markersize=4, label=label)
