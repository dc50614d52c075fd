"""Does pruning by similarity recover composition where other prunings of as many weights do not?

Dense networks are trained on a picture, pruned to the paper's shares of weights, and retrained, round by round. The
method section could not be read: similarity-based pruning is a reconstruction, by units and by links. Two controls that
the paper does not list are here: a dense network of as many weights, and SP's mask with fresh weights. Networks are
compared by R, which does not reward a bad fit, and only where all draw their picture well enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _pictures
from recombine.experiments.do2026 import _methods
from recombine.experiments.do2026._methods import DENSE, FRESH, LINKS, METHODS, NARROW, PAPERS, RANDOM, SIMILAR

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """composed pictures to draw; of the three, pruned networks learn the face soonest"""
    shares: tuple[float, ...] = (0.256,)
    """weights left after each round, as a share of all; the paper's two are 0.256 and 0.086"""
    retraining: int = 1500
    """updates after each round"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining")
        if not self.shares or not all(
            0.02 <= b < a <= 0.95 for a, b in zip((0.95, *self.shares), self.shares, strict=False)
        ):
            raise rc.UserError(f"shares must fall from 0.95 to 0.02, got {self.shares}")


QUICK = Settings(**_pictures.QUICK, retraining=10)
LAPTOP = Settings(steps=2000, swept=32)
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=30_000,
    shares=(0.256, 0.086),
    retraining=20_000,
    swept=120,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, swept=1000)


cells = _pictures.cells


def run(cell: _pictures.Cell, watch) -> list[dict]:
    settings, goal = cell.settings, _pictures.goals(cell.settings)[cell.goal]
    make, keys = _pictures.dense(goal), rc.member_keys(settings.seed, cell.members)
    dense = _pictures.train(settings, goal, make, cell.members, watch=watch, label="dense")
    born = rc.newborn(make, keys)
    rows = rows_of(cell, goal, dense, DENSE, 0)
    size = rc.count(dense[0].model)
    for method in METHODS:
        run = dense
        for number, share in enumerate(settings.shares, start=1):
            start = pruned(cell, goal, method, run, born=born, target=round(share * size))
            run = retrained(cell, goal, make, method, number, start=start, watch=watch)
            rows += rows_of(cell, goal, run, method, number)
    return rows + narrow(cell, goal, size, watch)


def pruned(cell: _pictures.Cell, goal: _pictures.Goal, method: str, run: Any, *, born: Any, target: int) -> Any:
    """The networks of a run after one round of a method, stacked again."""
    import jax

    x = rc.grid(cell.settings.size)

    def loss(model):
        return ((model(x)[0] - goal.picture.reshape(-1, 3)) ** 2).mean()

    def one(i: int, seed: int):
        first = jax.tree.map(lambda a: a[i], born)
        if run.diverged_at[i] >= 0:
            return run[i].model
        return METHODS[method](_methods.Case(run[i].model, first, x, loss, seed), target)

    return _pictures.stacked([one(i, seed) for i, seed in enumerate(cell.members)])


def retrained(cell: _pictures.Cell, goal: _pictures.Goal, make, method: str, number: int, *, start: Any, watch):
    steps = cell.settings.retraining
    label = f"{method}-{number}"
    return _pictures.train(cell.settings, goal, make, cell.members, steps=steps, start=start, watch=watch, label=label)


def narrow(cell: _pictures.Cell, goal: _pictures.Goal, size: int, watch) -> list[dict]:
    """Dense networks with as many weights as are left after each round, trained as long in all."""
    settings, rows = cell.settings, []
    for number, share in enumerate(settings.shares, start=1):
        mix = rc.narrowed(goal.model, round(share * size))
        make = _pictures.dense(goal, mix=mix)
        steps = settings.steps + number * settings.retraining
        label = f"narrow-{number}"
        run = _pictures.train(settings, goal, make, cell.members, steps=steps, watch=watch, label=label)
        rows += rows_of(cell, goal, run, NARROW, number)
    return rows


def rows_of(cell: _pictures.Cell, goal: _pictures.Goal, run: Any, method: str, number: int) -> list[dict]:
    what = {"condition": f"{method}, round {number}, {goal.name}", "method": method, "round": number}
    return _pictures.described(cell.settings, goal, run, cell.members, **what)


controls = _pictures.controls


def after(table: pd.DataFrame, method: str, column: str = "r") -> pd.Series:
    """By seed, after the first round, averaged over the pictures; lost if one of them is."""
    rows = table[(table["method"] == method) & (table["round"] == (0 if method == DENSE else 1))]
    return _pictures.over_pictures(rows, column)


def each(table: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """R after the first round, one row a seed and one column a method."""
    import pandas as pd

    return pd.concat({method: after(table, method) for method in methods}, axis=1)


def best_of(table: pd.DataFrame, methods: Sequence[str]) -> pd.Series:
    """By seed, R of the method that is best in all other seeds: the hardest to beat."""
    return _pictures.rival(each(table, methods))


MASKS = tuple(method for method in METHODS if method != FRESH)
"""Methods that differ in their masks; fresh weights on SP's mask do not."""


