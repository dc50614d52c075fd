"""How the experiments of this paper are judged and plotted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

FIT = 0.9
"""R^2 on training tasks from which on a student has learnt what it was trained on."""


def fits(**where):
    """By seed, whether the students that match have learnt the tasks they were trained on."""
    return rc.fitted("r2_seen", at_least=FIT, **where)


def reads(system: str, column: str, **bounds: float) -> rc.Check:
    """The check that a system whose answer is known has the R^2 that it must, where it has one."""
    value = rc.reads(system, column).value
    return rc.Check(f"{column} of the control {system}", lambda t: value(t[t[column].notna()]), **bounds)


R2_CONTROLS = (
    reads("perfect", "r2_unseen", at_least=0.999),
    reads("mean", "r2_unseen", at_most=0.05),
    reads("nearest task", "r2_unseen", at_most=0.7),
)
claim = partial(rc.Claim, controls=R2_CONTROLS)
"""A claim on R^2, with the controls that every one of them has."""


def beyond_memory(effect: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame], Any]:
    """1 - (1 - R^2) / (1 - m), where m is R^2 of answering as in the nearest training task: 0 is as good as memory."""
    return lambda t: 1 - (1 - effect(t)) / (1 - rc.control(t, "nearest task", "r2_unseen"))


BEYOND = "share of what the nearest training task misses that students get right"


def squared(a: Any, b: Any) -> float:
    """Pearson's correlation, squared, with its sign."""
    r = float(rc.pearson(np.asarray(a, float)[None], np.asarray(b, float)[None])[0])
    return r * abs(r)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The students whose training masks hold every module: of others, not even the task encoding can be decoded."""
    rows = rc.networks(table)
    return rows[rows["covers"] > 0]


def explains(column: str, of: Callable[[Any, Any], float] | None = squared, among=readable, wanted: str = "r2_unseen"):
    """By seed, how far a column goes with R^2 on held-out tasks over the conditions of an experiment."""
    return rc.correlation_by_seed(column, wanted, among=among, of=of)


def ahead_of_rivals(among=readable, wanted: str = "r2_unseen"):
    """By seed, how much more of R^2 on held-out tasks the deepest layer explains than the encoding or first layer."""

    def over(rival: str):
        return lambda t: (
            explains("probe_deepest", squared, among, wanted)(t) - explains(rival, squared, among, wanted)(t)
        )

    return rc.each({"task encoding": over("probe_code"), "first layer": over("probe_first")})


def spread(least: float, among=readable, column: str = "r2_unseen") -> rc.Check:
    """The precondition that students of a seed differ enough for a correlation to mean something."""

    def value(table: pd.DataFrame) -> float:
        by = among(table).groupby("seed")[column]
        return float((by.max() - by.min()).min())

    return rc.Check(f"least range of {column} within a seed", value, at_least=least)


def goes_along(where: str, source: str, among=readable, **more) -> rc.Claim:
    """The claim that decodability and generalisation go together within an experiment, as a reading note has it."""
    return claim(
        f"decodability goes with generalisation {where} (squared Pearson)",
        "The R2 of constituents decoded from the deepest hidden layer and the R2 on held-out tasks have a squared"
        f" Pearson correlation above 0.95 {where}.",
        source,
        effect=explains("probe_deepest", among=among),
        above=0.95,
        unit="squared Pearson correlation of the two R2 over conditions, by seed",
        preconditions=(spread(0.1, among),),
        **more,
    )


def lines(axes, groups: dict[str, pd.DataFrame], x: str, y: str, colours: Sequence[str]) -> None:
    """A thin line per seed and a thick one for the mean, one colour per group."""
    for (name, rows), colour in zip(groups.items(), colours, strict=False):
        for _, seed in rows.groupby("seed"):
            one = seed.sort_values(x)
            axes.plot(one[x], one[y], color=colour, alpha=0.25, linewidth=0.8)
        mean = rows.groupby(x)[y].mean()
        axes.plot(mean.index, mean.to_numpy(), "o-", color=colour, markersize=4, label=name)


def by_layer(axes, rows: pd.DataFrame, colour: str, label: str, *, first: int = 0) -> None:
    """R^2 of the constituents decoded from each layer, plotted as -1 where lower: a thin line per seed.

    Layer 0 is the task encoding; `first` is the first layer that is plotted.
    """
    values = np.maximum(np.stack(list(rows["probes_unseen"])), -1)[:, first:]
    layers = range(first, first + values.shape[1])
    axes.plot(layers, values.T, color=colour, alpha=0.25, linewidth=0.8)
    axes.plot(layers, values.mean(axis=0), "o-", color=colour, markersize=4, label=label)
    axes.set(xlabel="layer (0 is the task encoding)", xticks=layers)
    r2_limits(axes)


def r2_limits(*places) -> None:
    """One axis for R^2 in some panels: from a little below the lowest that is plotted, -1 at the lowest, to 1."""
    lowest = [place.dataLim.y0 for place in places if np.isfinite(place.dataLim.y0)]  # infinite where all is NaN
    low = max(-1.0, min([*lowest, 0.99]))
    for place in places:
        place.set_ylim(low - 0.05 * (1 - low), 1 + 0.03 * (1 - low))


def legend(axes, **how) -> None:
    """A small legend without a frame."""
    axes.legend(**{"fontsize": 6.5, "title_fontsize": 6.5, "frameon": False} | how)
