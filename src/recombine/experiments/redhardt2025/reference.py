"""Does the paper's own student, trained as its code trains it, do here what it does there; and in half the precision?

The default of the released code: a random quarter of the combinations held out, a constant learning rate, no schedule.
Its numbers below were measured with that code, one seed. Students are trained once in float32 (whose products a GPU
rounds to TF32) and once in bfloat16 with first moments in bfloat16, as the other `gpu` tiers are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithHeldOut):
    cosine: bool = False
    """let the learning rate fall to a fiftieth along a cosine"""
    precisions: tuple[str, ...] = ("bfloat16", "float32")
    """what activations and gradients are computed in, one kind of student each; float32 is among them"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {"float32"} < set(self.precisions) <= {"float32", "bfloat16"} or len(self.precisions) > 2:
            raise rc.UserError(f"precisions must be float32 and bfloat16, each once, got {', '.join(self.precisions)}")


QUICK = Settings(**students.QUICK)
LAPTOP = Settings(steps=1500, learning_rate=3e-3, tasks=64)
GPU = Settings(width=1024, steps=100_000, learning_rate=3e-4, **students.FULL)
PAPER = replace(GPU, seeds=10, steps=300_000)
SEEN, UNSEEN, PROBES = 0.997, 0.995, (1.0, 0.996, 0.992, 0.979)
"""R^2 with the authors' code after 100,000 steps, and of probes of its four hidden layers on held-out tasks."""


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"precision": name} for name in settings.precisions])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = students.with_changes(cell.settings, precision=cell.precision)
    task = shared.family(settings, max(cell.members) + 1)
    rows = shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=[{"condition": cell.precision, "seed": seed} for seed in cell.members],
        supports=[shared.random_support(settings, task, seed) for seed in cell.members],
        monitor=monitor,
        label="students",
    )
    return [row | {"probe_deepest": shared.deepest(row)} for row in rows]


def controls(settings: Settings) -> list[dict]:
    *known, untrained = shared.controls(settings)
    return [*known, untrained | {"probe_deepest": shared.deepest(untrained)}]


EXACT, HALF = "float32", "bfloat16"
RELEASED = "the default of the released code"
claim = partial(figures.claim, fits=(figures.fits(condition=EXACT),))
CLAIMS = (
    claim(
        "held-out combinations are answered",
        "Trained as the paper's code trains, on three quarters of the combinations, a student answers the others.",
        RELEASED,
        effect=rc.value("r2_unseen", condition=EXACT),
        above=0.9,
        unit="R2 on held-out tasks, float32",
    ),
    claim(
        "held-out combinations are answered almost as well as training ones",
        "R2 falls by less than 0.02 from training to held-out combinations.",
        RELEASED,
        effect=lambda t: rc.by_seed(t, "r2_seen", condition=EXACT) - rc.by_seed(t, "r2_unseen", condition=EXACT),
        below=0.02,
        unit="R2 on training minus held-out tasks, float32",
    ),
    claim(
        "constituents can be decoded from the deepest layer",
        "The constituents of held-out tasks can be decoded linearly from the deepest hidden layer.",
        RELEASED,
        effect=rc.value("probe_deepest", condition=EXACT),
        above=0.9,
        unit="R2 of constituents decoded from the deepest hidden layer, float32",
    ),
    claim(
        "bfloat16 answers held-out combinations as float32 does",
        "Computed in bfloat16, R2 on held-out tasks differs by less than 0.01, seed by seed.",
        "ours; stated before any run",
        effect=lambda t: rc.difference("r2_unseen", HALF, EXACT)(t).abs(),
        below=0.01,
        unit="absolute difference of R2 on held-out tasks between the two precisions",
        fits=(figures.fits(),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on training and held-out tasks, and of probes of each layer, with the authors' numbers where settings are."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.4)
    answered, read = axes[0]
    for name, colour, place in ((EXACT, plots.GOOD, -0.1), (HALF, plots.NEUTRAL, 0.1)):
        mine = rows[rows["condition"] == name]
        at = np.array([0, 1]) + place
        answered.plot(at, mine[["r2_seen", "r2_unseen"]].T, color=colour, alpha=0.3, linewidth=0.8)
        answered.plot(at, mine[["r2_seen", "r2_unseen"]].T.to_numpy(), "o", color=colour, markersize=4)
        answered.plot([], [], "o", color=colour, markersize=4, label=name)
        figures.by_layer(read, mine, colour, name)
    if matches(settings):
        answered.plot([0, 1], [SEEN, UNSEEN], "x", color="black", label="authors' code, one seed")
        read.plot(range(1, len(PROBES) + 1), PROBES, "x", color="black")
    answered.set_xticks((0, 1), ("training tasks", "held-out tasks"))
    loss, moved = ((c.effect(table).mean()) for c in (CLAIMS[1], CLAIMS[3]))
    answered.set_title(f"float32 loses {loss:.4f};\nprecisions differ by {moved:.4f} per seed")
    answered.set(ylabel="R2", xlim=(-0.5, 1.5))
    figures.legend(answered)
    lowest = float(np.nanmin([*np.concatenate(list(rows["probes_unseen"])), *PROBES]))
    read.set(ylabel="R2 of decoded constituents, held-out tasks", ylim=(max(-1.05, lowest - 0.02), 1.01))
    return picture


def matches(settings: Settings) -> bool:
    """Whether these are the settings that the authors' numbers were measured with."""
    names = (
        "modules",
        "max_active",
        "size",
        "samples",
        "tasks",
        "held_out",
        "width",
        "depth",
        "steps",
        "learning_rate",
    )
    return all(getattr(settings, name) == getattr(GPU, name) for name in names)
