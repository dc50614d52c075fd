"""The figures of a report, as SVG that takes the page's own colour of ink, so that it reads on light and on dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from itertools import combinations as choose

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from recombine import plots
from recombine.diagnosis.diagnosis import Diagnosis
from recombine.diagnosis.kernels import Kernels
from recombine.diagnosis.layers import Layer
from recombine.diagnosis.probes import on_new

INK = "#010203"
"""Replaced by the page's colour of ink."""
LOWEST, MOST_PANELS = -1.0, 12
"""R² below the first are drawn there; of more factors than the second, the first are drawn."""
COLOURS = ("#3b82c4", "#d9772b", "#2f9e6e", "#b45fb0", "#c9a227", "#7a7f87")
SEEN, NEW, VALUE, NONE = "#3b82c4", "#d9772b", "#b45fb0", "#9aa0a6"
_STYLE = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.hashsalt": "recombine",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def drawn(draw: Callable[[], Figure | None]) -> str:
    """An SVG for the page, or nothing."""
    import matplotlib

    with matplotlib.rc_context(_STYLE):
        figure = draw()
        if figure is None:
            return ""
        sink = io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
    text = sink.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    wide = figure.get_figwidth() * 96
    return re.sub(r'<svg (.*?) width="[^"]*"', rf'<svg style="--wide: {wide:.0f}px" \1', text, count=1).replace(
        ' height="', ' data-height="', 1
    )


def _panels(count: int, width: float = 2.6, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns + 0.4, height * rows + 0.2), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.axis("off")
    return figure, list(axes[:count])


def coverage_map(d: Diagnosis) -> Figure:
    """Each pair of factors: which pairs of values were seen, which are new, which are not there."""
    e = d.evidence
    pairs = list(choose(range(len(e.factors)), 2))[:6]
    figure, axes = _panels(len(pairs), 3.0, 2.8)
    for axis, (a, b) in zip(axes, pairs, strict=True):
        kind = np.zeros((len(e.factors[b].values), len(e.factors[a].values)), int)
        z = e.combinations
        for level, rows in ((3, ~e.seen & e.unseen_value), (2, e.new), (1, e.seen)):
            kind[z[rows, b], z[rows, a]] = level
        axis.imshow(
            kind, cmap=ListedColormap(["none", SEEN, NEW, VALUE]), vmin=0, vmax=3, origin="lower", aspect="auto"
        )
        _values(axis.set_xticks, e.factors[a].values)
        _values(axis.set_yticks, e.factors[b].values)
        axis.set(xlabel=e.names[a], ylabel=e.names[b])
    marks = (("seen", SEEN), ("new", NEW), ("unseen value", VALUE))
    for said, colour in marks:
        axes[0].plot([], [], "s", color=colour, label=said)
    axes[0].legend(fontsize=7, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(-0.1, 1.0), handletextpad=0.1)
    return figure


def _values(set_ticks: Callable, values: tuple[str, ...]) -> None:
    """A few of the values as ticks."""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), 6)).astype(int))
    set_ticks(places, [values[i].split(" to ")[0][:8] for i in places], fontsize=7)


