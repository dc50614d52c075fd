"""Does the complexity of a picture predict the depth at which networks come out most designed?

Networks of one mix of units and several depths are trained on each of many targets, pruned by similarity to one share
of their weights, and retrained. A target's best depth is that of the lowest R, among depths that draw it (a network
that does not draw its picture looks designed). The paper's formula could not be read. Stated before any run, the
primary is: PNG ratio at 256 pixels, log-linear, fitted to all other targets. What is repeated is the target, not the
seed: an effect has one number per target, and its interval is over targets. A line in logarithms without any feature
guesses the mean of logarithms, which beats the mean where best depths are mostly small (for 44 targets it would "hold"
by chance in 4 of 10 runs): both means are to be beaten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import predicted
from recombine.experiments.do2026.best import (
    AGAIN,
    ALL,
    EVERYWHERE,
    RANDOM,
    best,
    by_chance,
    gains,
    halves,
    made_up,
    surely,
)
from recombine.experiments.do2026.targets import FEATURES, OWN, Goal, goals
from recombine.experiments.pictures import compare, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

MIX = (("cache", 6), ("gaussian", 4), ("identity", 2), ("sigmoid", 2), ("sin", 2))
PRIMARY, WAVES, SQUARES = FEATURES
UNKNOWN = {"mse": np.nan, "R": np.nan, "drawn": np.nan}
"""What a row says of a network that diverged."""


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    others: int = 41
    """targets besides the designed and evolved ones, spread evenly over random networks, shapes and found pictures"""
    depths: tuple[int, ...] = (2, 4, 7, 10)
    """hidden layers, rising"""
    share: float = 0.256
    """weights left after pruning, as a share of all"""
    retraining: int = 300
    """updates after pruning"""
    shortest: float = compare.GATE
    """mean squared error at which a network is scored; one that never gets there does not draw its picture"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining", "others")
        if len(self.depths) < 2 or list(self.depths) != sorted(set(self.depths)) or self.depths[0] < 1:
            raise rc.UserError(f"depths must be two or more rising numbers from 1 on, got {self.depths}")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**shared.QUICK | {"others": 4, "depths": (1, 2), "retraining": 5, "shortest": 1.0})
LAPTOP = Settings(
    seeds=2, block=2, others=27, size=24, steps=500, learning_rate=7e-3, n_weights=16, shortest=1.5e-2, depths=(2, 4, 8)
)
GPU = Settings(seeds=4, block=4, size=64, steps=5000, retraining=5000, depths=(2, 4, 6, 8, 12, 16), n_weights=60)
PAPER = replace(GPU, seeds=8, size=256, steps=100_000, retraining=100_000, depths=tuple(range(2, 33, 2)), n_weights=240)


def cells(settings: Settings) -> list[rc.Cell]:
    """The networks of one depth on all targets, for one block of seeds."""
    return rc.cells(settings, [{"depth": depth} for depth in settings.depths])


def run(cell: rc.Cell, monitor) -> list[dict]:
    """All targets and seeds are one population, in which a network's split holds its own picture alone."""
    from recombine.cppn.prune.similarity import similar_units

    settings, every = cell.settings, goals(cell.settings)
    task = rc.picture([goal.shown.picture for goal in every])
    who = [(place, seed) for place in range(len(every)) for seed in cell.members]
    alone = [rc.Split(task.combinations, np.arange(len(every)) == place) for place in range(len(every))]

    def train(steps: int, label: str, start: Any = None) -> Any:
        return rc.population(
            task,
            [alone[place] for place, _ in who],
            lambda key: rc.CPPN(MIX, cell.depth, key=key),
            rc.member_keys(settings.seed, [1000 * seed + every[place].number for place, seed in who]),
            rc.Recipe(steps, 1, rc.unit_adam, until=settings.shortest),
            dials={"learning_rate": settings.learning_rate},
            start=start,
            monitor=monitor,
            label=label,
        )

    dense, x = train(settings.steps, "dense"), rc.grid(settings.size)
    target = round(settings.share * shared.size(dense))
    each = zip(shared.members(dense), dense.diverged_at, strict=True)
    start = scoring.in_threads(lambda one: similar_units(one[0], x, target=target) if one[1] < 0 else one[0], each)
    pruned = train(settings.retraining, "pruned", shared.stacked(start))
    return rows_of(cell, dense, pruned, [(every[place], seed) for place, seed in who], monitor=monitor)


def rows_of(cell: rc.Cell, dense: Any, pruned: Any, who: list[tuple[Goal, int]], *, monitor: Any) -> list[dict]:
    """One row per pruned network: its target and what is known of it, whether it draws it, and its scores."""
    settings, diverged = cell.settings, np.maximum(dense.diverged_at, pruned.diverged_at)

    def one(i: int) -> dict[str, Any]:
        return scored(settings, who[i][0], pruned[i].reached, who[i][1]) if diverged[i] < 0 else UNKNOWN

    found = scoring.in_threads(one, range(len(who)), monitor=monitor)
    rows: list[dict] = []
    for i, (goal, seed) in enumerate(who):
        what = {"system": "network", "condition": f"{cell.depth} layers, {goal.shown.name}", "number": goal.number}
        what |= {**goal.facts, "depth": cell.depth, "seed": seed, "diverged_at": int(diverged[i])}
        what |= {"loss": float(pruned.losses[i, -1]), "dense_mse": float(dense.losses[i, -1])}
        rows.append(what | found[i])
        monitor.recorded(f"pruned-{goal.number}-{seed}", recorded(settings, goal, pruned[i].reached))
    return rows


