"""What are the units of a decoder tuned to: one coordinate, as a stripe, or one place, as a bump?

Fig. 4e,f and Fig. 15: units of each layer by what their activation depends on, for networks trained on stripes alone,
on stripes and a few bumps, and on the whole donut. The paper sees stripes early and bumps late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared
from recombine.experiments.liang2025.amounts import Settings as AmountSettings
from recombine.experiments.liang2025.amounts import condition, encoding, training_sets
from recombine.experiments.liang2025.stripes import DONUT
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
LAPTOP = Settings(batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "learning_rate": 1e-3}
GPU = Settings(seeds=8, block=8, bumps=(0, 50, 100), steps=3125, **FULL)
PAPER = Settings(seeds=20, block=10, bumps=(0, 50, 100), steps=12_500, cosine=False, **FULL)
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

    def found(i: int) -> dict:
        network = trained[i].model
        energies = by_layer(settings, network)
        units = {f"units_{n}": maps(settings, task, network, n, energies[n]) for n in shown_layers(settings)}
        return rc.nan_if_diverged(shares(energies) | units, rows[i]["diverged_at"])

    return [row | found(i) for i, row in enumerate(rows)]


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


def shown_layers(settings: Settings) -> tuple[str, str]:
    """The layers whose units are plotted: the first and the last hidden layer."""
    return "layer0", f"layer{settings.depth}"


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

    def energies(units: np.ndarray) -> dict[str, np.ndarray]:
        parts = anova_energies(rc.on_grid(truth, units))
        return {"units": np.stack([parts[s] for s in ((0,), (1,), (0, 1))])}

    network = shared.initial_models(settings, shared.decoder(settings, settings.depth, encoding(settings)))
    untrained = {"system": "untrained", "seed": 0, **shares(by_layer(settings, network))}
    return [untrained, *rc.control_rows(lambda units: shares(energies(units)), systems)]


def some_bumps(table: pd.DataFrame) -> str:
    """The condition with the second smallest number of bumps, of which the claims speak."""
    names = [c for c in rc.networks(table)["condition"].unique() if c.startswith("stripes + ")]
    return sorted(names, key=lambda name: int(name.removeprefix("stripes + ")))[1]


def composing(column: str, layer: int):
    """A share of one layer of the networks trained on stripes and some bumps, by seed."""
    return lambda t: figures.layer(column, layer, condition=some_bumps(t))(t)


def failing(column: str, layer: int):
    """A share of one layer of the networks trained on the whole donut, by seed."""
    return figures.layer(column, layer, condition=DONUT)


def learnt(*kinds: str) -> tuple:
    """What networks must have learnt, as in `amounts`; a kind is a condition, or SOME for stripes and some bumps."""

    def fitted(column: str, **bounds: float):
        return lambda t: rc.fitted(column, condition=[some_bumps(t) if k == SOME else k for k in kinds], **bounds)(t)

    return fitted("loss", at_most=0.005), fitted("accuracy1_trained", at_least=0.95)


SOME = "some bumps"
STRIPE = (
    figures.output_reads("one coordinate", "stripe_share", at_least=0.99),
    figures.output_reads("a sum", "stripe_share", at_most=0.1),
    figures.output_reads("bumps", "stripe_share", at_most=0.5),
)
BUMP = (
    figures.output_reads("bumps", "bump_share", at_least=0.5),
    figures.output_reads("a sum", "bump_share", at_most=0.1),
)

CLAIMS = (
    rc.Claim(
        "the first hidden layer is tuned to single coordinates (our reading)",
        "With stripes in training, the first hidden layer follows one coordinate at a time.",
        "Fig. 4e and Fig. 15, read as units that vary along one coordinate only; a sum of stripes reads 0 here",
        effect=composing("stripe_share", 0),
        above=0.5,
        unit="stripe share of the first hidden layer, stripes + bumps",
        fits=learnt(SOME),
        controls=STRIPE,
    ),
    rc.Claim(
        "a failing network's first hidden layer is tuned to single coordinates (ours)",
        "The first hidden layer of the failing network follows one coordinate at a time too.",
        "our contrast",
        effect=failing("stripe_share", 0),
        above=0.5,
        unit="stripe share of the first hidden layer, whole donut",
        fits=learnt(DONUT),
        controls=STRIPE,
    ),
    rc.Claim(
        "conjunctions grow with depth (the paper)",
        "With stripes in training, conjunctions of x and y grow from the first hidden layer to the last.",
        "Fig. 4f; Fig. 15",
        effect=lambda t: composing("bump_share", -2)(t) - composing("bump_share", 0)(t),
        above=0.0,
        unit="bump share, last minus first hidden layer, stripes + bumps",
        fits=learnt(SOME),
        controls=BUMP,
    ),
    rc.Claim(
        "late conjunctions are stronger in the failing network (ours)",
        "Late conjunctions are stronger in the network that fails than in the one that composes.",
        "our contrast",
        effect=lambda t: failing("bump_share", -2)(t) - composing("bump_share", -2)(t),
        above=0.1,
        unit="bump share of the last hidden layer, donut minus stripes + bumps",
        fits=learnt(SOME, DONUT),
        controls=BUMP,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each condition: three units of the first and last hidden layer over (x, y), and the shares by layer."""
    plots, names = rc.plots, conditions(settings)
    figure, axes = plots.panels(rows=7, columns=len(names), side=1.7)
    for column, name in enumerate(names):
        rows = rc.pick(table, condition=name).sort_values("seed")
        for half, layer in enumerate(shown_layers(settings)):
            for unit, values in enumerate(rows.iloc[0][f"units_{layer}"]):
                top = max(float(np.max(values)), 1e-6)
                title = name if not half and not unit else ""
                plots.picture(axes[3 * half + unit, column], values / top, title=title)
        for measure, colour in zip(MEASURES, (plots.GOOD, plots.BAD), strict=True):
            for i, values in enumerate(rows[measure]):
                label = measure.replace("_", " ") if not i else None
                axes[6, column].plot(values, color=colour, alpha=0.6, linewidth=1, label=label)
            for values in rc.pick(table, system="untrained")[measure]:
                axes[6, column].plot(values, ":", color=colour, linewidth=1.5)
        axes[6, column].set(ylim=(0, 1), xlabel="layer")
    axes[1, 0].set_ylabel("units of the\nfirst hidden layer")
    axes[4, 0].set_ylabel("units of the\nlast hidden layer")
    axes[6, 0].set_ylabel("share of variance\n(dotted: untrained)")
    axes[6, 0].legend(fontsize=6, frameon=False)
    return figure
