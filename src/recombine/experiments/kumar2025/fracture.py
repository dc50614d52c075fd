"""Is a network that gradient descent made of a picture as designed inside as one that was designed to draw it?

Figure 1 of do2026 and the claim of kumar2025: two networks of the same units draw the same picture; one was designed
by hand (or evolved), the other trained from random weights. Four kinds of score, none of which is one number alone:
how compressible the changes are that single weights make (R), how pure and how often reused unit maps are, and how
many directions the changes span. Beside them stand effect sizes of measures that have a value for each unit, each two
units or each change: how often a value of the trained network exceeds one of the designed network. The same function
with its linear units rotated (`rotated`) is the control: unit-level scores must fall though the picture is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.kumar2025 import figures as own
from recombine.experiments.kumar2025.figures import DESIGNED, OTHERS, ROTATED, TRAINED
from recombine.experiments.pictures import compare, figures, scoring, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    pass


QUICK = Settings(**shared.QUICK)
# In so few steps and pixels the flower is not learnt.
LAPTOP = Settings(targets=("face", "moth"), steps=2500)
GPU = Settings(seeds=12, block=12, seed=1, size=128, steps=30_000, n_weights=200)
PAPER = replace(GPU, size=256, steps=100_000, n_weights=1000)

cells = shared.cells


def run(cell: rc.Cell, monitor) -> list[dict]:
    """Rows of the trained networks, then of those that were not trained here, whose weights each seed samples anew."""
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    run = shared.train(settings, goal, shared.dense(goal), cell.members, monitor=monitor, label="networks")
    who = [
        {"condition": f"{TRAINED}, {goal.name}", "kind": TRAINED, "goal": goal.name, "seed": s} for s in cell.members
    ]
    each = [(run[i], seed) for i, seed in enumerate(cell.members)]
    found = scoring.in_threads(lambda one: beside(settings, goal, *one), each, monitor=monitor)
    return rc.rows(run, who, [mine for mine, _ in found]) + [row for _, others in found for row in others]


def beside(settings: Settings, goal: shared.Goal, trained: Any, seed: int) -> tuple[dict, list[dict]]:
    """What is measured of the network trained with a seed, and rows of those that were not trained here."""
    known, inside = measured(settings, goal, goal.model, seed)
    mine: dict[str, Any] = dict(scoring.UNKNOWN)
    if trained.diverged_at < 0:
        mine = measured(settings, goal, trained.model, seed, inside)[0] | scoring.ended(settings, goal, trained)
        mine |= {} if seed else figures.looks(trained.model, seed)
    known |= {} if seed else figures.looks(goal.model, seed)
    others = {DESIGNED: ("designed", known)}
    for kind, (system, model) in without_training(settings, goal, seed).items():
        apart = (
            {"apart": float(np.abs(rc.render(model, settings.size) - goal.picture).max())} if kind == ROTATED else {}
        )
        found = measured(settings, goal, model, seed, inside if kind == ROTATED else None)[0]
        others[kind] = system, found | apart
    return mine, [
        {"system": system, "condition": f"{kind}, {goal.name}", "kind": kind, "goal": goal.name, "seed": seed, **found}
        for kind, (system, found) in others.items()
    ]


def measured(
    settings: Settings, goal: shared.Goal, model: Any, seed: int, designed: dict[str, np.ndarray] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A network's scores, and its values by change, map and pair of maps: its weights are swept once for both.

    Beside those of the designed network, if given, also how often one of its values exceeds one of theirs.
    """
    from recombine.cppn.sweep import compare as pair
    from recombine.cppn.sweep.scores import features

    taken = features(model, settings.size, weights=settings.n_weights, seed=seed)
    inside = pair.inside(model, settings.size, taken=taken)
    more = {} if designed is None else pair.probability_of_superiority(designed, inside)
    found = scoring.scored(settings, goal, model, seed, taken=taken)
    return found | {f"auc_{name}": value for name, value in more.items()}, inside


def without_training(settings: Settings, goal: shared.Goal, seed: int) -> dict[str, tuple[str, Any]]:
    """By kind, system and network: the designed one rotated by this seed, and one that others trained, if there is."""
    from recombine.cppn.sweep import rotate

    rotated = rotate.rotated(goal.model, rc.key(settings.seed, "rotation", seed))
    found = {ROTATED: ("rotated", rotated)}
    return found | ({OTHERS: (OTHERS, goal.trained)} if goal.trained is not None else {})


def controls(settings: Settings) -> list[dict]:
    """For each picture a network at its initial weights; designed and rotated networks have a row for each seed."""
    rows = []
    for goal in shared.goals(settings).values():
        inside = measured(settings, goal, goal.model, settings.seed)[1]
        model = scoring.untrained(settings, shared.dense(goal))
        found = measured(settings, goal, model, settings.seed, inside)[0]
        rows.append({"system": "untrained", "goal": goal.name, "seed": 0, **found})
    return rows