def spread(table: pd.DataFrame) -> pd.Series:
    """By seed, how far R differs between masks of as many weights: those that are worst and best in other seeds."""
    every = each(table, MASKS)
    return -_pictures.rival(-every) - _pictures.rival(every)


def step(table: pd.DataFrame) -> pd.Series:
    """By seed, how far R differs between all weights and the share that is left, in its mean direction."""
    change = each(table, MASKS).mean(axis=1, skipna=False) - after(table, DENSE)
    return change * np.sign(change.mean())


def drawn(*methods: str) -> rc.Check:
    """Networks that do not draw their picture after the first round are not compared."""
    return _pictures.drawn("method", *methods, only=lambda rows: rows[rows["round"] <= 1])


CLAIMS = (
    rc.Claim(
        "pruning moves towards the composed network",
        "Averaged over ways to prune, single weights of the pruned networks make more compressible changes.",
        "figures 14-17, 30-37; the prototypes' reading",
        effect=lambda t: after(t, DENSE) - sum(after(t, method) for method in METHODS) / len(METHODS),
        margin=0.0,
        unit="R, dense minus pruned, mean of the methods",
        preconditions=(drawn(*METHODS, DENSE),),
        controls=_pictures.CONTROLS,
    ),
    rc.Claim(
        "SP by units beats the others (the paper)",
        "At as many weights, pruning similar units leaves a lower R than the best of lottery ticket, Wanda, LLM-Pruner"
        " and random.",
        "figures 30-37",
        effect=lambda t: best_of(t, PAPERS) - after(t, SIMILAR),
        margin=0.0,
        unit="R, best of the others minus SP by units",
        preconditions=(drawn(*PAPERS, SIMILAR),),
        controls=_pictures.CONTROLS,
    ),
    rc.Claim(
        "SP by links beats the others (the paper, read otherwise)",
        "At as many weights, pruning links from similar units leaves a lower R than the best of the same.",
        "figures 30-37",
        effect=lambda t: best_of(t, PAPERS) - after(t, LINKS),
        margin=0.0,
        unit="R, best of the others minus SP by links",
        preconditions=(drawn(*PAPERS, LINKS),),
        controls=_pictures.CONTROLS,
    ),
    rc.Claim(
        "SP by units beats random at least",
        "At as many weights, pruning similar units leaves a lower R than pruning at random, layer by layer.",
        "figures 30-37",
        effect=lambda t: after(t, RANDOM) - after(t, SIMILAR),
        margin=0.0,
        unit="R, random minus SP by units",
        preconditions=(drawn(RANDOM, SIMILAR),),
        controls=_pictures.CONTROLS,
    ),
    rc.Claim(
        "SP by units beats a dense network as small",
        "Pruning similar units leaves a lower R than a dense network of as many weights, trained as long in all.",
        "ours; a control the paper does not list, stated after a first laptop run and before any on a GPU",
        effect=lambda t: after(t, NARROW) - after(t, SIMILAR),
        margin=0.0,
        unit="R, dense and narrow minus SP by units",
        preconditions=(drawn(NARROW, SIMILAR),),
        controls=_pictures.CONTROLS,
    ),
    rc.Claim(
        "which weights remain matters more than how many",
        "Between masks of as many weights (counted, not those on live paths) R differs more than between all weights"
        " and those that are left.",
        "the paper's words on connectivity",
        effect=lambda t: spread(t) - step(t),
        margin=0.0,
        unit="R, worst minus best mask of one size (chosen in other seeds), minus the step from dense to that size",
        preconditions=(drawn(*MASKS, DENSE),),
        controls=_pictures.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R and error of every method after each round, a dot a network; the composed network as a line."""
    plots, rows = rc.plots, table[table["method"].notna()]
    last = len(settings.shares)
    picture, axes = plots.panels(rows=2, columns=last, side=4.4)
    for j in range(last):
        here = rows[rows["round"].isin((0, j + 1))]
        names = [DENSE, NARROW, *METHODS]
        for place, column in ((axes[0, j], "r"), (axes[1, j], "mse")):
            for i, name in enumerate(names):
                mine = here[here["method"] == name]
                for k, (_, goal) in enumerate(mine.groupby("goal")):
                    place.plot(np.full(len(goal), i + 0.15 * (k - 1)), goal[column], "o", color=f"C{k}", markersize=3)
            place.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=7)
        axes[0, j].set(title=f"round {j + 1}: {settings.shares[j]:.1%} of the weights", ylabel="R (lower: composed)")
        axes[1, j].set(yscale="log", ylabel="mean squared error")
        axes[1, j].axhline(0.01, color=plots.BAD, linestyle=":", linewidth=0.9)
        for k, (name, r) in enumerate(sorted(_pictures.composed_scores(table, "r").items())):
            axes[0, j].axhline(r, color=f"C{k}", linewidth=0.8, label=f"composed: {name}")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
