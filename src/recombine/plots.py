"""The few looks that figures share; every experiment draws its own figure from its table with them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LogNorm, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

GOOD, BAD, NEUTRAL = "#1b7f5c", "#c1432e", "#5b6b7b"
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "recombine",
    "svg.fonttype": "none",
}


def look():
    """The style in which figures are drawn and saved; the same table gives the same file."""
    return matplotlib.rc_context(_STYLE)


def panels(rows: int, columns: int, *, side: float = 1.9):
    """A figure of small square panels, and its axes as a 2-D array."""
    figure = Figure(figsize=(side * columns + 0.9, side * rows + 0.7), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def note(figure: Figure, text: str) -> None:
    """A small remark in the lower right corner of a figure."""
    figure.text(0.995, 0.005, text, ha="right", va="bottom", fontsize=7, color=BAD)


def has_dots(figure: Figure) -> bool:
    """Whether a figure has points of its own, as dots or scattered."""
    dotted = [line.get_marker() not in ("", "None", None, "+") for axes in figure.axes for line in axes.lines]
    return any(dotted) or any(isinstance(c, PathCollection) for axes in figure.axes for c in axes.collections)


def picture(axes: Axes, pixels: np.ndarray, *, title: str = "", top: float = 1.0, mark: tuple[int, int] | None = None):
    """A picture in grey, y upwards, faint things brightened, with a cross where the bump belongs."""
    axes.imshow(np.maximum(pixels, 0.0), cmap="gray", norm=PowerNorm(0.5, 0.0, top), origin="lower")
    if mark is not None:
        axes.plot(*mark, marker="+", color=BAD, markersize=9, markeredgewidth=1.2)
    bare(axes, title)


def error_map(axes: Axes, errors: np.ndarray, *, title: str = "", low: float = 1e-5, high: float = 3e-2):
    """Errors over (x, y) on a shared logarithmic scale; returns the image, for a colour bar."""
    shown = np.ma.masked_invalid(errors)  # NaN where networks diverged
    image = axes.imshow(shown, cmap="magma", norm=LogNorm(low, high, clip=True), origin="lower")
    bare(axes, title)
    return image


def heat_map(axes: Axes, values: np.ndarray, *, title: str = "", low: float, high: float):
    """Values over (x, y) on a shared linear scale; returns the image, for a colour bar."""
    image = axes.imshow(values, cmap="viridis", vmin=low, vmax=high, origin="lower")
    bare(axes, title)
    return image


def signed(axes: Axes, values: np.ndarray, *, title: str = "") -> None:
    """A picture with positive and negative values, white at zero, on a scale of its own."""
    top = float(np.abs(values).max()) or 1.0
    axes.imshow(values, cmap="RdBu_r", vmin=-top, vmax=top, origin="lower")
    bare(axes, title)


def box(axes: Axes, low: int, high: int) -> None:
    """Mark the closed square of held-out cells."""
    side = high - low + 1
    axes.add_patch(Rectangle((low - 0.5, low - 0.5), side, side, fill=False, edgecolor="#7fd1ff", linewidth=1.5))


def bare(axes: Axes, title: str = "") -> None:
    """No ticks, only a title."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title)


def brightest(picture: np.ndarray) -> tuple[int, int]:
    """The (column, row) of the brightest pixel."""
    row, column = np.unravel_index(int(np.nanargmax(picture)), picture.shape)
    return int(column), int(row)


def colour_bar(figure: Figure, image, beside: Axes, label: str) -> None:
    """The scale of an image, in a panel of its own."""
    beside.axis("off")
    figure.colorbar(image, cax=beside.inset_axes((0.0, 0.05, 0.08, 0.9)), label=label)


def decades(axes: Axes, *, xlabel: str, ylabel: str) -> None:
    """Logarithmic axes that name powers of ten only."""
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())


def dots(axes: Axes, groups: dict[str, np.ndarray], *, colour: str = NEUTRAL, low: float = 0.0) -> None:
    """One dot per seed, one column per group, and a bar at the mean; for shares and correlations up to 1."""
    for i, values in enumerate(groups.values()):
        spread = np.linspace(-0.16, 0.16, len(values)) if len(values) > 1 else np.zeros(1)
        axes.plot(i + spread, values, "o", color=colour, alpha=0.75, markersize=4)
        axes.hlines(np.mean(values), i - 0.28, i + 0.28, color=colour, linewidth=2)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_ylim(low - 0.05, 1.05)


WORD_COLOURS = {"holds": GOOD, "fails": BAD, "undecided": "0.5"}


def lowest_first(verdicts: Mapping[str, Any]) -> list[str]:
    """Protocols by their effect, those without a number last."""
    return sorted(verdicts, key=lambda name: (np.isnan(verdicts[name].effect), verdicts[name].effect))


def specification_curve(verdicts: Mapping[str, Any], title: str):
    """A claim's effect under each protocol, lowest first, with its interval; below, what each protocol changes.

    `verdicts` maps a protocol to its verdict, the primary one first; a filled dot in the lower part marks the row
    of what that protocol changes.
    """
    primary = next(iter(verdicts))
    order, decided = lowest_first(verdicts), all(v.evidence for v in verdicts.values())
    figure = Figure(figsize=(3.2 + 0.62 * len(order), 3.4 + 0.21 * len(order)), layout="constrained")
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 0.4 + 0.14 * len(order)])
    for i, name in enumerate(order):
        v = verdicts[name]
        colour, marker = WORD_COLOURS[v.verdict] if decided else NEUTRAL, "D" if name == primary else "o"
        top.plot([i, i], [v.low, v.high], color=colour, linewidth=1.6)
        top.plot(i, v.effect, marker, color=colour, markersize=7 if name == primary else 5)
    for bound in (verdicts[primary].above, verdicts[primary].below):
        if bound is not None:
            top.axhline(bound, color="black", linestyle=":", linewidth=0.9, label=f"margin {bound:.3g}")
    for word, colour in WORD_COLOURS.items() if decided else ():
        top.plot([], [], "o", color=colour, label=word)
    top.plot([], [], "D", color="black", label="primary protocol")
    top.legend(fontsize=7, frameon=False, ncols=6 if len(order) > 5 else 3, loc="lower left", bbox_to_anchor=(0, 1))
    top.set_ylabel(textwrap.fill(verdicts[primary].unit, 34), fontsize=8)
    figure.suptitle(textwrap.fill(title, 26 + 8 * len(order)), fontsize=10)
    _choices(low, order, [primary, *(n for n in verdicts if n != primary)])
    return figure


def _choices(axes, order: Sequence[str], rows: Sequence[str]) -> None:
    """One row per protocol choice, a dot where it is made."""
    for i, name in enumerate(order):
        axes.plot([i] * len(rows), range(len(rows)), "o", color="0.9", markersize=4)
        axes.plot(i, rows.index(name), "o", color="black", markersize=5)
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.invert_yaxis()
    axes.set_xticks([])
    for side in axes.spines.values():
        side.set_visible(False)
