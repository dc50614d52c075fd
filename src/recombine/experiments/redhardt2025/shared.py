"""What the experiments of this paper share: one teacher per seed, students of one population, how all are evaluated.

Every seed has a teacher of its own. A condition is a set of training masks; training and held-out tasks are sampled for
evaluation with keys that training never used. The learning rate falls along a cosine where the paper's stays constant,
so that fewer steps are needed; the `paper` tiers keep it constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import evaluation

if TYPE_CHECKING:
    from recombine.experiments.redhardt2025.students import SharedSettings, WithHeldOut, WithPrecision
    from recombine.experiments.seeds import Seeded


@cache
def family(settings: SharedSettings, teachers: int, encode: Any = None) -> rc.Task:
    """The tasks of this many teachers; one object for equal settings, so that programs are compiled once."""
    return rc.hyperteacher(
        modules=settings.modules,
        max_active=settings.max_active,
        teachers=teachers,
        inputs=settings.size,
        hidden=(settings.size,),
        outputs=settings.size,
        samples=settings.samples,
        encode=encode or rc.task_encodings.identity,
        key=rc.key(settings.seed, "teachers"),
    )


def masks(task: rc.Task) -> np.ndarray:
    """The masks of one teacher; all teachers have the same."""
    return task.combinations[task.combinations[:, 0] == 0][:, 1:]


def holding_out(masks: np.ndarray, count: int) -> float:
    """The share to hold out so that exactly so many masks are trained on, whatever rounding does."""
    return (len(masks) - count + 0.5) / len(masks)


def support_key(settings: Seeded, seed: int):
    """The key from which the training masks of a seed are drawn."""
    return rc.key(settings.seed, "support", seed)


def random_support(settings: WithHeldOut, task: rc.Task, seed: int) -> np.ndarray:
    """The random training masks of a seed."""
    return rc.supports.random(masks(task), settings.held_out, support_key(settings, seed))


def counted_support(settings: Seeded, task: rc.Task, count: int, seed: int) -> np.ndarray:
    """Exactly so many random training masks of a seed."""
    return rc.supports.random(masks(task), holding_out(masks(task), count), support_key(settings, seed))


def on_matrices(cosine: bool, moments: Any, dials: Mapping[str, Any], steps: int):
    """AdamW that decays matrices alone, at a constant learning rate or one that falls to a fiftieth along a cosine.

    First moments are kept in `moments`, since they are read and written as often as all weights.
    """
    import optax

    from recombine.models.student import decays

    schedule = optax.cosine_decay_schedule(1.0, steps, alpha=0.02) if cosine else optax.constant_schedule(1.0)
    return optax.chain(
        optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"], mask=decays, mu_dtype=moments),
        optax.scale_by_schedule(schedule),
    )


@cache
def arithmetic(cosine: bool, precision: str) -> dict[str, Any]:
    """What a recipe needs to know of the schedule and of the precision."""
    import jax.numpy as jnp

    compute = getattr(jnp, precision)
    return {"optimiser": partial(on_matrices, cosine, compute), "compute": compute}


def student(settings: SharedSettings, task: rc.Task):
    """How the paper's student is made for a task."""
    from recombine.tasks.hyperteacher import widths

    return maker(*widths(task), settings.width, settings.depth)


@cache
def maker(inputs: int, outputs: int, width: int, depth: int):
    """One function for equal sizes, so that it is compiled once."""
    return lambda key: rc.StudentMLP(inputs, outputs, width=width, depth=depth, key=key)


