"""The pooled figure: success on withheld pairs against coverage of pairs, a panel per family, sizes as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"usual": "#8a94a0", "wide": "#1b7f5c", "deep": "#3a5fb0"}
MARKS = {"usual": "o", "wide": "s", "deep": "^"}
TITLES = {
    "bumps": "bumps: places x and y",
    "hyperteacher": "hyperteacher: modules",
    "preferences": "preferences: likings",
    "chains": "chains: adjacent functions",
    "programmes": "programmes: adjacent numbers",
    "scan": "SCAN: verb and manner",
}


def figure(settings: Any, table: pd.DataFrame):
    """One dot per network and a line through the means of each size; dotted, what a rememberer gets right."""
    rows, columns = rc.networks(table), min(3, len(settings.families))
    height = -(-len(settings.families) // columns)
    picture, axes = rc.plots.panels(rows=height, columns=columns, side=2.7)
    for panel in axes.ravel()[len(settings.families) :]:
        panel.axis("off")
    words = {
        "usual": "usual size",
        "wide": f"{settings.wider} times as wide",
        "deep": f"{settings.deeper} times as deep",
    }
    for panel, name in zip(axes.ravel(), settings.families, strict=False):
        mine = rows[rows["family"] == name]
        _sizes(panel, mine, words)
        floor = table[(table["system"] == "remembers") & (table["family"] == name)]["success"]
        panel.axhline(floor.mean(), color="black", linestyle=":", linewidth=1)
        panel.set(title=TITLES[name], xlim=(0, 1.02), ylim=(-0.04, 1.04))
        panel.grid(alpha=0.15, linewidth=0.6)
        panel.text(0.03, 0.97, _summary(mine), transform=panel.transAxes, fontsize=6.5, va="top", color="#444444")
    for panel in axes[-1]:
        panel.set_xlabel("share of pairs that training covers")
    for panel in axes[:, 0]:
        panel.set_ylabel("success on withheld pairs")
    handles = axes[0, 0].get_legend_handles_labels()
    picture.legend(*handles, loc="outside lower center", ncols=4, fontsize=7.5, frameon=False)
    return picture


def _sizes(panel, rows: pd.DataFrame, words: dict[str, str]) -> None:
    """The networks of a family: jittered dots, and means with their standard errors."""
    for place, (size, colour) in enumerate(COLOURS.items()):
        mine = rows[rows["size"] == size]
        shift = (place - 1) * 0.012
        panel.plot(
            mine["coverage_pairs"] + shift, mine["success"], MARKS[size], color=colour, alpha=0.28, ms=3.5, mew=0
        )
        by = mine.groupby("withheld")
        means, errors = by[["coverage_pairs", "success"]].mean().sort_values("coverage_pairs"), by["success"].sem()
        panel.errorbar(
            means["coverage_pairs"] + shift,
            means["success"],
            yerr=errors.reindex(means.index),
            fmt=f"{MARKS[size]}-",
            color=colour,
            ms=6,
            mec="white",
            mew=0.8,
            linewidth=1.6,
            label=words[size],
        )
    panel.plot([], [], ":", color="black", linewidth=1, label="remembers the nearest")


def _summary(rows: pd.DataFrame) -> str:
    """What scale adds at equal coverage, what coverage adds at equal scale, and the usual size."""
    means = rows.groupby(["size", "withheld"])["success"].mean().unstack("withheld")
    if not {"usual", "wide", "deep"} <= set(means.index):
        return ""
    shares = sorted(means.columns)
    gains = {size: float(np.mean(means.loc[size] - means.loc["usual"])) for size in ("wide", "deep")}
    covering = float(np.mean(means[shares[0]] - means[shares[-1]]))
    usual = rows[rows["size"] == "usual"].iloc[0]
    shape = f"{usual['depth']:g} layers of {usual['width']:g}"
    return f"width {gains['wide']:+.2f}\ndepth {gains['deep']:+.2f}\ncoverage {covering:+.2f}\n({shape})"
