"""Does depth, or a network without convolutions, change how the hole is warped?

Fig. 10 to 14: the donut for convolutional decoders and for MLPs of several depths, with the volume element,
factorisation and additive share of every layer, by exact derivatives. The paper says that MLPs warp the hole the other
way. They are trained longer here than in the release, whose deep ones had not learnt the donut when they were judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.HoleSettings):
    cnn_depths: tuple[int, ...] = (3,)
    """depths of the convolutional decoders"""
    mlp_depths: tuple[int, ...] = (3, 5)
    """hidden layers of the MLPs"""
    width: int = 16
    """channels of the convolutional decoders"""
    mlp_width: int = 256
    """units of a hidden layer of the MLPs"""
    steps: int = 600
    """updates of each convolutional decoder"""
    mlp_steps: int = 1500
    """updates of each MLP"""
    learning_rate: float = 3e-3
    """AdamW's learning rate for the convolutional decoders"""
    mlp_learning_rate: float = 2e-3
    """AdamW's learning rate for the MLPs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("mlp_width", "mlp_steps")
        self.need_rates("mlp_learning_rate")
        for depth in self.cnn_depths:
            _hole.check_depth(depth)
        if not self.cnn_depths or not self.mlp_depths or min(self.mlp_depths) < 1:
            raise rc.UserError("both kinds of network need at least one depth, and an MLP at least one layer")


QUICK = Settings(
    seeds=2,
    size=8,
    low=2,
    high=5,
    rim=1,
    width=4,
    mlp_width=8,
    steps=20,
    mlp_steps=20,
    cnn_depths=(2,),
    mlp_depths=(2,),
)
LAPTOP = Settings(batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "learning_rate": 1e-3}
DEEP = {"mlp_learning_rate": 1e-3, "mlp_depths": (3, 5, 7)}
GPU = Settings(seeds=8, block=8, steps=3125, mlp_steps=20_000, cnn_depths=(2, 6, 10), **DEEP, **FULL)
PAPER = Settings(
    seeds=20,
    block=10,
    steps=12_500,
    mlp_steps=50_000,
    cnn_depths=tuple(range(2, 11)),
    mlp_depths=tuple(range(3, 8)),
    mlp_learning_rate=1e-3,
    **FULL,
)
CNN, MLP = "CNN", "MLP"
MEASURES = ("additive", "factorisation", "hole_depth")


@dataclass(frozen=True)
class Cell:
    """The networks of one kind and depth for one block of seeds."""

    settings: Settings
    kind: str
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    kinds = [(CNN, d) for d in settings.cnn_depths] + [(MLP, d) for d in settings.mlp_depths]
    return [Cell(settings, kind, depth, members) for kind, depth in kinds for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings, task = cell.settings, _hole.grid(cell.settings)
    make = _hole.decoder(settings, cell.depth)
    if cell.kind == MLP:
        make = mlp(settings, cell.depth)
        settings = replace(settings, steps=settings.mlp_steps, learning_rate=settings.mlp_learning_rate)
    trained, rows = _hole.train(
        settings,
        task,
        make,
        splits=[_hole.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": cell.kind, "depth": cell.depth, "seed": seed} for seed in cell.members],
        watch=watch,
    )
    encode = rc.local_bump(settings.size, settings.sigma)

    def seen(i: int) -> dict:
        layers = rc.layer_geometry(trained[i].model, encode, settings.size)
        return _seeds.unless_lost(by_layer(settings, layers), rows[i]["diverged_at"])

    return [row | seen(i) for i, row in enumerate(rows)]


def mlp(settings: Settings, depth: int):
    return lambda key: rc.MLPDecoder(2 * settings.size, settings.size, width=settings.mlp_width, depth=depth, key=key)


def by_layer(settings: Settings, layers: dict) -> dict[str, np.ndarray]:
    """Each measure as one number a layer, from the first hidden layer to the picture."""
    places = np.stack(np.meshgrid(*[np.arange(settings.size)] * 2, indexing="ij"), axis=-1)
    held_out = ~rc.square(places.reshape(-1, 2), settings.low, settings.high).train.reshape(places.shape[:2])
    rows = [
        (
            rc.additive(layer.energies),
            rc.factorisation(layer.g),
            rc.hole_depth(rc.log_volume(layer.g), held_out, ~held_out),
        )
        for layer in layers.values()
    ]
    return dict(zip(MEASURES, np.array(rows).T, strict=True)) | {"volume_map": rc.log_volume(layers["output"].g).T}


def controls(settings: Settings) -> list[dict]:
    """Placement on made-up solvers; volume and factorisation on the truth, on noise and on a memoriser."""
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    truth = _hole.bright(settings, rc.truth(task, z, key=_seeds.test_key(settings)))
    region = rc.square(z, settings.low, settings.high)
    noise = np.random.default_rng(settings.seed).normal(size=truth.y.shape)
    systems = {
        "perfect": truth,
        "noise": truth.answering(noise),
        "nearest memory": rc.nearest_memory(truth, region.train),
    }
    rows = {row["condition"]: row for row in _hole.controls(settings)}
    held_out = rc.on_grid(truth, region.held_out)
    for name, system in systems.items():
        g = rc.metric(*rc.finite_differences(rc.on_grid(system, system.y_hat)))
        row = rows.setdefault(f"control: {name}", {"condition": f"control: {name}", "seed": 0})
        depth = rc.hole_depth(rc.log_volume(g), held_out, ~held_out)
        row |= {"factorisation": np.array([rc.factorisation(g)]), "hole_depth": np.array([depth])}
    return list(rows.values())


def at_worst_depth(table: pd.DataFrame, kind: str, effect: Callable[[pd.DataFrame], pd.Series]) -> pd.Series:
    """An effect of each network, and of each seed the smallest over depths; lost if one of its networks is."""
    rows = table[table.condition == kind]
    return _show.at_worst(rows, effect)


def layer(column: str, which: int, rows: pd.DataFrame) -> pd.Series:
    """A measure of one layer: 0 is the first hidden layer, -1 the picture, -2 the last hidden layer."""
    return rows[column].apply(lambda values: values[which])


def last(table: pd.DataFrame, system: str, column: str) -> float:
    return float(rc.by_seed(table, column, condition=f"control: {system}").iloc[0][-1])


def fits(kind: str) -> rc.Check:
    return rc.Check(
        f"every {kind} places at least 95 % of the training bumps within one pixel",
        lambda t: t[t.condition == kind]["accuracy1_donut"].min(),
        at_least=0.95,
    )


VOLUME = (
    rc.Check("the truth has no hole in its volume", lambda t: 0.1 - abs(last(t, "perfect", "hole_depth")), 0.0),
    rc.Check("a memoriser's volume collapses", lambda t: -last(t, "nearest memory", "hole_depth"), 0.6),
)
FACTORS = (
    rc.Check("the truth is factorised", lambda t: last(t, "perfect", "factorisation"), 0.99),
    rc.Check("noise is not: its score is at most 0.9", lambda t: 0.9 - last(t, "noise", "factorisation"), 0.0),
)
NOT_COMPOSING = ("blind", *_show.MEMORISERS)


def factors_lost(rows: pd.DataFrame) -> pd.Series:
    return layer("factorisation", 0, rows) - layer("factorisation", -2, rows)


CLAIMS = (
    rc.Claim(
        "the volume collapses at every depth",
        "At every depth the picture of a failing convolutional decoder loses volume over the hole.",
        "Fig. 11",
        effect=lambda t: at_worst_depth(t, CNN, lambda rows: -layer("hole_depth", -1, rows)),
        margin=0.6,
        unit="decades of volume lost in the hole, at the picture, worst depth of the seed",
        preconditions=(fits(CNN),),
        controls=VOLUME,
    ),
    rc.Claim(
        "MLPs fail too",
        "Fully connected decoders of every depth fit the donut and fail in the hole.",
        "Fig. 13, 14",
        effect=lambda t: at_worst_depth(t, MLP, lambda rows: rows.accuracy0_donut - rows.accuracy0_interior),
        margin=0.5,
        unit="exact accuracy, donut minus interior, worst depth of the seed",
        preconditions=(fits(MLP),),
        controls=_show.peak_controls("accuracy0_interior", NOT_COMPOSING, at_most=0.1),
    ),
    rc.Claim(
        "MLPs warp the other way (the paper)",
        "In the last hidden layer of an MLP the volume element is larger in the hole than outside it.",
        "Fig. 13",
        effect=lambda t: at_worst_depth(t, MLP, partial(layer, "hole_depth", -2)),
        margin=0.0,
        unit="decades of volume gained in the hole, last hidden layer, worst depth of the seed",
        preconditions=(fits(MLP),),
        controls=VOLUME,
    ),
    rc.Claim(
        "and lose more factorisation (the paper)",
        "From the first to the last hidden layer an MLP's factorisation falls more than a convolutional decoder's.",
        "Fig. 14",
        effect=lambda t: (
            at_worst_depth(t, MLP, factors_lost) + at_worst_depth(t, CNN, lambda rows: -factors_lost(rows))
        ),
        margin=0.0,
        unit="factorisation lost, the least of an MLP minus the most of a CNN",
        preconditions=(fits(MLP), fits(CNN)),
        controls=FACTORS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each kind and depth the volume element of the picture over (x, y), and each measure against the layer."""
    plots = rc.plots
    shown = [(CNN, d) for d in settings.cnn_depths] + [(MLP, d) for d in settings.mlp_depths]
    titles = ("volume, hole less donut (decades)", "factorisation", "additive share")
    figure, axes = plots.panels(rows=4, columns=len(shown), side=2.1)
    images = []
    for column, (kind, depth) in enumerate(shown):
        rows = table[(table.condition == kind) & (table.depth == depth)]
        sound = _show.sound(rows)
        volumes = np.mean(np.stack(list(sound["volume_map"])), axis=0)
        images.append(plots.heat_map(axes[0, column], volumes, title=f"{kind}, depth {depth}", low=-2.0, high=0.5))
        plots.box(axes[0, column], settings.low, settings.high)
        for place, measure, title in zip(axes[1:, column], reversed(MEASURES), titles, strict=True):
            for values in rows[measure]:
                place.plot(values, color=plots.BAD, alpha=0.6, linewidth=1)
            place.set(ylim=(-3.0, 1.0) if measure == "hole_depth" else (0.0, 1.05))
            if not column:
                place.set_ylabel(title)
    figure.colorbar(images[-1], ax=axes[0, -1], label="log10 of the volume\nof the picture")
    for place in axes[-1]:
        place.set_xlabel("layer")
    return figure
