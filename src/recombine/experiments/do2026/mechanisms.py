"""Do flatness, noise and interference set compositional picture networks apart, as the paper's theory says?

Figure 7 names three mechanisms that would lead training to compositional networks: volume, flatness and noise; figure 8
and the abstract have feature interference. Measured here on trained networks: dense ones, the same pruned by similarity
(SP, by units) or at random, and dense ones of as many weights; the designed, a rotated and an untrained network beside
them. Flatness is the trace of the loss's Hessian (Hutchinson) for moves of all weights relative to each; that for equal
moves is measured, but judged nowhere: rotated, the same function reads .7 to .9 decades more. Noise is what noise of a
twentieth in all weights does to the picture. Untrained networks read nearly as dense ones do: neither tells of basins.
Kinds are compared at the end, as they are and adjusted for error; dead networks are left out. The theorems could not be
read: bounds on interference are our reconstruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import pruning
from recombine.experiments.do2026.basins import measured, theory_of
from recombine.experiments.do2026.prunings import DENSE, NARROW, RANDOM, SIMILAR, after
from recombine.experiments.do2026.rounds import Case, alive, pruned, retrained, who
from recombine.experiments.pictures import closeness, figures, moments, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

SP, MASK, SMALL = (after(method, 1) for method in (SIMILAR, RANDOM, NARROW))
KINDS = {DENSE: "dense", MASK: "random", SMALL: "narrow", SP: "SP"}
"""The kinds of networks, and what columns call them."""


@dataclass(frozen=True, kw_only=True)
class Settings(pruning.Settings):
    shares: tuple[float, ...] = (0.33,)
    """weights left after pruning, as a share of all, where the paper names no number"""
    probes: int = 32
    """random directions and draws of noise"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("probes")
        if len(self.shares) > 1:
            raise rc.UserError(f"networks are pruned once here, got shares {self.shares}")


QUICK = Settings(**shared.QUICK, retraining=10, probes=4)
LAPTOP = Settings(seeds=6, block=6, size=24, steps=2000, retraining=2000, probes=16)
GPU = Settings(
    seed=1, evolved=("skull", "butterfly"), seeds=20, block=20, size=64, steps=12_000, retraining=10_000, probes=64
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000)

cells = shared.cells


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax

    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    make = shared.dense(goal)
    born = jax.device_get(rc.initial_models(make, rc.member_keys(settings.seed, cell.members)))
    firsts = [jax.tree.map(lambda a, i=i: a[i], born) for i in range(len(cell.members))]
    case = Case(cell, goal, make, firsts, monitor)
    until = moments.until(goal.picture)
    dense = shared.train(settings, goal, make, cell.members, until=until, monitor=monitor, label="dense")
    every = scoring.entries(dense, [who(case, DENSE, 0, seed) for seed in cell.members])
    (target,) = pruning.targets(settings, goal, shared.size(dense))[:1]
    every += retrained(case, pruned(case, dict.fromkeys((SIMILAR, RANDOM), alive(every)), target), 1)
    every += pruning.narrow(case, target)
    return theory_of(settings, goal, every, probes=settings.probes)


def controls(settings: Settings) -> list[dict]:
    """For each picture the designed network, the same rotated, and untrained ones; a known quadratic loss."""
    from recombine.cppn.sweep import rotate

    rows = [{"system": "quadratic", "seed": 0, "trace": quadratic()}]
    for goal in shared.goals(settings).values():
        rotated = rotate.rotated(goal.model, rc.key(settings.seed, "rotation"))
        systems = {"designed": [goal.model], "rotated": [rotated], **pruning.newborn(settings, goal)}
        each = [(name, i, model) for name, models in systems.items() for i, model in enumerate(models)]
        found = measured(settings, goal, [model for *_, model in each], probes=settings.probes)
        for (name, i, _), one in zip(each, found, strict=True):
            who = {"system": name, "condition": f"{name}, {goal.name}", "seed": i, "goal": goal.name}
            rows.append(who | one)
    return rows


def quadratic() -> float:
    """The trace, as it is measured, of a loss whose Hessian has the trace 10."""
    import jax.numpy as jnp

    from recombine.theory.flatness import hessian_trace, there

    weights, curved = jnp.ones(4), jnp.arange(1.0, 5.0)
    return float(hessian_trace(lambda w: 0.5 * jnp.sum(curved * w**2), weights, there(weights), rc.key(0, "probes"))[0])


Columns = Callable[["pd.DataFrame", str, str], dict[str, Any]]
"""From a table, a kind and a picture to effects by seed, each with a name."""


def by_kind(kinds: Mapping[str, str], columns: Columns) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """An effect with a column "kind, picture: name" for each kind, picture and name."""
    import pandas as pd

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        found = {}
        for kind, words in kinds.items():
            for picture in moments.pictures(table, kind, SP):
                named = columns(table, kind, picture).items()
                found |= {f"{words}, {picture}{': ' * bool(name)}{name}": numbers for name, numbers in named}
        return pd.DataFrame(found)

    return effect


def above_sp(measure: str, words: str) -> dict[str, Any]:
    """What a claim needs that a measure of each other kind is larger than that of SP, as it is and adjusted."""

    def every(take: Callable[..., dict]) -> Columns:
        def columns(table: pd.DataFrame, kind: str, picture: str) -> dict[str, Any]:
            found = take(table, (kind, SP), picture, lambda rows: rows[measure])
            return {f"{words} {moment}": found[moment] for moment in closeness.BOTH}

        return columns

    def unsettled(table: pd.DataFrame) -> closeness.Reasons:
        found = {words: closeness.reasons(table, (kind, SP), None, closeness.BOTH) for kind, words in RIVALS.items()}
        return {f"{rival}, {picture}": why for rival, one in found.items() for picture, why in one.items()}

    effect, fits = (by_kind(RIVALS, every(take)) for take in (closeness.compared, closeness.fitted))
    return {"effect": effect, "fits": (fits,), "unsettled": unsettled, "over": "rivals and pictures", "agree": True}


