"""What is decoded from the layers of students, and how it goes with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures

if TYPE_CHECKING:
    import pandas as pd


def figure(settings: Any, table: pd.DataFrame):
    """R^2 of probes by layer and condition, of a module trained on alone, and of the deepest layer against answers."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(12.5, 4.4), layout="constrained")
    left, middle, right = picture.subplots(1, 3)
    rows = rc.networks(table)
    best_first = rows.groupby("condition")["r2_unseen"].mean().sort_values(ascending=False).index
    for place, condition in enumerate(best_first):
        mine = rows[rows["condition"] == condition]
        figures.by_layer(left, mine, f"C{place}", condition)
        low = figures.floored(mine, "probe_deepest", figures.FLOOR)
        right.plot(low, mine["r2_unseen"], "o", color=f"C{place}", alpha=0.7, markersize=4)
    left.set(ylabel="R2 of decoded constituents, held-out tasks", title="all modules")
    _isolated(middle, table)
    figures.legend(picture, handles=left.get_legend_handles_labels()[0], loc="outside lower left", ncols=6)
    right.set(xlabel="R2 of constituents (below 0 as 0), deepest layer", ylabel="R2 on held-out tasks")
    both = {"squared Pearson": figures.squared, "rank": None}
    means = {
        name: figures.explains("probe_deepest", of, floor=figures.FLOOR)(table).mean() for name, of in both.items()
    }
    shown = ", ".join(f"{name}: {mean:.2f}" for name, mean in means.items())
    right.set_title(f"one dot per student; mean of correlations\nwithin a seed, {shown}", fontsize=8)
    return picture


def _isolated(axes, table: pd.DataFrame) -> None:
    """The isolated module of a disconnected support, and the others, layer by layer, trained and untrained."""
    both = rc.pick(table, kind="disconnected"), rc.pick(table, system=figures.ISOLATED)
    for who, name, colour in zip(both, ("trained", "untrained"), (rc.plots.GOOD, rc.plots.NEUTRAL), strict=True):
        rows = who[who["rarest_deepest"].notna()]
        if rows.empty:
            continue
        alone, rest = zip(*map(apart, rows["constituents"], rows["rarest_deepest"]), strict=True)
        for values, style, which in ((alone, "o-", "isolated module"), (rest, "--", "other modules")):
            each = np.maximum(np.stack(values), -1)
            axes.plot(each.T, color=colour, alpha=0.2, linewidth=0.8)
            axes.plot(each.mean(axis=0), style, color=colour, markersize=4, label=f"{which}, {name}")
    axes.set(xlabel="layer (0 is the task encoding)", title="disconnected support (plotted as -1 where lower)")
    figures.r2_limits(axes)
    axes.set_xticks(range(len(table["constituents"].dropna().iloc[0])))
    figures.legend(axes)


def apart(by_layer: np.ndarray, deepest: float) -> tuple[np.ndarray, np.ndarray]:
    """R^2 by layer (layers x modules) of the module whose deepest R^2 is given, and the mean of the others."""
    every = np.stack(list(by_layer))
    alone = int(np.abs(every[-1] - deepest).argmin())
    return every[:, alone], np.delete(every, alone, axis=1).mean(axis=1)
