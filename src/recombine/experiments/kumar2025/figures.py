"""The figure of fracture: scores and effect sizes of designed, rotated and trained networks, and what two look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.experiments.pictures import figures

if TYPE_CHECKING:
    import pandas as pd

DESIGNED, ROTATED, TRAINED, OTHERS = "designed", "designed, rotated", "trained", "trained by others"
SCORES = {
    "R": "R: compressed size of changes",
    "purity": "parity purity of unit maps",
    "distinct_share": "distinct maps / all maps",
    "participation_ratio": "directions of weights' effects",
}
MEASURED = {
    "change_zip": "size of a change",
    "map_zip": "size of a map",
    "information": "information of a change",
    "symmetry": "symmetry spared",
    "rank": "rank of a change",
    "purity": "purity of a map",
    "additive": "additive share",
    "alike": "alike in a layer",
}
"""What the figure calls the measures of which effect sizes are taken."""


def figure(settings: Any, table: pd.DataFrame):
    """Scores, a dot per network; effect sizes; the size of maps by layer; unit maps and changes of two networks."""
    from matplotlib.figure import Figure

    rows = table[table["kind"].notna()]
    picture = Figure(figsize=(12, 12), layout="constrained")
    parts: Any = picture.subfigures(3, 1, height_ratios=(1, 1, 2))
    above, middle, below = parts
    scores(above.subplots(1, 4), rows)
    chances, depths = middle.subplots(1, 2, width_ratios=(1.4, 1))
    effect_sizes(chances, rows)
    by_depth(depths, rows)
    places = below.subplots(2, 2, width_ratios=(2.2, 1))
    first = sorted(rows["goal"].unique())[0]
    for (maps, strip), kind in zip(places, (DESIGNED, TRAINED), strict=True):
        seen = rows[(rows["goal"] == first) & (rows["kind"] == kind)].dropna(subset=["maps"])
        for _, one in seen.iterrows():
            figures.show_maps(maps, one["maps"], f"{kind}: what each unit draws ({first})")
            figures.show_strip(strip, one["strip"], f"{kind}: four weights, changed")
    return picture


def scores(places: Any, rows: pd.DataFrame) -> None:
    """One panel per score, one colour per picture."""
    kinds = [kind for kind in (DESIGNED, ROTATED, TRAINED, OTHERS) if (rows["kind"] == kind).any()]
    for place, (column, title) in zip(places, SCORES.items(), strict=True):
        figures.dots(place, rows, column, by="kind", kinds=kinds)
        place.set_title(title)
    places[3].set_yscale("log")
    places[0].legend(fontsize=7, frameon=False)


def effect_sizes(place: Any, rows: pd.DataFrame) -> None:
    """How often a value exceeds one of the designed network: filled of trained networks, hollow of rotated ones."""
    names = [name for name in map(str, rows) if name.startswith("auc_") and rows[name].notna().any()]
    for k, (_, mine) in enumerate(rows.groupby("goal")):
        for i, name in enumerate(names):
            for kind, fill, aside in ((TRAINED, f"C{k}", 0.05), (ROTATED, "none", -0.05)):
                values = mine[mine["kind"] == kind][name]
                x = np.full(len(values), i + 0.2 * (k - 1) + aside)
                place.plot(x, values, "o", color=f"C{k}", markersize=3.5, markerfacecolor=fill)
    place.axhline(0.5, color="black", linewidth=0.8)
    said = [MEASURED[name.removeprefix("auc_")] for name in names]
    place.set_xticks(range(len(names)), said, rotation=20, ha="right", fontsize=7)
    title = "chance that a value exceeds one of the designed network (filled: trained, hollow: rotated)"
    place.set(ylim=(-0.02, 1.02), title=title)


def by_depth(place: Any, rows: pd.DataFrame) -> None:
    """The compressed size of maps against the layer, first to last, the mean over networks."""
    for k, (name, mine) in enumerate(rows.groupby("goal")):
        for kind, line in ((DESIGNED, ":"), (TRAINED, "-")):
            every = list(mine[mine["kind"] == kind]["map_zip_by_layer"].dropna())
            sizes = np.stack(every or [np.full(2, np.nan)])
            there = np.isfinite(sizes)
            mean = np.where(there, sizes, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
            x = np.linspace(0, 1, len(mean))[there.any(axis=0)]
            y = mean[there.any(axis=0)]
            place.plot(x, y, line, color=f"C{k}", marker="o", markersize=3, label=f"{name}, {kind}")
    place.set(xlabel="layer, from first to last", title="compressed size of unit maps, bytes per pixel")
    place.legend(fontsize=6, frameon=False)