def above_designed(measure: str) -> dict[str, Any]:
    """What a claim needs that a measure of living dense networks is larger than that of the designed one."""

    def columns(table: pd.DataFrame, kind: str, picture: str) -> dict[str, Any]:
        return {"": moments.of(table, kind, picture)[measure] - moments.reading(table, "designed", measure, picture)}

    return {"effect": by_kind(DENSES, columns), "fits": (by_kind(DENSES, living),), "over": "pictures"}


def living(table: pd.DataFrame, kind: str, picture: str) -> dict[str, Any]:
    """By seed 1 if a network is alive, 0 if it is dead."""
    return {"": moments.alive(moments.of(table, kind, picture))}


RIVALS, DENSES = {kind: words for kind, words in KINDS.items() if kind != SP}, {DENSE: "dense"}
SHOWN = {"log_relative": "relative trace", "log_noise": "noise"}
DECADE = 0.1
"""The least difference: a factor of 1.26."""
BOUNDED = float(np.log10(2.0))
"""Features lie within [-1, 1], so that no error exceeds 2: a bound above that says nothing."""
CONTROLS = (
    rc.reads("quadratic", "trace", at_least=9.99, at_most=10.01),
    rc.Check(
        "mean squared error of designed networks, largest", lambda t: read(t, "designed", "mse").max(), at_most=1e-6
    ),
    rc.Check("layers that respect the Welch bound, least network", lambda t: t["respected"].min(), at_least=1.0),
)


def read(table: pd.DataFrame, system: str, column: str) -> pd.Series:
    """What a measure reads of a system whose answer is known, by picture; the mean if there are several networks."""
    return rc.pick(table, system=system).groupby("goal")[column].mean()


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    return rc.Claim(name, says, source, controls=CONTROLS, **more)


FIGURE_7 = "figure 7: mechanisms that bias training to the compositional basin (measures are ours)"
ALIKE = (
    " Networks at their initial weights read lowest of all: the measure tells little of a basin that training found."
)
CLAIMS = (
    claim(
        "relative moves of weights matter less to the designed network than to dense ones",
        "The trace of the loss's Hessian, for moves relative to each weight, is smaller at the designed network."
        + ALIKE,
        FIGURE_7,
        **above_designed("log_relative"),
        above=DECADE,
        unit="log10 of the trace for relative moves, dense over designed",
    ),
    claim(
        "noise in the weights shows less in the designed network than in dense ones",
        "Noise of a twentieth in all weights changes the picture of the designed network less." + ALIKE,
        FIGURE_7,
        **above_designed("log_noise"),
        above=DECADE,
        unit="log10 of the mean squared change, dense over designed",
    ),
    claim(
        "after SP relative moves of weights matter less",
        "After SP the trace of the loss's Hessian, for moves relative to each weight, is smaller than of dense,"
        " randomly pruned and narrow networks." + ALIKE,
        FIGURE_7,
        **above_sp("log_relative", "relative trace"),
        above=DECADE,
        unit="log10 of the trace for relative moves, rival over SP",
    ),
    claim(
        "after SP noise in the weights shows less",
        "After SP the same noise changes the picture less than of dense, randomly pruned and narrow networks." + ALIKE,
        FIGURE_7,
        **above_sp("log_noise", "noise"),
        above=DECADE,
        unit="log10 of the mean squared change, rival over SP",
    ),
    claim(
        "the bound on compounded interference says something of trained networks",
        "By our reconstruction, interference that compounds over all layers is bounded below the range of features. The"
        " bound of the designed networks is far above that range as well.",
        "the abstract: interference bounds (our reconstruction)",
        effect=by_kind(KINDS, lambda t, kind, picture: {"": moments.of(t, kind, picture)["log_compounded"]}),
        fits=(by_kind(KINDS, living),),
        below=BOUNDED,
        over="kinds and pictures",
        unit="log10 of the bound; features lie within 2 of each other",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """What theory says by kind of network, a dot each; lines are designed networks; and what is judged."""
    rows, shown = rc.networks(table), {**SHOWN, "overlap": "mean |cos| of maps", "log_compounded": "bound"}
    rows = rows[moments.alive(rows) != 0]
    picture, axes = rc.plots.panels(rows=2, columns=4, side=4.4)
    for place, (column, title) in zip(axes[0], shown.items(), strict=True):
        figures.dots(place, rows, column, by="kind", kinds=list(KINDS), names=list(KINDS.values()))
        figures.lines(place, read(table, "designed", column).to_dict())
        figures.lines(place, read(table, "untrained", column).to_dict(), style=":")
        place.set_title(title if column == "overlap" else f"log10, {title}")
    axes[0, 0].legend(fontsize=6, frameon=False)
    axes[0, 0].set_xlabel("lines: designed; dotted: untrained", fontsize=7)
    short = ("relative trace", "noise", "", "", "")
    named = list(zip(short, CLAIMS, strict=True))
    titles = ("dense over designed", "relative trace, rival over SP", "noise, rival over SP", "bound")
    for place, some, title in zip(axes[1], (named[:2], named[2:3], named[3:4], named[4:]), titles, strict=True):
        figures.judged(place, table, dict(some))
        place.set(title=f"as judged: {title}", xlabel="decades")
    axes[1, 1].legend(fontsize=6, frameon=False)
    return picture
