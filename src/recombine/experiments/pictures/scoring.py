"""How picture networks are scored: one row per network, and the systems whose answer is known beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.experiments.pictures import moments
from recombine.experiments.pictures.shared import Goal, PictureSettings, dense, goals
from recombine.table import NETWORK


class Entry(NamedTuple):
    """A trained network, on the host: who it is, when it reached which error, if that is recorded, and its end."""

    facts: dict[str, Any]
    model: Any
    reached: dict[str, float]
    loss: float
    diverged_at: int


def entries(run: Any, who: Sequence[dict]) -> list[Entry]:
    """The networks of a run; `who` names the kind and seed of each."""
    import jax

    model = jax.device_get(run.model)
    names = [moments.step(error) for error in (moments.COARSE, moments.DRAWN)]
    none = np.zeros((len(who), 0))
    ends = zip(who, none if run.reached_at is None else run.reached_at, run.losses[:, -1], run.diverged_at, strict=True)
    return [
        Entry(
            facts,
            jax.tree.map(lambda a, i=i: a[i], model),
            dict(zip(names, map(float, at), strict=False)),
            float(loss),
            int(gone),
        )
        for i, (facts, at, loss, gone) in enumerate(ends)
    ]


def scored(settings: PictureSettings, goal: Goal, every: Sequence[Entry], *, monitor: Any) -> list[dict]:
    """One row per network: its error and both scores at the end of training."""
    sound = [one for one in every if one.diverged_at < 0]
    found = structures(settings, goal, [one.model for one in sound], [one.facts["seed"] for one in sound])
    if monitor:
        monitor.measured(len(sound), len(sound))
    numbers = iter(found)
    return [row(goal, one, next(numbers) if one.diverged_at < 0 else {}) for one in every]


def row(goal: Goal, one: Entry, numbers: dict[str, float]) -> dict[str, Any]:
    """What a table says of a network: NaN of one that diverged."""
    from recombine.cppn.sweep.structure import NUMBERS

    known = dict.fromkeys(NUMBERS, np.nan) | numbers
    end = off(known["mse"]) | {"share_left": known["mse"] / moments.variance(goal.picture)}
    left = float(sum(np.count_nonzero(w) for w in one.model.weights))
    who = {"system": NETWORK, **one.facts, "goal": goal.name, "weights": left}
    steps = rc.nan_if_diverged(one.reached, one.diverged_at)
    return who | {"loss": one.loss, "diverged_at": one.diverged_at} | known | end | steps


def structures(settings: PictureSettings, goal: Goal, models: Sequence[Any], seeds: Sequence[int]) -> list[dict]:
    """Both scores of networks of any shapes; those of one shape are scored together."""
    from recombine.cppn.sweep.structure import structure

    shapes: dict[Any, list[int]] = {}
    for i, model in enumerate(models):
        shapes.setdefault((model.mix, tuple(w.shape for w in model.weights)), []).append(i)
    found: dict[int, dict[str, float]] = {}
    for mine in shapes.values():
        some, numbers = [models[i] for i in mine], [seeds[i] for i in mine]
        scored = structure(some, settings.size, goal.picture, seeds=numbers, weights=settings.n_weights)
        found |= dict(zip(mine, scored, strict=True))
    return [found[i] for i in range(len(models))]


ANSWERS, ONE_SIZE = 60, 0.5
"""Weights of which a judge is asked, and by how much each is changed where all changes are of one size."""


def answers(settings: PictureSettings, reference: Sequence[Any], models: Sequence[Any]) -> list[dict[str, float]]:
    """The share of each network's changes that look compositional to a judge, set beside dense networks.

    Secondary: the judge was fitted on evolved networks and trained ones, at changes of equal effect (`yes_matched`)
    and of one size (`yes_fixed`). A network without changes to ask of has no share.
    """
    from recombine.cppn.sweep.classifier import FIXED, MATCHED, share_of_yes
    from recombine.cppn.sweep.scores import SweptFeatures, swept_features
    from recombine.cppn.sweep.sweep import every_weight

    found = [{"yes_matched": np.nan, "yes_fixed": np.nan} for _ in models]
    if not reference:
        return found
    for name, (judge, fixed) in {"yes_matched": (MATCHED, None), "yes_fixed": (FIXED, ONE_SIZE)}.items():

        def taken(model: Any, fixed: float | None = fixed) -> SweptFeatures:
            where = every_weight(model, min(ANSWERS, settings.n_weights), settings.seed)
            return swept_features(model, where, settings.size, fixed=fixed)[0]

        every = in_threads(taken, [*reference, *models])
        dense = SweptFeatures(*(np.concatenate(a) for a in zip(*every[: len(reference)], strict=True)))
        for one, features in zip(found, every[len(reference) :], strict=True):
            one[name] = share_of_yes(judge, features, dense) if len(dense.rank) > 1 and len(features.rank) else np.nan
    return found


def off(mse: float) -> dict[str, float]:
    """An error and its logarithm."""
    return {"mse": mse, "log_mse": float(np.log10(mse + 1e-12))}


_SHARING = Lock()  # how many cores NumPy uses belongs to the process


def in_threads(function: Callable[[Any], Any], items: Iterable[Any], *, monitor: Any = None) -> list[Any]:
    """A function of each item, in as many threads as there are cores: to score is to wait for device and zip.

    The first goes ahead and compiles what all need.
    """
    from recombine.cppn.sweep.sweep import CALLERS

    first, *others = items
    found = [function(first)]
    with _SHARING, one_core_each(), ThreadPoolExecutor(min(os.cpu_count() or 1, CALLERS)) as pool:
        for one in pool.map(function, others):
            found.append(one)
            if monitor:
                monitor.measured(len(found), 1 + len(others))
    return found


def one_core_each() -> AbstractContextManager:
    """While threads share out the work, NumPy's products do not start threads of their own."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1, "blas")