def of(table: pd.DataFrame, kind: str, column: str) -> pd.DataFrame:
    """One row per seed and one column per picture."""
    return table[table["kind"] == kind].pivot_table(index="seed", columns="goal", values=column, dropna=False)


def minus(column: str, first: str, second: str) -> compare.Table:
    """By seed and picture, a score of one kind of network minus that of another."""
    return lambda table: of(table, first, column) - of(table, second, column)


def where_even(effect: compare.Table) -> compare.Table:
    """The same at those pictures that are left-right even enough for parity to mean something; no number elsewhere."""

    def chosen(table: pd.DataFrame) -> pd.DataFrame:
        share, each = of(table, DESIGNED, "even_share").iloc[0].to_dict(), effect(table)
        even = [goal for goal in each if share[goal] >= 0.85]
        return each[even] if even else each * np.nan

    return chosen


SAME = rc.Check(
    "largest change of a colour when the linear units are rotated", lambda t: t["apart"].max(), at_most=1e-3
)
SEES = rc.Check(
    "share of unit maps that are distinct, rotated minus designed, least of all",
    lambda t: minus("distinct_share", ROTATED, DESIGNED)(t).to_numpy().min(),
    at_least=0.05,
)
LOWER = ("additive", "alike", "symmetry")
"""Measures that are expected to be lower in trained networks."""


def claim(name: str, says: str, source: str, *, controls: tuple[rc.Check, ...] = (SAME,), **more: Any) -> rc.Claim:
    """A claim about trained networks that draw their picture at the end of training, picture by picture."""
    fits = (compare.drawn(kind=TRAINED),)
    return rc.Claim(name, says, source, fits=fits, controls=controls, over=compare.PICTURES, **more)


def exceeds(name: str, says: str, measure: str) -> rc.Claim:
    """That trained networks are further than rotated ones on the fractured side of the designed network."""
    first, second = (ROTATED, TRAINED) if measure in LOWER else (TRAINED, ROTATED)
    effect = minus(f"auc_{measure}", first, second)
    return claim(
        name,
        f"{says} Trained networks are further from the designed one in this than the same network rotated, for every"
        f" picture{' that is symmetric' * (measure == 'symmetry')}.",
        "figures 1 and 10-12 of do2026, read as numbers; ours",
        effect=where_even(effect) if measure == "symmetry" else effect,
        above=0.05,
        unit=f"chance that a value is higher than one of the designed network, {first} minus {second}",
    )


CLAIMS = (
    claim(
        "changes of trained networks are harder to compress",
        "For every picture, the changes that single weights of a trained network make are harder to compress, beside"
        " the picture, than those of the designed one. Changes are matched in size where a weight can reach it.",
        "figure 1 of do2026; the claim of kumar2025",
        effect=minus("R", TRAINED, DESIGNED),
        above=0.05,
        unit=f"{compare.R}, trained minus designed",
    ),
    claim(
        "changes of trained networks are harder to compress than those of the designed network rotated (ours)",
        "They are harder to compress than those of the designed network with its linear units rotated as well: what"
        " was trained is more than a designed network in another basis.",
        "ours; stated after a laptop run, before any on a GPU",
        effect=minus("R", TRAINED, ROTATED),
        above=0.05,
        unit=f"{compare.R}, trained minus designed and rotated",
    ),
    claim(
        "unit maps of trained networks are less pure",
        "Where the picture is left-right symmetric, unit maps of the designed network are more purely even or odd.",
        "figures 1 and 10-12 of do2026",
        effect=where_even(minus("purity", DESIGNED, TRAINED)),
        above=0.05,
        unit="parity purity of unit maps, designed minus trained",
    ),
    claim(
        "unit maps of trained networks are reused less",
        "Of the unit maps of a trained network a larger share is distinct; a designed one carries its maps on.",
        "figures 1 and 10-12 of do2026",
        effect=minus("distinct_share", TRAINED, DESIGNED),
        above=0.2,
        unit="distinct maps as a share of all, trained minus designed",
        controls=(SAME, SEES),
    ),
    claim(
        "weights of trained networks pull in more directions",
        "The changes that single weights of a trained network make span more directions than those of a designed one.",
        "the claim of kumar2025",
        effect=lambda t: np.log10(of(t, TRAINED, "participation_ratio") / of(t, DESIGNED, "participation_ratio")),
        above=0.3,
        unit="log10 of the participation ratio of weights' effects, trained over designed",
    ),
    exceeds("unit maps of trained networks take more to describe", "Compressed, unit maps are larger.", "map_zip"),
    exceeds(
        "unit maps of trained networks are less a sum of rows and columns",
        "Less of a map's variance is a sum over x and y.",
        "additive",
    ),
    exceeds("units of one layer of trained networks are less alike", "Maps of one layer are less correlated.", "alike"),
    exceeds(
        "changes of trained networks spare the symmetry less", "They leave less of the picture's symmetry.", "symmetry"
    ),
)

figure = own.figure
