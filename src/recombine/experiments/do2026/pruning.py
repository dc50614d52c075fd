"""Does pruning by similarity recover composition where other prunings of as many weights do not?

Dense networks are trained on a picture, pruned to the paper's shares of weights, and retrained, round by round. The
method section could not be read: similarity-based pruning is a reconstruction, by units and by links. Two controls that
the paper does not list are here: a dense network of as many weights, and SP's mask with fresh weights. Lottery ticket
and SP by units also get to the first share gradually, in several prunings with retraining after each. Networks are
compared by R, each at the moment when its error was as low as 0.005 (at a lower error R is higher), and only at seeds
and pictures that all compared networks draw so well. Those that start from first weights get fewer updates in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _looks, _pictures
from recombine.experiments.do2026 import _methods
from recombine.experiments.do2026._methods import (
    DENSE,
    FRESH,
    GRADUAL,
    LINKS,
    METHODS,
    NARROW,
    PAPERS,
    RANDOM,
    SIMILAR,
    SLOWLY,
    TICKET,
    TICKETS,
)
from recombine.experiments.do2026._rounds import Case, again

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
    stages: int = 6
    """prunings in which the gradual methods get to the first share, `retraining` updates after each"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining", "stages")
        if not self.shares or not all(
            0.02 <= b < a <= 0.95 for a, b in zip((0.95, *self.shares), self.shares, strict=False)
        ):
            raise rc.UserError(f"shares must fall from 0.95 to 0.02, got {self.shares}")


QUICK = Settings(**_pictures.QUICK, retraining=10, stages=2)
LAPTOP = Settings(size=24, steps=2000, swept=32, stages=2)
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=20_000,
    shares=(0.256, 0.086),
    retraining=15_000,
    swept=80,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, swept=1000)


cells = _pictures.cells


def run(cell: _pictures.Cell, watch) -> list[dict]:
    settings, goal = cell.settings, _pictures.goals(cell.settings)[cell.goal]
    make = _pictures.dense(goal)
    case = Case(cell, goal, make, rc.newborn(make, rc.member_keys(settings.seed, cell.members)), watch)
    dense = trained = _pictures.train(settings, goal, make, cell.members, watch=watch, label="dense")
    size = _pictures.size(dense)
    rows = rows_of(case, dense, [DENSE], 0)
    for number, share in enumerate(settings.shares, start=1):
        trained = again(case, trained, METHODS, target=round(share * size), label=f"round {number}")
        rows += rows_of(case, trained, list(METHODS), number)
    trained = dense
    for number, share in enumerate(_methods.by_steps(settings.shares[0], settings.stages), start=1):
        trained = again(case, trained, GRADUAL, target=round(share * size), label=f"stage {number}")
    return rows + rows_of(case, trained, list(GRADUAL), 1) + narrow(case, size)


def narrow(case: Case, size: int) -> list[dict]:
    """Dense networks with as many weights as are left after each round, trained as long in all."""
    cell, goal = case.cell, case.goal
    settings, rows = cell.settings, []
    for number, share in enumerate(settings.shares, start=1):
        make = _pictures.dense(goal, mix=rc.narrowed(goal.model, round(share * size)))
        steps, label = settings.steps + number * settings.retraining, f"narrow-{number}"
        run = _pictures.train(settings, goal, make, cell.members, steps=steps, watch=case.watch, label=label)
        rows += rows_of(case, run, [NARROW], number)
    return rows


def rows_of(case: Case, run: Any, methods: list[str], number: int) -> list[dict]:
    """The rows of a run in which each method has one network a seed, method by method."""
    seeds = case.cell.members
    rows = _pictures.described(case.cell.settings, case.goal, run, seeds * len(methods), watch=case.watch, round=number)
    for method, row in zip(np.repeat(methods, len(seeds)).tolist(), rows, strict=True):
        row |= {"condition": f"{method}, round {number}, {case.goal.name}", "method": method}
        row["orthogonal"] = 1 - row.get("redundancy", np.nan)
    return rows


controls = _pictures.controls


