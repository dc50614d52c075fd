"""How the experiments of this paper are judged and plotted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
ISOLATED = "untrained, disconnected"
"""The control whose support isolates one module."""
claim = partial(rc.Claim, controls=R2_CONTROLS)
"""A claim on R^2, with the controls that every one of them has."""


def beyond_memory(effect: Callable[[pd.DataFrame], Any], **where: Any) -> Callable[[pd.DataFrame], Any]:
    """1 - (1 - R^2) / (1 - m), where m is R^2 of the better of two answers that need no composition.

    One answers as in the nearest training task, the other always 0; `where` picks the control among several.
    """
    return lambda t: 1 - (1 - effect(t)) / (1 - max(0.0, rc.control(t, "nearest task", "r2_unseen", **where)))


BEYOND = "share of what the better of nearest training task and zero answer misses that students get right"


def over_untrained(effect: Callable[[pd.DataFrame], Any], column: str = "probe_deepest", **where: Any):
    """An effect minus what the same column is in the untrained student that matches."""
    return lambda t: effect(t) - rc.control(t, "untrained", column, **where)


def beyond_untrained(effect: Callable[[pd.DataFrame], Any], first: str, second: str, by: str):
    """An effect with a column per group, less the difference of two columns in the untrained student of each group."""

    def less(table: pd.DataFrame) -> pd.DataFrame:
        rows, found = rc.pick(table, system="untrained").set_index(by), effect(table)
        return found - (rows[first] - rows[second]).astype(float).reindex(found.columns)

    return less


def depth_gain(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, log10 of what deep students miss over what shallow ones of the same width miss, mean over widths."""
    rows = rc.networks(table).assign(missed=lambda t: np.log10(1 - t["r2_unseen"]))
    both = rows.pivot_table(index=["task_encoding", "seed", "width"], columns="depth", values="missed").dropna()
    gain = (both[both.columns.max()] - both[both.columns.min()]).groupby(["task_encoding", "seed"]).mean()
    return gain.unstack("task_encoding")


