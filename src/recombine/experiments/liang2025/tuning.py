"""What are the units of a decoder tuned to: one coordinate, as a stripe, or one place, as a bump?

Fig. 4e,f and Fig. 15: units of each layer by what their activation depends on, for networks trained on stripes alone,
on stripes and a few bumps, and on the whole donut. The paper sees stripes early and bumps late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole
from recombine.experiments.liang2025.amounts import BUMPS_LEARNT, STRIPES_LEARNT, condition, training_sets
from recombine.experiments.liang2025.amounts import Settings as AmountSettings
from recombine.experiments.liang2025.stripes import DONUT

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


@dataclass(frozen=True)
class Cell:
    """The networks of every condition for one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


def conditions(settings: Settings) -> tuple[str, ...]:
    return (*map(condition, settings.bumps), DONUT)


def run(cell: Cell, watch) -> list[dict]:
    settings, task = cell.settings, _hole.grid(cell.settings)
    trained, rows = _hole.train_conditions(
        settings,
        task,
        _hole.decoder(settings, settings.depth),
        members=cell.members,
        sets=lambda key: training_sets(settings, key) | {DONUT: _hole.donut(settings, task)},
        watch=watch,
    )

    def seen(i: int) -> dict:
        network = trained[i].model
        layers = rc.layer_geometry(network, rc.local_bump(settings.size, settings.sigma), settings.size)
        found = shares({name: layer.energies for name, layer in layers.items()})
        found |= {
            f"units_{name}": maps(settings, task, network, name, layers[name].energies) for name in drawn(settings)
        }
        return _seeds.unless_lost(found, rows[i]["diverged_at"])

    return [row | seen(i) for i, row in enumerate(rows)]


