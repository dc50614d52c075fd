"""How the experiments of this paper are judged and drawn: the checks on their measures, and their figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025._hole import HoleSettings

if TYPE_CHECKING:
    import pandas as pd

MEMORISERS = ("superposition", "nearest memory")


def control(name: str, column: str, table: pd.DataFrame) -> float:
    """What a measure reads on a system whose answer is known."""
    return float(rc.by_seed(table, column, condition=f"control: {name}").iloc[0])


def peak_controls(column: str, wrong: Sequence[str], at_most: float) -> tuple[rc.Check, ...]:
    """Accuracy must be full for a perfect solver and at most a bound for systems that do not compose."""
    right = rc.Check(f"{column} is full for a perfect solver", partial(control, "perfect", column), at_least=1.0)

    def room(name: str, table: pd.DataFrame) -> float:
        return at_most - control(name, column, table)

    return (
        right,
        *(rc.Check(f"{column} is at most {at_most:g} for {n}", partial(room, n), at_least=0.0) for n in wrong),
    )


def sound(rows: pd.DataFrame) -> pd.DataFrame:
    """The networks that did not diverge, or all if none is left to draw."""
    kept = rows[rows["diverged_at"] < 0]
    return rows if kept.empty else kept


def at_worst(rows: pd.DataFrame, effect: Callable[[pd.DataFrame], pd.Series]) -> pd.Series:
    """An effect of each network, and of each seed the smallest; lost if one of its networks is."""
    return effect(rows).groupby(rows["seed"]).agg(lambda values: values.min(skipna=False))


ERROR_CONTROLS = (
    rc.Check(
        "a perfect solver has no error in the hole",
        lambda t: -control("perfect", "mse_hole", t),
        at_least=0.0,
    ),
    rc.Check(
        "the nearest memory has none on the donut and much in the hole",
        lambda t: control("nearest memory", "mse_hole", t) - control("nearest memory", "mse_donut", t),
        at_least=1e-3,
    ),
)


def figure(settings: HoleSettings, table: pd.DataFrame, columns: dict[str, pd.DataFrame], good: Sequence[str] = ()):
    """A column a condition: where over (x, y) the answer is misplaced, its error, samples from the hole, the seeds."""
    plots = rc.plots
    wanted = table[table.condition == "control: perfect"].iloc[0]["samples"]
    figure, axes = plots.panels(rows=6, columns=len(columns) + 1)
    for column, (title, rows) in enumerate(columns.items()):
        images = int(rows["images"].iloc[0])
        scales = _maps(settings, axes[:2, column], rows, f"{title}\n{images} pictures")
        first = rows.sort_values(["diverged_at", "seed"]).iloc[0]["samples"]
        for i, (answer, truth) in enumerate(zip(first, wanted, strict=True), start=2):
            plots.picture(axes[i, column], answer, mark=plots.brightest(truth))
        places = {p: rows[f"accuracy1_{p}"].to_numpy() for p in ("trained", "hole", "interior")}
        plots.dots(axes[5, column], places, colour=plots.GOOD if title in good else plots.BAD)
    for row, (image, label) in enumerate(zip(scales, ("peak misplaced by (pixels)", "squared error"), strict=True)):
        plots.colour_bar(figure, image, axes[row, -1], f"{label},\nmean over seeds")
    for i, truth in enumerate(wanted, start=2):
        plots.picture(axes[i, -1], truth, mark=plots.brightest(truth), title="truth" if i == 2 else "")
    axes[2, 0].set_ylabel("one network's answers\nin the hole")
    axes[5, 0].set_ylabel("placed within 1 pixel\n(a dot is a network)")
    axes[5, -1].axis("off")
    figure.suptitle(f"The square {settings.low}..{settings.high} (blue) is never trained on", fontsize=10)
    return figure


def _maps(settings: HoleSettings, axes, rows: pd.DataFrame, title: str) -> list:
    """Two maps over (x, y), averaged over seeds, with the hole marked; returns the images, for their scales."""
    kept = sound(rows)
    if (kept["diverged_at"] >= 0).all():
        title = f"{title}\nall diverged"
    misplaced, errors = (np.mean(np.stack(list(kept[name])), axis=0) for name in ("peak_map", "error_map"))
    images = [
        rc.plots.heat_map(axes[0], misplaced, title=title, low=0, high=settings.size / 2),
        rc.plots.error_map(axes[1], errors),
    ]
    for place in axes:
        rc.plots.box(place, settings.low, settings.high)
    return images
