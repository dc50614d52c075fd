"""Does showing more combinations of modules lead a student to those that it was not shown?

Scaling the number of training tasks, hyperteacher: the same student, the same number of updates, more or fewer masks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    counts: tuple[int, ...] = (8, 16, 32, 69)
    """numbers of training masks"""

    def __post_init__(self) -> None:
        super().__post_init__()
        _students.check_counts(self, self.counts)


QUICK = Settings(**_students.QUICK | {"counts": (3, 6)})
LAPTOP = Settings(tasks=64, steps=1400)
GPU = Settings(
    seeds=8,
    counts=(32, 64, 128, 261, 522),
    width=1024,
    steps=30_000,
    learning_rate=1e-3,
    precision="bfloat16",
    **_students.FULL,
)
PAPER = replace(GPU, seeds=10, counts=(14, 35, 70, 174, 348, 522, 609), steps=300_000, learning_rate=3e-4, cosine=False)


@dataclass(frozen=True)
class Cell:
    """The students of every number of masks for one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    import jax

    settings = cell.settings
    task = _students.family(settings, max(cell.members) + 1)
    masks = _students.masks(task)
    who = [{"condition": f"{n} masks", "count": n, "seed": s} for n in settings.counts for s in cell.members]

    def support(count: int, seed: int):
        key = jax.random.fold_in(jax.random.key(settings.seed + 1), seed)
        return rc.supports.random(masks, _students.holding_out(masks, count), key)

    return _students.train(
        settings,
        task,
        _students.student(settings, task),
        who=who,
        supports=[support(w["count"], w["seed"]) for w in who],
        watch=watch,
        label="students",
    )


controls = _students.controls


def unseen(table: pd.DataFrame, place: int) -> pd.Series:
    """R^2 on unseen tasks by seed, with the place-th number of masks."""
    counts = sorted(_show.trained(table)["count"].unique())
    return rc.by_seed(table, "r2_unseen", count=counts[place])


def steps_up(table: pd.DataFrame) -> pd.Series:
    """The smallest gain from one number of masks to the next, by seed."""
    counts = sorted(_show.trained(table)["count"].unique())
    gains = [unseen(table, i + 1) - unseen(table, i) for i in range(len(counts) - 1)]
    return _show.least(gains)


FITTED = (_show.fitted(0.9),)
CLAIMS = (
    rc.Claim(
        "more combinations, better on unseen ones",
        "Trained on more combinations of modules, a student answers unseen combinations better.",
        "data scaling, hyperteacher",
        effect=lambda t: unseen(t, -1) - unseen(t, 0),
        margin=0.2,
        unit="R2 on unseen tasks, most masks minus fewest",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "enough of them lead to composition",
        "With three quarters of the combinations, unseen ones are answered almost as well as seen ones.",
        "data scaling, hyperteacher",
        effect=lambda t: unseen(t, -1),
        margin=0.9,
        unit="R2 on unseen tasks, most masks",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "at every step",
        "Every further batch of combinations helps, or at least does no harm beyond 0.03.",
        "data scaling, hyperteacher (monotone curves)",
        effect=lambda t: steps_up(t) + 0.03,
        margin=0.0,
        unit="smallest gain in R2 from one number of masks to the next, plus 0.03",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on seen and unseen tasks against the number of masks, and against the pairs of modules that they cover."""
    plots = rc.plots
    figure, axes = plots.panels(rows=1, columns=3, side=3.0)
    rows = _show.trained(table)
    _show.lines(axes[0, 0], {"unseen tasks": rows}, "count", "r2_unseen", [plots.GOOD])
    _show.lines(axes[0, 0], {"seen tasks": rows}, "count", "r2_seen", [plots.NEUTRAL])
    axes[0, 0].set(xscale="log", xlabel="training masks", ylabel="R2", ylim=(0, 1.02))
    axes[0, 0].set_xticks(settings.counts, settings.counts)
    axes[0, 0].minorticks_off()
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[0, 1].plot(rows["pairs"], rows["r2_unseen"], "o", color=plots.GOOD, alpha=0.6, markersize=4)
    axes[0, 1].set(xlabel="share of pairs of modules seen together", ylabel="R2 on unseen tasks", ylim=(0, 1.02))
    for count, colour in ((settings.counts[0], plots.BAD), (settings.counts[-1], plots.GOOD)):
        _show.by_layer(axes[0, 2], rows[rows["count"] == count], colour, f"{count} masks")
    axes[0, 2].set_ylabel("R2 of constituents read off")
    axes[0, 2].legend(fontsize=7, frameon=False)
    return figure
