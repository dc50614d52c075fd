"""Does a more complex picture have a larger best depth, that at which networks come out most designed?

Networks of one mix of units and several depths are trained on each of many targets, pruned by similarity to one share
of their weights, and retrained. A target's best depth is that of the lowest score at the end of training, among depths
that render it (a network that does not looks designed). The paper says that PNG complexity tends to correlate with the
best depth; the claim is that rank correlation over 44 targets (earlier seeds of them were looked at), within their kind
(random networks, scenes, photographs): over all kinds together it has the opposite sign. What repeats is the target,
not the seed: an effect is a jackknife's pseudo-value per target. Best depths must be found again by other seeds, and
often lie inside of the depths that render. The paper's formula and its search around a prediction could not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.cppn.measures import luminance, picture_zip
from recombine.experiments.do2026 import predicted
from recombine.experiments.do2026.best import Outcome, best, by_chance, halves, interior, shallowest, tendency
from recombine.experiments.do2026.targets import FEATURES, Goal, goals
from recombine.experiments.pictures import scoring, shared

if TYPE_CHECKING:
    import pandas as pd

MIX = (("cache", 6), ("gaussian", 4), ("identity", 2), ("sigmoid", 2), ("sin", 2))
PNG, *OTHERS = FEATURES


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    others: int = 44
    """targets, spread evenly over random networks, scenes and tiles of a photograph"""
    depths: tuple[int, ...] = (2, 4, 7, 10)
    """hidden layers, rising"""
    share: float = 0.256
    """weights left after pruning, as a share of all"""
    retraining: int = 300
    """updates after pruning"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining", "others")
        if len(self.depths) < 2 or list(self.depths) != sorted(set(self.depths)) or self.depths[0] < 1:
            raise rc.UserError(f"depths must be two or more rising numbers from 1 on, got {self.depths}")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**shared.QUICK | {"others": 6, "depths": (1, 2), "retraining": 5})
LAPTOP = Settings(seeds=2, block=2, others=24, size=24, steps=500, learning_rate=7e-3, n_weights=16, depths=(2, 4, 8))
_LONG = {"steps": 6000, "retraining": 6000}
GPU = Settings(seed=1, seeds=4, block=4, size=64, **_LONG, depths=(2, 4, 6, 8, 12, 16), n_weights=100)
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
            rc.Recipe(steps, 1, rc.unit_adam),
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
    named = [(every[place], seed) for place, seed in who]
    rows = rc.rows(pruned, [about(cell, *one) for one in named], scored(settings, shared.members(pruned), named))
    for row, early, (goal, seed), model in zip(rows, dense.diverged_at, named, shared.members(pruned), strict=True):
        row["diverged_at"] = max(row["diverged_at"], int(early))
        monitor.recorded(f"pruned-{goal.number}-{seed}", recorded(settings, goal, model))
    return rows


def about(cell: rc.Cell, goal: Goal, seed: int) -> dict[str, Any]:
    """Who a network is: its depth, its target and what is known of that."""
    condition = f"{cell.depth} layers, {goal.shown.name}"
    return {"condition": condition, "number": goal.number, **goal.facts, "depth": cell.depth, "seed": seed}


def scored(settings: Settings, models: list[Any], named: list[tuple[Goal, int]]) -> list[dict[str, float]]:
    """For each network the share of its target's variance that it misses, and how designed it is."""
    from recombine.cppn.sweep.structure import structure

    first, seeds = named[0][0].shown.picture, [seed for _, seed in named]
    numbers = structure(models, settings.size, first, seeds=seeds, weights=settings.n_weights)
    return [
        one | {"R": one["change_zip"] / size_of(goal)} | off(settings, goal, model)
        for one, (goal, _), model in zip(numbers, named, models, strict=True)
    ]


def size_of(goal: Goal) -> float:
    """The compressed size of a target, bytes per pixel."""
    return float(picture_zip(luminance(goal.shown.picture)[None])[0])


def off(settings: Settings, goal: Goal, model: Any) -> dict[str, float]:
    """Mean squared error, and as a share of the picture's variance."""
    mse = shared.error(settings, goal.shown, model)
    return {"mse": mse, "missed": mse / float(np.var(goal.shown.picture, axis=(0, 1)).mean())}


def recorded(settings: Settings, goal: Goal, model: Any) -> rc.Record:
    """What a network renders of its target."""
    y, y_hat = (a.reshape(1, -1, 3) for a in (goal.shown.picture, rc.render(model, settings.size)))
    return rc.Record(np.array([[goal.number]]), rc.grid(settings.size)[None], y, y_hat)


