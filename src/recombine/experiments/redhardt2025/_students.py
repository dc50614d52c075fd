"""What the experiments of this paper share: a teacher for every seed, students of one population, what is asked of all.

Every seed has a teacher of its own. A condition is a set of training masks; seen and unseen tasks are asked afterwards
with keys that training never used. The learning rate falls along a cosine where the paper's stays constant, so that
fewer steps are needed; the `paper` tiers keep it constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from math import comb
from typing import Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments import _seeds


@dataclass(frozen=True, kw_only=True)
class StudentSettings(_seeds.Seeded):
    """A hyperteacher, a student, and how it is trained."""

    modules: int = 8
    """modules of a teacher"""
    hot: int = 3
    """modules of a task, at most"""
    size: int = 8
    """a teacher's inputs, hidden units and outputs"""
    samples: int = 8
    """inputs asked of a task, each time"""
    tasks: int = 128
    """tasks a step"""
    held_out: float = 0.25
    """share of the combinations of modules that is never trained on"""
    width: int = 128
    """units of a student's hidden layer"""
    depth: int = 3
    """hidden layers of a student"""
    steps: int = 1000
    """updates of each student"""
    learning_rate: float = 5e-3
    """AdamW's learning rate"""
    cosine: bool = True
    """let the learning rate fall to a fiftieth along a cosine"""
    weight_decay: float = 1e-3
    """AdamW's weight decay, on matrices alone"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""
    asked: int = 512
    """tasks asked of a student afterwards, of each kind; half of the seen ones fit the probes"""

    def __post_init__(self) -> None:
        self.need_positive("modules", "hot", "size", "samples", "tasks", "width", "depth", "steps")
        if self.hot > self.modules:
            raise rc.UserError(f"a task cannot have {self.hot} of {self.modules} modules")
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        if self.held_out * total(self.modules, self.hot) < 1:
            raise rc.UserError(f"{self.held_out} of {total(self.modules, self.hot)} masks is not even one")
        shown = round((1 - self.held_out) * total(self.modules, self.hot))
        if 1 + (self.hot - 1) * shown < self.modules:
            raise rc.UserError(f"held_out {self.held_out} leaves {shown} masks, which cannot tie the modules together")
        self.need_rates("learning_rate")
        if self.asked < 64:
            raise rc.UserError(f"asking fewer than 64 tasks says nothing, got {self.asked}")


def check_counts(settings: StudentSettings, counts: Sequence[int]) -> None:
    """Refuse numbers of training masks that do not rise, cannot tie the modules together, or leave none unseen."""
    modules, hot = settings.modules, settings.hot
    if len(counts) < 2 or list(counts) != sorted(set(counts)):
        raise rc.UserError(f"counts must be two or more rising numbers, got {counts}")
    if 1 + (hot - 1) * counts[0] < modules:
        raise rc.UserError(f"{counts[0]} masks of {hot} modules cannot tie {modules} together")
    if counts[-1] >= total(modules, hot):
        raise rc.UserError(f"{counts[-1]} masks leave none unseen")


def holding_out(masks: np.ndarray, count: int) -> float:
    """The share to hold out so that exactly so many masks are trained on, whatever rounding does."""
    return (len(masks) - count + 0.5) / len(masks)


def total(modules: int, hot: int) -> int:
    """How many masks of one to `hot` modules there are."""
    return sum(comb(modules, k) for k in range(1, hot + 1))


QUICK: dict[str, Any] = {"seeds": 2, "modules": 4, "hot": 2, "size": 4, "samples": 4, "asked": 64}
QUICK |= {"tasks": 8, "width": 8, "depth": 2, "steps": 20}
FULL: dict[str, Any] = {"modules": 16, "size": 16, "samples": 16, "depth": 4, "asked": 1024, "weight_decay": 3e-3}
"""The paper's task and student, but for its width."""


def with_changes(settings: StudentSettings, **changes) -> StudentSettings:
    """What all experiments share of these settings, with another task or student."""
    return StudentSettings(**{f.name: getattr(settings, f.name) for f in fields(StudentSettings)} | changes)


@cache
def family(settings: StudentSettings, teachers: int, tell: Any = None) -> rc.Task:
    """The tasks of this many teachers; one object for equal settings, so that programs are compiled once."""
    import jax

    return rc.hyperteacher(
        modules=settings.modules,
        hot=settings.hot,
        teachers=teachers,
        inputs=settings.size,
        hidden=(settings.size,),
        outputs=settings.size,
        samples=settings.samples,
        tell=tell or rc.telling.identity,
        key=jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 2),
    )


