"""In which layer does a decoder lose what it was told apart: does it tangle x and y again on the way to the picture?

Fig. 2 and Fig. 10 to 12: factorisation, linear decodability and the volume element of each layer's map of the grid, for
the failing network (whole donut) and the composing one (stripes and a few bumps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, Cell, learnt, train_conditions
from recombine.experiments.liang2025.superposition import Settings as WideSettings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(WideSettings):
    pass


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
GPU = Settings(seeds=8, block=1, steps=3125, learning_rate=1e-3, **FULL)
PAPER = Settings(seeds=20, block=1, steps=12500, learning_rate=1e-3, cosine=False, **FULL)
MEASURES = ("additive", "factorisation", "probe", "hole_depth")


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings = cell.settings
    trained, rows = train_conditions(cell, (DONUT, STRIPES), watch)
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    kept = [f"layer{i}" for i in range(settings.depth + 1)]

    def seen(i: int) -> dict:  # one network at a time: activations of all would not fit
        answer = rc.record(trained[i].model, task, z, key=_seeds.test_key(settings), keep=kept)
        return _seeds.unless_lost(geometry(settings, answer), rows[i]["diverged_at"])

    return [row | seen(i) for i, row in enumerate(rows)]


def geometry(settings, answer: rc.Record) -> dict:
    """Each measure as one number a layer, from the first hidden layer to the picture."""
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
    """The measures on the truth, on noise, and on codes that are sums of one part's and the other's."""
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    truth = _hole.bright(settings, rc.truth(task, z, key=_seeds.test_key(settings)))
    noise = np.random.default_rng(settings.seed).normal(size=truth.y.shape)
    region = rc.square(z, settings.low, settings.high)
    systems = {
        "perfect": truth,
        "noise": truth.answering(noise),
        "additive": truth.answering(noise[0][z[:, 0]] + noise[1][z[:, 1]]),
        "nearest memory": rc.nearest_memory(truth, region.train),
    }
    return [{"condition": f"control: {n}", "seed": 0} | geometry(settings, s) for n, s in systems.items()]


def at(table: pd.DataFrame, condition: str, measure: str, layer: int) -> pd.Series:
    """A measure of one layer, by seed; 0 is the first hidden layer, -1 the picture, -2 the last hidden layer."""
    return rc.by_seed(table, measure, condition=condition).apply(lambda values: values[layer])


def last(table: pd.DataFrame, system: str, measure: str) -> float:
    return float(at(table, f"control: {system}", measure, -1).iloc[0])


VOLUME = (
    rc.Check("the truth has no hole in its volume", lambda t: 0.1 - abs(last(t, "perfect", "hole_depth")), 0.0),
    rc.Check("a memoriser's volume collapses", lambda t: -last(t, "nearest memory", "hole_depth"), 0.6),
)
ADDITIVE = (
    rc.Check("a sum of codes is additive", lambda t: last(t, "additive", "additive"), 0.999),
    rc.Check("noise is not", lambda t: 0.3 - last(t, "noise", "additive"), 0.0),
)
FACTORS = (
    rc.Check("the truth is factorised", lambda t: last(t, "perfect", "factorisation"), 0.99),
    # Random directions in many dimensions are nearly orthogonal: if the score calls noise factorised, it may not judge.
    rc.Check("noise is not: its score is at most 0.9", lambda t: 0.9 - last(t, "noise", "factorisation"), 0.0),
)
PROBE = (
    rc.Check("nothing is read off noise", lambda t: 0.2 - last(t, "noise", "probe"), 0.0),
    rc.Check("the truth is better than noise", lambda t: last(t, "perfect", "probe") - last(t, "noise", "probe"), 0.2),
)
FITTED = (learnt(DONUT), learnt(STRIPES))


def claim(name: str, says: str, source: str, *, effect, margin: float, unit: str, controls) -> rc.Claim:
    return rc.Claim(name, says, source, effect, margin, unit, preconditions=FITTED, controls=controls)


CLAIMS = (
    claim(
        "volume collapses in the hole",
        "In the failing network the volume element of the picture collapses over the hole.",
        "Fig. 2e,f",
        effect=lambda t: -at(t, DONUT, "hole_depth", -1),
        margin=0.6,
        unit="decades of volume lost in the hole, at the picture",
        controls=VOLUME,
    ),
    claim(
        "and not where it composes",
        "With stripes the volume element stays within 0.35 decades through the hole.",
        "Fig. 4d",
        effect=lambda t: 0.35 - at(t, STRIPES, "hole_depth", -1).abs(),
        margin=0.0,
        unit="0.35 minus the decades of volume gained or lost in the hole",
        controls=VOLUME,
    ),
    claim(
        "factorisation degrades with depth (the paper)",
        "The factorisation score of the failing network falls from layer to layer.",
        "Fig. 2c,d",
        effect=lambda t: at(t, DONUT, "factorisation", 0) - at(t, DONUT, "factorisation", -2),
        margin=0.01,
        unit="factorisation, first minus last hidden layer",
        controls=FACTORS,
    ),
    claim(
        "factorisation tells failure from success",
        "The composing network keeps a higher factorisation score in its last hidden layer.",
        "the reading that Fig. 2 and 4 suggest",
        effect=lambda t: at(t, STRIPES, "factorisation", -2) - at(t, DONUT, "factorisation", -2),
        margin=0.01,
        unit="factorisation of the last hidden layer, stripes minus donut",
        controls=FACTORS,
    ),
    claim(
        "decodability degrades with depth (the paper)",
        "Linear decodability of x and y in the hole falls from layer to layer.",
        "Fig. 2a,b, with a probe scored where it was not fitted",
        effect=lambda t: at(t, DONUT, "probe", 0) - at(t, DONUT, "probe", -2),
        margin=0.05,
        unit="R2 in the hole of a probe fitted outside it, first minus last hidden layer",
        controls=PROBE,
    ),
    claim(
        "the additive share tells them apart (ours)",
        "In the last hidden layer x and y add up in the composing network, and not in the failing one.",
        "our measure",
        effect=lambda t: at(t, STRIPES, "additive", -2) - at(t, DONUT, "additive", -2),
        margin=0.25,
        unit="additive share of the last hidden layer, stripes minus donut",
        controls=ADDITIVE,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Each measure against the layer, a line a network: the failing ones red, the composing ones green."""
    plots = rc.plots
    figure, axes = plots.panels(rows=1, columns=len(MEASURES), side=2.6)
    titles = ("additive share", "factorisation", "held-out probe R2", "volume in the hole (decades)")
    for place, measure, title in zip(axes[0], MEASURES, titles, strict=True):
        for condition, colour in ((DONUT, plots.BAD), (STRIPES, plots.GOOD)):
            for i, values in enumerate(table[table.condition == condition][measure]):
                place.plot(values, color=colour, alpha=0.7, linewidth=1, label=condition if i == 0 else None)
        place.set(title=title, xlabel="layer (the last is the picture)")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure
