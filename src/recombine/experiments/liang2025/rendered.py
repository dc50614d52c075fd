"""What a rendering network has stored, and how even the volume element of its pictures is: measured and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025.corner import CornerSettings, corner
from recombine.measures.bands import horizontal_share, vertical_share

if TYPE_CHECKING:
    import pandas as pd


def embedding(settings: CornerSettings, stored: Mapping[str, np.ndarray]) -> dict:
    """How far the stored pictures are bands, how many modes they use, and one of them from the held-out range."""
    bands = (vertical_share(stored["map_x"]) + horizontal_share(stored["map_y"])) / 2
    rank = float(np.mean(rc.effective_rank(stored["lambda_x"])))
    return {"bands": bands, "rank": rank, "picture": stored["map_x"][(settings.start + settings.size) // 2]}


def volume(settings: CornerSettings, answer: rc.Record) -> dict:
    """The picture's volume element over the corner over that of the L, and how uneven it is (in decades)."""
    volumes = rc.log_volume(rc.metric(*rc.finite_differences(rc.on_grid(answer, answer.y_hat))))
    held_out = rc.on_grid(answer, corner(settings).held_out)
    margin = min(round(2 * settings.sigma), settings.size // 4)  # nearer to the border a bump is cut
    within = (slice(margin, -margin),) * 2
    return {
        "corner_depth": rc.hole_depth(volumes[within], held_out[within], ~held_out[within]),
        "roughness": float(np.std(volumes[within])),
        "volume_map": volumes.T.astype(np.float32),
    }


DOTS = {
    "share that is bands": "bands",
    "modes per stored picture": "rank",
    "unevenness of volume\n(decades)": "roughness",
    "placed within 1 pixel: L": "accuracy1_l",
    "placed within 1 pixel: corner": "accuracy1_corner",
}
"""What the panels of the last row show, with one dot per network, and the columns of the table that it is in."""


def figure(settings: CornerSettings, table: pd.DataFrame, ablations: Sequence[str]):
    """One column per ablation: a stored picture, the volume over (x, y); at the right errors; below, what is judged."""
    plots, (figure, axes) = rc.plots, rc.plots.panels(rows=3, columns=len(DOTS), side=2.1)
    colours = dict(zip(ablations, (plots.BAD, "#c9892b", "#2b6fc9", plots.GOOD), strict=True))
    for i, name in enumerate(ablations):
        rows = rc.pick(table, condition=name).sort_values("seed")
        axes[0, -1].plot(rows["mse_l"], rows["mse_corner"], "o", color=colours[name], label=name, markersize=4)
        plots.signed(axes[0, i], rows.iloc[0]["picture"], title=f"{name}: what is stored\nfor one unseen x")
        volumes = rows.iloc[0]["volume_map"]
        image = plots.heat_map(axes[1, i], volumes - np.median(volumes), title="log10 volume", low=-1.5, high=0.5)
        plots.box(axes[1, i], settings.start, settings.size - 1)
        for place, column in zip(axes[2], DOTS.values(), strict=True):
            place.plot([i] * len(rows), rows[column], "o", color=colours[name], alpha=0.75, markersize=4)
    if rc.networks(table)["mse_corner"].notna().any():
        plots.decades(axes[0, -1], xlabel="error on the L", ylabel="error in the corner")
    axes[0, -1].legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for place, (label, column) in zip(axes[2], DOTS.items(), strict=True):
        place.set_xticks(range(len(ablations)), ablations, fontsize=7, rotation=30)
        place.set(title=label, xlim=(-0.6, len(ablations) - 0.4))
        if column == "rank":
            place.set_yscale("log", base=2)
        elif column != "roughness":
            place.set_ylim(-0.05, 1.05)
    plots.colour_bar(figure, image, axes[1, -1], "decades,\nless the median")  # pyrefly: ignore
    return figure
