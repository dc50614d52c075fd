"""Does the number of mixtures of preferences that must be trained on grow more slowly than the number there are?

Scaling law on the compositional preference grid: preferences are added, training mixtures grow in proportion and use
all preferences equally. The number that is needed to be right in nearly as many episodes of held-out mixtures as of
training ones is read off between them. Beside MLPs stand transformers for one number of preferences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import architectures, growth, preference_students, shared, students
from recombine.experiments.redhardt2025 import growth_figure as drawn

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.8, 0.9)
"""Right episodes on held-out mixtures, as shares of those on training ones, at which the number needed is read off."""
EPISODES = preference_students.EPISODES
MLP, TRANSFORMER = architectures.MLP, architectures.TRANSFORMER


@dataclass(frozen=True, kw_only=True)
class Settings(preference_students.PreferenceSettings):
    modules: int = 12
    """preferences of the largest worlds"""
    fewer: tuple[int, ...] = (6,)
    """preferences of the smaller worlds, rising"""
    multiples: tuple[float, ...] = (1, 2.5, 5)
    """training mixtures for each preference, rising"""
    transformers: tuple[int, ...] = ()
    """numbers of preferences for which transformers are trained as well, on all multiples but the largest"""
    token: int = 32
    """numbers of a transformer's token"""
    layers: int = 2
    """layers of the transformer"""
    heads: int = 2
    """attention heads of each"""
    inner: int = 128
    """units of the hidden layer within each"""
    transformer_rate: float = 3e-3
    """the transformer's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("token", "layers", "heads", "inner")
        self.need_rates("transformer_rate")
        for name, numbers in (("fewer, then modules,", self.families), ("multiples", self.multiples)):
            if len(numbers) < 2 or list(numbers) != sorted(set(numbers)) or numbers[0] <= 0:
                raise rc.UserError(f"{name} must be two or more rising numbers above 0, got {numbers}")
        if not set(self.transformers) <= set(self.families) or self.fewer[0] < self.max_active:
            raise rc.UserError(
                "transformers are trained for some of the numbers of preferences, which suffice a mixture"
            )
        for modules in self.families:
            shown, there = round(self.multiples[-1] * modules), students.total(modules, self.max_active)
            if shown >= there:
                raise rc.UserError(f"{shown} training mixtures leave none unseen: {modules} preferences have {there}")

    @property
    def families(self) -> tuple[int, ...]:
        """Numbers of preferences, rising."""
        return (*self.fewer, self.modules)


_TINY: dict[str, Any] = {"modules": 5, "fewer": (4,), "multiples": (1, 2), "transformers": (4,)}
_TINY |= {"token": 8, "layers": 1, "inner": 8}
QUICK = Settings(**preference_students.TINY | _TINY)
LAPTOP = Settings(seed=2, steps=2400)
_MODELS: dict[str, Any] = {"token": 256, "layers": 4, "heads": 4, "inner": 1024, "transformer_rate": 3e-4}
_SIZES: dict[str, Any] = {"modules": 24, "fewer": (8, 16), "features": 24, "multiples": (1, 2.5, 7)}
GPU = Settings(**preference_students.LARGE | _SIZES | _MODELS | {"transformers": (16,), "steps": 12_000})
_EVERY = tuple(range(8, 36, 4))
_WHOLE: dict[str, Any] = {"modules": 32, "fewer": _EVERY[:-1], "features": 32, "transformers": _EVERY}
_MULTIPLES = (1, 1.5, 2, 3, 4, 6, 8)
PAPER = replace(
    GPU, max_active=4, multiples=_MULTIPLES, **_WHOLE, **preference_students.LONG | {"transformer_rate": 1e-4}
)


def cells(settings: Settings) -> list[rc.Cell]:
    points = [(MLP, modules) for modules in settings.families]
    points += [(TRANSFORMER, modules) for modules in settings.transformers]
    return rc.cells(settings, [{"model": model, "modules": modules} for model, modules in points])


def made(settings: Settings, world: preference_students.PreferenceSettings, task: rc.Task, model: str):
    """How a student of a kind is made."""
    if model == MLP:
        return preference_students.student(world, task)
    sizes = replace(architectures.WithTransformer(), features=settings.token, layers=settings.layers)
    sizes = replace(sizes, heads=settings.heads, inner=settings.inner)
    return architectures.transformer(sizes, task, preference_students.seen_of_map(world), 5)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, rate = cell.settings, "learning_rate" if cell.model == MLP else "transformer_rate"
    world = students.with_changes(
        replace(settings, learning_rate=getattr(settings, rate)),
        preference_students.PreferenceSettings,
        modules=cell.modules,
    )
    task = preference_students.family(world, max(cell.members) + 1)
    masks = shared.masks(task)
    sizes = {"model": cell.model, "modules": cell.modules, "max_active": world.max_active, "total": len(masks)}
    who: list[dict[str, Any]] = [
        {"condition": f"{cell.model}, {cell.modules} preferences, {round(n * cell.modules)} mixtures", "multiple": n}
        | sizes
        | {"seed": seed}
        for n in settings.multiples[: None if cell.model == MLP else -1]
        for seed in cell.members
    ]
    return preference_students.train(
        world,
        task,
        made(settings, world, task, cell.model),
        who=who,
        supports=[shown(world, masks, w["multiple"], w["seed"]) for w in who],
        monitor=monitor,
        label="students",
    )


def shown(world: preference_students.PreferenceSettings, masks: np.ndarray, multiple: float, seed: int) -> np.ndarray:
    """So many training mixtures for each preference, which use all equally."""
    share = shared.holding_out(masks, round(multiple * world.modules))
    return rc.supports.equal(masks, share, shared.support_key(world, seed))


def controls(settings: Settings) -> list[dict]:
    world = students.with_changes(settings, preference_students.PreferenceSettings)
    whole = students.total(world.modules, world.max_active)
    return preference_students.controls(world, 1 - settings.multiples[-1] * world.modules / whole)


def cost(table: pd.DataFrame) -> pd.Series:
    """By seed, the gap with most preferences minus that with the fewest, at the largest multiple.

    The gap is right episodes on training minus held-out mixtures: students of more preferences may also learn less.
    """
    rows = growth.most_shown(table).assign(gap=lambda t: t["episode_seen"] - t[EPISODES])
    return rc.difference("gap", rows["modules"].max(), rows["modules"].min(), by="modules")(rows)


KEPT = "kept"


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """The table with right episodes on held-out mixtures as a share of those on training ones, in the column `kept`."""
    return table.assign(**{KEPT: table[EPISODES] / table["episode_seen"]})


def learnt(table: pd.DataFrame) -> pd.Series:
    """By seed, whether the MLPs that were shown the most mixtures learnt these."""
    return preference_students.fits()(growth.most_shown(table))


def both_learnt(table: pd.DataFrame) -> pd.DataFrame:
    """The same of MLPs and transformers, one column per number of preferences for which both are trained."""
    rows = rc.networks(table)
    rows = rows[rows["multiple"] == rows.groupby("model")["multiple"].transform("max")]
    compared = sorted(rows["modules"][rows["model"] == TRANSFORMER].unique())
    fits = preference_students.fits()
    return rc.each({f"{m:g} modules": (lambda t, m=m: fits(t[t["modules"] == m])) for m in compared})(rows)


LAW = "scaling law, preference"
claim = partial(rc.Claim, controls=preference_students.CONTROLS)


def slower(level: float) -> rc.Claim:
    """The claim that the mixtures needed for a share of what training mixtures have grow more slowly than triples."""
    return claim(
        f"the mixtures needed to keep {level:g} of the right episodes grow as a power of the preferences below 2.5",
        f"As preferences are added, the training mixtures needed to be right in {level:g} as many episodes of held-out"
        " mixtures as of training ones grow as a power below 2.5; all mixtures grow nearly as 3, pairs as 2.",
        f"{LAW} (sub-exponential, in the abstract; the levels are ours)",
        effect=lambda t: growth.powers(relative(t), level, KEPT),
        below=2.5,
        unit="power of the preferences with which the mixtures needed grow",
        fits=(learnt,),
        null=3.0,
    )


CLAIMS = (
    *(slower(level) for level in LEVELS),
    claim(
        "adding preferences costs little at a fixed number of mixtures per preference",
        "With as many training mixtures per preference, the gap from training to held-out mixtures grows by less than"
        " 0.1 of the episodes as preferences are added.",
        f"{LAW}; measure and margin are ours",
        effect=cost,
        below=0.1,
        unit="right episodes on training minus held-out mixtures, most preferences minus fewest, largest multiple",
        fits=(learnt,),
    ),
    claim(
        "a transformer needs fewer mixtures of preferences than an MLP",
        f"To be right in {LEVELS[-1]:g} as many episodes of held-out mixtures as of training ones, a transformer needs"
        " fewer training mixtures than an MLP, by a factor of 1.4 or more, where both are trained (gpu tier:"
        f" {GPU.transformers[0]} preferences). Its fewest count if enough.",
        f"{LAW}, MLP against transformer (by a reading note); fit condition narrowed to the students that are compared"
        " after a look at the gpu table",
        effect=lambda t: growth.fewer_needed(relative(t), LEVELS[-1], KEPT),
        above=0.5,
        unit="log2 of mixtures needed, MLP over transformer",
        fits=(both_learnt,),
        over="numbers of preferences",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Right episodes on held-out mixtures against mixtures per preference, and the mixtures needed.

    Open markers are students that do not fit: right in no more episodes of training mixtures than memory is of held-out
    ones. Memory plans for the nearest training mixture.
    """
    rows = relative(rc.networks(table)).assign(learnt=lambda t: t["seen_over_memory"] >= 0)
    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.6)
    marks = dict(zip(settings.families, cycle(drawn.MARKERS), strict=False))
    for i, m in enumerate(settings.families):
        for model, some in rows[rows["modules"] == m].groupby("model"):
            look = (f"C{i}", marks[m], "-") if model == MLP else (f"C{i}", drawn.STAR, "--")
            for place, column in ((axes[0, 0], EPISODES), (axes[0, 1], KEPT)):
                drawn.curve(place, some, column, look)
        memory = rows[rows["modules"] == m].groupby("multiple")["memory"].mean()
        axes[0, 0].plot(memory.index, memory, ":", color=f"C{i}", linewidth=1.2)
    words = ("right episodes, held-out mixtures", "right episodes, held-out / training")
    for place, ylabel in zip(axes[0, :2], words, strict=True):
        drawn.multiples_axis(place, settings.multiples, xlabel="training mixtures per preference", ylabel=ylabel)
    for level, style in zip(LEVELS, drawn.STYLES[-len(LEVELS) :], strict=True):
        axes[0, 1].axhline(level, color="0.6", linestyle=style, linewidth=0.9)
    entries = [drawn.handle(f"{m} preferences", marks[m], "-", f"C{i}") for i, m in enumerate(settings.families)]
    entries += [drawn.handle("transformer (others: MLP)", drawn.STAR, "--", markersize=8)] * bool(settings.transformers)
    entries += [drawn.handle("memory (nearest training mixture)", style=":")]
    drawn.above(picture, [*entries, drawn.handle("open: does not fit", "o", markerfacecolor="none")])
    axes[0, 2].set(xlabel="preferences", ylabel="training mixtures needed, MLP")
    mlps = rc.pick(rows, model=MLP)
    drawn.plot_needed(axes[0, 2], mlps, LEVELS, KEPT, label=lambda _, level: f"{level:g} kept", what="mixtures")
    return picture
