"""Does depth, or a network without convolutions, change how the hole is warped?

Fig. 10 to 14: the donut for convolutional decoders and for MLPs of several depths. The paper says that MLPs warp the
hole the other way. The release trains them for 1,260 updates of 32 pictures at a rate of 1e-3, 81 passes over its donut
of 495 cells, and takes finite differences; most have not learnt the donut by then. So they are trained for as many
passes as that (at laptop size 800 updates of 16 pictures, 82 passes over 156 cells) and until they fit. Finite
differences, as released, come first; exact derivatives are set beside them. A network at its initial weights has a
little more volume in the hole too, since codes are cut at the border: claims count what training adds to that of the
same seed. A CNN of depth d has d + 1 hidden layers, an MLP of depth d has d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import depth_claims, figures, shared
from recombine.experiments.liang2025.depth_claims import CNN, LONG, SHORT
from recombine.experiments.liang2025.layers import from_input

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.HoleSettings):
    dark: bool = True
    """dark bumps on white, as the paper draws them"""
    cnn_depths: tuple[int, ...] = (2, 3)
    """depths of the convolutional decoders"""
    mlp_depths: tuple[int, ...] = (3, 4)
    """hidden layers of the MLPs"""
    mlps: tuple[str, ...] = (SHORT, LONG)
    """how MLPs are trained: as released, until they fit, or both"""
    width: int = 16
    """channels of the convolutional decoders"""
    mlp_width: int = 256
    """units of a hidden layer of the MLPs"""
    steps: int = 2000
    """updates of each convolutional decoder"""
    mlp_steps: int = 8000
    """updates of an MLP that is trained until it fits; its learning rate falls along a cosine"""
    released_steps: int = 800
    """updates of an MLP as released, at a constant rate"""
    learning_rate: float = 3e-3
    """AdamW's learning rate for the convolutional decoders"""
    mlp_learning_rate: float = 1e-3
    """AdamW's learning rate for the MLPs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("mlp_width", "mlp_steps", "released_steps")
        self.need_rates("mlp_learning_rate")
        for depth in self.cnn_depths:
            shared.check_depth(depth)
        if not self.mlps or not set(self.mlps) <= {SHORT, LONG}:
            raise rc.UserError(f"mlps must be {SHORT!r}, {LONG!r} or both, got {self.mlps}")
        if not self.cnn_depths or not self.mlp_depths or min(self.mlp_depths) < 1:
            raise rc.UserError("both kinds of network need at least one depth, and an MLP at least one layer")


_TINY = {"size": 8, "low": 2, "high": 5, "rim": 1, "width": 4, "mlp_width": 8, "steps": 20}
QUICK = Settings(seeds=2, cnn_depths=(2,), mlp_depths=(3,), mlp_steps=20, released_steps=10, **_TINY)
LAPTOP = Settings(seed=1, seeds=8, block=8, batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "learning_rate": 1e-3}
RELEASE = {"steps": 3150, "released_steps": 1260, "seed": 1}
GPU = Settings(seeds=20, block=10, mlp_steps=80_000, cnn_depths=(2, 4, 8), mlp_depths=(3, 5, 7), **RELEASE, **FULL)
_EVERY = {"cnn_depths": tuple(range(2, 11)), "mlp_depths": tuple(range(3, 8))}
PAPER = Settings(seeds=20, block=10, mlp_steps=80_000, **_EVERY, **RELEASE, **FULL)
VARIANTS = (
    rc.Variant(
        "MLP, short",
        "Ours: the sign of the warp is a phase of training, so that MLPs as released are also looked at earlier.",
        released_steps=lambda s: max(1, s.released_steps // 3),
        mlps=(SHORT,),
        cnn_depths=lambda s: s.cnn_depths[:1],
    ),
)
EXACT = ("hole_depth", "factorisation", "additive")
DIFFERENCES = ("hole_depth_fd", "factorisation_fd", "probe")
"""By finite differences, as the release takes them; and a probe fitted outside the hole and scored in it."""


def kinds(settings: Settings) -> list[tuple[str, int]]:
    return [(CNN, d) for d in settings.cnn_depths] + [(kind, d) for kind in settings.mlps for d in settings.mlp_depths]


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"kind": kind, "depth": depth} for kind, depth in kinds(settings)])


def network(settings: Settings, kind: str, depth: int):
    """How a network of this kind and depth is made."""
    if kind == CNN:
        return shared.decoder(settings, depth)
    return lambda key: rc.MLPDecoder(2 * settings.size, settings.size, width=settings.mlp_width, depth=depth, key=key)


def training(settings: Settings, kind: str) -> Settings:
    """The settings with the length and rate of this kind of network."""
    if kind == CNN:
        return settings
    steps = settings.released_steps if kind == SHORT else settings.mlp_steps
    return replace(settings, steps=steps, cosine=kind == LONG, learning_rate=settings.mlp_learning_rate)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, shared.grid(cell.settings)
    keys, make = rc.member_keys(settings.seed, cell.members), network(settings, cell.kind, cell.depth)
    trained, rows = shared.train(
        training(settings, cell.kind),
        task,
        make,
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=keys,
        who=[{"condition": cell.kind, "depth": cell.depth, "seed": seed} for seed in cell.members],
        monitor=monitor,
    )
    layers = [by_layer(settings, trained[i].model) for i in range(len(rows))]
    rows = [row | rc.nan_if_diverged(found, row["diverged_at"]) for row, found in zip(rows, layers, strict=True)]
    before = [by_layer(settings, one) for one in shared.starts(make, keys)]
    return shared.with_initial(rows, dict(zip(cell.members, before, strict=True)), (*EXACT, *DIFFERENCES))


def by_layer(settings: Settings, model) -> dict[str, np.ndarray]:
    """Each measure as one number per layer, from the first hidden layer to the picture."""
    from recombine.experiments.liang2025 import surfaces
    from recombine.recording.jacobians import additive

    truth = shared.truth(settings)
    held_out = rc.on_grid(truth, rc.square(truth.z, settings.low, settings.high).held_out)
    exact = rc.layer_geometry(model, rc.local_bump(settings.size, settings.sigma), settings.size)
    found = [(*warped(layer.g, held_out), additive(layer.energies)) for layer in exact.values()]
    stepped = surfaces.of_network(settings, shared.grid(settings), model, len(exact) - 1)
    differences = [stepped[name] for name in ("hole_depth", "factorisation", "probe")]
    columns = zip((*EXACT, *DIFFERENCES), (*np.array(found).T, *differences), strict=True)
    return dict(columns) | {"volume_map": rc.log_volume(exact["output"].g).T}


def warped(g: np.ndarray, held_out: np.ndarray) -> tuple[float, float]:
    """The volume in the hole less that in the donut, in decades, and the factorisation."""
    return rc.hole_depth(rc.log_volume(g), held_out, ~held_out), rc.factorisation(g)


def controls(settings: Settings) -> list[dict]:
    """Placement and measures of systems whose answer is known, as in `layers`; and untrained networks."""
    from recombine.experiments.liang2025 import surfaces

    rows = {row["system"]: row for row in shared.controls(settings)}
    for known in surfaces.known(settings):
        kept = {name: known[name] for name in ("system", "seed", *EXACT, "probe")}
        rows[known["system"]] = rows.get(known["system"], {}) | kept
    return [*rows.values(), *(untrained(settings, kind, depth) for kind, depth in kinds(settings))]


def untrained(settings: Settings, kind: str, depth: int) -> dict:
    """The row of a network at its initial weights."""
    model, z = shared.initial_models(settings, network(settings, kind, depth)), shared.truth(settings).z
    answer = rc.record(model, shared.grid(settings), z, key=rc.key(settings.seed, "test"))
    known = rc.square(z, settings.low, settings.high).train
    who = {"system": "untrained", "condition": kind, "depth": depth, "seed": 0}
    return who | shared.measures(settings, answer, known) | by_layer(settings, model)


CLAIMS = depth_claims.STATED

ROWS = {
    "volume, hole less donut\n(decades)": (("hole_depth_fd", "hole_depth"), (-2.0, 1.0)),
    "factorisation": (("factorisation_fd", "factorisation"), (0.45, 1.05)),
    "probe, R2 in the hole": (("probe",), (-1.0, 1.05)),
    "additive share": (("additive",), (0.0, 1.05)),
}
"""The measures of each row of panels, the first one full and a second one dashed, and the limits of its axis."""


def figure(settings: Settings, table: pd.DataFrame):
    """The volume of the picture over (x, y), each measure by layer, and the accuracies, for each kind and depth."""
    plots, shown = rc.plots, kinds(settings)
    figure, axes = plots.panels(rows=len(ROWS) + 2, columns=len(shown), side=2.0)
    for column, (kind, depth) in enumerate(shown):
        rows, before = (rc.pick(table, system=s, condition=kind, depth=depth) for s in ("network", "untrained"))
        volumes = np.mean(np.stack(list(figures.sound(rows)["volume_map"])), axis=0)
        around = volumes - np.median(volumes)
        image = plots.heat_map(axes[0, column], around, title=f"{kind},\ndepth {depth}", low=-0.8, high=0.8)
        plots.box(axes[0, column], settings.low, settings.high)
        for place, (measures, limits) in zip(axes[1:-1, column], ROWS.values(), strict=True):
            for measure, style in zip(measures, ("-", "--"), strict=False):
                for which, colour in ((rows, plots.BAD), (before, plots.NEUTRAL)):
                    for values in which[measure]:
                        place.plot(*from_input(measure, values), style, color=colour, alpha=0.6, linewidth=1)
            place.axhline(0, color=plots.NEUTRAL, linewidth=0.5)
            place.set(xticks=range(depth + 1 + (kind == CNN) + 1), ylim=limits)
        places = {p: rows[f"accuracy1_{p}"].to_numpy() for p in ("donut", "interior")}
        plots.dots(axes[-1, column], places, colour=plots.BAD)
        axes[-2, column].set_xlabel("layer (0: input)")
    for place, label in zip(axes[1:, 0], (*ROWS, "placed within 1 pixel"), strict=True):
        place.set_ylabel(label)
    figure.colorbar(
        image, ax=axes[0, -1], label="volume of the picture,\ndecades around the median\n(exact derivatives)"
    )
    said = "Red: one line per network; grey: untrained.\nFull: finite differences; dashed: exact derivatives"
    figure.suptitle(said, fontsize=10)
    return figure
