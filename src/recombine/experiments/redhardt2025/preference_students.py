"""What the experiments on the preference grid share: one world per seed, students that imitate a planner.

Mixtures of preferences are held out as masks are elsewhere. Whole episodes are reported, as in the paper: an episode is
right if every action before its end is. Probes are those of the hyperteacher's students, at the last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import evaluation, planners, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class PreferenceSettings(students.Training):
    """Worlds of preferences, and students of them."""

    modules: int = 8
    """preferences that can be mixed"""
    max_active: int = 3
    """preferences of a mixture, at most"""
    features: int = 4
    """types of objects"""
    objects: int = 2
    """objects on a map"""
    episodes: int = 64
    """episodes per step"""
    depth: int = 2
    """hidden layers of a student"""
    steps: int = 3000
    """updates of each student"""
    learning_rate: float = 5e-3
    """AdamW's learning rate"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""
    n_eval: int = 1024
    """episodes on which a student is evaluated, of each kind; probes are fitted on others"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("modules", "max_active", "features", "objects", "episodes")
        if self.max_active > self.modules:
            raise rc.UserError(f"a mixture cannot have {self.max_active} of {self.modules} preferences")
        if self.objects > 8:
            raise rc.UserError(f"plans for more than 8 objects are too large, got {self.objects}")


TINY: dict[str, Any] = {"modules": 4, "max_active": 2, "features": 4, "objects": 1, "episodes": 8, "width": 8}
TINY |= {"seeds": 2, "steps": 20, "n_eval": 64}
LARGE: dict[str, Any] = {"modules": 16, "features": 16, "objects": 4, "episodes": 128, "width": 1024, "n_eval": 2048}
LARGE |= {"steps": 20_000, "learning_rate": 1e-3, "precision": "bfloat16"}
"""The gpu tiers: the paper's task and student, for about a hundredth of its updates, at a rate that falls."""
LONG: dict[str, Any] = {"seeds": 10, "steps": 3_000_000, "learning_rate": 1e-4, "cosine": False}
"""The paper's training."""
EPISODES = "episode_unseen"


@cache
def family(settings: PreferenceSettings, worlds: int, encode: Any = None) -> rc.Task:
    """The mixtures of this many worlds; one object for equal settings, so that programs are compiled once."""
    return rc.preferences(
        modules=settings.modules,
        max_active=settings.max_active,
        worlds=worlds,
        features=settings.features,
        objects=settings.objects,
        encode=encode or rc.task_encodings.identity,
        key=rc.key(settings.seed, "preferences"),
    )


def seen_of_map(settings: PreferenceSettings) -> int:
    """How many numbers of a step are not the task encoding."""
    from recombine.tasks.preferences import CELLS

    return len(CELLS) * (settings.features + 1)


def student(settings: PreferenceSettings, task: rc.Task):
    """How a student of these walks is made: five actions to choose from."""
    from recombine.tasks.hyperteacher import widths

    return shared.maker(widths(task)[0], 5, settings.width, settings.depth)


def train(
    settings: PreferenceSettings,
    task: rc.Task,
    make,
    *,
    who: Sequence[dict],
    supports: Sequence[np.ndarray],
    monitor,
    label,
) -> list[dict]:
    """One student for each name and training mixtures, in one population; who["seed"] is also its world."""
    seeds = [w["seed"] for w in who]
    sides = [shared.of_teachers(task, seeds, part) for part in (supports, [~some for some in supports])]
    run = shared.fit(
        settings,
        task,
        make,
        batch=settings.episodes,
        seeds=seeds,
        chosen=sides[0],
        loss=rc.masked_cross_entropy,
        monitor=monitor,
        label=label,
    )
    records, found = shared.evaluated(settings, task, make, run.model, sides), []
    plain = family(settings, max(seeds) + 1)
    for w, support, lost, *pair in zip(who, supports, run.diverged_at >= 0, *records, strict=True):
        monitor.recorded(f"{label}-{'-'.join(str(v) for v in w.values())}", pair[1])
        both = map(evaluation.silenced, pair) if lost else pair
        row = measured(settings, task, (w["seed"], support), *both)
        found.append(row | beside_memory(settings, plain, (w["seed"], support), row["episode_seen"]))
    return rc.rows(run, who, found)