def each(table: pd.DataFrame, methods: Sequence[str], column: str = "r") -> pd.DataFrame:
    """By seed, a score after the first round, a column a method, over the pictures that all of them draw."""
    return _fair.compared(first(table), column, methods, by="method")


def first(table: pd.DataFrame) -> pd.DataFrame:
    """Dense networks, and those after the first round."""
    return table[table["round"] <= 1]


def able(table: pd.DataFrame, methods: Sequence[str]) -> list[str]:
    """The methods of which most networks draw their picture: the others cannot be compared in R."""
    draws = first(table).fillna({"draws": 0.0}).groupby("method")["draws"].mean()
    return [method for method in methods if draws.get(method, 0.0) >= 0.5]


def gain(table: pd.DataFrame, method: str, others: Sequence[str]) -> pd.Series:
    """By seed, how much lower R is by a method than by the one of others that is best in all other seeds."""
    every = each(table, (*others, method))
    return _fair.rival(every[list(others)]) - every[method]


MASKS = tuple(method for method in METHODS if method not in (FRESH, TICKET))
"""Methods that go on from trained weights, and so differ in their masks (SP also merges what it removes)."""


def matters(table: pd.DataFrame) -> pd.Series:
    """By seed, how far R differs between masks of as many weights, less how far it differs between dense and these.

    The masks are those that are worst and best in other seeds; the step from dense counts in its mean direction.
    """
    masks = able(table, MASKS)
    every = each(table, (*masks, DENSE))
    if not masks:
        return every[DENSE] * np.nan
    step = every[masks].mean(axis=1, skipna=False) - every[DENSE]
    return -_fair.rival(-every[masks]) - _fair.rival(every[masks]) - step * np.sign(step.mean())


def pulled(table: pd.DataFrame) -> pd.Series:
    """By seed, R of dense networks less the mean of the able methods."""
    methods = able(table, list(METHODS))
    every = each(table, (DENSE, *methods))
    return every[DENSE] - every[methods].mean(axis=1, skipna=False)


def drop(table: pd.DataFrame, before: str, after: str, column: str = "r") -> pd.Series:
    """By seed, a score after the first round of one method less that of another."""
    return _fair.drop(first(table), before, after, by="method", column=column)


def comparable(methods: Sequence[str], others: Sequence[str] = ()) -> tuple[rc.Check, ...]:
    """Of each picture most seeds are drawn by these methods and the able ones of the others, of which there are two."""
    some = rc.Check(f"of {', '.join(others)}, methods that draw", lambda t: len(able(t, others)), at_least=2)
    kinds = _fair.fit("method", lambda t: (*methods, *able(t, others)), only=first) if others else None
    return (some, kinds) if kinds else (_fair.fit("method", methods, only=first),)


def claim(name: str, says: str, source: str, *, effect: Any, unit: str, checks: tuple[rc.Check, ...]) -> rc.Claim:
    """A claim about networks after the first round."""
    return rc.Claim(
        name, says, source, effect=effect, margin=0.0, unit=unit, preconditions=checks, controls=_fair.CONTROLS
    )


