"""Does pruning by similarity recover composition where other prunings of as many weights do not?

Dense networks are trained on a picture, pruned to the paper's shares of weights, and retrained, round by round. The
method section could not be read: similarity-based pruning is a reconstruction, by units and by links. Two controls that
the paper does not list are here: a dense network of as many weights, and SP's mask with fresh weights. Lottery ticket
and SP by units also get to the first share gradually, in several prunings with retraining after each. Networks are
compared by R after the first round, each at the moment when its error was as low as 0.005 (at a lower error R is
higher), and only at seeds of which the compared networks draw the picture so well; that is soon after a pruning that
keeps the trained weights, and later after one that does not. Those that start from initial weights get fewer updates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import prunings
from recombine.experiments.do2026.chosen_masks import FIRST, MASKS, able, among_able, half_of, matters, pulled
from recombine.experiments.do2026.prunings import (
    DENSE,
    GRADUAL,
    LINKS,
    METHODS,
    NARROW,
    PAPERS,
    RANDOM,
    SIMILAR,
    SLOWLY,
    TICKETS,
)
from recombine.experiments.do2026.rounds import Case, again
from recombine.experiments.pictures import compare, figures, scoring, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """designed pictures to draw; of the three, pruned networks learn the face soonest"""
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


QUICK = Settings(**shared.QUICK, retraining=10, stages=2)
LAPTOP = Settings(size=24, steps=2000, n_weights=32, stages=2)
GPU = Settings(
    seeds=8,
    block=8,
    targets=("face", "moth", "flower"),
    size=64,
    steps=20_000,
    shares=(0.256, 0.086),
    retraining=15_000,
    n_weights=80,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, n_weights=1000)

cells = shared.cells


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    make = shared.dense(goal)
    case = Case(cell, goal, make, rc.initial_models(make, rc.member_keys(settings.seed, cell.members)), monitor)
    dense = trained = shared.train(settings, goal, make, cell.members, monitor=monitor, label="dense")
    size = shared.size(dense)
    rows = rows_of(case, dense, [DENSE], 0)
    methods = prunings.methods()
    for number, share in enumerate(settings.shares, start=1):
        trained = again(case, trained, methods, target=round(share * size), label=f"round {number}")
        rows += rows_of(case, trained, list(METHODS), number)
    trained = dense
    slowly = {name: methods[method] for name, method in GRADUAL.items()}
    for number, share in enumerate(prunings.by_steps(settings.shares[0], settings.stages), start=1):
        trained = again(case, trained, slowly, target=round(share * size), label=f"stage {number}")
    return rows + rows_of(case, trained, list(GRADUAL), 1) + narrow(case, size)


def narrow(case: Case, size: int) -> list[dict]:
    """Dense networks with as many weights as are left after each round, trained as long in all."""
    from recombine.cppn.prune.rewire import narrowed

    cell, goal = case.cell, case.goal
    settings, rows = cell.settings, []
    for number, share in enumerate(settings.shares, start=1):
        make = shared.dense(goal, mix=narrowed(goal.model, round(share * size)))
        steps, label = settings.steps + number * settings.retraining, f"narrow-{number}"
        run = shared.train(settings, goal, make, cell.members, steps=steps, monitor=case.monitor, label=label)
        rows += rows_of(case, run, [NARROW], number)
    return rows


def rows_of(case: Case, run: Any, methods: list[str], number: int) -> list[dict]:
    """The rows of a run in which each method has one network per seed, method by method."""
    who = [
        {"condition": f"{method}, round {number}, {case.goal.name}", "method": method, "round": number, "seed": seed}
        for method in methods
        for seed in case.cell.members
    ]
    return orthogonal(scoring.described(case.cell.settings, case.goal, run, who, monitor=case.monitor))


def orthogonal(rows: list[dict]) -> list[dict]:
    """Rows with how little maps of one layer have in common."""
    return [row | {"orthogonal": 1 - row.get("redundancy", np.nan)} for row in rows]


def controls(settings: Settings) -> list[dict]:
    return orthogonal(scoring.controls(settings))


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    """A claim about networks after the first round."""
    return rc.Claim(name, says, source, above=0.0, controls=compare.CONTROLS, **more)


UNITS = compare.each_minus({name: name for name in PAPERS}, SIMILAR, **FIRST)
CLAIMS = (
    claim(
        "pruning lowers R",
        "Averaged over the pruned networks that draw the picture, single weights make more compressible changes than"
        " those of the dense network.",
        "figures 14-17, 30-37; the prototypes' reading",
        effect=pulled,
        fits=(half_of(list(METHODS)),),
        over=compare.PICTURES,
        unit=f"{compare.R}, dense minus the mean of the methods",
    ),
    claim(
        "SP by units beats the other prunings (the paper)",
        "At as many weights, pruning similar units leaves a lower R than each of lottery ticket, Wanda, LLM-Pruner"
        " and random.",
        "figures 30-37",
        **UNITS,
        unit=f"{compare.R}, the other method minus SP by units",
    ),
    claim(
        "SP by links beats the other prunings (the paper, read otherwise)",
        "At as many weights, pruning links from similar units leaves a lower R than each of the same.",
        "figures 30-37",
        **compare.each_minus({name: name for name in PAPERS}, LINKS, **FIRST),
        unit=f"{compare.R}, the other method minus SP by links",
    ),
    claim(
        "SP by units beats the other prunings that draw (ours)",
        "The same, of those methods and pictures alone of which most networks draw the picture.",
        "ours; stated after a laptop run in which random masks mostly did not draw, before any on a GPU",
        **UNITS | {"effect": among_able(UNITS["effect"], PAPERS)},
        preconditions=(
            rc.Check("columns 'method, picture' that mostly draw", lambda t: len(able(t, PAPERS)), at_least=2),
        ),
        unit=f"{compare.R}, the other method minus SP by units",
    ),
    claim(
        "SP by units beats random pruning",
        "At as many weights, pruning similar units leaves a lower R than pruning at random, layer by layer.",
        "figures 30-37",
        **compare.minus("R", RANDOM, SIMILAR, **FIRST),
        unit=f"{compare.R}, random minus SP by units",
    ),
    claim(
        "SP by units beats a dense network as small",
        "Pruning similar units leaves a lower R than a dense network of as many weights, trained as long in all.",
        "ours; a control the paper does not list, stated after a first laptop run and before any on a GPU",
        **compare.minus("R", NARROW, SIMILAR, **FIRST),
        unit=f"{compare.R}, dense and narrow minus SP by units",
    ),
    claim(
        "pruned gradually, SP by units beats the lottery ticket",
        "Pruned in several steps with retraining after each, SP by units leaves a lower R than the lottery ticket,"
        " which starts from its initial weights again each time.",
        "ours; the paper prunes in rounds. Stated before any run of it",
        **compare.minus("R", TICKETS, SLOWLY, **FIRST),
        unit=f"{compare.R}, lottery ticket minus SP by units, both gradually",
    ),
    claim(
        "SP makes unit maps more orthogonal (the paper)",
        "After SP by units, maps of one layer are less correlated than those of the dense network.",
        "figure 8. Stated before any run; the prototypes saw the opposite",
        **compare.minus("orthogonal", SIMILAR, DENSE, **FIRST),
        unit="1 - mean |correlation| of maps of a layer, SP by units minus dense",
    ),
    rc.Claim(
        "which weights remain matters more than how many",
        "Masks of as many weights (counted, not those on live paths) lie farther apart in R than the dense network lies"
        " from them; of the networks of one seed that draw the picture.",
        "the paper's words on connectivity; restated after a GPU run, without a choice of masks",
        effect=matters,
        above=0.5,
        null=0.5,
        fits=(half_of(MASKS),),
        over=compare.PICTURES,
        unit="share of masks whose R is farther from all others' than that of the dense network",
        controls=compare.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R where the error is as low as the gate, orthogonality of maps and error, by method; designed as lines."""
    rows, last = rc.networks(table), len(settings.shares)
    picture, axes = rc.plots.panels(rows=3, columns=last, side=4.0)
    for j in range(last):
        here = rows[rows["round"].isin((0, j + 1))]
        names = [DENSE, NARROW, *METHODS, *(GRADUAL if j == 0 else ())]
        for place, column in zip(axes[:, j], ("R", "orthogonal", "mse"), strict=True):
            figures.dots(place, here, column, by="method", kinds=names, gated=True)
        title = f"round {j + 1}: {settings.shares[j]:.1%} of the weights" + " (judged)" * (j == 0)
        axes[0, j].set(title=title, ylabel=f"R at an error of {compare.GATE:g} (hollow: not reached; lines: designed)")
        axes[1, j].set(ylabel="1 - mean |correlation| of maps of a layer")
        axes[2, j].set(yscale="log", ylabel="mean squared error at the end")
        axes[2, j].axhline(compare.GATE, color=rc.plots.BAD, linestyle=":", linewidth=0.9)
        figures.lines(axes[0, j], compare.known(table, "designed", "R"))
        figures.without_highest(axes[0, j])
    axes[2, 0].legend(fontsize=7, frameon=False, loc="lower right")
    return picture
