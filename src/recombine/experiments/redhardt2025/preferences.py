"""Does it hold for choosing actions: does a student act rightly on held-out mixtures of preferences?

Scaling the number of training tasks, compositional preference grid: a student sees a mixture, encoded, and a map with
objects, and imitates a planner. Every seed has preferences of its own. The learning rate falls along a cosine where the
paper's stays constant, so that fewer steps are needed; the `paper` tier keeps it constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import planners, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.Training):
    modules: int = 8
    """preferences that can be mixed"""
    max_active: int = 3
    """preferences of a mixture, at most"""
    features: int = 8
    """types of objects"""
    objects: int = 2
    """objects on a map"""
    episodes: int = 128
    """episodes per step"""
    held_out: float = 0.25
    """share of the mixtures that is never trained on"""
    few: int = 12
    """mixtures that are trained on where they are few"""
    depth: int = 2
    """hidden layers of a student"""
    steps: int = 1200
    """updates of each student"""
    learning_rate: float = 3e-3
    """AdamW's learning rate"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""
    n_eval: int = 1024
    """episodes on which a student is evaluated, of each kind"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("modules", "max_active", "features", "objects", "episodes", "few")
        if self.max_active > self.modules:
            raise rc.UserError(f"a mixture cannot have {self.max_active} of {self.modules} preferences")
        if self.objects > 8:
            raise rc.UserError(f"plans for more than 8 objects are too large, got {self.objects}")
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        if self.few < self.modules / self.max_active:
            raise rc.UserError(f"{self.few} mixtures of {self.max_active} cannot cover {self.modules} preferences")
        if self.few >= students.total(self.modules, self.max_active):
            raise rc.UserError(f"{self.few} mixtures leave none unseen")


_TINY = {"modules": 4, "max_active": 2, "features": 4, "objects": 1, "episodes": 8, "few": 4, "width": 8}
QUICK = Settings(seeds=2, steps=20, n_eval=64, **_TINY)
LAPTOP = Settings()
_LARGE = {"modules": 16, "features": 16, "objects": 4, "few": 48, "width": 1024, "n_eval": 4096}
GPU = Settings(steps=40_000, learning_rate=1e-3, precision="bfloat16", **_LARGE)
PAPER = replace(GPU, seeds=10, features=32, steps=3_000_000, learning_rate=1e-4, cosine=False)
RANDOM, FEW, NEVER = "random", "few", "non-compositional"
EPISODES = "episode_unseen"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


@cache
def family(settings: Settings, worlds: int) -> rc.Task:
    """The mixtures of this many worlds; one object for equal settings, so that programs are compiled once."""
    return rc.preferences(
        modules=settings.modules,
        max_active=settings.max_active,
        worlds=worlds,
        features=settings.features,
        objects=settings.objects,
        key=rc.key(settings.seed, "preferences"),
    )


def shown(settings: Settings, masks: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The training mixtures of a seed in each condition."""
    key = shared.support_key(settings, seed)
    return {
        RANDOM: rc.supports.random(masks, settings.held_out, key),
        FEW: rc.supports.random(masks, shared.holding_out(masks, settings.few), key),
        NEVER: rc.supports.non_compositional(masks, settings.held_out, key),
    }


def student(settings: Settings, task: rc.Task):
    """How a student of these walks is made: five actions to choose from."""
    from recombine.tasks.hyperteacher import widths

    return shared.maker(widths(task)[0], 5, settings.width, settings.depth)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = cell.settings
    task = family(settings, max(cell.members) + 1)
    masks = shared.masks(task)
    who = [{"condition": c, "seed": seed} for c in (RANDOM, FEW, NEVER) for seed in cell.members]
    chosen = [shown(settings, masks, w["seed"])[w["condition"]] for w in who]
    seeds = [w["seed"] for w in who]
    sides = [shared.of_teachers(task, seeds, part) for part in (chosen, [~some for some in chosen])]
    trained = shared.fit(
        settings,
        task,
        student(settings, task),
        batch=settings.episodes,
        seeds=seeds,
        chosen=sides[0],
        loss=rc.masked_cross_entropy,
        monitor=monitor,
        label="students",
    )
    records = [shared.evaluate(settings, task, trained.model, rows, part) for part, rows in enumerate(sides)]
    for w, record in zip(who, records[1], strict=True):
        monitor.recorded(f"{w['condition']}-{w['seed']}", record)
    found = [measured(masks, *each) for each in zip(chosen, *records, strict=True)]
    return rc.rows(trained, who, found)


