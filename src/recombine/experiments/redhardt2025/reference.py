"""Does the paper's own student, trained as its code trains it, do here what it does there; and in half the precision?

The default of the released code: a random quarter of the combinations held out, a constant learning rate, no schedule.
Its numbers below were measured with that code, one seed. Students are trained once in float32 (whose products a GPU
rounds to TF32) and once in bfloat16 with first moments in bfloat16, as the other `gpu` tiers are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    cosine: bool = False
    """let the learning rate fall to a fiftieth along a cosine"""
    precisions: tuple[str, ...] = ("bfloat16", "float32")
    """what activations and gradients are computed in, one kind of student each; float32 is among them"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {"float32"} < set(self.precisions) <= {"float32", "bfloat16"} or len(self.precisions) > 2:
            raise rc.UserError(f"precisions must be float32 and bfloat16, each once, got {', '.join(self.precisions)}")


QUICK = Settings(**_students.QUICK)
LAPTOP = Settings(steps=1500, learning_rate=3e-3, tasks=64)
GPU = Settings(width=1024, steps=100_000, learning_rate=3e-4, **_students.FULL)
PAPER = replace(GPU, seeds=10, steps=300_000)
SEEN, UNSEEN, PROBES = 0.997, 0.995, (1.0, 0.996, 0.992, 0.979)
"""R^2 with the authors' code after 100,000 steps, and what is read off its four hidden layers on unseen tasks."""


@dataclass(frozen=True)
class Cell:
    """The students of one precision for one block of seeds."""

    settings: Settings
    precision: str
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, name, members) for name in settings.precisions for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings = _students.with_changes(cell.settings, precision=cell.precision)
    task = _students.family(settings, max(cell.members) + 1)
    masks = _students.masks(task)
    rows = _students.train(
        settings,
        task,
        _students.student(settings, task),
        who=[{"condition": cell.precision, "seed": seed} for seed in cell.members],
        supports=[
            rc.supports.random(masks, settings.held_out, _students.support_key(settings, seed)) for seed in cell.members
        ],
        watch=watch,
        label="students",
    )
    return [row | {"probe_deepest": float(row["probes_unseen"][-1])} for row in rows]


controls = _students.controls


def exact(table: pd.DataFrame, column: str) -> pd.Series:
    """By seed, of the students trained in float32."""
    return rc.by_seed(table, column, condition="float32")


FITTED = (_show.fitted(0.9),)
CLAIMS = (
    rc.Claim(
        "unseen combinations are answered",
        "Trained as the paper's code trains, on three quarters of the combinations, a student answers the others.",
        "the default of the released code",
        effect=lambda t: exact(t, "r2_unseen"),
        margin=0.9,
        unit="R2 on unseen tasks, float32",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "almost as well as seen ones",
        "What is lost from seen to unseen combinations is less than 0.02.",
        "the default of the released code",
        effect=lambda t: 0.02 - (exact(t, "r2_seen") - exact(t, "r2_unseen")),
        margin=0.0,
        unit="0.02 minus the loss of R2 from seen to unseen tasks, float32",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "its deepest layer still tells the constituents",
        "The constituents of unseen tasks can be read off the deepest hidden layer.",
        "the default of the released code",
        effect=lambda t: exact(t, "probe_deepest"),
        margin=0.9,
        unit="R2 of constituents read off the deepest hidden layer, float32",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "half the precision does the same",
        "Computed in bfloat16, R2 on unseen tasks differs by less than 0.01, seed by seed.",
        "ours; stated before any run",
        effect=lambda t: 0.01 - (rc.by_seed(t, "r2_unseen", condition="bfloat16") - exact(t, "r2_unseen")).abs(),
        margin=0.0,
        unit="0.01 minus the difference of R2 on unseen tasks between the two precisions",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on seen and unseen tasks, and what is read off each layer, with the authors' numbers where settings are."""
    plots, rows = rc.plots, _show.trained(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.4)
    answered, read = axes[0]
    kinds = dict(zip(("float32", "bfloat16"), (plots.GOOD, plots.NEUTRAL), strict=True))
    for name, colour in kinds.items():
        mine = rows[rows["condition"] == name]
        place = {"float32": -0.1, "bfloat16": 0.1}[name]
        for x, column in enumerate(("r2_seen", "r2_unseen")):
            label = name if x == 0 else None
            answered.plot(np.full(len(mine), x + place), mine[column], "o", color=colour, markersize=4, label=label)
        _show.by_layer(read, mine, colour, name)
    if matches(settings):
        answered.plot([0, 1], [SEEN, UNSEEN], "x", color="black", label="authors' code, one seed")
        read.plot(range(1, len(PROBES) + 1), PROBES, "x", color="black")
    answered.set_xticks((0, 1), ("seen tasks", "unseen tasks"))
    answered.set(ylabel="R2", xlim=(-0.5, 1.5))
    answered.legend(fontsize=7, frameon=False)
    lowest = float(np.nanmin([*np.concatenate(list(rows["probes_unseen"])), *PROBES]))
    read.set(ylabel="R2 of constituents read off", ylim=(max(-1.05, lowest - 0.02), 1.01))
    return picture


def matches(settings: Settings) -> bool:
    """Whether these are the settings that the authors' numbers were measured with."""
    names = ("modules", "hot", "size", "samples", "tasks", "held_out", "width", "depth", "steps", "learning_rate")
    return all(getattr(settings, name) == getattr(GPU, name) for name in names)
