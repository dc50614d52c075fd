"""Is a designed wiring enough: does training its weights anew bring composition back?

The designed network's mask, with fresh weights, is trained; so are wirings of as many links placed elsewhere, and dense
networks. In the paper the evolved wiring, retrained, is partly compositional. Copies start at 1, as they must be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import compare, figures, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

WIRED, SIGNED, REWIRED, DENSE = "designed wiring", "its wiring and signs", "rewired", "dense"
KINDS = (WIRED, SIGNED, REWIRED, DENSE)


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    pass


QUICK = Settings(**shared.QUICK)
LAPTOP = Settings(targets=("face",), size=24, steps=2000, n_weights=32)
GPU = Settings(seeds=16, block=16, size=64, steps=50_000, n_weights=80)
PAPER = replace(GPU, size=256, steps=100_000, n_weights=1000)


cells = shared.cells


def run(cell: rc.Cell, monitor) -> list[dict]:
    """All wirings are zeros in networks of one shape, so that they train as one population."""
    import jax

    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    make = shared.dense(goal)
    born = rc.initial_models(make, rc.member_keys(settings.seed, cell.members))
    reach = settings.steps * settings.learning_rate / max(float(abs(w).max()) for w in goal.model.weights)
    each = [(kind, i, seed) for kind in KINDS for i, seed in enumerate(cell.members)]
    start = [started(settings, goal, kind, jax.tree.map(lambda a, i=i: a[i], born), seed) for kind, i, seed in each]
    run = shared.train(
        settings,
        goal,
        make,
        [seed for _, _, seed in each],
        start=shared.stacked(start),
        monitor=monitor,
        label="networks",
        names=[f"{kind}, {seed}" for kind, _, seed in each],
    )
    who = [{"condition": f"{kind}, {goal.name}", "kind": kind, "reach": reach, "seed": seed} for kind, _, seed in each]
    return scoring.described(settings, goal, run, who, monitor=monitor)


def started(settings: Settings, goal: shared.Goal, kind: str, fresh: Any, seed: int) -> Any:
    """The network that a kind of wiring starts from, made of a dense one at its initial weights."""
    from recombine.cppn.prune.rewire import rewired, wired

    wiring = [np.asarray(w) for w in goal.model.weights]
    if kind == DENSE:
        return fresh
    if kind == REWIRED:
        wiring = rewired(wiring, rc.rng(settings.seed, "rewiring", seed))
    return wired(fresh, wiring, copies_at_one=True, by_fan_in=True, signs=kind == SIGNED)


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and sparse wirings at their initial weights."""
    rows = scoring.controls(settings)
    for goal in shared.goals(settings).values():
        fresh = scoring.untrained(settings, shared.dense(goal))
        for kind in (WIRED, SIGNED, REWIRED):
            model = started(settings, goal, kind, fresh, 0)
            rows += scoring.known_rows(settings, goal, {"untrained": model}, kind=kind)
    return rows


REACH = rc.Check(
    "how far updates times learning rate take a weight, over the designed network's largest",
    lambda t: float(t["reach"].min()),
    at_least=1.0,
)


def finds(table: pd.DataFrame) -> pd.Series:
    """By seed, 1 if the error of the network with the designed wiring and signs fell to the gate, else 0."""
    at = rc.by_seed(table, "reached_at", kind=SIGNED)
    return (at >= 0).astype(float).where(at.notna())


CLAIMS = (
    rc.Claim(
        "the designed wiring brings composition back (the paper: in part)",
        "Trained anew on the designed wiring, a network's single weights make more compressible changes than those of"
        " a dense network.",
        "figure 2",
        **compare.minus("R", DENSE, WIRED, by="kind"),
        above=0.02,
        unit=f"{compare.R}, dense minus designed wiring",
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "the designed wiring, not its sparsity, brings composition back",
        "Trained anew on the designed wiring, a network's single weights make more compressible changes than those of"
        " networks with as many links placed elsewhere.",
        "ours; a control the referee asks for, stated before any run in which it could be judged",
        **compare.minus("R", REWIRED, WIRED, by="kind"),
        above=0.02,
        unit=f"{compare.R}, rewired minus designed wiring",
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "other wirings of as many links draw worse",
        "At the end of training, wirings of as many links placed elsewhere draw the picture worse than the designed.",
        "ours; a control the referee asks for",
        effect=compare.by_picture(rc.difference("log_mse", REWIRED, WIRED, by="kind")),
        above=0.1,
        over=compare.PICTURES,
        unit="log10 of the error, rewired minus designed wiring",
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "the designed wiring and signs find the picture",
        "Trained from the designed wiring with its signs, a network draws the picture.",
        "ours; stated before any run",
        effect=compare.by_picture(finds),
        above=0.5,
        over=compare.PICTURES,
        unit=f"share of networks whose mean squared error falls to {compare.GATE:g}",
        preconditions=(REACH,),
        controls=compare.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Error, R and purity of every wiring, a dot per network, one colour per picture; designed networks as lines."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=3, side=3.4)
    for place, column in zip(axes[0], ("mse", "R", "purity"), strict=True):
        figures.dots(place, rows, column, by="kind", kinds=KINDS, gated=True)
        if column != "mse":
            figures.lines(place, compare.known(table, "designed", column))
    axes[0, 0].set(yscale="log", ylabel="error at the end (hollow: never at the gate)")
    axes[0, 0].axhline(compare.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    for i, kind in enumerate(KINDS):
        found = rows[rows["kind"] == kind]["reached_at"] >= 0
        said = f"{found.sum()} of {len(found)}\nat {compare.GATE:g}"
        axes[0, 0].text(i, 0.99, said, transform=axes[0, 0].get_xaxis_transform(), ha="center", va="top", fontsize=6)
    axes[0, 1].set_ylabel("R (lines: designed networks)")
    figures.without_highest(axes[0, 1])
    axes[0, 2].set_ylabel("purity of unit maps")
    return picture
