"""How curves over numbers of training masks, and the masks needed, are plotted.

Colours, shades, markers and line styles are explained once, in a legend above the panels. In all panels of masks
needed an arrow marks a limit, and an open marker students that did not learn what they were trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import architectures, figures, growth

if TYPE_CHECKING:
    import pandas as pd

MAPS = ("Blues", "Oranges", "Greens")
"""One for each number of active modules."""
MARKERS = "osDPXphd<>"
"""One for each number of modules."""
STAR = "*"
"""Transformers."""
LIMITS = {"v": "at most: the fewest {} tried suffice", "^": "at least: the most {} tried do not suffice"}
"""Of one seed (small), or of any of the seeds of a mean (large)."""
STYLES = (":", "--", "-")
"""One for each level."""


def shades(place: int, many: int) -> list[Any]:
    """Shades of one colour, from light to dark."""
    from matplotlib import colormaps

    return list(colormaps[MAPS[place % len(MAPS)]](np.linspace(0.45, 0.95, many)))


def handle(label: str, mark: str = "", style: str = "", colour: Any = "0.3", **how: Any):
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    looks: dict[str, Any] = {"marker": mark, "linestyle": style, "color": colour, "markersize": 5} | how
    return Line2D([], [], label=label, **looks)


def curve(axes, rows: pd.DataFrame, y: str, look: tuple[Any, str, str]) -> None:
    """A column against the multiple: thin lines for seeds, thick for the mean; open where a student did not learn.

    The look is a colour, a marker and a line style.
    """
    colour, mark, style = look
    for _, seed in rows.groupby("seed"):
        one = seed.sort_values("multiple")
        axes.plot(one["multiple"], one[y], style, color=colour, alpha=0.3, linewidth=0.7)
    mean = rows.groupby("multiple").agg({y: "mean", "learnt": "all"})
    axes.plot(mean.index, mean[y], style, color=colour, linewidth=1.4)
    unfit = rows[~rows["learnt"]]
    axes.plot(unfit["multiple"], unfit[y], mark, color=colour, markerfacecolor="none", markersize=3, alpha=0.6)
    for learnt, some in mean.groupby("learnt"):
        size, fill = 8 if mark == STAR else 5, colour if learnt else "white"
        axes.plot(some.index, some[y], mark, color=colour, markerfacecolor=fill, markersize=size)


def readings(rows: pd.DataFrame, level: float, column: str) -> pd.DataFrame:
    """By seed and modules, the masks needed for a level, or the fewest or most tried with the marker of a limit."""
    import pandas as pd

    found = []
    for (seed, modules), some in rows.groupby(["seed", "modules"]):
        tried = some.sort_values("masks")
        number, mark, learnt = growth.meet(tried, level, column), "o", bool(tried["learnt"].all())
        if np.isnan(number) and tried[column].notna().all():
            mark = "v" if tried[column].iloc[0] > level else "^"
            number = tried["masks"].iloc[0 if mark == "v" else -1]
        found.append({"seed": seed, "modules": modules, "needed": number, "mark": mark, "learnt": learnt})
    return pd.DataFrame(found).dropna(subset=["needed"])


def _mean(some: pd.DataFrame) -> tuple[float, str, bool]:
    """The geometric mean of seeds, its marker, and whether all learnt; no number if limits lie on both sides."""
    limits = sorted(set(some["mark"]) - {"o"})
    number = np.exp(np.log(some["needed"]).mean()) if len(limits) < 2 else np.nan
    return float(number), limits[0] if limits else "o", bool(some["learnt"].all())


def plot_readings(axes, found: pd.DataFrame, shift: float, colour: Any, style: str) -> None:
    """Small markers for seeds and large ones for their means, in which limits count as what they are."""
    for (mark, learnt), some in found.groupby(["mark", "learnt"]):
        how = {"markerfacecolor": colour if learnt else "none", "markersize": 3, "alpha": 0.5, "markeredgewidth": 0.6}
        axes.plot(some["modules"] * shift, some["needed"], str(mark), color=colour, **how)
    means = {m * shift: _mean(found[found["modules"] == m]) for m in sorted(found["modules"].unique())}
    axes.plot(list(means), [number for number, _, _ in means.values()], style, color=colour, linewidth=1.2)
    for x, (number, mark, learnt) in means.items():
        fill = colour if learnt else "white"
        axes.plot([x], [number], mark, color=colour, markerfacecolor=fill, markersize=6 if mark != "o" else 4.5)


def plot_needed(
    axes,
    rows: pd.DataFrame,
    levels: Sequence[float],
    column: str,
    *,
    label: Callable[[pd.DataFrame, float], str],
    what: str = "masks",
    title: str = "",
) -> None:
    """The masks needed at each level against the modules, one colour per number of active modules.

    `label` names a line, `what` is what is counted, `title` stands above the legend.
    """
    every = [(level, k) for k in growth.actives(rows) for level in levels]
    entries, drawn = [], {}
    for i, (level, k) in enumerate(every):
        some, style = rows[rows["max_active"] == k], STYLES[-len(levels) :][levels.index(level)]
        colour, found = shades(growth.actives(rows).index(k), 4)[2], readings(some, level, column)
        if len(found):
            plot_readings(axes, found, np.exp(0.012 * (i - (len(every) - 1) / 2)), colour, style)
            drawn |= dict.fromkeys(found["mark"]) | ({} if found["learnt"].all() else {"open": None})
        entries.append(handle(label(some, level), style=style, colour=colour))
    entries += [handle(says.format(what), mark) for mark, says in LIMITS.items() if mark in drawn]
    entries += [handle("open: a student did not fit", "o", markerfacecolor="none")] * ("open" in drawn)
    if drawn:
        _ticks(axes, sorted(rows["modules"].unique()))
    figures.legend(axes, handles=entries, loc="upper left", title=title or None, alignment="left")


def _ticks(axes, families: Sequence[float]) -> None:
    """Logarithmic axes, with room for a legend above."""
    axes.set(xscale="log", yscale="log")
    axes.minorticks_off()
    axes.set_xticks(families, [f"{n:g}" for n in families])
    low, high = int(np.floor(np.log2(axes.dataLim.y0))), int(np.ceil(np.log2(axes.dataLim.y1))) + 1
    axes.set_yticks([2.0**n for n in range(low, high + 1)], [f"{2**n:g}" for n in range(low, high + 1)])
    axes.set_ylim(2.0 ** (low - 0.1), 2.0 ** (high + 0.3))


def multiples_axis(axes, multiples: Sequence[float], **words: str) -> None:
    """A logarithmic axis that names the multiples that were tried."""
    axes.set(xscale="log", **words)
    axes.set_xticks(multiples, [f"{n:g}" for n in multiples])
    axes.minorticks_off()


def above(picture, entries: list) -> None:
    """One legend for several panels, above them."""
    picture.legend(handles=entries, loc="outside upper left", ncols=min(len(entries), 7), fontsize=7.5, frameon=False)


def _power(some: pd.DataFrame, level: float) -> str:
    """The power of the modules with which the masks needed grow, and how many seeds have one."""
    found = growth.power(some, level, "modules")
    known = found.dropna()
    said = f"{known.mean():.2f}" if len(known) else "no power"
    of = f" ({len(known)} of {len(found)} seeds)" if len(known) < len(found) else ""
    return f"R2 {level:g}, {some['max_active'].iloc[0]:g} active: {said}{of}"


def law(table: pd.DataFrame, multiples: Sequence[float]):
    """The figure of `law`."""
    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.6)
    rows = rc.networks(table).assign(learnt=True)
    actives, families = growth.actives(rows), sorted(rows["modules"].unique())
    colours = {k: dict(zip(families, shades(i, len(families)), strict=True)) for i, k in enumerate(actives)}
    marks = {m: MARKERS[i % len(MARKERS)] for i, m in enumerate(families)}
    for (model, k, m), some in rows.groupby(["model", "max_active", "modules"]):
        mlp, colour = model == architectures.MLP, colours[k][m]
        mark = marks[m] if mlp else STAR
        curve(axes[0, 0], some, "r2_unseen", (colour, mark, "-" if mlp else "--"))
        how = {"alpha": 0.8, "markersize": 4 if mlp else 7, "markeredgewidth": 0.3, "markeredgecolor": "white"}
        axes[0, 1].plot(some["pairs"], some["r2_unseen"], mark, color=colour, **how)
    multiples_axis(axes[0, 0], multiples, xlabel="training masks per module", ylabel="R2 on held-out tasks")
    axes[0, 1].set(xlabel="share of pairs of modules seen together", ylabel="R2 on held-out tasks")
    figures.r2_limits(*axes[0, :2])
    greys = np.linspace(0.7, 0.1, len(families))
    entries = [handle(f"{k:g} active", "o", "-", shades(i, 4)[2]) for i, k in enumerate(actives)]
    entries += [handle(f"{m:g} modules", marks[m], "-", str(g)) for m, g in zip(families, greys, strict=True)]
    others = bool((rows["model"] != architectures.MLP).any())
    above(picture, entries + [handle("transformer (others: MLP)", STAR, "--", markersize=8)] * others)
    axes[0, 2].set(xlabel="modules", ylabel="training masks needed")
    mlps = rows[rows["model"] == architectures.MLP]
    title = "power of the modules, of seeds without a limit"
    plot_needed(axes[0, 2], mlps, growth.LEVELS, "r2_unseen", label=_power, title=title)
    return picture