def controls(settings: Settings) -> list[dict]:
    """Made-up best depths, an exact line of each complexity; and untrained networks of each depth, for one target."""
    every, rows = goals(settings), []
    for name in FEATURES:
        x = np.array([goal.facts[name] for goal in every])
        line = np.interp(x, [x.min(), x.max()], [settings.depths[0], settings.depths[-1]])
        for goal, depth in zip(every, line.tolist(), strict=True):
            rows.append({"system": f"line in {name}", "number": goal.number, "seed": 0, "best": depth, **goal.facts})
    for depth in settings.depths:
        born = scoring.untrained(settings, lambda key, depth=depth: rc.CPPN(MIX, depth, key=key))
        what = {"system": "untrained", "condition": f"untrained, {depth} layers", "depth": depth, **every[0].facts}
        found = scored(settings, born, [(every[0], settings.seed + i) for i in range(len(born))])
        rows += [what | {"seed": i} | one for i, one in enumerate(found)]
    return rows


MARGIN = 0.3
"""Of a rank correlation: less explains under a tenth of the order of the best depths."""


def made_up(feature: str) -> Callable[[pd.DataFrame], float]:
    """What the effect reads on best depths that are an exact line of the feature."""
    return lambda t: float(tendency(rc.pick(t, system=f"line in {feature}").set_index("goal"), feature).mean())


def checks(outcome: Outcome, features: Sequence[str]) -> dict[str, Any]:
    """What must be so before a tendency of depths is judged."""
    return {
        "preconditions": (
            rc.Check("targets that have a depth", lambda t: float(len(outcome(t))), at_least=20),
            rc.Check(
                "share of the targets that have the most frequent depth",
                lambda t: outcome(t)["best"].value_counts(normalize=True).max(),
                at_most=0.8,
            ),
            rc.Check("rank correlation of depths by halves of the seeds", halves(outcome), at_least=0.5),
        ),
        "controls": (
            *(rc.Check(f"effect of depths that are a line of {n}", made_up(n), at_least=0.99) for n in features),
            rc.Check(
                "how often depths shuffled over targets hold",
                lambda t: max(by_chance(outcome(t), name, MARGIN) for name in features),
                at_most=0.05,
            ),
        ),
    }


def claim(name: str, says: str, source: str, *, score: str = "", features: Sequence[str], kind: str = "") -> rc.Claim:
    """That features go with the best depth by a score over targets, or without a score with the least that renders."""

    def only(measure: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame], Any]:
        return lambda table: measure(table[table["kind"] == kind] if kind else table)

    outcome = only(best(score) if score else shallowest)
    every = rc.each({one: lambda t, one=one: tendency(t, one) for one in features})
    asked = checks(outcome, features)
    if score:
        words = "share of targets whose best depth is neither the shallowest nor the deepest that renders them"
        asked["preconditions"] += (rc.Check(words, only(interior(score)), at_least=1 / 3),)
    return rc.Claim(
        name,
        says,
        source,
        effect=lambda table: every(outcome(table)),
        above=MARGIN,
        unit="rank correlation with the depth over targets, within kinds",
        repeats="targets",
        over="complexities" if len(features) > 1 else "",
        **asked,
    )


FIGURE_4 = "figure 4: higher complexity tends to correlate with larger optimal depth. Within kinds of pictures is ours"
CLAIMS = (
    *(
        claim(
            f"pictures of a larger {PNG} have a larger best depth by {words} (the paper)",
            f"Over targets of one kind, the {PNG} has a positive rank correlation with the depth of the"
            f" simplest {words}.",
            FIGURE_4,
            score=score,
            features=[PNG],
        )
        for score, words in predicted.SCORES.items()
    ),
    claim(
        "pictures of more waves and of more squares have a larger best depth (ours)",
        "Over targets of one kind, the number of waves, and that of squares, has a positive rank correlation with"
        " the depth of the simplest unit maps.",
        "ours: two other complexities",
        score="map_zip",
        features=OTHERS,
    ),
    claim(
        f"pictures by random networks of a larger {PNG} have a larger best depth (ours)",
        f"The same for the {PNG}, over targets rendered by random networks alone.",
        "ours: an earlier run suggested it on other targets",
        score="map_zip",
        features=[PNG],
        kind="network",
    ),
    claim(
        f"pictures of a larger {PNG} need more layers to be rendered (ours)",
        f"Over targets of one kind, the {PNG} has a positive rank correlation with the least depth at which at least"
        " half of the networks render the target.",
        "ours: most best depths are the least that renders. Stated after a look at earlier seeds of these targets",
        features=[PNG],
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Best depths against complexities, scores against depth, and the correlations as they are judged."""
    return predicted.figure(table, CLAIMS)