def masks(task: rc.Task) -> np.ndarray:
    """The masks of one teacher; all teachers have the same."""
    return task.combinations[task.combinations[:, 0] == 0][:, 1:]


def support_key(settings: StudentSettings, seed: int):
    """The key from which the training masks of a seed are drawn."""
    import jax

    return jax.random.fold_in(jax.random.key(settings.seed + 1), seed)


def on_matrices(cosine: bool, moments: Any, dials: Mapping[str, Any], steps: int):
    """AdamW that decays matrices alone, at a constant learning rate or one that falls to a fiftieth along a cosine.

    First moments are kept in `moments`, since they are read and written as often as all weights.
    """
    import optax

    schedule = optax.cosine_decay_schedule(1.0, steps, alpha=0.02) if cosine else optax.constant_schedule(1.0)
    return optax.chain(
        optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"], mask=rc.decays, mu_dtype=moments),
        optax.scale_by_schedule(schedule),
    )


@cache
def arithmetic(cosine: bool, precision: str) -> dict[str, Any]:
    """What a recipe needs to know of the schedule and of the precision."""
    import jax.numpy as jnp

    compute = getattr(jnp, precision)
    return {"optimiser": partial(on_matrices, cosine, compute), "compute": compute}


def student(settings: StudentSettings, task: rc.Task):
    """How the paper's student is made for a task."""
    return _maker(*rc.widths(task), settings.width, settings.depth)


@cache
def _maker(inputs: int, outputs: int, width: int, depth: int):
    """One function for equal sizes, so that it is compiled once."""
    return lambda key: rc.StudentMLP(inputs, outputs, width=width, depth=depth, key=key)


def train(
    settings: StudentSettings,
    task: rc.Task,
    make,
    *,
    who: Sequence[dict],
    supports: Sequence[np.ndarray],
    asked: Sequence[np.ndarray] | None = None,
    watch,
    label,
) -> list[dict]:
    """One student for each name and training masks, in one population; who["seed"] is also the number of its teacher.

    The rows say how well seen and unseen tasks are answered, and how well the constituents can be read off each layer.
    Unseen tasks come from the masks in `asked`, which are all that a student was not trained on unless given.
    """
    import jax
    import jax.numpy as jnp

    chosen = [rc.supports.for_teacher(task.combinations, w["seed"], s) for w, s in zip(who, supports, strict=True)]
    keys = jax.vmap(partial(jax.random.fold_in, jax.random.key(settings.seed)))(jnp.array([w["seed"] for w in who]))
    recipe = rc.Recipe(settings.steps, settings.tasks, **arithmetic(settings.cosine, settings.precision))
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    splits = [rc.Split(task.combinations, rows) for rows in chosen]
    run = rc.population(task, splits, make, keys, recipe, dials=dials, watch=watch, label=label)
    others = [~s for s in supports] if asked is None else asked
    if any((s & o).any() for s, o in zip(supports, others, strict=True)):
        raise ValueError("a mask that was trained on cannot be asked as unseen")
    unseen = [rc.supports.for_teacher(task.combinations, w["seed"], o) for w, o in zip(who, others, strict=True)]
    lessons = [ask(settings, task, run.model, rows, part) for part, rows in enumerate((chosen, unseen))]
    rows = []
    for i, (person, support) in enumerate(zip(who, supports, strict=True)):
        seen, other = (part[i] for part in lessons)
        watch.recorded(f"{label}-{'-'.join(str(v) for v in person.values())}", other)
        if run.diverged_at[i] >= 0:
            seen, other = silenced(seen), silenced(other)
        found = answers(seen, other) | described(masks(task), support)
        facts = {"loss": float(run.losses[i, -1]), "diverged_at": int(run.diverged_at[i])}
        rows.append(person | facts | _seeds.unless_lost(found, run.diverged_at[i]))
    return rows


