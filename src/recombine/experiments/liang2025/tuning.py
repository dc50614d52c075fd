"""What are the units of a decoder tuned to: one coordinate, as a stripe, or one place, as a bump?

Fig. 4e,f and Fig. 15: units of each layer by what their activation depends on, for networks trained on stripes alone,
on stripes and a few bumps, and on the whole donut. The paper sees stripes that add up early, and bumps late. A layer is
looked at in two ways: what each unit does over all (x, y), and what its channels show over pixels for one bump.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import shared, tuning_claims
from recombine.experiments.liang2025.amounts import FULL, condition, encoding, training_sets
from recombine.experiments.liang2025.amounts import Settings as AmountSettings
from recombine.experiments.liang2025.stripes import DONUT
from recombine.experiments.liang2025.tuning_claims import PIXELS
from recombine.measures.anova import anova_energies

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(AmountSettings):
    bumps: tuple[int, ...] = (0, 16, 64)
    """numbers of bumps that join the stripes: none, the number that claims speak of, and more"""
    steps: int = 500
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=(0, 2, 8), steps=20)
LAPTOP = Settings(seeds=10, batch=16)
GPU = Settings(seeds=12, block=12, bumps=(0, 50, 100), steps=3150, **FULL)
PAPER = Settings(seeds=20, block=10, bumps=(0, 50, 100), steps=3150, **FULL)
MEASURES = ("stripe_share", "bump_share")


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def conditions(settings: Settings) -> tuple[str, ...]:
    return (*map(condition, settings.bumps), DONUT)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, encode = cell.settings, encoding(cell.settings)
    task, (data, _) = shared.grid(settings, encode), shared.data_and_train_keys(settings, cell.members)
    trained, rows = shared.train_conditions(
        settings,
        task,
        shared.decoder(settings, settings.depth, encode),
        members=cell.members,
        sets=[training_sets(settings, key) | {DONUT: shared.donut(settings, task)} for key in data],
        monitor=monitor,
    )

    make, (_, life) = (
        shared.decoder(settings, settings.depth, encode),
        shared.data_and_train_keys(settings, cell.members),
    )
    before = [looked_at(settings, one) for one in shared.starts(make, life)]

    def found(i: int) -> dict:
        network = trained[i].model
        energies = by_layer(settings, network)
        units = {f"units_{n}": maps(settings, task, network, n, energies[n]) for n in shown_layers(settings)}
        return rc.nan_if_diverged(shares(energies) | over_pixels(settings, network) | units, rows[i]["diverged_at"])

    rows = [row | found(i) for i, row in enumerate(rows)]
    return shared.with_initial(rows, dict(zip(cell.members, before, strict=True)), (*MEASURES, PIXELS))


def looked_at(settings: Settings, network) -> dict[str, np.ndarray]:
    """The shares of each layer, over (x, y) and over pixels."""
    return shares(by_layer(settings, network)) | over_pixels(settings, network)


def by_layer(settings: Settings, network) -> dict[str, np.ndarray]:
    """The variances V_x, V_y and V_xy of the units of each layer."""
    layers = rc.layer_geometry(network, encoding(settings), settings.size)
    return {name: layer.energies for name, layer in layers.items()}


def shares(energies: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The units' stripe and bump indices, averaged with their variance as weight.

    That is sum |V_x - V_y| / sum V and sum V_xy / sum V; the rest is in units that follow both coordinates, added up.
    """
    sums = [(np.abs(v[0] - v[1]).sum() / v.sum(), v[2].sum() / v.sum()) for v in energies.values()]
    return dict(zip(MEASURES, np.array(sums).T, strict=True))


def over_pixels(settings: Settings, network) -> dict[str, np.ndarray]:
    """For each layer, how far the maps of its channels are sums of vertical and horizontal stripes.

    That is sum (V_row + V_column) / sum V over pixels, for three bumps of the hole. Besides, for the second of them,
    the maps of the first layer's three most varied channels.
    """
    task, truth = shared.grid(settings, encoding(settings)), shared.truth(settings)
    region = rc.square(truth.z, settings.low, settings.high)
    z = truth.z[shared.example_cells(rc.interior(region, settings.rim))]
    kept = [f"layer{i}" for i in range(settings.depth + 1)]
    answer = rc.record(network, task, z, key=rc.key(settings.seed, "test"), keep=kept)
    first = np.moveaxis(answer.acts["layer0"][1], -1, 0)
    most = np.argsort(first.var(axis=(1, 2)))[:-4:-1]
    shares = [striped(layer) for layer in (*answer.acts.values(), answer.y_hat[..., None])]
    return {PIXELS: np.array(shares), "pixels_layer0": first[most]}


