"""Systems whose answer on the preference grid is known: planners, and walkers that do not plan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    from recombine.experiments.redhardt2025.preference_students import PreferenceSettings


def act(walks: Any, row, other, key):
    """y of a walk, and what a planner with another mixture would do at each of its steps, from what can be seen."""
    import jax.numpy as jnp

    from recombine.tasks.preferences import MOVES, arrival_values

    x, y = walks(row, key)
    view = x[:, walks.modules :].reshape(len(x), -1, walks.features + 1)
    lies, agent = (view[..., :-1] > 0).any(axis=-1), view[..., -1].argmax(axis=1)
    cells = jnp.nonzero(lies[0], size=walks.objects)[0]
    worth = (walks.draw(other, key) @ jnp.asarray(walks.tastes)[row[0]])[view[0, cells, :-1].argmax(axis=1)]
    left = jnp.sum(lies[:, cells] << np.arange(walks.objects), axis=1)
    return y, jnp.argmax(arrival_values(cells, worth)[left[:, None], jnp.asarray(MOVES)[agent]], axis=1)


@cache
def planning(walks: Any):
    """`act` for many walks at once; one function for equal ones, so that it is compiled once."""
    import jax

    return jax.jit(jax.vmap(partial(act, walks)))


def remembered(
    settings: PreferenceSettings, task: rc.Task, masks: np.ndarray, train: np.ndarray, seed: int
) -> dict[str, rc.Record]:
    """Held-out mixtures of a seed's world as walked by a planner, and by one for the nearest training mixture.

    The nearest shares most preferences. The task has mixtures in the identity encoding.
    """
    import jax
    import jax.numpy as jnp

    plan = planning(task.sample)
    keys = jax.random.split(rc.key(settings.seed, "controls"), settings.n_eval)
    rows = rc.rng(settings.seed, "control masks", seed).choice(np.flatnonzero(~train), settings.n_eval)
    overlap = masks[rows].astype(float) @ masks[train].T - 0.1 * masks[train].sum(axis=1)
    nearest = np.flatnonzero(train)[overlap.argmax(axis=1)]
    mine, other = (jnp.asarray(task.combinations[seed * len(masks) + r]) for r in (rows, nearest))
    y, best = (np.asarray(a) for a in plan(mine, mine, keys))
    actions = {"planner": best, "nearest mixture": np.asarray(plan(mine, other, keys)[1])}
    return {name: rc.Record(masks[rows], masks[rows], y, np.eye(5)[each]) for name, each in actions.items()}


def records(
    settings: PreferenceSettings, task: rc.Task, masks: np.ndarray, train: np.ndarray, seed: int
) -> dict[str, rc.Record]:
    """Those of `remembered`, one that always stops, and one that walks at random."""
    found, rng = remembered(settings, task, masks, train, seed), rc.rng(settings.seed, "random walks", seed)
    one = found["planner"]
    walks = {"always stops": np.zeros(one.y.shape[:2], int), "walks at random": rng.integers(0, 5, one.y.shape[:2])}
    return found | {name: replace(one, y_hat=np.eye(5)[actions]) for name, actions in walks.items()}
