"""Does a student compose more modules at once than it ever saw?

Ours. A student is trained on most tasks of up to K modules and asked tasks of K + 1 and more. The teacher's scale stays
that of training, 1 / sqrt(K), so that its weights are also larger than in any task that was shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    hot: int = 2
    """modules of a task in training, at most; claims are about these students"""
    further: tuple[int, ...] = (3,)
    """the same for further students, in rising order"""
    more: int = 2
    """tasks are asked with up to this many modules more than in training"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("more")
        if list(self.levels) != sorted(set(self.levels)) or self.hot + 1 not in self.further:
            raise rc.UserError(
                f"further students must see {self.hot + 1} modules at once, and more, got {self.further}"
            )
        if self.levels[-1] + self.more > self.modules:
            raise rc.UserError(f"tasks of {self.levels[-1] + self.more} modules cannot be made of {self.modules}")

    @property
    def levels(self) -> tuple[int, ...]:
        """The most modules of a task in training, for each kind of student."""
        return (self.hot, *self.further)


QUICK = Settings(**_students.QUICK | {"modules": 5, "more": 1})
LAPTOP = Settings()
GPU = Settings(
    seeds=5, width=1024, steps=15_000, learning_rate=1e-3, precision="bfloat16", **_students.FULL | {"asked": 2048}
)
PAPER = replace(GPU, seeds=10, further=(3, 4), steps=300_000, learning_rate=3e-4, cosine=False)


@dataclass(frozen=True)
class Cell:
    """The students that see up to `hot` modules at once, for one block of seeds."""

    settings: Settings
    hot: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, hot, members) for hot in settings.levels for members in _seeds.blocks(settings)]


@cache
def family(settings: Settings, hot: int, teachers: int) -> rc.Task:
    """Every teacher that scales by 1 / sqrt(hot), with all masks of up to hot + more modules."""
    base = _students.family(_students.with_changes(settings, hot=hot), teachers)
    each = rc.masks(settings.modules, hot + settings.more).astype(np.int16)
    who = np.repeat(np.arange(teachers, dtype=np.int16), len(each))
    rows = np.column_stack([who, np.tile(each, (teachers, 1))])
    return rc.Task(f"{base.name}, asked up to {hot + settings.more}", rows, base.sample)


def run(cell: Cell, watch) -> list[dict]:
    settings, hot = cell.settings, cell.hot
    task = family(settings, hot, max(cell.members) + 1)
    shown = [training_masks(settings, hot, _students.masks(task), seed) for seed in cell.members]
    mine = partial(rc.supports.for_teacher, task.combinations)
    students = train(settings, task, [mine(s, t) for s, t in zip(cell.members, shown, strict=True)], cell, watch)
    active = _students.masks(task).sum(axis=1)
    parts = [shown, [~t & (active <= hot) for t in shown]]
    parts += [[active == hot + extra] * len(shown) for extra in range(1, settings.more + 1)]
    records = [
        _students.ask(
            settings, task, students.model, [mine(s, p) for s, p in zip(cell.members, part, strict=True)], number
        )
        for number, part in enumerate(parts)
    ]
    rows = []
    for i, seed in enumerate(cell.members):
        seen, unseen, *hotter = (part[i] for part in records)
        watch.recorded(f"hot-{hot}-{seed}", hotter[0])
        facts = {"loss": float(students.losses[i, -1]), "diverged_at": int(students.diverged_at[i])}
        found = measured(hot, seen, unseen, hotter) | {"masks": float(shown[i].sum())}
        who = {"condition": f"up to {hot} modules", "hot": hot, "seed": seed}
        rows.append(who | facts | _seeds.unless_lost(found, students.diverged_at[i]))
    return rows


def training_masks(settings: Settings, hot: int, masks: np.ndarray, seed: int) -> np.ndarray:
    """Random masks of up to `hot` modules, as one boolean for each of all masks."""
    within = masks.sum(axis=1) <= hot
    chosen = np.zeros(len(masks), bool)
    chosen[within] = rc.supports.random(masks[within], settings.held_out, _students.support_key(settings, seed))
    return chosen


