"""Does training on more combinations of modules lead a student to those that are held out?

Scaling the number of training tasks, hyperteacher: the same student, the same number of updates, more or fewer masks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithPrecision):
    counts: tuple[int, ...] = (8, 16, 32, 69)
    """numbers of training masks"""

    def __post_init__(self) -> None:
        super().__post_init__()
        students.check_counts(self, self.counts)


QUICK = Settings(**students.QUICK | {"counts": (3, 6)})
LAPTOP = Settings(tasks=64, steps=1400)
GPU = Settings(**students.LARGE | {"seeds": 8, "counts": (32, 64, 128, 261, 522), "steps": 30_000})
PAPER = replace(GPU, counts=(14, 35, 70, 174, 348, 522, 609), **students.LONG)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = cell.settings
    task = shared.family(settings, max(cell.members) + 1)
    who = [{"condition": f"{n} masks", "count": n, "seed": s} for n in settings.counts for s in cell.members]
    return shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=who,
        supports=[shared.counted_support(settings, task, w["count"], w["seed"]) for w in who],
        monitor=monitor,
        label="students",
    )


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, beside the most training masks."""
    task = shared.family(settings, 1)
    support = shared.counted_support(settings, task, settings.counts[-1], 0)
    student = shared.student(settings, task)
    return [*shared.known(settings, task, support), shared.untrained(settings, task, student, support)]


def counts(table: pd.DataFrame) -> list[float]:
    """The numbers of training masks, rising."""
    return sorted(rc.networks(table)["count"].unique())


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the gain in R^2 on held-out tasks from each number of masks to the next."""
    steps = {
        f"{fewer:g} to {more:g} masks": rc.difference("r2_unseen", more, fewer, by="count")
        for fewer, more in pairwise(counts(table))
    }
    return rc.each(steps)(table)


SCALING = "data scaling, hyperteacher"
claim = partial(figures.claim, fits=(figures.fits(),))
CLAIMS = (
    claim(
        "more training combinations improve held-out ones",
        "Trained on more combinations of modules, a student answers held-out combinations better.",
        SCALING,
        effect=lambda t: rc.difference("r2_unseen", counts(t)[-1], counts(t)[0], by="count")(t),
        above=0.2,
        unit="R2 on held-out tasks, most masks minus fewest",
    ),
    claim(
        "enough training combinations lead to composition",
        "Trained on three quarters or more of the combinations, a student answers the others with an R2 above 0.9.",
        SCALING,
        effect=lambda t: rc.by_seed(t, "r2_unseen", count=counts(t)[-1]),
        above=0.9,
        unit="R2 on held-out tasks, most masks",
    ),
    claim(
        "no increase in training combinations costs more than 0.03",
        "Every further batch of combinations helps, or at least does no harm beyond 0.03.",
        f"{SCALING} (monotone curves)",
        effect=gains,
        above=-0.03,
        unit="gain in R2 on held-out tasks from one number of masks to the next",
        over="increases",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on training and held-out tasks against the number of masks, and against the pairs of modules they cover."""
    plots = rc.plots
    figure, axes = plots.panels(rows=1, columns=3, side=3.0)
    rows = rc.networks(table)
    figures.lines(axes[0, 0], {"held-out tasks": rows}, "count", "r2_unseen", [plots.GOOD])
    figures.lines(axes[0, 0], {"training tasks": rows}, "count", "r2_seen", [plots.NEUTRAL])
    axes[0, 0].set(xscale="log", xlabel="training masks", ylabel="R2")
    axes[0, 0].set_xticks(settings.counts, settings.counts)
    axes[0, 0].minorticks_off()
    figures.legend(axes[0, 0])
    axes[0, 1].plot(rows["pairs"], rows["r2_unseen"], "o", color=plots.GOOD, alpha=0.6, markersize=4)
    axes[0, 1].set(xlabel="share of pairs of modules seen together", ylabel="R2 on held-out tasks")
    for count, colour in ((settings.counts[0], plots.BAD), (settings.counts[-1], plots.GOOD)):
        figures.by_layer(axes[0, 2], rows[rows["count"] == count], colour, f"{count} masks")
    axes[0, 2].set_ylabel("R2 of decoded constituents, held-out tasks")
    figures.legend(axes[0, 2])
    figures.r2_limits(*axes[0, :2])
    return figure