def ask(settings: StudentSettings, task: rc.Task, models, rows: Sequence[np.ndarray], part: int) -> list[rc.Record]:
    """Each student is asked tasks drawn from its own rows; activations are those of the last sample, as z is."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng([settings.seed, part, 2**31 - 3])
    picked = np.stack([rng.choice(np.flatnonzero(mine), settings.asked) for mine in rows])
    keys = jax.random.split(jax.random.fold_in(_seeds.test_key(settings), part), (len(rows), settings.asked))
    z = jnp.asarray(task.combinations)[picked]
    x, y, y_hat, acts, told = jax.device_get(_asker(task.sample)(models, z, keys))
    return [
        rc.Record(np.asarray(told[i]), x[i], y[i], y_hat[i], {name: a[i] for name, a in acts.items()})
        for i in range(len(rows))
    ]


@cache
def _asker(sample: Any):
    """What answers (z, keys) for every model; one function for equal samples, so that it is compiled once."""
    import equinox as eqx
    import jax

    @eqx.filter_jit
    @eqx.filter_vmap
    def member(model, z, keys):
        def one(z, key):
            x, y = sample(z, key)
            y_hat, acts = model(x)
            return x[-1], y, y_hat, {name: a[-1] for name, a in acts.items()}, sample.draw(z, key)

        return jax.lax.map(lambda both: one(*both), (z, keys), batch_size=256)

    return member


def silenced(record: rc.Record) -> rc.Record:
    """A record in which nothing was answered, for students that diverged: measures of theirs are dropped anyway."""
    nothing = {name: np.zeros_like(a) for name, a in record.acts.items()}
    return rc.Record(record.z, record.x, record.y, np.zeros_like(record.y), nothing)


def answers(seen: rc.Record, other: rc.Record) -> dict:
    """R^2 on seen and unseen tasks, and of the constituents as read off each layer, by probes fitted on seen tasks."""
    half = len(seen) // 2
    fit, rest = seen.where(np.arange(half)), seen.where(np.arange(half, len(seen)))
    readers = [rc.reader(a, fit.z) for a in layers(fit)]

    def read(part: rc.Record) -> np.ndarray:
        return np.array([score(a, part.z) for score, a in zip(readers, layers(part), strict=True)])

    return {
        "r2_seen": rc.r2_by_unit(seen),
        "r2_unseen": rc.r2_by_unit(other),
        "pooled_unseen": rc.r2_pooled(other),
        "probes_seen": read(rest),
        "probes_unseen": read(other),
    }


def layers(record: rc.Record) -> list[np.ndarray]:
    """What a student was told, and what its layers made of it."""
    return [record.x, *(a for name, a in record.acts.items() if name.startswith("layer"))]


def described(family_masks: np.ndarray, support: np.ndarray) -> dict[str, float]:
    """What the training masks cover."""
    pairs = min(2, int(family_masks.sum(axis=1).max()))
    return {
        "masks": float(support.sum()),
        "share": float(support.mean()),
        "covers": float(rc.supports.covers(family_masks, support)),
        "connected": float(rc.supports.connected(family_masks, support)),
        "pairs": rc.supports.coverage(family_masks, support, pairs),
    }


def controls(settings: StudentSettings) -> list[dict]:
    """The measures on made-up students: a perfect one, one that knows only means, one that answers as a seen task does.

    The last replaces an unseen mask by the training mask that shares most modules with it: remembering, not composing.
    """
    import jax
    import jax.numpy as jnp

    task = family(settings, 1)
    teacher = rc.teacher_of(task)
    support = rc.supports.random(masks(task), settings.held_out, jax.random.key(settings.seed))
    rng = np.random.default_rng([settings.seed, 2**31 - 4])
    picked = task.combinations[rng.choice(np.flatnonzero(~support), settings.asked)]
    keys = jax.random.split(_seeds.test_key(settings), settings.asked)
    x, y = (np.asarray(a) for a in jax.jit(jax.vmap(task.sample))(jnp.asarray(picked), keys))
    shared = picked[:, 1:].astype(float) @ masks(task)[support].T - 0.1 * masks(task)[support].sum(axis=1)
    nearest = masks(task)[support][shared.argmax(axis=1)]
    z = np.asarray(jax.vmap(teacher.draw)(jnp.asarray(picked), keys))
    known = np.where(nearest == 1, np.where(z > 0, z, 0.75), 0.0)
    inputs = x[..., -settings.size :]
    remembered = jax.jit(jax.vmap(teacher.teach))(np.zeros(len(z), int), jnp.asarray(known, jnp.float32), inputs)
    systems = {"perfect": y, "mean": np.broadcast_to(y.mean(axis=(0, 1)), y.shape), "nearest task": remembered}
    return [
        {"condition": f"control: {name}", "seed": 0, "r2_unseen": rc.r2_by_unit(rc.Record(z, x, y, np.asarray(y_hat)))}
        for name, y_hat in systems.items()
    ]
