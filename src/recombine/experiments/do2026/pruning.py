"""Does pruning by similarity recover composition where other prunings of as many weights do not?

Dense networks are trained on a picture, pruned to the paper's numbers of weights, and retrained, in two rounds. The
method section could not be read: similarity-based pruning (SP) is a reconstruction, by units and by links. Methods are
compared as they are, and by their masks alone: every mask also trained from the same first weights. A dense network of
as many weights is a control that the paper does not list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import recombine as rc
from recombine.experiments.do2026.prunings import (
    DENSE,
    LINKS,
    METHODS,
    NARROW,
    RANDOM,
    RIVALS,
    SIMILAR,
    TAYLOR,
    TICKET,
    after,
    mask,
)
from recombine.experiments.do2026.rounds import Case, alive, pruned, retrained, who
from recombine.experiments.pictures import closeness, figures, moments, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

KEPT = {"skull": (1404, 473), "butterfly": (3405, 468)}
"""Weights that the paper leaves of the networks of two pictures after its rounds."""


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    targets: tuple[str, ...] = ("face",)
    """designed pictures to draw; of the first three, pruned networks learn the face soonest"""
    shares: tuple[float, ...] = (0.33, 0.11)
    """weights left after each round, as a share of all, where the paper names no number"""
    retraining: int = 1500
    """updates after each round"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining")
        if not self.shares or not all(
            0.02 <= b < a <= 0.95 for a, b in zip((0.95, *self.shares), self.shares, strict=False)
        ):
            raise rc.UserError(f"shares must fall from 0.95 to 0.02, got {self.shares}")


QUICK = Settings(**shared.QUICK, retraining=10)
LAPTOP = Settings(seeds=6, block=6, size=24, steps=3000, n_weights=60, shares=(0.33,), retraining=3000)
GPU = Settings(
    seed=1,
    evolved=("skull",),
    seeds=40,
    block=40,
    size=64,
    steps=12_000,
    retraining=24_000,
    n_weights=200,
)
PAPER = replace(GPU, evolved=("skull", "butterfly"), size=256, steps=100_000, retraining=100_000, n_weights=1000)

cells = shared.cells


def targets(settings: Settings, goal: shared.Goal, size: int) -> list[int]:
    """The weights left after each round."""
    named = KEPT.get(goal.name, ()) if goal.evolved else ()
    return [*named][: len(settings.shares)] or [round(share * size) for share in settings.shares]


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax

    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    make, until = shared.dense(goal), moments.until(goal.picture)
    born = jax.device_get(rc.initial_models(make, rc.member_keys(settings.seed, cell.members)))
    firsts = [jax.tree.map(lambda a, i=i: a[i], born) for i in range(len(cell.members))]
    case = Case(cell, goal, make, firsts, monitor)
    dense = shared.train(settings, goal, make, cell.members, until=until, monitor=monitor, label="dense")
    size, every = shared.size(dense), scoring.entries(dense, [who(case, DENSE, 0, s) for s in cell.members])
    networks = {method: alive(every) for method in METHODS}
    for number, target in enumerate(targets(settings, goal, size), start=1):
        kept = pruned(case, networks, target)
        back = {mask(m): first_weights(kept[m], firsts) for m in kept}
        ways = {m: kept[m] for m in kept if m != TICKET} | (back if number == 1 else {TICKET: back[TICKET]})
        found = retrained(case, ways, number)
        networks = {m: alive([one for one in found if one.facts["method"] == m]) for m in METHODS}
        every = every + found
    every += narrow(case, targets(settings, goal, size)[0])
    return scoring.scored(settings, goal, every, monitor=monitor)


def first_weights(kept: list[Any], firsts: list[Any]) -> list[Any]:
    """Networks with these masks at their first weights, None where there is no mask."""
    from recombine.cppn.prune.magnitude import rewound

    return [None if k is None else rewound(k, first) for k, first in zip(kept, firsts, strict=True)]


def narrow(case: Case, target: int) -> list[scoring.Entry]:
    """Dense networks with as many weights as are left after the first round, trained as long in all."""
    from recombine.cppn.prune.rewire import narrowed

    cell, goal = case.cell, case.goal
    make, steps = shared.dense(goal, mix=narrowed(goal.model, target)), cell.settings.steps + cell.settings.retraining
    more = {"steps": steps, "until": moments.until(goal.picture), "monitor": case.monitor, "label": "narrow"}
    run = shared.train(cell.settings, goal, make, cell.members, **more)
    return scoring.entries(run, [who(case, NARROW, 1, seed) for seed in cell.members])


def newborn(settings: Settings, goal: shared.Goal) -> dict[str, list[Any]]:
    """Networks at initial weights: dense and narrow ones, and dense ones pruned at random to as many weights."""
    from recombine.cppn.prune.magnitude import at_random
    from recombine.cppn.prune.rewire import narrowed

    born = scoring.untrained(settings, shared.dense(goal))
    target = targets(settings, goal, sum(w.size for w in born[0].weights))[0]
    sparse = [at_random(one, rc.rng(settings.seed, "untrained", i), target) for i, one in enumerate(born)]
    narrow = scoring.untrained(settings, shared.dense(goal, mix=narrowed(goal.model, target)))
    return {"untrained": born, "untrained, pruned at random": sparse, "untrained and narrow": narrow}


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and sparse and narrow networks at initial weights."""
    rows = scoring.controls(settings)
    for goal in shared.goals(settings).values():
        born = newborn(settings, goal)
        del born["untrained"]
        rows += scoring.known_rows(settings, goal, born)
    return rows


def against(first: str, number: int) -> dict[str, str]:
    """The rivals of a method after a round: as methods, or of a mask, as masks."""
    name = mask if first.startswith("mask") else str
    return {rival: after(name(rival), number) for rival in RIVALS}


COMPARED = [(name, number) for name in (SIMILAR, LINKS) for number in (1, 2)]
COMPARED += [(mask(SIMILAR), 1), (mask(LINKS), 1)]
SAYS = {
    SIMILAR: "Pruning similar units leaves networks closer to the designed one than each of lottery ticket, Wanda,"
    " LLM-Pruner and random pruning to as many weights.",
    LINKS: "Pruning links from similar units leaves networks closer to the designed one than each of the same.",
    mask(SIMILAR): "Trained from the same first weights, networks with the mask of pruned similar units are closer to"
    " the designed one than networks with the masks of the others.",
    mask(LINKS): "The same of the mask of links that were pruned from similar units.",
}


def beats(first: str, number: int) -> rc.Claim:
    """That a method or mask leaves networks closer to the designed one than each of its rivals."""
    return rc.Claim(
        f"{first} beats the other {'masks' if first.startswith('mask') else 'prunings'}, round {number}",
        SAYS[first],
        "abstract; figures 30 and 32-37 (random pruning is ours)"
        if number == 1
        else "figures 31 and 36, which have the lottery ticket alone; the other rivals at this size are ours",
        controls=moments.CONTROLS,
        **closeness.each_closer(after(first, number), against(first, number), dense=DENSE),
    )


def orthogonal(rivals: tuple[str, ...]) -> dict[str, Any]:
    """By seed, how much less maps of one layer correlate after SP by units than in other networks, at the end."""

    def every(take: Callable[..., dict]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        def columns(table: pd.DataFrame) -> pd.DataFrame:
            import pandas as pd

            pairs = [((r, after(SIMILAR, 1)), p) for r in rivals for p in moments.pictures(table, after(SIMILAR, 1), r)]
            found = {f"{pair[0]}, {p}": take(table, pair, p, lambda rows: rows["redundancy"]) for pair, p in pairs}
            return pd.DataFrame({name: one[closeness.END] for name, one in found.items()})

        return columns

    unit = "mean |correlation| of two maps of a layer, other networks minus SP (units)"
    asked = {"above": 0.05, "over": "rivals and pictures", "unit": unit}
    return {"effect": every(closeness.compared), "fits": (every(closeness.fitted),), **asked}


CLAIMS = (
    *(beats(name, number) for name, number in COMPARED),
    *(
        rc.Claim(
            f"SP by units brings networks closer to the designed one, round {number}",
            "After pruning similar units and retraining, networks are closer to the designed one than dense ones are.",
            "figures 30 and 35" if number == 1 else "figures 14-15",
            controls=moments.CONTROLS,
            **closeness.closer(after(SIMILAR, number), DENSE, dense=DENSE),
        )
        for number in (1, 2)
    ),
    rc.Claim(
        "SP by units beats a dense network as small",
        "Pruning similar units leaves networks closer to the designed one than dense networks of as many weights.",
        "ours; a control the paper does not list",
        controls=moments.CONTROLS,
        **closeness.closer(after(SIMILAR, 1), after(NARROW, 1), dense=DENSE),
    ),
    rc.Claim(
        "SP makes unit maps more orthogonal than in dense networks and in others of its width",
        "After SP by units, maps of one layer correlate less than in the dense network, in a dense network as small,"
        " and in one from which LLM-Pruner took as many units.",
        "figure 8; the controls of equal width are ours",
        controls=moments.CONTROLS,
        **orthogonal((DENSE, after(NARROW, 1), after(TAYLOR, 1))),
    ),
    rc.Claim(
        "SP by units reaches the picture more often than the lottery ticket, round 2",
        "At the paper's second number of weights more networks render the picture after SP than after lottery ticket.",
        "figures 31 and 36, read as an outcome of their own; ours",
        controls=moments.CONTROLS,
        **moments.reaches(after(SIMILAR, 2), after(TICKET, 2)),
    ),
    rc.Claim(
        "SP by units reaches the picture more often than random pruning, round 2",
        "The same beside pruning at random, layer by layer.",
        "ours",
        controls=moments.CONTROLS,
        **moments.reaches(after(SIMILAR, 2), after(RANDOM, 2)),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Both scores on the scale from dense to designed, and errors, of each method; one row per round."""
    rounds = [int(n) for n in sorted(rc.networks(table)["round"].dropna().unique()) if n]
    picture, axes = rc.plots.panels(rows=len(rounds), columns=3, side=4.2)
    for line, number in zip(axes, rounds, strict=True):
        names = [*METHODS, *(mask(m) for m in METHODS if number == 1 and m != TICKET), *[NARROW] * (number == 1)]
        kinds = [DENSE, *(after(name, number) for name in names)]
        for place, (score, name) in zip(line, moments.SCORES.items(), strict=False):
            figures.on_scale(place, table, score, kinds, dense=DENSE, names=[DENSE, *names])
            place.set(ylabel="0: dense, 1: designed", title=f"round {number}: {name}, at the end")
        figures.dots(line[2], rc.networks(table), "share_left", by="kind", kinds=kinds, names=[DENSE, *names])
        line[2].set(yscale="log", title=f"round {number}: error / variance of the picture (dotted: 6 %)")
        line[2].axhline(moments.DRAWN, color=rc.plots.BAD, linestyle=":", linewidth=0.9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
