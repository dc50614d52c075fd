"""How the students of this paper are evaluated: answers on tasks of each kind, and what their layers tell.

Probes are fitted on training tasks, at least four for each unit of the widest layer, and scored on held-out ones. They
read the constituents z, one weight vector each, and the effective weights of the teacher, which are linear in z.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

import recombine as rc
from recombine.measures.probe import linear_probe, r2_by_row, r2_by_target
from recombine.measures.regression import r2_by_task
from recombine.measures.similarity import rank_correlation

TASKS_PER_UNIT = 4
MOST_UNITS = 2048
"""Of a wider layer, whose units are exchangeable, only the first ones are probed."""


def to_fit(task: rc.Task, make, n_eval: int) -> int:
    """How many training tasks the probes are fitted on: four for each unit of the widest layer, `n_eval` at least."""
    import jax
    import jax.numpy as jnp

    def acts(key):
        x = task.sample(jnp.asarray(task.combinations[0]), key)[0]
        return x, make(key)(x)[1]

    x, hidden = jax.eval_shape(acts, jax.random.key(0))
    widest = max(x.shape[-1], *(a.shape[-1] for a in hidden.values()))
    return max(n_eval, TASKS_PER_UNIT * min(widest, MOST_UNITS))


def evaluate(
    settings: Any, task: rc.Task, models, rows: Sequence[np.ndarray], part: int, *, more: int = 0
) -> Iterator[rc.Record]:
    """Each student on tasks sampled from its own rows; activations are those of the last sample, as z is.

    `more` tasks come first, for probes to be fitted on. Records are fetched one by one, since wide layers are large.
    """
    import jax
    import jax.numpy as jnp

    count = settings.n_eval + more
    rng = rc.rng(settings.seed, "test masks", part)
    picked = np.stack([rng.choice(np.flatnonzero(mine), count) for mine in rows])
    keys = jax.random.split(rc.key(settings.seed, "test", part), (len(rows), count))
    found = _evaluator(task.sample)(models, jnp.asarray(task.combinations)[picked], keys)
    for i in range(len(rows)):
        x, y, y_hat, acts, drawn = jax.device_get(jax.tree.map(lambda a, i=i: a[i], found))
        yield rc.Record(np.asarray(drawn), x, y, y_hat, acts)


@cache
def _evaluator(sample: Any):
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
    """A record without answers, for students that diverged: their measures are dropped anyway."""
    nothing = {name: np.zeros_like(a) for name, a in record.acts.items()}
    return rc.Record(record.z, record.x, record.y, np.zeros_like(record.y_hat), nothing)


def answers(seen: rc.Record, other: rc.Record, inputs: int, weights: np.ndarray | None = None) -> dict:
    """R^2 on training and held-out tasks, and all that probes of the layers read; see `decoded` for the latter.

    Probes are fitted on the training tasks that `seen` has more than `other`.
    """
    found, by_task = decoded(seen, other, inputs, weights), r2_by_task(other)
    return {
        "r2_seen": rc.r2_by_unit(seen),
        "r2_unseen": float(by_task.mean()),
        "pooled_unseen": rc.r2_pooled(other),
        **found,
        "task_correlation": rank_correlation(found["task_probe"], by_task),
        "task_r2": by_task,
    }


def decoded(seen: rc.Record, other: rc.Record, inputs: int, weights: np.ndarray | None = None) -> dict:
    """R^2 of the constituents decoded from each layer: their mean, each one alone, and task by task.

    `inputs` numbers of x are not the task encoding, which is the first layer. `weights` (modules, any) are what a
    constituent adds to the teacher's weights: then also R^2 of the effective weights, by layer.
    """
    fit = np.arange(len(seen)) < len(seen) - len(other)
    fitting, rest = seen.where(fit), seen.where(~fit)
    probes = [linear_probe(a, targets(fitting.z, weights)) for a in layers(fitting, inputs)]

    def read(part: rc.Record) -> np.ndarray:
        wanted = targets(part.z, weights)
        told = (probe(a) for probe, a in zip(probes, layers(part, inputs), strict=True))
        return np.stack([r2_by_target(wanted, each) for each in told])

    modules = other.z.shape[1]
    unseen, seen_z = read(other), read(rest)[:, :modules]
    deepest = probes[-1](layers(other, inputs)[-1])[:, :modules]
    return {
        "probes_seen": np.nanmean(seen_z, axis=1),
        "probes_unseen": np.nanmean(unseen[:, :modules], axis=1),
        "constituents_code": unseen[0, :modules],
        "constituents_first": unseen[1, :modules],
        "constituents_deepest": unseen[-1, :modules],
        "constituents": unseen[:, :modules],
        **({} if weights is None else {"weights_unseen": np.nanmean(unseen[:, modules:], axis=1)}),
        "probe_code": float(np.nanmean(unseen[0, :modules])),
        "probe_first": float(np.nanmean(unseen[1, :modules])),
        "probe_deepest": float(np.nanmean(unseen[-1, :modules])),
        "fitted_on": float(fit.sum()),
        "task_probe": r2_by_row(other.z, deepest),
    }


def targets(z: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """What is decoded: the constituents, and the effective weights where the modules' own are given."""
    return z if weights is None else np.concatenate([z, z @ weights], axis=1)


def layers(record: rc.Record, inputs: int) -> list[np.ndarray]:
    """The task encoding, and what a student's layers made of it."""
    hidden = [a for name, a in record.acts.items() if name.startswith("layer")]
    return [record.x[:, :-inputs], *(a[:, :MOST_UNITS] for a in hidden)]


def where_active(record: rc.Record, module: int) -> np.ndarray:
    """The tasks that hold a module beside others."""
    active = record.z > 0
    return active[:, module] & (active.sum(axis=1) > 1)


def known_probes(settings: Any, task: rc.Task, make, *, sides: tuple, name: str) -> dict[str, float]:
    """What probes fitted on as many tasks as a student's read from constituents themselves, and from noise.

    They are fitted on tasks of the first of two sets of masks and scored on those of the second.
    """
    import jax
    import jax.numpy as jnp

    fit, rng = to_fit(task, make, settings.n_eval), rc.rng(settings.seed, name)
    rows = [rng.choice(np.flatnonzero(side), n) for side, n in zip(sides, (fit, settings.n_eval), strict=True)]
    picked = jnp.asarray(task.combinations[np.concatenate(rows)])
    keys = jax.random.split(rc.key(settings.seed, name), len(picked))
    z = np.asarray(jax.jit(jax.vmap(rc.teacher_of(task).draw))(picked, keys))
    systems = {"code": z, "noise": rng.normal(size=(len(z), settings.width))}
    return {name: rc.decodability(a[:fit], z[:fit], a[fit:], z[fit:]) for name, a in systems.items()}
