"""The figure of volume: the count over width and depth, trained networks beside it, both against P, and the claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026.pure_effects import JUDGED, LEARNT, TARGETS, sound
from recombine.experiments.pictures.figures import judged
from recombine.theory import volume as theory

if TYPE_CHECKING:
    import pandas as pd

SHORT = ("count", "- depth", "- width", "- parameters", "narrow", "own depth", "learnt", "few parts")
"""What the figure calls the claims."""


def figure(settings: Any, table: pd.DataFrame, claims: Sequence[rc.Claim]):
    """A column for each target: counted, trained and learnt; then the same against P, and what is judged."""
    picture, axes = rc.plots.panels(rows=3, columns=len(settings.compositions) + 1, side=3.4)
    rows = rc.networks(table)
    rows = rows.assign(learnt=(rows["missed"] <= LEARNT).astype(float))
    for column, steps in zip(axes.T, settings.compositions, strict=False):
        mine = rows[(rows["target"] == TARGETS[steps]) & (rows["parts"] == JUDGED)]
        heat(column[0], settings, counted(settings, steps), f"{TARGETS[steps]}: ln of the counted share")
        heat(column[1], settings, grid(settings, sound(mine), "gained"), "pure units that training adds, where learnt")
        heat(column[2], settings, grid(settings, mine, "learnt"), "share of networks that learn it")
    by_parts(axes[:2, -1], settings, rows)
    judged(axes[2, -1], table, dict(zip(SHORT, claims, strict=True)))
    axes[2, -1].set_title("as judged")
    return picture


def counted(settings: Any, steps: int) -> np.ndarray:
    ratios = theory.volume_ratios(theory.PURE, settings.widths, settings.depths, primitives=JUDGED, steps=steps)
    return ratios.T


def by_parts(places: Any, settings: Any, rows: pd.DataFrame) -> None:
    """The counted share, and what training adds, against the number of parts: for the widths, at the middle depth."""
    depth = settings.depths[len(settings.depths) // 2]
    for i, width in enumerate(settings.widths):
        ratios = [theory.log_volume_ratio(theory.PURE, width, depth, primitives=p) for p in settings.parts]
        places[0].plot(settings.parts, ratios, "o-", color=f"C{i}", markersize=3, label=f"width {width}")
        mine = sound(rows[(rows["width"] == width) & (rows["depth"] == depth)])
        for target, line in zip(TARGETS.values(), ("-", "--", ":"), strict=True):
            means = mine[mine["target"] == target].groupby("parts")["gained"].mean()
            places[1].plot(means.index, means, f"o{line}", color=f"C{i}", markersize=3, linewidth=0.9)
    places[0].legend(fontsize=6, frameon=False)
    places[0].set(xlabel="parts, P", title=f"ln of the counted share, {depth} layers")
    places[1].set(xlabel="parts, P", title="pure units that training adds\n(line: sum; dashes, dots: 2, 3 steps)")


def heat(place: Any, settings: Any, values: np.ndarray, title: str) -> None:
    """A map over width and depth with its numbers; a dash where there is none."""
    place.imshow(np.where(np.isfinite(values), values, np.nan), origin="lower", aspect="auto")
    place.set_xticks(range(len(settings.widths)), [str(w) for w in settings.widths])
    place.set_yticks(range(len(settings.depths)), [str(d) for d in settings.depths])
    place.set(xlabel="width", ylabel="hidden layers")
    place.set_title(title, fontsize=8)
    known = values[np.isfinite(values)]
    middle = (known.min() + known.max()) / 2 if known.size else np.nan
    for (i, j), value in np.ndenumerate(values):
        said = "-" if not np.isfinite(value) else f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"
        dark = np.isfinite(value) and value <= middle
        place.text(j, i, said, ha="center", va="center", fontsize=7, color="white" if dark else "black")


def grid(settings: Any, rows: pd.DataFrame, column: str) -> np.ndarray:
    """The mean of a column for each depth and width; no number where there is no network."""
    means = rows.groupby(["depth", "width"])[column].mean()
    return np.array([[means.get((d, w), np.nan) for w in settings.widths] for d in settings.depths])