def untrained(settings: PictureSettings, make: Callable[[Any], Any]) -> list[Any]:
    """Networks at their initial weights, as many as asked for, of keys that no network is trained from."""
    import jax
    import jax.numpy as jnp

    keys = jnp.stack([rc.key(settings.seed, "untrained", number) for number in range(settings.untrained)])
    born = jax.device_get(rc.initial_models(make, keys))
    return [jax.tree.map(lambda a, i=i: a[i], born) for i in range(settings.untrained)]


def controls(settings: PictureSettings, make: Callable[[Goal], Callable[[Any], Any]] = dense) -> list[dict]:
    """For each picture, scored alike, networks whose answer is known.

    The designed network; the same rotated (it renders the same); the same with a faint wave over its picture; dense
    networks and the designed wiring at initial weights.
    """
    from recombine.cppn.sweep import rotate

    rows = []
    for goal in goals(settings).values():
        systems = {
            "designed": [goal.model],
            "rotated": [rotate.rotated(goal.model, rc.key(settings.seed, "rotation"))],
            "rippled": [goal.rippled],
            "untrained": untrained(settings, make(goal)),
            "untrained wiring": fresh_wiring(settings, goal),
        }
        rows += known_rows(settings, goal, systems)
    return rows


def fresh_wiring(settings: PictureSettings, goal: Goal) -> list[Any]:
    """The designed wiring at initial weights, copies at one."""
    from recombine.cppn.prune.rewire import wired

    wiring = [np.asarray(w) for w in goal.model.weights]
    fresh = untrained(settings, dense(goal))
    return [wired(one, wiring, copies_at_one=True, by_fan_in=True) for one in fresh]


def known_rows(settings: PictureSettings, goal: Goal, systems: Mapping[str, Sequence[Any]]) -> list[dict]:
    """One row per network of systems whose answer is known, scored as networks are."""
    each = [(name, i, model) for name, models in systems.items() for i, model in enumerate(models)]
    found = structures(settings, goal, [model for *_, model in each], [settings.seed + i for _, i, _ in each])
    return [
        {"system": name, "condition": f"{name}, {goal.name}", "seed": i, "goal": goal.name} | one | off(one["mse"])
        for (name, i, _), one in zip(each, found, strict=True)
    ]