def measured(masks: np.ndarray, chosen: np.ndarray, seen: rc.Record, unseen: rc.Record) -> dict[str, float]:
    """Accuracies on training and held-out mixtures, and what the training mixtures cover."""
    return accuracies("seen", seen) | accuracies("unseen", unseen) | shared.described(masks, chosen)


def accuracies(name: str, record: rc.Record) -> dict[str, float]:
    """The share of right steps, and of episodes that are right throughout."""
    from recombine.tasks.preferences import episode_accuracy

    return {f"step_{name}": rc.step_accuracy(record), f"episode_{name}": episode_accuracy(record)}


def controls(settings: Settings) -> list[dict]:
    """Planners and walkers on held-out mixtures of every seed's world; and a student at its initial weights."""
    task, found = family(settings, settings.seeds), []
    masks = shared.masks(task)
    for seed in range(settings.seeds):
        train = shown(settings, masks, seed)[RANDOM]
        records = planners.records(settings, task, masks, train, seed)
        rows = rc.control_rows(lambda record: accuracies("unseen", record), records)
        found += [row | {"seed": seed} for row in rows]
    random = shown(settings, masks, 0)[RANDOM]
    untrained = shared.initial_models(settings, task, student(settings, task), random, ~random)
    return [*found, {"system": "untrained", "seed": 0} | measured(masks, random, *untrained)]


def control(table: pd.DataFrame, system: str, column: str) -> float:
    """The mean of a system whose answer is known over all worlds."""
    return float(rc.by_seed(table, column, system=system).mean())


def reads(system: str, column: str, **bounds: float) -> rc.Check:
    return rc.Check(f"{column} of the control {system}", lambda t: control(t, system, column), **bounds)


def fits(*conditions: str):
    """By seed, whether students act rightly in most steps on the mixtures they were trained on."""
    return rc.fitted("step_seen", at_least=0.85, condition=list(conditions))


CONTROLS = (
    reads("planner", EPISODES, at_least=0.99),
    reads("always stops", EPISODES, at_most=0.5),
    reads("walks at random", "step_unseen", at_most=0.3),
    reads("nearest mixture", "step_unseen", at_most=0.85),
)
BEYOND_MEMORY = rc.Check(
    "share of right episodes of held-out mixtures, students minus a planner for the nearest training mixture",
    lambda t: rc.value(EPISODES, condition=RANDOM)(t).mean() - control(t, "nearest mixture", EPISODES),
    at_least=0.0,
)
claim = partial(rc.Claim, controls=CONTROLS)
CLAIMS = (
    claim(
        "held-out mixtures of preferences are acted on",
        "Trained on three quarters of the mixtures, a student chooses rightly on the others in 0.85 of the steps.",
        "data scaling, preference",
        effect=rc.value("step_unseen", condition=RANDOM),
        above=0.85,
        unit="share of right steps on held-out mixtures",
        fits=(fits(RANDOM),),
    ),
    claim(
        "fewer training mixtures make held-out ones worse",
        "Trained on few mixtures, a student is right throughout in fewer episodes of held-out ones.",
        "data scaling, preference",
        effect=rc.difference(EPISODES, RANDOM, FEW),
        above=0.1,
        unit="share of right episodes on held-out mixtures, most training mixtures minus few",
        preconditions=(BEYOND_MEMORY,),
        fits=(fits(RANDOM, FEW),),
    ),
    claim(
        "mixtures with a preference never trained on are acted on worse",
        "Where one preference was in no training mixture, mixtures with it are acted on worse.",
        "task support, preference",
        effect=rc.difference(EPISODES, RANDOM, NEVER),
        above=0.1,
        unit="share of right episodes on held-out mixtures, random minus non-compositional",
        preconditions=(BEYOND_MEMORY,),
        fits=(fits(RANDOM, NEVER),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Right steps and episodes on training and held-out mixtures, one dot per student, with the controls as lines."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.6)
    for place, kind in zip(axes[0], ("step", "episode"), strict=True):
        for part, colour in (("seen", plots.NEUTRAL), ("unseen", plots.GOOD)):
            groups = {c: rows.loc[rows["condition"] == c, f"{kind}_{part}"].to_numpy() for c in (RANDOM, FEW, NEVER)}
            plots.dots(place, groups, colour=colour)
        for name in ("nearest mixture", "always stops"):
            height = control(table, name, f"{kind}_unseen")
            place.axhline(height, color=plots.BAD, linestyle=":", linewidth=0.9)
            place.text(-0.55, height, f"control: {name}", fontsize=6.5, color=plots.BAD, ha="left", va="bottom")
        place.set(xlabel="training mixtures", ylabel=f"share of right {kind}s")
    axes[0, 0].set_title("grey: training mixtures; green: held-out")
    return picture