def shares(energies: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The units' stripe and bump indices, averaged with their variance as weight.

    That is sum |V_x - V_y| / sum V and sum V_xy / sum V; the rest is in units that follow both coordinates, added up.
    """
    sums = [(np.abs(v[0] - v[1]).sum() / v.sum(), v[2].sum() / v.sum()) for v in energies.values()]
    return dict(zip(MEASURES, np.array(sums).T, strict=True))


def drawn(settings: Settings) -> tuple[str, str]:
    """The layers whose units are drawn: the first, and the last but the picture."""
    return "layer0", f"layer{settings.depth}"


def maps(settings: Settings, task: rc.Task, network, layer: str, energies: np.ndarray) -> np.ndarray:
    """The tuning of three units over (x, y): the most active, and others far from it in the order of units."""
    import jax.numpy as jnp

    from recombine.experiments.liang2025 import _units

    total = energies.sum(axis=0)
    thirds = np.array_split(np.arange(total.size), 3)
    rows = np.array([part[np.argmax(total[part])] for part in thirds])
    z = task.combinations[rc.whole(task.combinations)]
    answer = rc.record(
        _units.Units(network, layer, jnp.asarray(rows)), task, z, key=_seeds.test_key(settings), keep=["units"]
    )
    return np.moveaxis(rc.on_grid(answer, answer.acts["units"]), -1, 0).swapaxes(1, 2)


def controls(settings: Settings) -> list[dict]:
    """The shares on units that follow one coordinate each, on sums of both, on true bumps; and before any training."""
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    truth = _hole.bright(settings, rc.truth(task, z, key=_seeds.test_key(settings)))
    x, y = (np.eye(settings.size)[v] for v in z.T)
    systems = {"one coordinate": np.concatenate([x, y], axis=1), "a sum": x + y, "bumps": truth.y.reshape(len(z), -1)}
    fresh = _hole.decoder(settings, settings.depth)(_seeds.test_key(settings))
    layers = rc.layer_geometry(fresh, rc.local_bump(settings.size, settings.sigma), settings.size)
    untrained = shares({name: layer.energies for name, layer in layers.items()})
    rows = [{"condition": "control: untrained", "seed": 0} | untrained]
    for name, units in systems.items():
        parts = rc.anova_energies(rc.on_grid(truth, units))
        found = shares({"units": np.stack([parts[s] for s in ((0,), (1,), (0, 1))])})
        rows.append({"condition": f"control: {name}", "seed": 0} | found)
    return rows


def at(table: pd.DataFrame, which: str, column: str, layer: int) -> pd.Series:
    """A share of one layer, by seed; 0 is the first hidden layer, -2 the last hidden layer, -1 the picture."""
    return rc.by_seed(table, column, condition=which).apply(lambda values: values[layer])


def some_bumps(table: pd.DataFrame) -> str:
    """The condition with the second smallest number of bumps, of which the claims speak."""
    names = [c for c in table.condition.unique() if c.startswith("stripes + ")]
    return sorted(names, key=lambda name: int(name.removeprefix("stripes + ")))[1]


def first(table: pd.DataFrame, system: str, column: str) -> float:
    return float(at(table, f"control: {system}", column, 0).iloc[0])


STRIPE = (
    rc.Check("units of one coordinate are stripes", lambda t: first(t, "one coordinate", "stripe_share"), 0.99),
    rc.Check("units of a sum are not", lambda t: 0.1 - first(t, "a sum", "stripe_share"), 0.0),
    rc.Check("bumps are not", lambda t: 0.5 - first(t, "bumps", "stripe_share"), 0.0),
)
BUMP = (
    rc.Check("bumps are bumps", lambda t: first(t, "bumps", "bump_share"), 0.5),
    rc.Check("units of a sum are not", lambda t: 0.1 - first(t, "a sum", "bump_share"), 0.0),
)
LEARNT = (STRIPES_LEARNT, BUMPS_LEARNT)


def claim(name: str, says: str, source: str, *, effect, margin: float, unit: str, controls) -> rc.Claim:
    return rc.Claim(name, says, source, effect, margin, unit, preconditions=LEARNT, controls=controls)


CLAIMS = (
    claim(
        "stripes early (the paper)",
        "With stripes in training, the first hidden layer follows one coordinate at a time.",
        "Fig. 4e; Fig. 15",
        effect=lambda t: at(t, some_bumps(t), "stripe_share", 0),
        margin=0.5,
        unit="stripe share of the first hidden layer, stripes + bumps",
        controls=STRIPE,
    ),
    claim(
        "but also where it fails (ours)",
        "The first hidden layer of the failing network does so too.",
        "our contrast",
        effect=lambda t: at(t, DONUT, "stripe_share", 0),
        margin=0.5,
        unit="stripe share of the first hidden layer, whole donut",
        controls=STRIPE,
    ),
    claim(
        "bumps late (the paper)",
        "With stripes in training, conjunctions of x and y grow from the first hidden layer to the last.",
        "Fig. 4f; Fig. 15",
        effect=lambda t: at(t, some_bumps(t), "bump_share", -2) - at(t, some_bumps(t), "bump_share", 0),
        margin=0.0,
        unit="bump share, last minus first hidden layer, stripes + bumps",
        controls=BUMP,
    ),
    claim(
        "more so where it fails (ours)",
        "Late conjunctions are stronger in the network that fails than in the one that composes.",
        "our contrast",
        effect=lambda t: at(t, DONUT, "bump_share", -2) - at(t, some_bumps(t), "bump_share", -2),
        margin=0.1,
        unit="bump share of the last hidden layer, donut minus stripes + bumps",
        controls=BUMP,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each condition: three units of the first and last hidden layer over (x, y), and the shares by layer."""
    plots, names = rc.plots, conditions(settings)
    figure, axes = plots.panels(rows=7, columns=len(names), side=1.7)
    for column, name in enumerate(names):
        rows = table[table.condition == name].sort_values("seed")
        for half, layer in enumerate(drawn(settings)):
            for unit, values in enumerate(rows.iloc[0][f"units_{layer}"]):
                top = max(float(np.max(values)), 1e-6)
                title = name if not half and not unit else ""
                plots.picture(axes[3 * half + unit, column], values / top, title=title)
        for measure, colour in zip(MEASURES, (plots.GOOD, plots.BAD), strict=True):
            for i, values in enumerate(rows[measure]):
                label = measure.replace("_", " ") if not i else None
                axes[6, column].plot(values, color=colour, alpha=0.6, linewidth=1, label=label)
        axes[6, column].set(ylim=(0, 1), xlabel="layer")
    axes[1, 0].set_ylabel("units of the\nfirst hidden layer")
    axes[4, 0].set_ylabel("units of the\nlast hidden layer")
    axes[6, 0].set_ylabel("share of variance")
    axes[6, 0].legend(fontsize=6, frameon=False)
    return figure
