"""In which layer does a decoder lose the separation of x and y that its input has?

Fig. 2 and Fig. 10 to 12: factorisation, linear decodability and the volume element of each layer's map of the grid, for
the failing network (whole donut) and the composing one (stripes and a few bumps).
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


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
GPU = Settings(seeds=8, block=1, steps=3125, learning_rate=1e-3, **FULL)
PAPER = Settings(seeds=20, block=1, steps=12500, learning_rate=1e-3, cosine=False, **FULL)
MEASURES = ("additive", "factorisation", "probe", "hole_depth")


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def run(cell: rc.Cell, monitor) -> list[dict]:
    trained, rows = train(cell, (DONUT, STRIPES), monitor)

    def found(i: int) -> dict:  # one network at a time: the activations of all would not fit
        return rc.nan_if_diverged(
            geometry(cell.settings, recorded(cell.settings, trained[i].model)), rows[i]["diverged_at"]
        )

    return [row | found(i) for i, row in enumerate(rows)]


def recorded(settings: Settings, network) -> rc.Record:
    """The answers of one network to every pair (x, y), with the activations of every hidden layer."""
    task, kept = shared.grid(settings), [f"layer{i}" for i in range(settings.depth + 1)]
    z = task.combinations[rc.whole(task.combinations)]
    return rc.record(network, task, z, key=rc.key(settings.seed, "test"), keep=kept)


def geometry(settings: Settings, answer: rc.Record) -> dict:
    """Each measure as one number per layer, from the first hidden layer to the output picture."""
    region = rc.square(answer.z, settings.low, settings.high)
    layers = [*answer.acts.values(), answer.y_hat]
    found = [on_layer(answer, layer.reshape(len(answer), -1).astype(float), region) for layer in layers]
    return {name: np.array([one[name] for one in found]) for name in MEASURES}


def on_layer(answer: rc.Record, layer: np.ndarray, region: rc.Split) -> dict[str, float]:
    acts = rc.on_grid(answer, layer)
    held_out = rc.on_grid(answer, region.held_out)
    g = rc.metric(*rc.finite_differences(acts))
    return {
        "additive": rc.additive_share(acts),
        "factorisation": rc.factorisation(g),
        "probe": rc.held_out_r2(layer, answer.z.astype(float), region.train),
        "hole_depth": rc.hole_depth(rc.log_volume(g), held_out, ~held_out),
    }


def controls(settings: Settings) -> list[dict]:
    """The measures on the truth, on noise, on sums of one code per part, on a memoriser, and before training."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    x, y = truth.z.T
    noise = rc.rng(settings.seed, "noise").normal(size=truth.y.shape)
    systems = {
        "perfect": truth,
        "noise": truth.answering(noise),
        "additive": truth.answering(noise[x] + noise[settings.size + y]),
        "nearest memory": rc.nearest_memory(truth, rc.square(truth.z, settings.low, settings.high).train),
        "untrained": recorded(settings, shared.initial_models(settings, shared.decoder(settings, settings.depth))),
    }
    return rc.control_rows(lambda system: geometry(settings, system), systems)


