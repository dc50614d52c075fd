"""In which layer does a decoder lose the separation of x and y that its input has?

Fig. 2a,c,e and Fig. 4d: factorisation, linear decodability and the volume element of each layer's map of the grid, for
the failing network (whole donut) and the composing one (stripes and a few bumps). A network at its initial weights
loses some of each, too: falls count what training adds to that of the same seed, from the input on, where both
factorisation and decodability are 1. Plain numbers are in `rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import layers_claims, shared
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, train
from recombine.experiments.liang2025.stripes import Settings as StripeSettings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(StripeSettings):
    steps: int = 1200
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings(seed=1, seeds=10, block=10, batch=16, dark=True, bumps=32, steps=1500)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
AS_RELEASED = {"steps": 3150, "learning_rate": 1e-3, "seed": 1}
GPU = Settings(seeds=42, block=21, **AS_RELEASED, **FULL)
PAPER = Settings(seeds=50, block=10, **AS_RELEASED, **FULL)
SHOWN = {
    "additive": "additive share",
    "factorisation": "factorisation",
    "probe": "held-out probe R2",
    "hole_depth": "volume in the hole (decades)",
    "roughness": "unevenness of volume (decades)",
}


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, (_, life) = cell.settings, shared.data_and_train_keys(cell.settings, cell.members)
    trained, rows = train(cell, (DONUT, STRIPES), monitor)
    rows = [row | geometry(settings, trained[i].model, row["diverged_at"]) for i, row in enumerate(rows)]
    born = [geometry(settings, one) for one in shared.starts(shared.decoder(settings, settings.depth), life)]
    return shared.with_initial(rows, dict(zip(cell.members, born, strict=True)), list(SHOWN))


def geometry(settings: Settings, network, diverged_at: int = -1) -> dict:
    """Each measure of one network as one number per layer, or NaN if it diverged."""
    from recombine.experiments.liang2025 import surfaces

    if diverged_at >= 0:
        return {name: np.full(settings.depth + 2, np.nan) for name in surfaces.MEASURES}
    return surfaces.of_network(settings, shared.grid(settings), network, settings.depth + 1)


def controls(settings: Settings) -> list[dict]:
    from recombine.experiments.liang2025 import surfaces

    born = shared.initial_models(settings, shared.decoder(settings, settings.depth))
    return [*surfaces.known(settings), {"system": "untrained", "seed": 0} | geometry(settings, born)]


CLAIMS = layers_claims.STATED


def from_input(measure: str, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Layers and values of a network, to be plotted; the input is layer 0 where a measure is 1 by what codes are."""
    whole = measure.removesuffix("_fd") in ("additive", "factorisation", "probe")
    return np.arange(0 if whole else 1, len(values) + 1), np.concatenate([np.ones(int(whole)), values])


def figure(settings: Settings, table: pd.DataFrame):
    """Each measure against the layer, one line per network: failing ones red, composing ones green, untrained grey."""
    plots = rc.plots
    figure, axes = plots.panels(rows=1, columns=len(SHOWN), side=2.4)
    groups = {
        DONUT: (plots.BAD, rc.pick(table, condition=DONUT)),
        STRIPES: (plots.GOOD, rc.pick(table, condition=STRIPES)),
        "untrained": (plots.NEUTRAL, rc.pick(table, system="untrained")),
    }
    for place, (measure, title) in zip(axes[0], SHOWN.items(), strict=True):
        for name, (colour, rows) in groups.items():
            for i, values in enumerate(rows[measure]):
                label = name if i == 0 else None
                place.plot(*from_input(measure, values), color=colour, alpha=0.6, linewidth=0.8, label=label)
        place.axvspan(settings.depth + 0.85, settings.depth + 1.15, color=plots.NEUTRAL, alpha=0.15, linewidth=0)
        place.set(title=title, xlabel="layer (0: input; last: picture)")
    hidden = np.concatenate([values[:-1] for _, rows in groups.values() for values in rows["probe"]])
    if np.isfinite(hidden).any():  # the probe of a picture can be far below zero, which would hide the other layers
        axes[0, list(SHOWN).index("probe")].set_ylim(np.nanmin(hidden) - 0.1, 1.1)
    axes[0, 0].legend(fontsize=7, frameon=False)
    figure.suptitle("One line per network; grey band: the last hidden layer, which claims compare", fontsize=9)
    return figure