def squared(a: Any, b: Any) -> float:
    """Pearson's correlation, squared, with its sign."""
    r = float(rc.pearson(np.asarray(a, float)[None], np.asarray(b, float)[None])[0])
    return r * abs(r)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The students whose training masks hold every module: of others, not even the task encoding can be decoded."""
    rows = rc.networks(table)
    return rows[rows["covers"] > 0]


def floored(rows: pd.DataFrame, column: str, floor: float) -> list[float]:
    """Mean R^2 of decoded constituents, each counted as `floor` where lower, for a column such as `probe_deepest`.

    R^2 has no lower bound: one constituent at -3 would decide a mean over eight, and any correlation with it.
    """
    each = rows[column.replace("probe_", "constituents_")]
    return [float(np.nanmean(v)) if np.isfinite(v).any() else np.nan for v in (np.maximum(e, floor) for e in each)]


def explains(
    column: str,
    of: Callable[[Any, Any], float] | None = squared,
    among=readable,
    wanted: str = "r2_unseen",
    floor: float | None = None,
):
    """By seed, how far a column goes with R^2 on held-out tasks over the conditions of an experiment."""

    def rows(table: pd.DataFrame) -> pd.DataFrame:
        some = among(table)
        return some if floor is None else some.assign(**{column: floored(some, column, floor)})

    return rc.correlation_by_seed(column, wanted, among=rows, of=of)


RIVALS = {"task encoding": "probe_code", "first layer": "probe_first"}
"""What the deepest layer is compared with."""


def ahead_of_rivals(among=readable, wanted: str = "r2_unseen", floor: float | None = None):
    """By seed, how much more of R^2 on held-out tasks the deepest layer explains than the encoding or first layer.

    A rival that falls where answers get better explains nothing.
    """
    deepest = explains("probe_deepest", squared, among, wanted, floor)

    def over(rival: str):
        other = explains(rival, squared, among, wanted, floor)
        return lambda table: deepest(table) - other(table).clip(lower=0)

    return rc.each({name: over(column) for name, column in RIVALS.items()})


def at_ceiling(among=readable, floor: float | None = None):
    """The rivals that hardly range within a seed: a correlation with them has no scale, so that nothing is decided."""

    def ranges(rival: str, table: pd.DataFrame) -> float:
        rows = among(table)
        by = rows.assign(low=rows[rival] if floor is None else floored(rows, rival, floor)).groupby("seed")["low"]
        return float((by.max() - by.min()).mean())

    def unsettled(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        found = {name: ranges(column, table) for name, column in RIVALS.items()}
        why = "the rival's R2 ranges over {:.3f} within a seed, {:g} is asked: it has no room to explain"
        return {name: ("undecided", why.format(got, RANGE)) for name, got in found.items() if got < RANGE}

    return unsettled


def spread(least: float, among=readable, column: str = "r2_unseen") -> rc.Check:
    """The precondition that students of a seed differ enough for a correlation to mean something."""

    def value(table: pd.DataFrame) -> float:
        by = among(table).groupby("seed")[column]
        return float((by.max() - by.min()).min())

    return rc.Check(f"least range of {column} within a seed", value, at_least=least)


def mostly_fit(among=readable) -> rc.Check:
    """The precondition that half of the students have learnt what they were trained on."""
    return rc.Check(
        f"share of students whose R2 on training tasks is {FIT} or more",
        lambda t: float((among(t)["r2_seen"] >= FIT).mean()),
        at_least=0.5,
    )


FLOOR = 0.0
"""What the R^2 of a decoded constituent counts as where it is lower, in correlations."""
RANGE = 0.05
"""The mean range within a seed from which on a rival of the deepest layer has room to explain anything."""
FLOORS = {"floor 0": 0.0, "floor -1": -1.0, "no floor": None}


def goes_along(
    where: str,
    source: str,
    among=readable,
    *,
    wanted: str = "r2_unseen",
    answers: str = "R2 on held-out tasks",
    least: float = 0.1,
    preconditions: tuple[rc.Check, ...] = (),
    controls: tuple[rc.Check, ...] = R2_CONTROLS,
) -> tuple[rc.Claim, ...]:
    """The claims that decodability and generalisation go together within an experiment, for its `CLAIMS`.

    Three of them: the paper's statistic; ranks; and more closely than rivals do, the task encoding and the first
    layer. `among` gives the students of a table that enter, `wanted` and `answers` the column that says how well
    they generalise, and its name. It must range over `least` within each seed.
    """
    ours, low = source if source.startswith("ours") else f"ours; {source}", "constituents below 0 count as 0"
    made = partial(rc.Claim, controls=controls, preconditions=(spread(least, among, wanted), *preconditions))
    two = f"R2 of constituents decoded from the deepest layer and {answers}"
    return (
        made(
            f"decodability goes with generalisation {where} (squared Pearson)",
            f"The {two} have a squared Pearson correlation above 0.95 {where}.",
            source,
            effect=explains("probe_deepest", squared, among, wanted, FLOOR),
            above=0.95,
            unit=f"squared Pearson correlation over conditions, by seed; {low}",
        ),
        made(
            f"decodability goes with generalisation {where} (rank)",
            f"The {two} rise together {where}: their rank correlation is above 0.7.",
            ours,
            effect=explains("probe_deepest", None, among, wanted, FLOOR),
            above=0.7,
            unit=f"rank correlation over conditions, by seed; {low}",
        ),
        made(
            f"the deepest layer goes with generalisation {where} more closely than the task encoding and first layer",
            f"{answers[0].upper()}{answers[1:]} goes more closely with decodability of the deepest layer than of the"
            f" task encoding and of the first layer {where}, by more than 0.1.",
            ours,
            effect=ahead_of_rivals(among, wanted, FLOOR),
            above=0.1,
            unit=f"squared Pearson correlation with {answers}, deepest layer minus rival; {low}",
            over="rivals",
            unsettled=at_ceiling(among, FLOOR),
        ),
    )


def whichever_floor(one: rc.Claim, among=readable, wanted: str = "r2_unseen") -> rc.Claim:
    """The first of `goes_along` again, for each floor that the R^2 of a constituent may have."""
    effects = {name: explains("probe_deepest", squared, among, wanted, floor) for name, floor in FLOORS.items()}
    return replace(
        one,
        name=one.name.replace(" (squared Pearson)", ", whichever floor a constituent's R2 has"),
        says=one.says[:-1] + ", if low constituents count as 0, as -1 or as they are.",
        source=one.source if one.source.startswith("ours") else f"ours; {one.source}",
        effect=rc.each(effects),
        unit="squared Pearson correlation over conditions, by seed",
        over="floors",
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
