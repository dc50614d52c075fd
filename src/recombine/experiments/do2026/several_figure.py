"""The figure of several: the pictures, what networks make of them, their unit maps, and scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026.together import pictures
from recombine.experiments.pictures import figures, moments

if TYPE_CHECKING:
    import pandas as pd

SHARED, ALONE, OUTSIDE = "one for all", "one each", "outside"


def figure(settings: Any, table: pd.DataFrame):
    """Each picture and what networks of the first seed make of it; maps of one for all, picture by picture; scores."""
    plots, every = rc.plots, list(dict.fromkeys(rc.networks(table)["goal"]))
    sheet, axes = plots.panels(rows=5, columns=max(4, len(every)), side=2.0)
    for place in axes.ravel():
        place.set_axis_off()
    for j, name in enumerate(every):
        outside = name in settings.outside
        maps = forward(table, name, OUTSIDE if outside else SHARED, "maps")
        shown = [
            (wanted(settings, table, name), Path(name).stem),
            (forward(table, name, SHARED, "drawn"), SHARED),
            (forward(table, name, OUTSIDE if outside else ALONE, "drawn"), ALONE),
            (None if maps is None else figures.mosaic(maps), "maps of its units"),
        ]
        for place, (image, title) in zip(axes[:4, j], shown, strict=True):
            if image is not None:
                place.imshow(image, cmap="RdBu", vmin=-1, vmax=1)
                place.set_title(title)
    titles = {"mse": "mean squared error", "share_left": "share of the variance left"}
    titles |= {"R": "R (bars: designed networks)", "map_zip": "size of unit maps (bars: designed)"}
    for place, (column, title) in zip(axes[4], titles.items(), strict=False):
        scores(place, table, every, column)
        place.set_title(title)
    for place in axes[4, :2]:
        figures.log_scale(place)
    axes[4, 1].axhline(moments.DRAWN, color=plots.BAD, linestyle=":", linewidth=0.9)
    axes[4, 0].legend(fontsize=6, frameon=False)
    return sheet


def forward(table: pd.DataFrame, name: str, kind: str, column: str) -> np.ndarray | None:
    """What was kept of the first seed's network, if it draws this picture and did not diverge."""
    mine = table[(table["kind"] == kind) & (table["goal"] == name)]
    kept = mine[column].dropna() if column in mine else mine["seed"][:0]
    return kept.iloc[0] if len(kept) and np.isfinite(kept.iloc[0]).all() else None


def wanted(settings: Any, table: pd.DataFrame, name: str) -> np.ndarray:
    """The picture to be drawn: as it was when it was trained on, since a file may have changed."""
    kept = list(table[table["goal"] == name]["wanted"].dropna()) if "wanted" in table else []
    return kept[0] if kept else figures.thumb(pictures(settings)[name].picture)


def designed(table: pd.DataFrame) -> list[str]:
    """The pictures that a network was designed for."""
    return sorted(table[table["system"] == "designed"]["goal"])


def scores(place: Any, table: pd.DataFrame, names: list[str], column: str) -> None:
    """A dot per network, one colour per kind; designed networks as black bars."""
    place.set_axis_on()
    for k, kind in enumerate((SHARED, ALONE, OUTSIDE)):
        mine = table[table["kind"] == kind]
        where = [names.index(name) + (-0.15, 0.15, 0)[k] for name in mine["goal"]]
        place.plot(where, mine[column], "o", color=f"C{k}", markersize=3, alpha=0.7, label=kind)
    for name in designed(table) if column in moments.SCORES else ():
        value = moments.reading(table, "designed", column, name)
        place.hlines(value, names.index(name) - 0.4, names.index(name) + 0.4, color="black", linewidth=1.2)
    place.set_xticks(range(len(names)), [Path(name).stem for name in names], rotation=30, ha="right", fontsize=7)