def recorded(settings: Settings, goal: Goal, model: Any) -> rc.Record:
    """What a network draws of its target."""
    z, x = np.array([[goal.number]]), rc.grid(settings.size)[None]
    y, y_hat = (a.reshape(1, -1, 3) for a in (goal.shown.picture, rc.render(model, settings.size)))
    return rc.Record(z, x, y, y_hat)


def scored(settings: Settings, goal: Goal, model: Any, seed: int) -> dict[str, float]:
    """How well a network draws its target, whether that is well enough, and how designed it is."""
    found = scoring.scored(settings, goal.shown, model, seed)
    drawn = float(found["mse"] <= (1 + compare.SLACK) * settings.shortest)
    return {k: v for k, v in found.items() if not np.ndim(v) and k != "draws"} | {"drawn": drawn}


def controls(settings: Settings) -> list[dict]:
    """Made-up best depths, an exact log-line of each feature; and untrained networks of each depth, for one target."""
    rows = []
    for name in (*FEATURES, OWN):
        known = [goal for goal in goals(settings) if np.isfinite(goal.facts[name])]
        x = np.array([goal.facts[name] for goal in known])
        line = np.exp(np.interp(x, [x.min(), x.max()], np.log([settings.depths[0], settings.depths[-1]])))
        for goal, depth in zip(known, line.tolist(), strict=True):
            what = {"system": f"line in {name}", "number": goal.number, "seed": 0, "made_up": depth}
            rows.append(what | goal.facts)
    first = goals(settings)[0]
    for depth in settings.depths:
        model = scoring.untrained(settings, lambda key, depth=depth: rc.CPPN(MIX, depth, key=key))
        what = {"system": "untrained", "number": first.number, "seed": 0, "depth": depth, **first.facts}
        rows.append(what | scored(settings, first, model, settings.seed))
    return rows


def claim(words: tuple[str, ...], feature: str, *, least: int = 20, of: Callable = best, among: str = ALL) -> rc.Claim:
    """A feature predicts the best depth of targets left out, better than each of two means does."""

    def asked(table: pd.DataFrame) -> pd.DataFrame:
        found = of(table)
        return found[found[among]].dropna(subset=[feature])

    line = feature if of is best else PRIMARY
    return rc.Claim(
        *words,
        effect=lambda t: gains(asked(t), feature),
        above=0.0,
        unit="hidden layers, error of a mean minus error of the prediction",
        repeats="targets",
        over="means",
        preconditions=(
            rc.Check("number of targets that have a best depth", lambda t: float(len(asked(t))), at_least=least),
            rc.Check(
                "share of the targets that have the most frequent best depth",
                lambda t: asked(t)["best"].value_counts(normalize=True).max(),
                at_most=0.8,
            ),
        ),
        controls=(
            rc.Check(
                "least gain, with best depths that are an exact line of the feature",
                lambda t: surely(gains(made_up(t, line).loc[lambda rows: rows[among]], line)),
                at_least=1e-9,
            ),
            rc.Check(
                "how often best depths shuffled over targets are predicted",
                lambda t: by_chance(asked(t), feature),
                at_most=0.05,
            ),
        ),
    )


SAYS = "its best depth is guessed nearer than by the mean of the other targets'."
FIGURE_4 = "figure 4, which says that complexity tends to correlate with the best depth; read as a prediction"
CLAIMS = (
    claim((f"the {PRIMARY} predicts best depths (primary)", f"From a target's {PRIMARY} {SAYS}", FIGURE_4), PRIMARY),
    *(
        claim(
            (f"the number of {one} predicts best depths", f"From the {one} it takes to draw a target {SAYS}", "ours"),
            one,
        )
        for one in (WAVES, SQUARES)
    ),
    claim(
        (
            f"the {PRIMARY} predicts best depths among random networks alone",
            f"Of a target drawn by a random network, from the {PRIMARY} {SAYS}",
            "ours",
        ),
        PRIMARY,
        least=8,
        among=RANDOM,
    ),
    claim(
        (
            f"the {PRIMARY} predicts best depths where all depths draw the target",
            f"Where fit rules no depth out, from the {PRIMARY} {SAYS}",
            "ours",
        ),
        PRIMARY,
        least=8,
        among=EVERYWHERE,
    ),
    claim(
        ("the depth of the network that drew a target predicts its best depth", f"From that depth {SAYS}", "ours"),
        OWN,
        least=8,
    ),
    claim(
        (
            "other seeds predict the same best depths",
            f"From the best depth of a target that half of the seeds find, {SAYS}",
            "ours",
        ),
        AGAIN,
        of=halves,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Best depths against predictions and complexities, R against depth, and the gains as they are judged."""
    return predicted.figure(table, CLAIMS)