def striped(maps: np.ndarray) -> float:
    """The same for maps (answers, rows, columns, channels)."""
    return rc.additive_share(np.moveaxis(maps, 0, 2))


def shown_layers(settings: Settings) -> dict[str, str]:
    """The layers whose units are plotted."""
    return {"layer0": "first", f"layer{settings.depth}": "last"}


def maps(settings: Settings, task: rc.Task, network, layer: str, energies: np.ndarray) -> np.ndarray:
    """The tuning of three units over (x, y): the most active, and others far from it in the order of units."""
    import jax.numpy as jnp

    from recombine.experiments.liang2025 import unit_model

    total = energies.sum(axis=0)
    thirds = np.array_split(np.arange(total.size), 3)
    rows = np.array([part[np.argmax(total[part])] for part in thirds])
    z = task.combinations[rc.whole(task.combinations)]
    units = unit_model.Units(network, layer, jnp.asarray(rows))
    answer = rc.record(units, task, z, key=rc.key(settings.seed, "test"), keep=["units"])
    return np.moveaxis(rc.on_grid(answer, answer.acts["units"]), -1, 0).swapaxes(1, 2)


def controls(settings: Settings) -> list[dict]:
    """The shares on units that follow one coordinate each, on sums of both, on true bumps; and before any training."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    x, y = (np.eye(settings.size)[v] for v in truth.z.T)
    systems = {
        "one coordinate": np.concatenate([x, y], axis=1),
        "a sum": x + y,
        "bumps": truth.y.reshape(len(truth), -1),
    }
    maps = {
        "one coordinate": np.broadcast_to(x[:, None], truth.y.shape),
        "a sum": x[:, None] + y[:, :, None],
        "bumps": truth.y,
    }

    def found(name: str) -> dict:
        parts = anova_energies(rc.on_grid(truth, systems[name]))
        energies = {"units": np.stack([parts[s] for s in ((0,), (1,), (0, 1))])}
        return shares(energies) | {PIXELS: np.array([striped(maps[name][..., None])])}

    network = shared.initial_models(settings, shared.decoder(settings, settings.depth, encoding(settings)))
    untrained = {"system": "untrained", "seed": 0, **looked_at(settings, network)}
    return [untrained, *rc.control_rows(found, {name: name for name in systems})]


CLAIMS = tuning_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """For each condition: three units of the first and last hidden layer, pixel maps of the first, shares by layer."""
    plots, names = rc.plots, conditions(settings)
    shown = {f"units_{layer}": f"units of the\n{which} hidden layer" for layer, which in shown_layers(settings).items()}
    shown["pixels_layer0"] = "channels of the\nfirst hidden layer\nover pixels"
    figure, axes = plots.panels(rows=10, columns=len(names), side=1.6)
    for column, name in enumerate(names):
        rows = rc.pick(table, condition=name).sort_values("seed")
        for part, kind in enumerate(shown):
            for unit, values in enumerate(rows.iloc[0][kind]):
                top = max(float(np.max(values)), 1e-6)
                title = name if not part and not unit else ""
                plots.picture(axes[3 * part + unit, column], values / top, title=title)
        _shares(axes[9, column], rows, rc.pick(table, system="untrained"))
    for part, label in enumerate(shown.values()):
        axes[3 * part + 1, 0].set_ylabel(label)
    axes[9, 0].set_ylabel("share of variance\n(dotted: untrained)")
    axes[9, 0].legend(fontsize=6, frameon=False)
    return figure


def _shares(axes, rows: pd.DataFrame, before: pd.DataFrame) -> None:
    """The shares against the layer, one line per network."""
    for measure, colour in zip((*MEASURES, PIXELS), (rc.plots.GOOD, rc.plots.BAD, rc.plots.NEUTRAL), strict=True):
        for i, values in enumerate(rows[measure]):
            axes.plot(values, color=colour, alpha=0.6, linewidth=1, label=None if i else measure.replace("_", " "))
        axes.plot(before[measure].iloc[0], ":", color=colour, linewidth=1.5)
    axes.set(ylim=(0, 1), xlabel="layer")
