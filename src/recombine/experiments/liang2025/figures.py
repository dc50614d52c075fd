"""How the experiments of this paper are judged and plotted: effects and checks on their columns, and their figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.liang2025.shared import HoleSettings

if TYPE_CHECKING:
    import pandas as pd

MEMORISERS = ("superposition", "nearest memory")
NOT_COMPOSING = ("blind", *MEMORISERS)
NO_BUMPS = (*NOT_COMPOSING, "crosses")
"""What draws no bump in its place; a cross is brightest there."""


def peak_controls(column: str, wrong: Sequence[str], at_most: float) -> tuple[rc.Check, ...]:
    """Accuracy must be full for a perfect solver and at most a bound for systems that do not compose."""
    return (rc.reads("perfect", column, at_least=1.0), *(rc.reads(name, column, at_most=at_most) for name in wrong))


ERROR_CONTROLS = (
    rc.reads("perfect", "mse_hole", at_most=0.0),
    rc.Check(
        "mse_hole minus mse_donut of the control nearest memory",
        lambda t: rc.control(t, "nearest memory", "mse_hole") - rc.control(t, "nearest memory", "mse_donut"),
        at_least=1e-3,
    ),
)


def minus(first: str, second: str, **where: Any):
    """The effect of a claim: one column minus another of the same networks, by seed."""
    return lambda t: rc.by_seed(t, first, **where) - rc.by_seed(t, second, **where)


def log_over(first: str, second: str, **where: Any):
    """The effect of a claim: log10 of one column over another of the same networks, by seed."""
    return lambda t: np.log10(rc.by_seed(t, first, **where) / rc.by_seed(t, second, **where))


def layer(column: str, place: int, **where: Any):
    """The effect of a claim: a measure of one layer, by seed.

    Layer 0 is the first hidden layer, -2 the last hidden layer, -1 the output picture.
    """
    return lambda t: rc.by_seed(t, column, **where).apply(lambda values: values[place])


def learnt_layer(column: str, place: int, **where: Any):
    """The effect of a claim: a measure of one layer less what the network's own initial weights read there, by seed."""
    now, before = layer(column, place, **where), layer(f"initial_{column}", place, **where)
    return lambda t: now(t) - before(t)


CLOSE = 0.05
"""Of a blank picture's error: a network that errs by less on what it was shown has learnt it, for its geometry."""


def close(at_most: float = CLOSE, **where: Any):
    """By seed, whether networks err on what they were shown by less than this share of a blank picture's error."""
    return rc.fitted("nmse_trained", at_most=at_most, **where)


def fails(*conditions: str) -> Any:
    """By seed, whether networks place next to no bump in the interior: what is said of failing ones is of these."""
    return rc.fitted("accuracy0_interior", at_most=0.1, condition=list(conditions))


def composes(*conditions: str) -> Any:
    """By seed, whether networks draw bumps, not crosses, in place in the interior."""
    return rc.fitted("bumps0_interior", at_least=0.8, condition=list(conditions))


def output_of(table: pd.DataFrame, system: str, column: str) -> float:
    """What a measure of layers reads on the output of a system whose answer is known."""
    return float(layer(column, -1, system=system)(table).iloc[0])


def output_reads(system: str, column: str, *, at_least: float = -np.inf, at_most: float = np.inf) -> rc.Check:
    """The check that a measure of layers reads what it must on a system whose answer is known."""
    return rc.Check(f"{column} of the control {system}", lambda t: output_of(t, system, column), at_least, at_most)


def sound(rows: pd.DataFrame) -> pd.DataFrame:
    """The networks that did not diverge, or all if none is left to plot."""
    kept = rows[rows["diverged_at"] < 0]
    return rows if kept.empty else kept


@dataclass(frozen=True)
class Dots:
    """A row of panels with one dot per network: what its axis says, and what it shows.

    `columns` has, by its name in the panel, a column of the table or a function of the rows. Without `limits` the axis
    shows all numbers.
    """

    label: str
    columns: Mapping[str, str | Callable[[pd.DataFrame], pd.Series]]
    limits: tuple[float, float] | None = (-0.05, 1.05)


