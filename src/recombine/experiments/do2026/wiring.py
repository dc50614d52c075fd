"""Is a composed wiring enough: does training its weights anew bring composition back?

The composed network's mask, with fresh weights, is trained; so are wirings of as many links placed elsewhere, and dense
networks. In the paper the evolved wiring, retrained, is partly compositional. Copies start at 1, as they must be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _looks, _pictures

if TYPE_CHECKING:
    import pandas as pd

WIRED, SIGNED, REWIRED, DENSE = "composed wiring", "its wiring and signs", "rewired", "dense"
KINDS = (WIRED, SIGNED, REWIRED, DENSE)


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    pass


QUICK = Settings(**_pictures.QUICK)
LAPTOP = Settings(targets=("face",), size=24, steps=2000, swept=32)
GPU = Settings(seeds=16, block=16, size=64, steps=50_000, swept=80)
PAPER = replace(GPU, size=256, steps=100_000, swept=1000)


cells = _pictures.cells


def run(cell: _pictures.Cell, watch) -> list[dict]:
    """All wirings are zeros in networks of one shape, so that they train as one population."""
    settings, goal = cell.settings, _pictures.goals(cell.settings)[cell.goal]
    make = _pictures.dense(goal)
    born = rc.newborn(make, rc.member_keys(settings.seed, cell.members))
    reach = settings.steps * settings.learning_rate / max(float(abs(w).max()) for w in goal.model.weights)
    who = [(kind, i, seed) for kind in KINDS for i, seed in enumerate(cell.members)]
    run = _pictures.train(
        settings,
        goal,
        make,
        [seed for _, _, seed in who],
        start=_pictures.stacked([started(goal, born, *one) for one in who]),
        watch=watch,
        label="networks",
        names=[f"{kind}, {seed}" for kind, _, seed in who],
    )
    rows = _pictures.described(settings, goal, run, [seed for _, _, seed in who], watch=watch, reach=reach)
    kinds = [kind for kind, _, _ in who]
    return [row | {"condition": f"{kind}, {goal.name}", "kind": kind} for kind, row in zip(kinds, rows, strict=True)]


def started(goal: _pictures.Goal, born: Any, kind: str, place: int, seed: int):
    """The network of one seed that a kind of wiring starts from."""
    import jax

    fresh = jax.tree.map(lambda a: a[place], born)
    wiring = [np.asarray(w) for w in goal.model.weights]
    if kind == DENSE:
        return fresh
    if kind == REWIRED:
        wiring = rc.rewired(wiring, np.random.default_rng([seed, 2**31 - 9]))
    return rc.wired(fresh, wiring, copies_at_one=True, by_fan_in=True, signs=kind == SIGNED)


controls = _pictures.controls


def errors(table: pd.DataFrame, kind: str) -> pd.Series:
    """By seed, log10 of the error at the end, averaged over all pictures, drawn or not."""
    return _fair.over_pictures(table[table["kind"] == kind], "log_mse")


REACH = rc.Check(
    "a weight can get as far as the composed network's largest: updates times learning rate",
    lambda t: float(t["reach"].min()),
    at_least=1.0,
)
CLAIMS = (
    rc.Claim(
        "the wiring brings composition back (the paper: in part)",
        "Trained anew on the composed wiring, a network's single weights make more compressible changes than those of"
        " a dense network.",
        "figure 2",
        effect=lambda t: _fair.drop(t, DENSE, WIRED, by="kind"),
        margin=0.02,
        unit="R, dense minus composed wiring",
        preconditions=(_fair.fit("kind", (WIRED, DENSE)),),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "and it is this wiring, not its sparsity",
        "Trained anew on the composed wiring, a network's single weights make more compressible changes than those of"
        " networks with as many links placed elsewhere.",
        "ours; a control the referee asks for, stated before any run in which it could be judged",
        effect=lambda t: _fair.drop(t, REWIRED, WIRED, by="kind"),
        margin=0.02,
        unit="R, rewired minus composed wiring",
        preconditions=(_fair.fit("kind", (WIRED, REWIRED)),),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "other wirings of as many links draw worse",
        "Wirings of as many links placed elsewhere draw the picture worse.",
        "ours; a control the referee asks for",
        effect=lambda t: errors(t, REWIRED) - errors(t, WIRED),
        margin=0.1,
        unit="log10 of the error, rewired minus composed wiring",
        preconditions=(_fair.fit("kind", (WIRED,)),),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "its wiring and signs find the picture",
        "Trained from the composed wiring with its signs, a network draws the picture.",
        "ours; stated before any run",
        effect=lambda t: _fair.over_pictures(t[t["kind"] == SIGNED], "draws"),
        margin=0.5,
        unit="share of networks with a mean squared error of at most 0.005",
        preconditions=(REACH,),
        controls=_fair.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Error, R and purity of every wiring, a dot a network, one colour a picture; composed networks as lines."""
    plots, rows = rc.plots, table[table["kind"].isin(KINDS)]
    picture, axes = plots.panels(rows=1, columns=3, side=3.4)
    names = sorted(rows["goal"].unique())
    for place, column in zip(axes[0], ("mse", "r", "purity"), strict=True):
        for k, name in enumerate(names):
            for i, kind in enumerate(KINDS):
                mine = rows[(rows["kind"] == kind) & (rows["goal"] == name)][column]
                label = name if i == 0 else None
                place.plot(np.full(len(mine), i + 0.2 * (k - 1)), mine, "o", color=f"C{k}", markersize=3.5, label=label)
            if column != "mse":
                place.axhline(_fair.composed_scores(table, column)[name], color=f"C{k}", linewidth=0.8)
        place.set_xticks(range(len(KINDS)), KINDS, rotation=25, ha="right", fontsize=7)
    axes[0, 0].set(yscale="log", ylabel="mean squared error")
    axes[0, 0].axhline(_fair.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[0, 1].set_ylabel("R (lines: composed networks)")
    _looks.without_highest(axes[0, 1])
    axes[0, 2].set_ylabel("purity of unit maps")
    return picture
