"""In which layer does a decoder lose the separation of x and y that its input has?

Fig. 2a,c,e and Fig. 4d: factorisation, linear decodability and the volume element of each layer's map of the grid, for
the failing network (whole donut) and the composing one (stripes and a few bumps). Plain numbers are in `rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, learnt, train
from recombine.experiments.liang2025.stripes import Settings as StripeSettings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(StripeSettings):
    steps: int = 800
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings(dark=True)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
AS_RELEASED = {"steps": 3125, "learning_rate": 1e-3, "cosine": False}
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
    trained, rows = train(cell, (DONUT, STRIPES), monitor)
    return [row | geometry(cell.settings, trained[i].model, row["diverged_at"]) for i, row in enumerate(rows)]


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


VOLUME = (
    figures.output_reads("perfect", "hole_depth", at_least=-0.1, at_most=0.1),
    figures.output_reads("nearest memory", "hole_depth", at_most=-0.6),
)
ADDITIVE = (
    figures.output_reads("additive", "additive", at_least=0.999),
    figures.output_reads("noise", "additive", at_most=0.3),
)
ROUGH = (
    figures.output_reads("perfect", "roughness", at_most=0.1),
    figures.output_reads("nearest memory", "roughness", at_least=0.5),
)
# Noise is not asked for a low score: random directions in many dimensions are nearly orthogonal, so that it reads .98.
FACTORS = (figures.output_reads("perfect", "factorisation", at_least=0.99),)
PROBE = (
    figures.output_reads("noise", "probe", at_most=0.2),
    rc.Check(
        "probe of the control perfect minus that of noise",
        lambda t: figures.output_of(t, "perfect", "probe") - figures.output_of(t, "noise", "probe"),
        at_least=0.2,
    ),
)


def fall(measure: str, **where):
    """From the first hidden layer to the last."""
    first, last = (figures.layer(measure, place, **where) for place in (0, -2))
    return lambda t: first(t) - last(t)


def contrast(measure: str):
    """The last hidden layer of the composing network minus that of the failing one."""
    composing, failing = (figures.layer(measure, -2, condition=name) for name in (STRIPES, DONUT))
    return lambda t: composing(t) - failing(t)


def even(place: int):
    return lambda t: figures.layer("hole_depth", place, condition=STRIPES)(t).abs()


FAILING, COMPOSING, BOTH = ({"fits": learnt(*names)} for names in ((DONUT,), (STRIPES,), (DONUT, STRIPES)))
CLAIMS = (
    rc.Claim(
        "the volume collapses in the hole",
        "In the last hidden layer of the failing network, the volume element collapses over the hole.",
        "Fig. 2e",
        effect=figures.layer("hole_depth", -2, condition=DONUT),
        below=-0.6,
        unit="decades of volume in the hole over the donut, last hidden layer",
        controls=VOLUME,
        **FAILING,
    ),
    rc.Claim(
        "the volume of the picture collapses in the hole (ours)",
        "In the picture that the failing network draws, the volume element collapses over the hole.",
        "ours: the paper's panels end with the hidden layers",
        effect=figures.layer("hole_depth", -1, condition=DONUT),
        below=-0.6,
        unit="decades of volume in the hole over the donut, picture",
        controls=VOLUME,
        **FAILING,
    ),
    rc.Claim(
        "the volume stays even where the network composes",
        "With stripes the volume element of the last hidden layer stays within 0.35 decades through the hole.",
        "Fig. 4d",
        effect=even(-2),
        below=0.35,
        unit="decades of volume gained or lost in the hole, last hidden layer",
        controls=VOLUME,
        **COMPOSING,
    ),
    rc.Claim(
        "the volume of the picture stays even where the network composes (ours)",
        "With stripes the volume element of the picture stays within 0.35 decades through the hole.",
        "ours: Fig. 4d, at the picture",
        effect=even(-1),
        below=0.35,
        unit="decades of volume gained or lost in the hole, picture",
        controls=VOLUME,
        **COMPOSING,
    ),
    rc.Claim(
        "stripes make the volume smoother",
        "With stripes the volume element of the last hidden layer varies less from cell to cell than on the donut.",
        "Fig. 4d (smooth)",
        effect=lambda t: -contrast("roughness")(t),
        above=0.1,
        unit="standard deviation over cells of log10 of the volume, donut minus stripes, last hidden layer",
        controls=ROUGH,
        **BOTH,
    ),
    rc.Claim(
        "factorisation degrades with depth (the paper)",
        "The factorisation score of the failing network falls from the first hidden layer to the last.",
        "Fig. 2c",
        effect=fall("factorisation", condition=DONUT),
        above=0.01,
        unit="factorisation, first minus last hidden layer",
        controls=FACTORS,
        **FAILING,
    ),
    rc.Claim(
        "factorisation tells failure from success",
        "The composing network keeps a higher factorisation score in its last hidden layer.",
        "the reading that Fig. 2 and 4 suggest",
        effect=contrast("factorisation"),
        above=0.01,
        unit="factorisation of the last hidden layer, stripes minus donut",
        controls=FACTORS,
        **BOTH,
    ),
    rc.Claim(
        "decodability degrades with depth (the paper)",
        "In the failing network, linear decodability of x and y in the hole falls from the first hidden layer to the"
        " last.",
        "Fig. 2a, with a probe scored where it was not fitted",
        effect=fall("probe", condition=DONUT),
        above=0.05,
        unit="R2 in the hole of a probe fitted outside it, first minus last hidden layer",
        controls=PROBE,
        **FAILING,
    ),
    rc.Claim(
        "decodability degrades more where the network composes (ours)",
        "From the first hidden layer to the last, linear decodability falls more in the composing network than in the"
        " failing one, so that its fall is no sign of failure.",
        "ours, of Fig. 2a; stated after other seeds were seen",
        effect=lambda t: fall("probe", condition=STRIPES)(t) - fall("probe", condition=DONUT)(t),
        above=0.05,
        unit="fall of R2 in the hole, stripes minus donut",
        controls=PROBE,
        **BOTH,
    ),
    rc.Claim(
        "the additive share tells failure from success (ours)",
        "In the last hidden layer x and y add up in the composing network, and not in the failing one.",
        "our measure",
        effect=contrast("additive"),
        above=0.25,
        unit="additive share of the last hidden layer, stripes minus donut",
        controls=ADDITIVE,
        **BOTH,
    ),
)


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
                place.plot(values, color=colour, alpha=0.6, linewidth=0.8, label=name if i == 0 else None)
        place.axvspan(settings.depth - 0.15, settings.depth + 0.15, color=plots.NEUTRAL, alpha=0.15, linewidth=0)
        place.set(title=title, xlabel="layer (the last is the picture)")
    hidden = np.concatenate([values[:-1] for _, rows in groups.values() for values in rows["probe"]])
    if np.isfinite(hidden).any():  # the probe of a picture can be far below zero, which would hide the other layers
        axes[0, list(SHOWN).index("probe")].set_ylim(np.nanmin(hidden) - 0.1, 1.1)
    axes[0, 0].legend(fontsize=7, frameon=False)
    figure.suptitle("One line per network; grey band: the last hidden layer, which claims compare", fontsize=9)
    return figure
