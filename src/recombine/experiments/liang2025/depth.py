"""Does depth, or a network without convolutions, change how the hole is warped?

Fig. 10 to 14: the donut for convolutional decoders and for MLPs of several depths, with the volume element,
factorisation and additive share of every layer, by exact derivatives. The paper says that MLPs warp the hole the other
way. They are trained longer here than in the release, whose deep MLPs had not learnt the donut when they were measured,
by finite differences. A CNN of depth d has d + 1 hidden layers, an MLP of depth d has d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.HoleSettings):
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
            shared.check_depth(depth)
        if not self.cnn_depths or not self.mlp_depths or min(self.mlp_depths) < 1:
            raise rc.UserError("both kinds of network need at least one depth, and an MLP at least one layer")


_TINY = {"size": 8, "low": 2, "high": 5, "rim": 1, "width": 4, "mlp_width": 8, "steps": 20, "mlp_steps": 20}
QUICK = Settings(seeds=2, cnn_depths=(2,), mlp_depths=(2,), **_TINY)
LAPTOP = Settings(batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "learning_rate": 1e-3}
DEEP = {"mlp_learning_rate": 1e-3, "mlp_depths": (3, 5, 7)}
GPU = Settings(seeds=8, block=8, steps=3125, mlp_steps=20_000, cnn_depths=(2, 6, 10), **DEEP, **FULL)
_EVERY = {"cnn_depths": tuple(range(2, 11)), "mlp_depths": tuple(range(3, 8)), "mlp_learning_rate": 1e-3}
PAPER = Settings(seeds=20, block=10, steps=12_500, mlp_steps=50_000, **_EVERY, **FULL)
CNN, MLP = "CNN", "MLP"
MEASURES = ("additive", "factorisation", "hole_depth")


def kinds(settings: Settings) -> list[tuple[str, int]]:
    return [(CNN, depth) for depth in settings.cnn_depths] + [(MLP, depth) for depth in settings.mlp_depths]


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"kind": kind, "depth": depth} for kind, depth in kinds(settings)])


def network(settings: Settings, kind: str, depth: int):
    """How a network of this kind and depth is made."""
    if kind == CNN:
        return shared.decoder(settings, depth)
    return lambda key: rc.MLPDecoder(2 * settings.size, settings.size, width=settings.mlp_width, depth=depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, shared.grid(cell.settings)
    if cell.kind == MLP:
        settings = replace(settings, steps=settings.mlp_steps, learning_rate=settings.mlp_learning_rate)
    trained, rows = shared.train(
        settings,
        task,
        network(settings, cell.kind, cell.depth),
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": cell.kind, "depth": cell.depth, "seed": seed} for seed in cell.members],
        monitor=monitor,
    )
    layers = [by_layer(settings, trained[i].model) for i in range(len(rows))]
    return [row | rc.nan_if_diverged(found, row["diverged_at"]) for row, found in zip(rows, layers, strict=True)]


def by_layer(settings: Settings, model) -> dict[str, np.ndarray]:
    """Each measure as one number per layer, from the first hidden layer to the picture."""
    from recombine.recording.jacobians import additive

    layers = rc.layer_geometry(model, rc.local_bump(settings.size, settings.sigma), settings.size)
    places = np.stack(np.meshgrid(*[np.arange(settings.size)] * 2, indexing="ij"), axis=-1)
    held_out = ~rc.square(places.reshape(-1, 2), settings.low, settings.high).train.reshape(places.shape[:2])
    rows = [
        (
            additive(layer.energies),
            rc.factorisation(layer.g),
            rc.hole_depth(rc.log_volume(layer.g), held_out, ~held_out),
        )
        for layer in layers.values()
    ]
    return dict(zip(MEASURES, np.array(rows).T, strict=True)) | {"volume_map": rc.log_volume(layers["output"].g).T}


def controls(settings: Settings) -> list[dict]:
    """Placement by known solvers; volume and factorisation of the truth, of noise and of a memoriser; and untrained."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    region = rc.square(truth.z, settings.low, settings.high)
    systems = {
        "perfect": truth,
        "noise": truth.answering(rc.rng(settings.seed, "noise").normal(size=truth.y.shape)),
        "nearest memory": rc.nearest_memory(truth, region.train),
    }
    rows = {row["system"]: row for row in shared.controls(settings)}
    held_out = rc.on_grid(truth, region.held_out)
    for name, system in systems.items():
        g = rc.metric(*rc.finite_differences(rc.on_grid(system, system.y_hat)))
        row = rows.setdefault(name, {"system": name, "seed": 0})
        depth = rc.hole_depth(rc.log_volume(g), held_out, ~held_out)
        row |= {"factorisation": np.array([rc.factorisation(g)]), "hole_depth": np.array([depth])}
    return [*rows.values(), *(untrained(settings, kind, depth) for kind, depth in kinds(settings))]


def untrained(settings: Settings, kind: str, depth: int) -> dict:
    """The row of a network at its initial weights."""
    model, z = shared.initial_models(settings, network(settings, kind, depth)), shared.truth(settings).z
    answer = rc.record(model, shared.grid(settings), z, key=rc.key(settings.seed, "test"))
    known = rc.square(z, settings.low, settings.high).train
    who = {"system": "untrained", "condition": kind, "depth": depth, "seed": 0}
    return who | shared.measures(settings, answer, known) | by_layer(settings, model)


def by_depth(kind: str, effect):
    """An effect of one kind of network, with a column for each of its depths."""
    return lambda t: rc.each_of("depth", effect)(rc.pick(t, condition=kind).astype({"depth": int}))


