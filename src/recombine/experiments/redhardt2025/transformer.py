"""Does a transformer need fewer combinations than an MLP?

Scaling the number of training tasks, hyperteacher, with three kinds of student of about as many parameters: one that
joins code and input at once, one that attends to the code, and one whose weights are written by the code. Each kind has
a learning rate of its own; the laptop's were chosen for how well shown tasks are learnt, without a look at others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    counts: tuple[int, ...] = (8, 69)
    """numbers of training masks"""
    tasks: int = 64
    """tasks a step"""
    width: int = 106
    """units of the MLP's hidden layers"""
    features: int = 32
    """numbers of a transformer's token"""
    layers: int = 2
    """layers of the transformer"""
    heads: int = 2
    """attention heads of each"""
    inner: int = 128
    """units of the hidden layer within each"""
    written: int = 164
    """hidden units of the network that a hypernetwork writes"""
    steps: int = 750
    """updates of each student"""
    learning_rate: float = 1e-2
    """the MLP's learning rate"""
    transformer_rate: float = 1e-2
    """the transformer's learning rate"""
    hypernetwork_rate: float = 3e-2
    """the hypernetwork's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("features", "layers", "heads", "inner", "written")
        _students.check_counts(self, self.counts)
        if self.features % (2 * self.heads):
            raise rc.UserError(f"tokens of {self.features} cannot be shared by {self.heads} heads of even size")
        if not all(isfinite(rate) and rate > 0 for rate in (self.transformer_rate, self.hypernetwork_rate)):
            raise rc.UserError("learning rates must be numbers above 0")


QUICK = Settings(
    **_students.QUICK | {"counts": (3, 6), "features": 8, "layers": 1, "heads": 2, "inner": 8, "written": 8}
)
LAPTOP = Settings()
GPU = Settings(
    seeds=5,
    hot=4,
    counts=(32, 128),
    tasks=128,
    width=1024,
    features=256,
    layers=4,
    heads=4,
    inner=1024,
    written=5700,
    steps=10_000,
    learning_rate=1e-3,
    transformer_rate=1e-3,
    hypernetwork_rate=3e-3,
    precision="bfloat16",
    **_students.FULL,
)
PAPER = replace(
    GPU,
    seeds=10,
    counts=(16, 32, 64, 128, 256, 512, 1024),
    steps=300_000,
    learning_rate=3e-4,
    transformer_rate=3e-4,
    hypernetwork_rate=3e-4,
    cosine=False,
)
MLP, TRANSFORMER, HYPERNETWORK = "MLP", "transformer", "hypernetwork"


@dataclass(frozen=True)
class Kind:
    """How students of a kind are made, and at which learning rate they are trained."""

    make: Callable[[Settings, rc.Task], Callable]
    rate: Callable[[Settings], float]


def transformer(settings: Settings, task: rc.Task):
    inputs, outputs = rc.widths(task)
    return lambda key: rc.InContextTransformer(
        inputs - settings.size,
        settings.size,
        outputs,
        width=settings.features,
        depth=settings.layers,
        heads=settings.heads,
        inner=settings.inner,
        key=key,
    )


def hypernetwork(settings: Settings, task: rc.Task):
    inputs, outputs = rc.widths(task)
    return lambda key: rc.Hypernetwork(inputs - settings.size, settings.size, outputs, width=settings.written, key=key)


KINDS = {
    MLP: Kind(_students.student, lambda s: s.learning_rate),
    TRANSFORMER: Kind(transformer, lambda s: s.transformer_rate),
    HYPERNETWORK: Kind(hypernetwork, lambda s: s.hypernetwork_rate),
}


@dataclass(frozen=True)
class Cell:
    """The students of one kind, with every number of masks, for one block of seeds."""

    settings: Settings
    model: str
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, model, members) for model in KINDS for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    kind, settings = KINDS[cell.model], cell.settings
    task = _students.family(settings, max(cell.members) + 1)
    masks, make = _students.masks(task), kind.make(settings, task)
    facts = {"model": cell.model, "parameters": parameters(make)}
    who = [
        {"condition": f"{cell.model}, {count} masks", "count": count, "seed": seed}
        for count in settings.counts
        for seed in cell.members
    ]

    def support(count: int, seed: int):
        return rc.supports.random(masks, _students.holding_out(masks, count), _students.support_key(settings, seed))

    rows = _students.train(
        _students.with_changes(settings, learning_rate=kind.rate(settings)),
        task,
        make,
        who=who,
        supports=[support(w["count"], w["seed"]) for w in who],
        watch=watch,
        label=cell.model,
    )
    return [row | facts for row in rows]


def parameters(make: Callable) -> int:
    """How many numbers of a student are trained."""
    import jax

    return sum(a.size for a in jax.tree.leaves(jax.eval_shape(make, jax.random.key(0))))


controls = _students.controls


def at_fewest(table: pd.DataFrame, model: str, column: str = "r2_unseen") -> pd.Series:
    """By seed, of the students of a kind that were shown the fewest masks."""
    return rc.by_seed(table, column, model=model, count=table["count"].min())


def alike(*models: str) -> rc.Check:
    """Students of two kinds have about as many parameters."""

    def spare(table: pd.DataFrame) -> float:
        sizes = [at_fewest(table, model, "parameters").max() for model in models]
        return 1.1 - max(sizes) / min(sizes)

    return rc.Check(f"parameters of {' and '.join(models)} differ by at most a tenth", spare, at_least=0.0)


def fit(model: str, at_least: float) -> rc.Check:
    """Students of a kind have learnt what they were shown, with the fewest masks."""
    return rc.Check(
        f"{model}, fewest masks: R2 on tasks they were shown is at least {at_least:g}",
        lambda table: at_fewest(table, model, "r2_seen").min(),
        at_least,
    )


def level(*models: str) -> rc.Check:
    """Students that have learnt less of what they were shown also answer less of what they were not."""
    return rc.Check(
        f"{' and '.join(models)} have learnt what they were shown equally well, within 0.02",
        lambda t: 0.02 - abs(at_fewest(t, models[0], "r2_seen").mean() - at_fewest(t, models[1], "r2_seen").mean()),
        at_least=0.0,
    )


CLAIMS = (
    rc.Claim(
        "a transformer needs fewer tasks",
        "Shown the same few combinations, a transformer answers unseen ones better than an MLP of as many parameters.",
        "scaling law, MLP against transformer",
        effect=lambda t: at_fewest(t, TRANSFORMER) - at_fewest(t, MLP),
        margin=0.0,
        unit="R2 on unseen tasks with the fewest masks, transformer minus MLP",
        preconditions=(fit(TRANSFORMER, 0.9), fit(MLP, 0.9), alike(TRANSFORMER, MLP), level(TRANSFORMER, MLP)),
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "a hypernetwork too",
        "So does a network whose weights are a linear map of the code.",
        "ours; stated before any run",
        effect=lambda t: at_fewest(t, HYPERNETWORK) - at_fewest(t, MLP),
        margin=0.0,
        unit="R2 on unseen tasks with the fewest masks, hypernetwork minus MLP",
        # A hypernetwork reads the code without its scale, by which answers grow: small ones may not get so far.
        preconditions=(fit(HYPERNETWORK, 0.9), fit(MLP, 0.9), alike(HYPERNETWORK, MLP), level(HYPERNETWORK, MLP)),
        controls=_show.R2_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on unseen and on seen tasks against the number of masks, one colour a kind; and the gain over the MLP."""
    plots, rows = rc.plots, _show.trained(table)
    picture, axes = plots.panels(rows=1, columns=3, side=3.0)
    colours = dict(zip(KINDS, (plots.BAD, plots.GOOD, plots.NEUTRAL), strict=True))
    sizes = rows.groupby("model")["parameters"].max()
    groups = {f"{model} ({int(sizes[model]):,} parameters)": rows[rows["model"] == model] for model in KINDS}
    for place, column, name in ((axes[0, 0], "r2_unseen", "unseen"), (axes[0, 1], "r2_seen", "seen")):
        _show.lines(place, groups, "count", column, list(colours.values()))
        place.set_ylabel(f"R2 on {name} tasks")
    low = min(0.5, *(place.get_ylim()[0] for place in axes[0, :2]))
    for place in axes[0, :2]:
        place.set_ylim(low, 1.02)
    axes[0, 0].legend(fontsize=6.5, frameon=False)
    by = rows.pivot_table(index=["count", "seed"], columns="model", values="r2_unseen")
    for model in (TRANSFORMER, HYPERNETWORK):
        if {model, MLP} <= set(by.columns):
            gain = (by[model] - by[MLP]).rename("gain").reset_index()
            _show.lines(axes[0, 2], {model: gain}, "count", "gain", [colours[model]])
    axes[0, 2].axhline(0, color="black", linewidth=0.6)
    axes[0, 2].set_ylabel("R2 on unseen tasks, minus the MLP's")
    for place in axes[0]:
        place.set(xscale="log", xlabel="training masks")
        place.minorticks_off()
        place.set_xticks(settings.counts, settings.counts)
    return picture