VOLUME = (
    figures.output_reads("perfect", "hole_depth", at_least=-0.1, at_most=0.1),
    figures.output_reads("nearest memory", "hole_depth", at_most=-0.6),
)
ADDITIVE = (
    figures.output_reads("additive", "additive", at_least=0.999),
    figures.output_reads("noise", "additive", at_most=0.3),
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


def fall(measure: str, condition: str):
    """From the first hidden layer to the last."""
    first, last = (figures.layer(measure, place, condition=condition) for place in (0, -2))
    return lambda t: first(t) - last(t)


def contrast(measure: str):
    """The last hidden layer of the composing network minus that of the failing one."""
    composing, failing = (figures.layer(measure, -2, condition=name) for name in (STRIPES, DONUT))
    return lambda t: composing(t) - failing(t)


CLAIMS = (
    rc.Claim(
        "the volume collapses in the hole",
        "In the last hidden layer of the failing network, the volume element collapses over the hole.",
        "Fig. 2e,f",
        effect=figures.layer("hole_depth", -2, condition=DONUT),
        below=-0.6,
        unit="decades of volume in the hole over the donut, last hidden layer",
        fits=learnt(DONUT),
        controls=VOLUME,
    ),
    rc.Claim(
        "the volume stays even where the network composes",
        "With stripes the volume element of the last hidden layer stays within 0.35 decades through the hole.",
        "Fig. 4d",
        effect=lambda t: figures.layer("hole_depth", -2, condition=STRIPES)(t).abs(),
        below=0.35,
        unit="decades of volume gained or lost in the hole, last hidden layer",
        fits=learnt(STRIPES),
        controls=VOLUME,
    ),
    rc.Claim(
        "factorisation degrades with depth (the paper)",
        "The factorisation score of the failing network falls from the first hidden layer to the last.",
        "Fig. 2c,d",
        effect=fall("factorisation", DONUT),
        above=0.01,
        unit="factorisation, first minus last hidden layer",
        fits=learnt(DONUT),
        controls=FACTORS,
    ),
    rc.Claim(
        "factorisation tells failure from success",
        "The composing network keeps a higher factorisation score in its last hidden layer.",
        "the reading that Fig. 2 and 4 suggest",
        effect=contrast("factorisation"),
        above=0.01,
        unit="factorisation of the last hidden layer, stripes minus donut",
        fits=learnt(DONUT, STRIPES),
        controls=FACTORS,
    ),
    rc.Claim(
        "decodability degrades with depth (the paper)",
        "In the failing network, linear decodability of x and y in the hole falls from the first hidden layer to the"
        " last.",
        "Fig. 2a,b, with a probe scored where it was not fitted",
        effect=fall("probe", DONUT),
        above=0.05,
        unit="R2 in the hole of a probe fitted outside it, first minus last hidden layer",
        fits=learnt(DONUT),
        controls=PROBE,
    ),
    rc.Claim(
        "the additive share tells failure from success (ours)",
        "In the last hidden layer x and y add up in the composing network, and not in the failing one.",
        "our measure",
        effect=contrast("additive"),
        above=0.25,
        unit="additive share of the last hidden layer, stripes minus donut",
        fits=learnt(DONUT, STRIPES),
        controls=ADDITIVE,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Each measure against the layer, one line per network: failing ones red, composing ones green, untrained grey."""
    plots = rc.plots
    figure, axes = plots.panels(rows=1, columns=len(MEASURES), side=2.6)
    titles = ("additive share", "factorisation", "held-out probe R2", "volume in the hole (decades)")
    groups = {
        DONUT: (plots.BAD, rc.pick(table, condition=DONUT)),
        STRIPES: (plots.GOOD, rc.pick(table, condition=STRIPES)),
        "untrained": (plots.NEUTRAL, rc.pick(table, system="untrained")),
    }
    for place, measure, title in zip(axes[0], MEASURES, titles, strict=True):
        for name, (colour, rows) in groups.items():
            for i, values in enumerate(rows[measure]):
                place.plot(values, color=colour, alpha=0.7, linewidth=1, label=name if i == 0 else None)
        place.axvspan(settings.depth - 0.15, settings.depth + 0.15, color=plots.NEUTRAL, alpha=0.15, linewidth=0)
        place.set(title=title, xlabel="layer (the last is the output)")
    hidden = np.concatenate([values[:-1] for _, rows in groups.values() for values in rows["probe"]])
    if np.isfinite(hidden).any():  # the probe of an output can be far below zero, which would hide the other layers
        axes[0, MEASURES.index("probe")].set_ylim(np.nanmin(hidden) - 0.1, 1.1)
    axes[0, 0].legend(fontsize=7, frameon=False)
    figure.suptitle("One line per network; grey band: the last hidden layer, which claims compare", fontsize=9)
    return figure
