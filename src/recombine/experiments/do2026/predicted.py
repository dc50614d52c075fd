"""The figure of predictor: best depths, what predicts them, and how much better than a mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026.best import best, curves
from recombine.experiments.do2026.targets import FEATURES, OWN
from recombine.experiments.pictures import figures
from recombine.measures.prediction import by_log_line, predict_left_out

if TYPE_CHECKING:
    import pandas as pd

SHORT = (*FEATURES, "PNG, random", "PNG, all depths", OWN.removeprefix("log of "), "other seeds")
"""What the figure calls the claims."""


def figure(table: pd.DataFrame, claims: Sequence[rc.Claim]):
    """Best depth against its prediction and against each complexity, by kind; R against depth; gains as judged."""
    picture, axes = rc.plots.panels(rows=3, columns=4, side=3.1)
    found = best(table)
    for column, feature in enumerate(FEATURES):
        predictions(axes[0, column], found, feature)
        dots(axes[1, column], found, feature)
        axes[1, column].set(xlabel=f"{feature} at 256 pixels", ylabel="best depth")
    if len(found):
        axes[1, 0].legend(fontsize=7, frameon=False)
    by_depth(axes[2, :3], table, found)
    named = list(zip(SHORT, claims, strict=True))
    for place, some in zip(axes[:, 3], (named[:3], named[3:5], named[5:]), strict=True):
        figures.judged(place, table, dict(some))
        place.set(title="gain over each mean, as judged", xlabel="hidden layers")
    return picture


def by_depth(places: Any, table: pd.DataFrame, found: pd.DataFrame) -> None:
    """R against depth for some targets of small, middle and large PNG ratio; a ring where it is lowest."""
    networks, drawn = rc.networks(table), curves(table)
    order = networks.drop_duplicates("number").sort_values(FEATURES[0])["number"].to_numpy()
    for place, title, some in zip(places, ("smallest", "middle", "largest"), np.array_split(order, 3), strict=True):
        for i, number in enumerate(some[:: -(-len(some) // 5)]):
            mine, sound = networks[networks["number"] == number], drawn.loc[number].dropna()
            if sound.empty:
                continue
            place.plot(sound.index, sound, "o-", color=f"C{i}", markersize=4, linewidth=0.8, label=mine["goal"].iloc[0])
            ring = sound[sound == sound.min()] if number in found.index else sound[:0]
            place.plot(ring.index, ring, "o", color=f"C{i}", markersize=9, markerfacecolor="none")
        place.set(title=f"{title} {FEATURES[0]}s, where drawn; ring: best", xlabel="hidden layers", ylabel="R")
        place.legend(fontsize=6, frameon=False)


def predictions(place: Any, found: pd.DataFrame, feature: str) -> None:
    """Best depths against predictions of targets left out, and their mean error."""
    place.set(xlabel=f"depth predicted from {feature}", ylabel="best depth")
    if len(found) < 3:
        return
    said = predict_left_out(found[feature], found["best"], by_log_line)
    dots(place, found.assign(said=said.predicted), "said")
    ends = [found["best"].min(), found["best"].max()]
    place.plot(ends, ends, color="black", linestyle=":", linewidth=0.9)
    place.set_title(f"mean error {said.error:.2f} layers")


def dots(place: Any, found: pd.DataFrame, x: str) -> None:
    """A dot per target, coloured by its kind; equal depths a little apart."""
    for i, (kind, mine) in enumerate(found.groupby("kind")):
        shaken = mine["best"] + np.random.default_rng(i).uniform(-0.2, 0.2, len(mine))
        place.plot(mine[x], shaken, "o", color=f"C{i}", markersize=4, alpha=0.8, label=kind)