def train(settings: Settings, task: rc.Task, chosen: list[np.ndarray], cell: Cell, watch):
    """One student for each seed on its own rows."""
    arithmetic = _students.arithmetic(settings.cosine, settings.precision)
    return rc.population(
        task,
        [rc.Split(task.combinations, rows) for rows in chosen],
        _students.student(settings, task),
        rc.member_keys(settings.seed, cell.members),
        rc.Recipe(settings.steps, settings.tasks, **arithmetic),
        dials={"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        watch=watch,
        label=f"hot-{cell.hot}",
    )


def measured(hot: int, seen: rc.Record, unseen: rc.Record, hotter: list[rc.Record]) -> dict:
    """R^2 on seen tasks, on unseen ones of as many modules as were seen, on hotter ones; and by number of modules."""
    return {
        "r2_seen": rc.r2_by_unit(seen),
        "r2_unseen": of_size(unseen, hot),
        "r2_more": rc.r2_by_unit(hotter[0]),
        "seen_by_size": np.array([of_size(seen, size) for size in range(1, hot + 1)]),
        "unseen_by_size": np.array([of_size(unseen, hot), *map(rc.r2_by_unit, hotter)]),
    }


def of_size(record: rc.Record, size: int) -> float:
    """R^2 on the tasks of this many modules, where any was asked."""
    rows = (record.z > 0).sum(axis=1) == size
    return rc.r2_by_unit(record.where(rows)) if rows.any() else float("nan")


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, and on tasks of one module more: a perfect student and one that leaves modules out.

    The last answers as the training mask does that shares most modules with the task.
    """
    import jax
    import jax.numpy as jnp

    task = family(settings, settings.hot, 1)
    teacher, masks = rc.teacher_of(task), _students.masks(task)
    shown = masks[training_masks(settings, settings.hot, masks, 0)]
    rng = np.random.default_rng([settings.seed, 2**31 - 5])
    rows = rng.choice(np.flatnonzero(masks.sum(axis=1) == settings.hot + 1), settings.asked)
    picked, keys = jnp.asarray(task.combinations[rows]), jax.random.split(_seeds.test_key(settings), settings.asked)
    x, y = (np.asarray(a) for a in jax.jit(jax.vmap(task.sample))(picked, keys))
    z = np.asarray(jax.vmap(teacher.draw)(picked, keys))
    nearest = shown[(masks[rows].astype(float) @ shown.T - 0.1 * shown.sum(axis=1)).argmax(axis=1)]
    kept = jnp.asarray(np.where(nearest == 1, np.where(z > 0, z, 0.75), 0.0), jnp.float32)
    partly = jax.jit(jax.vmap(teacher.teach))(np.zeros(len(z), int), kept, x[..., -settings.size :])
    systems = {"perfect, one more": y, "nearest task, one more": np.asarray(partly)}
    return _students.controls(settings) + [
        {"condition": f"control: {name}", "seed": 0, "r2_more": rc.r2_by_unit(rc.Record(z, x, y, y_hat))}
        for name, y_hat in systems.items()
    ]


def one_more(table: pd.DataFrame, name: str) -> float:
    """R^2 of a made-up student on tasks of one module more."""
    return float(rc.by_seed(table, "r2_more", condition=f"control: {name}, one more").iloc[0])


def coolest(table: pd.DataFrame, column: str) -> pd.Series:
    """By seed, of the students that saw the fewest modules at once."""
    return rc.by_seed(table, column, hot=table["hot"].min())


FITTED = (
    rc.Check("R2 on tasks that they were shown is at least 0.9", lambda t: coolest(t, "r2_seen").min(), at_least=0.9),
)
CONTROLS = (
    *_show.R2_CONTROLS,
    rc.Check("a perfect student's R2 is 1, one more", lambda t: one_more(t, "perfect"), at_least=0.999),
    rc.Check(
        "one that leaves a module out stays below 0.45, one more",
        lambda t: 0.45 - one_more(t, "nearest task"),
        at_least=0.0,
    ),
)
CLAIMS = (
    rc.Claim(
        "one module more",
        "Trained on up to two modules at once, a student answers tasks of three better than half way.",
        "ours; stated before any run",
        effect=lambda t: coolest(t, "r2_more"),
        margin=0.5,
        unit="R2 on tasks of one module more than in training",
        preconditions=FITTED,
        controls=CONTROLS,
    ),
    rc.Claim(
        "but worse than within its range",
        "Tasks of one module more are answered worse than unseen ones of as many modules as were seen.",
        "ours; stated before any run",
        effect=lambda t: coolest(t, "r2_unseen") - coolest(t, "r2_more"),
        margin=0.05,
        unit="R2 on unseen tasks, as many modules minus one more",
        preconditions=FITTED,
        controls=CONTROLS,
    ),
    rc.Claim(
        "and worse than one that saw as many",
        "Unseen tasks of three modules are answered worse by a student that saw two at once than by one that"
        " saw three.",
        "ours; stated before any run",
        effect=lambda t: rc.by_seed(t, "r2_unseen", hot=t["hot"].min() + 1) - coolest(t, "r2_more"),
        margin=0.02,
        unit="R2 on unseen tasks of one module more than the first saw, second student minus first",
        preconditions=(*FITTED, _show.fitted(0.9)),
        controls=CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 against the number of active modules, on seen and on unseen tasks; one panel for each kind of student."""
    rows = _show.trained(table)
    levels = sorted(rows["hot"].unique())
    picture, axes = rc.plots.panels(rows=1, columns=len(levels), side=3.3)
    for place, hot in zip(axes[0], levels, strict=True):
        mine = rows[rows["hot"] == hot]
        for column, first, colour, name in (
            ("seen_by_size", 1, rc.plots.NEUTRAL, "seen tasks"),
            ("unseen_by_size", int(hot), rc.plots.GOOD, "unseen tasks"),
        ):
            values = np.stack(list(mine[column]))
            x = np.arange(first, first + values.shape[1])
            place.plot(x, values.T, color=colour, alpha=0.25, linewidth=0.8)
            place.plot(x, values.mean(axis=0), "o-", color=colour, markersize=4, label=name)
        place.axvspan(hot + 0.5, hot + settings.more + 0.5, color=rc.plots.BAD, alpha=0.08, linewidth=0)
        place.set(xlabel="modules of a task", ylim=(min(0.0, place.get_ylim()[0]), 1.03))
        place.set_xticks(range(1, int(hot) + settings.more + 1))
        place.set_title(f"trained on up to {int(hot)} at once\n(shaded: more than it ever saw)")
    axes[0, 0].set_ylabel("R2")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