def measured(settings: PreferenceSettings, task: rc.Task, who: tuple[int, np.ndarray], *pair: rc.Record) -> dict:
    """Accuracies on training and held-out mixtures of one student, and what its layers tell of the preferences."""
    (world, support), (seen, unseen), masks = who, pair, shared.masks(task)
    told = evaluation.decoded(seen, unseen, seen_of_map(settings), task.sample.tastes[world].astype(float))  # pyrefly: ignore
    rarest = evaluation.where_active(unseen, int(rc.supports.usage(masks, support).argmin()))
    alone = accuracies("rarest", unseen.where(rarest)) if rarest.any() else {}
    del told["task_probe"]
    return accuracies("seen", seen) | accuracies("unseen", unseen) | alone | told | shared.described(masks, support)


def beside_memory(settings: PreferenceSettings, plain: rc.Task, who: tuple[int, np.ndarray], seen: float) -> dict:
    """Right episodes on held-out mixtures of a planner for the nearest training one, and how far training is above."""
    world, support = who
    walked = planners.remembered(settings, plain, shared.masks(plain), support, world)["nearest mixture"]
    memory = accuracies("memory", walked)["episode_memory"]
    return {"memory": memory, "seen_over_memory": seen - memory}


def accuracies(name: str, record: rc.Record) -> dict[str, float]:
    """The share of right steps, and of episodes that are right throughout."""
    from recombine.tasks.preferences import episode_accuracy

    return {f"step_{name}": rc.step_accuracy(record), f"episode_{name}": episode_accuracy(record)}


def controls(settings: PreferenceSettings, held_out: float) -> list[dict]:
    """Planners and walkers on held-out mixtures of every seed's world; and a student at its initial weights."""
    task, found = family(settings, settings.seeds), []
    masks = shared.masks(task)
    for seed in range(settings.seeds):
        train = rc.supports.random(masks, held_out, shared.support_key(settings, seed))
        records = planners.records(settings, task, masks, train, seed)
        rows = rc.control_rows(lambda record: accuracies("unseen", record), records)
        found += [row | {"seed": seed} for row in rows]
    first = rc.supports.random(masks, held_out, shared.support_key(settings, 0))
    untrained = shared.initial_models(settings, task, student(settings, task), first, ~first)
    return [*found, {"system": "untrained", "seed": 0} | measured(settings, task, (0, first), *untrained)]


def control(table: pd.DataFrame, system: str, column: str) -> float:
    """The mean of a system whose answer is known over all worlds."""
    return float(rc.by_seed(table, column, system=system).mean())


def reads(system: str, column: str, **bounds: float) -> rc.Check:
    return rc.Check(f"{column} of the control {system}", lambda t: control(t, system, column), **bounds)


def fits(**where):
    """By seed, whether students are right in more whole episodes of training mixtures than memory is of held-out ones.

    Memory is a planner for the nearest training mixture. A student that does no better has not learnt to read mixtures,
    though most of its steps may be right.
    """
    return rc.fitted("seen_over_memory", at_least=0.0, **where)


CONTROLS = (
    reads("planner", EPISODES, at_least=0.99),
    reads("always stops", EPISODES, at_most=0.5),
    reads("walks at random", "step_unseen", at_most=0.3),
    reads("nearest mixture", "step_unseen", at_most=0.85),
    rc.Check(
        "R2 of preferences decoded from the task encoding itself, untrained student",
        lambda t: rc.pick(t, system="untrained")["probe_code"].max(),
        at_least=0.95,
    ),
)