CLAIMS = (
    claim(
        "pruning lowers R",
        "Averaged over the ways to prune that mostly draw, single weights of the pruned networks make more compressible"
        " changes.",
        "figures 14-17, 30-37; the prototypes' reading",
        effect=pulled,
        unit="R, dense minus pruned, mean of the methods",
        checks=comparable((DENSE,), list(METHODS)),
    ),
    claim(
        "SP by units beats the others (the paper)",
        "At as many weights, pruning similar units leaves a lower R than the best of lottery ticket, Wanda, LLM-Pruner"
        " and random.",
        "figures 30-37",
        effect=lambda t: gain(t, SIMILAR, PAPERS),
        unit="R, best of the others minus SP by units",
        checks=comparable((*PAPERS, SIMILAR)),
    ),
    claim(
        "SP by links beats the others (the paper, read otherwise)",
        "At as many weights, pruning links from similar units leaves a lower R than the best of the same.",
        "figures 30-37",
        effect=lambda t: gain(t, LINKS, PAPERS),
        unit="R, best of the others minus SP by links",
        checks=comparable((*PAPERS, LINKS)),
    ),
    claim(
        "SP by units beats those of the others that draw (ours)",
        "The same, of those methods alone of which most networks draw the picture.",
        "ours; stated after a laptop run in which random masks mostly did not draw, before any on a GPU",
        effect=lambda t: gain(t, SIMILAR, able(t, PAPERS)),
        unit="R, best of the others that mostly draw minus SP by units",
        checks=comparable((SIMILAR,), PAPERS),
    ),
    claim(
        "SP by units beats random at least",
        "At as many weights, pruning similar units leaves a lower R than pruning at random, layer by layer.",
        "figures 30-37",
        effect=lambda t: drop(t, RANDOM, SIMILAR),
        unit="R, random minus SP by units",
        checks=comparable((RANDOM, SIMILAR)),
    ),
    claim(
        "SP by units beats a dense network as small",
        "Pruning similar units leaves a lower R than a dense network of as many weights, trained as long in all.",
        "ours; a control the paper does not list, stated after a first laptop run and before any on a GPU",
        effect=lambda t: drop(t, NARROW, SIMILAR),
        unit="R, dense and narrow minus SP by units",
        checks=comparable((NARROW, SIMILAR)),
    ),
    claim(
        "gradually, SP by units beats the lottery ticket",
        "Pruned in several steps with retraining after each, SP by units leaves a lower R than the lottery ticket,"
        " which starts from its first weights again each time.",
        "ours; the paper prunes in rounds. Stated before any run of it",
        effect=lambda t: drop(t, TICKETS, SLOWLY),
        unit="R, lottery ticket minus SP by units, both gradually",
        checks=comparable((TICKETS, SLOWLY)),
    ),
    claim(
        "SP makes unit maps more orthogonal (the paper)",
        "After SP by units, maps of one layer are less correlated than those of the dense network.",
        "figure 8. Stated before any run; the prototypes saw the opposite",
        effect=lambda t: drop(t, SIMILAR, DENSE, "orthogonal"),
        unit="1 - mean |correlation| of maps of a layer, SP by units minus dense",
        checks=comparable((DENSE, SIMILAR)),
    ),
    claim(
        "which weights remain matters more than how many",
        "Between masks of as many weights (counted, not those on live paths; methods that mostly draw) R differs more"
        " than between all weights and those that are left.",
        "the paper's words on connectivity",
        effect=matters,
        unit="R, worst minus best mask of one size (chosen in other seeds), minus the step from dense to that size",
        checks=comparable((DENSE,), MASKS),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R, where the error is as low as the gate, and error of every method after each round; the composed as a line."""
    plots, rows = rc.plots, table[table["method"].notna()]
    last = len(settings.shares)
    picture, axes = plots.panels(rows=2, columns=last, side=4.4)
    for j in range(last):
        here = rows[rows["round"].isin((0, j + 1))]
        names = [DENSE, NARROW, *METHODS, *(GRADUAL if j == 0 else ())]
        for place, column in ((axes[0, j], "r"), (axes[1, j], "mse")):
            for i, name in enumerate(names):
                mine = here[here["method"] == name]
                for k, (_, goal) in enumerate(mine.groupby("goal")):
                    for drawn, fill in ((goal["draws"] == 1, f"C{k}"), (goal["draws"] != 1, "none")):
                        x = np.full(drawn.sum(), i + 0.15 * (k - 1))
                        place.plot(x, goal[drawn][column], "o", color=f"C{k}", markersize=3, markerfacecolor=fill)
            place.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=7)
        axes[0, j].set(
            title=f"round {j + 1}: {settings.shares[j]:.1%} of the weights",
            ylabel=f"R at an error of {_fair.GATE:g} (hollow: never reached)",
        )
        axes[1, j].set(yscale="log", ylabel="mean squared error at the end")
        axes[1, j].axhline(_fair.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
        for k, (name, r) in enumerate(sorted(_fair.composed_scores(table, "r").items())):
            axes[0, j].axhline(r, color=f"C{k}", linewidth=0.8, label=f"composed: {name}")
        _looks.without_highest(axes[0, j])
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