def pairs(table: pd.DataFrame) -> list[tuple[int, int]]:
    """Depths of an MLP and a CNN with as many hidden layers; if there are none, of each MLP and the nearest CNN."""
    mlps, cnns = (sorted(rc.pick(table, condition=kind)["depth"].unique()) for kind in (MLP, CNN))
    nearest = [(int(m), int(min(cnns, key=lambda c: abs(c + 1 - m)))) for m in mlps]
    return [(m, c) for m, c in nearest if c + 1 == m] or nearest


def by_pair(effect):
    """An effect of an MLP and a CNN, with a column for each pair."""
    return lambda t: rc.each({f"MLP {m}, CNN {c + 1} hidden layers": effect(m, c) for m, c in pairs(t)})(t)


def lost(kind: str, depth: int):
    """How much factorisation falls from the first to the last hidden layer."""
    first, last = (figures.layer("factorisation", place, condition=kind, depth=depth) for place in (0, -2))
    return lambda t: first(t) - last(t)


def fits(kind: str, **where):
    return rc.fitted("accuracy1_donut", at_least=0.95, condition=kind, **where)


VOLUME = (
    figures.output_reads("perfect", "hole_depth", at_least=-0.1, at_most=0.1),
    figures.output_reads("nearest memory", "hole_depth", at_most=-0.6),
)
CLAIMS = (
    rc.Claim(
        "the volume collapses in the hole at every depth",
        "At every depth the picture of a failing convolutional decoder loses volume over the hole.",
        "Fig. 11",
        effect=by_depth(CNN, figures.layer("hole_depth", -1)),
        below=-0.6,
        unit="log10 of the volume element, hole minus donut, at the picture",
        fits=(by_depth(CNN, fits(CNN)),),
        controls=VOLUME,
        over="depths",
    ),
    rc.Claim(
        "MLPs of every depth fail in the hole",
        "Fully connected decoders of every depth fit the donut and fail in the hole.",
        "Fig. 13, 14",
        effect=by_depth(MLP, figures.minus("accuracy0_donut", "accuracy0_interior")),
        above=0.5,
        unit="exact accuracy, donut minus interior",
        fits=(by_depth(MLP, fits(MLP)),),
        controls=figures.peak_controls("accuracy0_interior", figures.NOT_COMPOSING, at_most=0.1),
        over="depths",
    ),
    rc.Claim(
        "MLPs warp the hole the other way (the paper)",
        "In an MLP that fits the donut, the last hidden layer's volume element is larger in the hole than outside it.",
        "Fig. 13",
        effect=by_depth(MLP, figures.layer("hole_depth", -2)),
        above=0.0,
        unit="log10 of the volume element, hole minus donut, last hidden layer",
        fits=(by_depth(MLP, fits(MLP)),),
        controls=VOLUME,
        over="depths",
    ),
    rc.Claim(
        "MLPs lose more factorisation than CNNs (the paper)",
        "From the first to the last hidden layer an MLP's factorisation falls more than that of a convolutional decoder"
        " with as many hidden layers (with the nearest number, where none has as many).",
        "Fig. 14; formula corrected after the runs were seen",
        effect=by_pair(lambda m, c: lambda t: lost(MLP, m)(t) - lost(CNN, c)(t)),
        above=0.0,
        unit="factorisation lost, MLP minus CNN",
        fits=(by_pair(lambda m, c: fits(MLP, depth=m)), by_pair(lambda m, c: fits(CNN, depth=c))),
        controls=(figures.output_reads("perfect", "factorisation", at_least=0.99),),
        over="numbers of hidden layers",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each kind and depth the volume of the picture over (x, y), each measure by layer, and the accuracies."""
    plots, shown = rc.plots, kinds(settings)
    figure, axes = plots.panels(rows=5, columns=len(shown), side=2.1)
    for column, (kind, depth) in enumerate(shown):
        rows = rc.pick(table, condition=kind, depth=depth)
        volumes = np.mean(np.stack(list(figures.sound(rows)["volume_map"])), axis=0)
        image = plots.heat_map(axes[0, column], volumes, title=f"{kind}, depth {depth}", low=-2.0, high=0.5)
        plots.box(axes[0, column], settings.low, settings.high)
        _layers(axes[1:4, column], rows)
        places = {p: rows[f"accuracy0_{p}"].to_numpy() for p in ("donut", "interior")}
        plots.dots(axes[4, column], places, colour=plots.BAD)
    labels = ("volume, hole less donut\n(decades)", "factorisation", "additive share", "placed exactly")
    for place, label in zip(axes[1:, 0], labels, strict=True):
        place.set_ylabel(label)
    figure.colorbar(image, ax=axes[0, -1], label="log10 of the volume\nof the picture")
    return figure


def _layers(axes, rows: pd.DataFrame) -> None:
    """Each measure against the layer, one line per network, with the means that claims are about."""
    limits = {"hole_depth": (-3.0, 1.0), "factorisation": (0.45, 1.05), "additive": (0.0, 1.05)}
    for place, measure in zip(axes, reversed(MEASURES), strict=True):
        for values in rows[measure]:
            place.plot(values, color=rc.plots.BAD, alpha=0.6, linewidth=1)
        mean = np.mean(np.stack(list(rows[measure])), axis=0)
        said = f"last hidden {mean[-2]:+.2f}\npicture {mean[-1]:+.2f}"
        if measure == "factorisation":
            said = f"lost in hidden layers {mean[0] - mean[-2]:.3f}"
        place.text(0.04, 0.06, said if measure != "additive" else "", transform=place.transAxes, fontsize=7)
        place.set(ylim=limits[measure], xlabel="layer" if measure == "additive" else "")
