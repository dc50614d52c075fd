"""Is a network that gradient descent made of a picture as designed inside as one that was designed to draw it?

Figure 1 of do2026 and the claim of kumar2025: two networks of the same units render the same picture; one was designed
by hand (or evolved), the other trained from random weights. Two scores: how compressible the changes are that single
weights make, relative to the target (R), and how compressible unit maps are. Three networks stand beside the trained
one: the designed network, the same with its linear units rotated (the same function in another basis), and a dense
network at its initial weights. What an untrained network already shows says nothing about gradient descent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.kumar2025 import figures as own
from recombine.experiments.kumar2025.figures import DESIGNED, OTHERS, ROTATED, TRAINED, UNTRAINED
from recombine.experiments.pictures import closeness, figures, moments, scoring, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    pass


QUICK = Settings(**shared.QUICK)
LAPTOP = Settings(targets=("face", "vase"), block=6, seeds=6, steps=4000, n_weights=60)
GPU = Settings(
    seed=1,
    targets=("face", "vase"),
    evolved=("skull", "butterfly"),
    seeds=16,
    block=16,
    size=64,
    steps=30_000,
    n_weights=200,
)
PAPER = replace(GPU, size=256, steps=100_000, n_weights=1000)

cells = shared.cells


def run(cell: rc.Cell, monitor) -> list[dict]:
    """Rows of the trained networks, then of those that were not trained here, whose weights each seed samples anew."""
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    run = shared.train(settings, goal, shared.dense(goal), cell.members, monitor=monitor, label="networks")
    who = [{"condition": f"{TRAINED}, {goal.name}", "kind": TRAINED, "seed": s} for s in cell.members]
    every = scoring.entries(run, who)
    rows = scoring.scored(settings, goal, every, monitor=monitor)
    others = [one for seed in cell.members for one in beside(settings, goal, seed)]
    known = scoring.structures(settings, goal, [m for _, m in others], [who["seed"] for who, _ in others])
    rows += [who | numbers for (who, _), numbers in zip(others, known, strict=True)]
    sound = [one.model for one in every if one.diverged_at < 0]
    models = [*(one.model for one in every), *(model for _, model in others)]
    asked = [(row, model) for row, model in zip(rows, models, strict=True) if np.isfinite(row["mse"])]
    for (row, model), said in zip(asked, scoring.answers(settings, sound, [m for _, m in asked]), strict=True):
        shown = row["seed"] == 0 and row["kind"] in (TRAINED, DESIGNED)
        row.update(said | (figures.looks(model, 0) if shown else {}))
    return rows


def beside(settings: Settings, goal: shared.Goal, seed: int) -> list[tuple[dict, Any]]:
    """Who is there beside the network trained with a seed: networks that were not trained here."""
    import jax

    from recombine.cppn.sweep import rotate

    born = rc.initial_models(shared.dense(goal), rc.member_keys(settings.seed, [seed]))
    models = {
        DESIGNED: goal.model,
        ROTATED: rotate.rotated(goal.model, rc.key(settings.seed, "rotation", seed)),
        UNTRAINED: jax.tree.map(lambda a: a[0], born),
    } | ({OTHERS: goal.trained} if goal.trained is not None else {})
    who = {"goal": goal.name, "seed": seed}
    return [
        ({"system": kind, "condition": f"{kind}, {goal.name}", "kind": kind, **who}, model)
        for kind, model in models.items()
    ]


def controls(settings: Settings) -> list[dict]:
    """A rough picture and an untrained wiring; designed, rotated and untrained networks have a row for each seed."""
    known = ("designed", "rotated", "untrained")
    return [row for row in scoring.controls(settings) if row["system"] not in known]


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    return rc.Claim(name, says, source, controls=moments.CONTROLS, **more)


def yes(moment: str) -> dict[str, Any]:
    """By seed, the share of changes that look compositional to a fitted judge: designed minus trained."""

    def both(table: pd.DataFrame, of_pair: Callable[[Any, Any], Any]) -> pd.DataFrame:
        import pandas as pd

        if moment not in table:
            return pd.DataFrame()
        pictures = moments.pictures(table, DESIGNED, TRAINED)
        return pd.DataFrame(
            {p: of_pair(*(moments.of(table, kind, p) for kind in (DESIGNED, TRAINED))) for p in pictures}
        )

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        return both(table, lambda designed, trained: designed[moment] - trained[moment])

    def fits(table: pd.DataFrame) -> pd.DataFrame:
        """A dead network, or one without a change to judge, has not learnt the picture."""
        return both(table, lambda _, trained: moments.alive(trained) * trained[moment].notna())

    def unsettled(table: pd.DataFrame) -> closeness.Reasons:
        return closeness.reasons(table, (DESIGNED, TRAINED), None, (closeness.END,))

    more = {"over": "pictures", "unsettled": unsettled, "above": 0.25, "unit": "share of yes, designed minus trained"}
    return {"effect": effect, "fits": (fits,), **more}


CLAIMS = (
    claim(
        "trained networks are more fractured than designed ones",
        "Single weights of a trained network make changes, and its units carry maps, that take at least a tenth more to"
        " describe than those of the designed or evolved network that renders the same picture. By itself this says"
        " little: the designed network in another basis may keep the margin too, and so may an untrained one. The next"
        " two claims tell training from both.",
        "figure 1 of do2026; the claim of kumar2025",
        **closeness.larger(TRAINED, DESIGNED),
    ),
    claim(
        "trained networks are more fractured than a designed one in another basis",
        "The designed network with its linear units rotated is closer to itself than a trained network is: what was"
        " trained is more than the designed network in another basis.",
        "ours; restated for both scores before these seeds",
        **closeness.closer(ROTATED, TRAINED, dense=TRAINED, moments=(closeness.END,)),
    ),
    claim(
        "trained networks are more fractured than untrained ones",
        "A dense network at its initial weights is closer to the designed one than after training: gradient descent"
        " adds to what is there at birth.",
        "ours; asked for by a review, stated before any run",
        **closeness.closer(UNTRAINED, TRAINED, dense=TRAINED, moments=(closeness.END,)),
    ),
    claim(
        "changes of trained networks look less compositional to a fitted judge, changes of equal effect",
        "Of changes that alter the picture equally much, a larger share looks compositional in the designed network."
        " The judge reads smoothness: most changes of an untrained network look so as well. It judges the networks that"
        " set its scale, so that about a tenth of their changes pass, whatever they are.",
        "figure 1 of do2026, whose score is a yes or no; ours is a classifier fitted on evolved networks. Secondary",
        **yes("yes_matched"),
    ),
    claim(
        "changes of trained networks look less compositional to a fitted judge, changes of one size",
        "Of changes of every weight by the same amount, a larger share looks compositional in the designed network."
        " The judge reads smoothness: more changes of an untrained network look so than of the designed one. It judges"
        " the networks that set its scale, so that about a tenth of their changes pass.",
        "figure 1 of do2026, as above. Secondary",
        **yes("yes_fixed"),
    ),
)

figure = own.figure
