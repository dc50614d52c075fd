"""The figure of predictor: best depths against complexities, scores against depth, and what is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026.best import best, curves
from recombine.experiments.do2026.targets import FEATURES
from recombine.experiments.pictures import figures

if TYPE_CHECKING:
    import pandas as pd

SHORT = ("PNG, unit maps", "PNG, changes", "others, unit maps", "PNG, random networks", "PNG, renders")
"""What the figure calls the claims."""
SCORES = {"map_zip": "unit maps", "R": "changes by weights"}


def figure(table: pd.DataFrame, claims: Sequence[rc.Claim]):
    """A row per score: best depth against each complexity, and the score against depth; at the end what is judged."""
    picture, axes = rc.plots.panels(rows=2, columns=5, side=3.0)
    for line, (score, words) in zip(axes, SCORES.items(), strict=True):
        found = best(score)(table)
        for place, feature in zip(line, FEATURES, strict=False):
            dots(place, found, feature)
            place.set(xlabel=f"{feature} at 256 pixels", ylabel=f"best depth by {words}")
        by_depth(line[3], table, score)
    if len(axes[0, 0].get_lines()):
        axes[0, 0].legend(fontsize=7, frameon=False)
    figures.judged(axes[0, 4], table, dict(zip(SHORT, claims, strict=True)))
    axes[0, 4].set(title="as judged", xlabel="rank correlation within kinds")
    axes[1, 4].set_axis_off()
    return picture


def by_depth(place: Any, table: pd.DataFrame, score: str) -> None:
    """A score against depth, a line per target that is rendered: dark where its PNG ratio is large."""
    found = curves(table, score)
    order = rc.networks(table).drop_duplicates("goal").set_index("goal")[FEATURES[0]].rank(pct=True)
    for goal, line in found.iterrows():
        shade = 0.9 - 0.9 * float(order.loc[goal])  # pyrefly: ignore
        place.plot(line.index, line, "o-", color=f"{shade:.2f}", markersize=2, linewidth=0.7)
    place.set(xlabel="hidden layers", ylabel=score, title=f"dark: large {FEATURES[0]}")


def dots(place: Any, found: pd.DataFrame, x: str) -> None:
    """A dot per target, coloured by its kind; equal depths a little apart."""
    for i, (kind, mine) in enumerate(found.groupby("kind")):
        shaken = mine["best"] + np.random.default_rng(i).uniform(-0.2, 0.2, len(mine))
        place.plot(mine[x], shaken, "o", color=f"C{i}", markersize=4, alpha=0.8, label=kind)