def error_bars(d: Diagnosis) -> Figure | None:
    """Errors with intervals over combinations: the model on seen and new, and the references on new."""
    rows = {name: i for name, i in d.errors.items() if np.isfinite(i.value)}
    if not rows:
        return None
    figure = Figure(figsize=(6.4, 0.3 * len(rows) + 0.8), layout="constrained")
    axis = figure.subplots()
    references = set(d.behaviour.references)
    for y, (name, i) in enumerate(rows.items()):
        colour = NONE if name in references else SEEN if name.startswith("seen") else NEW
        axis.barh(y, i.value, color=colour, height=0.62)
        if np.isfinite(i.low):
            axis.plot([max(i.low, 0), i.high], [y, y], color=INK, linewidth=1)
    axis.set_yticks(range(len(rows)), [f"{n} (reference)" if n in references else n for n in rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("share of wrong labels" if d.evidence.answers.labels else "mean squared error")
    return figure


def _probed(d: Diagnosis) -> list[Layer]:
    """Layers that a probe was fitted to, and the target last, as their control."""
    return [layer for layer in [*d.layers, *([d.target] if d.target else [])] if layer.decodability]


def cut(d: Diagnosis) -> bool:
    """Is something off the scale of the layer curves?"""
    return any(min(i.low, i.value) < LOWEST for layer in _probed(d) for i in layer.decodability.values())


def layer_curves(d: Diagnosis) -> Figure | None:
    """Decodability by layer with its interval and the shuffled control; hollow where examples are too few."""
    shown = _probed(d)
    if not shown:
        return None
    names = d.evidence.names[:MOST_PANELS]
    figure, axes = _panels(len(names), 2.7, 2.3)
    x = np.arange(len(shown))
    joined = x[:-1] if shown[-1] is d.target else x  # the target is no layer: its point stands alone
    for i, (axis, name) in enumerate(zip(axes, names, strict=True)):
        colour = COLOURS[i % len(COLOURS)]
        nothing = (np.nan, np.nan, np.nan)  # a factor that does not vary over new combinations
        whole = np.array([layer.decodability.get(name, nothing) for layer in shown])
        real = np.clip(whole, LOWEST, 1)
        control = np.clip([layer.shuffled.get(name, np.nan) for layer in shown], LOWEST, 1)
        axis.fill_between(x[joined], real[joined, 1], real[joined, 2], color=colour, alpha=0.22, linewidth=0)
        axis.plot(x[joined], real[joined, 0], color=colour, linewidth=1.4)
        axis.vlines(x[len(joined) :], real[len(joined) :, 1], real[len(joined) :, 2], color=colour, alpha=0.4)
        for few, face in ((False, colour), (True, "none")):
            mask = np.array([layer.few is few for layer in shown])
            axis.plot(x[mask], real[mask, 0], "o", color=colour, markerfacecolor=face, markersize=4)
        off = whole[:, :2].min(axis=1) < LOWEST
        axis.plot(x[off], np.full(off.sum(), LOWEST), "v", color=colour, markersize=5)
        axis.plot(x, control, color=NONE, linestyle="--", linewidth=1.2)
        axis.axhline(0, color=INK, linewidth=0.4)
        axis.set(title=name, ylim=(LOWEST - 0.05, 1.08))
        _layer_ticks(axis, shown)
    axes[0].set_ylabel("R² on new combinations" if on_new(d.evidence) else "R² on left-out seen ones")
    return figure


def _layer_ticks(axis: Axes, shown: list) -> None:
    names = [layer.name if len(layer.name) < 13 else f"{layer.name[:4]}…{layer.name[-6:]}" for layer in shown]
    axis.set_xticks(range(len(shown)), names, rotation=60, ha="right", fontsize=7)


def shape_curves(d: Diagnosis) -> Figure | None:
    """Additive share, factorisation, depth of the volume and agreements by layer, with intervals; dashed: controls."""
    wanted = {
        "additive_share": "additive share",
        "factorisation": "factorisation",
        "hole_depth": "log10 volume, new - seen",
        "and_agreement": "agreement with AND",
        "or_agreement": "agreement with OR",
    }
    there = {name: title for name, title in wanted.items() if any(getattr(y, name) is not None for y in d.layers)}
    if not there:
        return None
    figure, axes = _panels(len(there), 2.7, 2.2)
    for axis, (name, title) in zip(axes, there.items(), strict=True):
        shown = [layer for layer in d.layers if getattr(layer, name) is not None]
        bands = np.array([layer.intervals.get(name, (np.nan,) * 3) for layer in shown], float)
        bands[~np.isfinite(bands)] = np.nan
        axis.fill_between(range(len(shown)), bands[:, 1], bands[:, 2], color=COLOURS[2], alpha=0.22, linewidth=0)
        axis.plot([getattr(layer, name) for layer in shown], "o-", color=COLOURS[2], markersize=4, linewidth=1.4)
        axis.plot([layer.controls.get(name, np.nan) for layer in shown], color=NONE, linestyle="--", linewidth=1.2)
        axis.set_title(title)
        _layer_ticks(axis, shown)
    return figure


def kernels(d: Diagnosis) -> Figure | None:
    """Similarity matrices of the input, the middle and the last layer, beside the AND and the OR kernel."""
    shown = [layer for layer in d.layers if layer.kernel is not None]
    if not shown:
        return None
    chosen = [shown[i] for i in dict.fromkeys((0, len(shown) // 2, len(shown) - 1))]
    both = Kernels(d.evidence)
    rows = both.rows
    pictures = {layer.name: layer.kernel for layer in chosen}
    pictures |= {name.upper(): kernel for name, kernel in both.pure.items()}
    figure, axes = _panels(len(pictures), 2.3, 2.2)
    order = np.argsort(~d.evidence.seen[rows], kind="stable")
    for axis, (name, matrix) in zip(axes, pictures.items(), strict=True):
        axis.imshow(np.asarray(matrix)[np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        for draw in (axis.axhline, axis.axvline):
            draw(d.evidence.seen[rows].sum() - 0.5, color=INK, linewidth=0.6)
        plots.bare(axis, name)
    return figure


def samples(d: Diagnosis, most: int = 6) -> Figure | None:
    """Targets above outputs for some new combinations, where outputs are pictures."""
    a, e = d.evidence.answers, d.evidence
    shape = a.shape if len(a.shape) == 2 or (len(a.shape) == 3 and a.shape[-1] in (3, 4)) else None
    shape = shape or (a.shape[1:] if len(a.shape) == 3 and a.shape[0] == 1 else None)
    rows = np.flatnonzero(e.new)
    if shape is None or min(shape[:2]) < 4 or not len(rows):
        return None
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))]
    figure = Figure(figsize=(1.15 * len(rows) + 0.5, 2.7), layout="constrained")
    axes = figure.subplots(2, len(rows), squeeze=False)
    examples = [np.flatnonzero(e.of == row)[0] for row in rows]
    low, high = np.quantile(a.truth, [0.001, 0.999])
    for axis, row, i in zip(axes.T, rows, examples, strict=True):
        words = [f.values[v].split(" to ")[0][:8] for f, v in zip(e.factors, e.combinations[row], strict=True)]
        for place, values, title in ((0, a.truth, ", ".join(words)), (1, a.given, "")):
            picture = (np.clip(values[i].reshape(shape), low, high) - low) / max(high - low, 1e-12)
            axis[place].imshow(picture, cmap="gray", vmin=0, vmax=1)
            plots.bare(axis[place], title)
    axes[0, 0].set_ylabel("target")
    axes[1, 0].set_ylabel("output")
    return figure