EXACT = Dots(
    "placed exactly",
    {"donut": "accuracy0_donut", "hole": "accuracy0_hole", "interior": "accuracy0_interior"},
)
WITHIN_ONE = Dots(
    "placed within 1 pixel",
    {"trained": "accuracy1_trained", "hole": "accuracy1_hole", "interior": "accuracy1_interior"},
)
BUMPS = Dots("bumps in place,\nnot crosses", {"hole (± 1)": "bumps1_hole", "interior": "bumps0_interior"})
ERROR_RATIO = Dots(
    "log10 of squared error,\nhole over donut",
    {"hole / donut": lambda rows: np.log10(rows["mse_hole"] / rows["mse_donut"])},  # pyrefly: ignore
    limits=None,
)
HOLE_ERROR = Dots("log10 of squared error\nin the hole", {"hole": lambda rows: np.log10(rows["mse_hole"])}, limits=None)  # pyrefly: ignore


def figure(
    settings: HoleSettings,
    table: pd.DataFrame,
    columns: Mapping[str, pd.DataFrame],
    good: Sequence[str] = (),
    dots: Sequence[Dots] = (EXACT, WITHIN_ONE),
):
    """One column per condition: where over (x, y) the peak is misplaced, the error, samples from the hole, the seeds.

    `dots` has the rows of panels below, with the numbers that claims judge.
    """
    plots = rc.plots
    wanted = rc.pick(table, system="perfect").iloc[0]["samples"]
    figure, axes = plots.panels(rows=5 + len(dots), columns=len(columns) + 1)
    for column, (title, rows) in enumerate(columns.items()):
        images = int(rows["images"].iloc[0])
        scales = _maps(settings, axes[:2, column], rows, f"{title}\n{images} pictures")
        first = rows.sort_values(["diverged_at", "seed"]).iloc[0]["samples"]
        for i, (answer, truth) in enumerate(zip(first, wanted, strict=True), start=2):
            plots.picture(axes[i, column], answer, mark=plots.brightest(truth))
    for row, (image, label) in enumerate(zip(scales, ("peak misplaced by (pixels)", "squared error"), strict=True)):  # pyrefly: ignore
        plots.colour_bar(figure, image, axes[row, -1], f"{label},\nmean over seeds")
    for i, truth in enumerate(wanted, start=2):
        plots.picture(axes[i, -1], truth, mark=plots.brightest(truth), title="truth" if i == 2 else "")
    axes[2, 0].set_ylabel("one network's answers\nin the hole")
    for row, shown in enumerate(dots, start=5):
        _dots(axes[row], shown, columns, good)
    figure.suptitle(
        f"The square {settings.low}..{settings.high} (blue) is never trained on; one dot per network", fontsize=10
    )
    return figure


def _dots(axes, shown: Dots, columns: Mapping[str, pd.DataFrame], good: Sequence[str]) -> None:
    """A row of panels on one scale, each with the networks of one condition."""
    plots = rc.plots
    for place, (title, rows) in zip(axes, columns.items(), strict=False):
        groups = {name: _values(rows, column) for name, column in shown.columns.items()}
        plots.dots(place, groups, colour=plots.GOOD if title in good else plots.BAD)
    everything = np.concatenate([_values(rows, c) for rows in columns.values() for c in shown.columns.values()])
    for place in axes[:-1]:
        place.set_ylim(shown.limits or _around(everything))
    axes[0].set_ylabel(shown.label)
    axes[-1].axis("off")


def _values(rows: pd.DataFrame, column: str | Callable[[pd.DataFrame], pd.Series]) -> np.ndarray:
    return (rows[column] if isinstance(column, str) else column(rows)).to_numpy(float)


def _around(values: np.ndarray) -> tuple[float, float]:
    """Limits of an axis that shows every finite value."""
    finite = values[np.isfinite(values)] if np.isfinite(values).any() else np.zeros(1)
    edge = 0.08 * max(float(np.ptp(finite)), 0.1)
    return float(finite.min()) - edge, float(finite.max()) + edge


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