def fit(settings: Any, task: rc.Task, make, *, batch: int, seeds: Sequence[int], chosen, monitor, label, **recipe):
    """One student per set of rows of the task, in one population; students of a seed start alike."""
    return rc.population(
        task,
        [rc.Split(task.combinations, rows, absent=0, world=1) for rows in chosen],
        make,
        rc.member_keys(settings.seed, seeds),
        rc.Recipe(settings.steps, batch, **arithmetic(settings.cosine, settings.precision), **recipe),
        dials={"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        monitor=monitor,
        label=label,
    )


def train(
    settings: WithPrecision,
    task: rc.Task,
    make,
    *,
    who: Sequence[dict],
    supports: Sequence[np.ndarray],
    held_out: Sequence[np.ndarray] | None = None,
    by_task: int = 0,
    monitor,
    label,
) -> list[dict]:
    """One student for each name and training masks, in one population; who["seed"] is also the number of its teacher.

    The rows say how well training and held-out tasks are answered, and how well the constituents can be decoded from
    each layer. Held-out tasks come from the masks in `held_out`: all that a student was not trained on, unless given.
    Of so many held-out tasks (`by_task`) the rows also have the numbers one by one.
    """
    others = [~s for s in supports] if held_out is None else held_out
    if any((s & o).any() for s, o in zip(supports, others, strict=True)):
        raise ValueError("a mask that was trained on cannot be held out")
    seeds = [w["seed"] for w in who]
    sides = [of_teachers(task, seeds, part) for part in (supports, others)]
    run = fit(settings, task, make, batch=settings.tasks, seeds=seeds, chosen=sides[0], monitor=monitor, label=label)
    records = evaluated(settings, task, make, run.model, sides)
    measured = []
    for row, support, diverged, *pair in zip(who, supports, run.diverged_at >= 0, *records, strict=True):
        monitor.recorded(f"{label}-{'-'.join(str(v) for v in row.values())}", pair[1])
        seen, other = map(evaluation.silenced, pair) if diverged else pair
        measured.append(answered(settings, task, (row["seed"], support), seen, other, by_task=by_task))
    return rc.rows(run, who, measured)


def evaluated(settings: Any, task: rc.Task, make, models, sides: Sequence[Sequence[np.ndarray]]) -> list:
    """The records of students on training tasks, with those that probes are fitted on before them, and on others."""
    fitting = evaluation.to_fit(task, make, settings.n_eval)
    return [
        evaluation.evaluate(settings, task, models, rows, part, more=0 if part else fitting)
        for part, rows in enumerate(sides)
    ]


BY_TASK = ("task_probe", "task_r2")


def answered(settings: Any, task: rc.Task, who: tuple[int, np.ndarray], *pair: rc.Record, by_task: int = 0) -> dict:
    """All that is measured of a student (teacher, training masks); see `evaluation.answers`.

    Also how it does on held-out tasks that hold its rarest module beside others.
    """
    teacher, support = who
    seen, other = pair
    found = evaluation.answers(seen, other, settings.size, module_weights(task, teacher))
    kept = {name: found.pop(name)[:by_task] for name in BY_TASK}
    rarest = int(rc.supports.usage(masks(task), support).argmin())
    with_it = evaluation.where_active(other, rarest)
    alone = {name: float(found[f"constituents_{name}"][rarest]) for name in ("code", "first", "deepest")}
    return (
        found
        | (kept if by_task else {})
        | {"r2_rarest": rc.r2_by_unit(other.where(with_it)) if with_it.any() else float("nan")}
        | {f"rarest_{name}": value for name, value in alone.items()}
        | described(masks(task), support)
    )


def module_weights(task: rc.Task, teacher: int) -> np.ndarray:
    """What each module adds to a teacher's first layer, in one row: the effective weights are z times this."""
    it = rc.teacher_of(task)
    mine = it.weights.layers[0][teacher * it.modules : (teacher + 1) * it.modules]
    return mine.reshape(it.modules, -1).astype(float)


def of_teachers(task: rc.Task, seeds: Sequence[int], parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each seed the rows of its own teacher whose masks are chosen."""
    return [rc.supports.for_teacher(task.combinations, s, p) for s, p in zip(seeds, parts, strict=True)]


def described(family_masks: np.ndarray, support: np.ndarray) -> dict[str, float]:
    """What the training masks cover; a module that is in none of them is connected to no other."""
    split = rc.supports.split(family_masks, support)
    return {
        "masks": float(support.sum()),
        "share": float(support.mean()),
        "covers": float(split.covers),
        "connected": float(split.covers and split.connected),
        "pairs": together(family_masks[support]) / max(1, together(family_masks)),
    }


def together(some: np.ndarray) -> int:
    """How many pairs of modules are together in some of these masks."""
    held = some.astype(np.float32)
    return int(np.triu(held.T @ held > 0, 1).sum())


def controls(settings: WithHeldOut) -> list[dict]:
    """Systems whose answer is known, and an untrained student, beside random training masks."""
    task = family(settings, 1)
    support = random_support(settings, task, 0)
    return [*known(settings, task, support), untrained(settings, task, student(settings, task), support)]


def known(settings: SharedSettings, task: rc.Task, support: np.ndarray) -> list[dict]:
    """R^2 on held-out tasks of systems whose answer is known, for training masks that are given."""
    rng = rc.rng(settings.seed, "control masks")
    picked = task.combinations[rng.choice(np.flatnonzero(~support), settings.n_eval)]
    records = known_records(settings, task, picked, masks(task)[support])
    return rc.control_rows(lambda record: {"r2_unseen": rc.r2_by_unit(record)}, records)


def known_records(settings: SharedSettings, task: rc.Task, picked: np.ndarray, shown: np.ndarray) -> dict:
    """Tasks of teacher 0 as answered by a perfect student, by one that knows means alone, and from memory.

    The last replaces a mask by the training mask that shares most modules with it: remembering, not composing.
    """
    import jax
    import jax.numpy as jnp

    teacher = rc.teacher_of(task)
    keys = jax.random.split(rc.key(settings.seed, "controls"), len(picked))
    x, y = (np.asarray(a) for a in jax.jit(jax.vmap(task.sample))(jnp.asarray(picked), keys))
    z = np.asarray(jax.vmap(teacher.draw)(jnp.asarray(picked), keys))
    shared = picked[:, 1:].astype(float) @ shown.T - 0.1 * shown.sum(axis=1)
    nearest = shown[shared.argmax(axis=1)]
    kept = jnp.asarray(np.where(nearest == 1, np.where(z > 0, z, 0.75), 0.0), jnp.float32)
    remembered = jax.jit(jax.vmap(teacher.teach))(np.zeros(len(z), int), kept, x[..., -settings.size :])
    systems = {"perfect": y, "mean": np.broadcast_to(y.mean(axis=(0, 1)), y.shape), "nearest task": remembered}
    return {name: rc.Record(z, x, y, np.asarray(y_hat)) for name, y_hat in systems.items()}


def initial_models(settings: Any, task: rc.Task, make, *parts: np.ndarray) -> list[rc.Record]:
    """A student of teacher 0 at its initial weights, on tasks from each of some sets of masks."""
    models = rc.initial_models(make, rc.key(settings.seed, "untrained")[None])
    sides = [of_teachers(task, [0], [part]) for part in parts]
    return [next(each) for each in evaluated(settings, task, make, models, sides)]


def untrained(settings: SharedSettings, task: rc.Task, make, support: np.ndarray, **who) -> dict:
    """The row of a student at its initial weights, measured as trained ones are."""
    seen, other = initial_models(settings, task, make, support, ~support)
    return {"system": "untrained", **who, "seed": 0, **answered(settings, task, (0, support), seen, other)}
