"""How picture networks are scored: one row per network, and the systems whose answer is known beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import compare
from recombine.experiments.pictures.shared import Goal, PictureSettings, dense, error, goals
from recombine.theory.sparsity import sparsity

_NUMBERS = ("mse", "log_mse", "scored_mse", "draws", "R", "map_zip", "purity", "distinct_share", "participation_ratio")
UNKNOWN = dict.fromkeys((*_NUMBERS, "even_share", "redundancy", "reached_at"), np.nan)
"""What a row says of a network that diverged."""


def described(
    settings: PictureSettings, goal: Goal, run: Any, who: Sequence[dict], *, monitor: Any, at_end: bool = False
) -> list[dict]:
    """One row per network of a run: who it is, how training ended, and its scores.

    Scores are those of the network at the moment when its error was as low as the gate, at which all can be compared;
    of one that never was, or if all are asked for at their end, those at the end.
    """

    def one(which: tuple[int, dict]) -> dict[str, Any]:
        i, facts = which
        if run.diverged_at[i] >= 0:
            return UNKNOWN
        model = run[i].model if at_end else run[i].reached
        return scored(settings, goal, model, facts["seed"]) | ended(settings, goal, run[i])

    measured = in_threads(one, list(enumerate(who)), monitor=monitor)
    return rc.rows(run, [{**facts, "goal": goal.name} for facts in who], measured)


def ended(settings: PictureSettings, goal: Goal, trained: Any) -> dict[str, Any]:
    """The error of one network at the end of training, and the update at which it was as low as the gate, or -1."""
    return off(error(settings, goal, trained.model)) | {"reached_at": int(trained.reached_at)}


def off(mse: float) -> dict[str, float]:
    """An error and its logarithm."""
    return {"mse": mse, "log_mse": float(np.log10(mse + 1e-12))}


def in_threads(function: Callable[[Any], Any], items: Iterable[Any], *, monitor: Any = None) -> list[Any]:
    """A function of each item, in as many threads as there are cores: to score is to wait for device and zip.

    The first goes ahead and compiles what all need.
    """
    from recombine.cppn.sweep.sweep import CALLERS

    first, *others = items
    found = [function(first)]
    with one_core_each(), ThreadPoolExecutor(min(os.cpu_count() or 1, CALLERS)) as pool:
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


def scored(settings: PictureSettings, goal: Goal, model: Any, seed: int, taken: Any = None) -> dict[str, Any]:
    """How well a network draws its goal, and how designed it is: a row's numbers, never one alone.

    `draws` says whether its error is as low as the gate. From features that were taken of it, if given.
    """
    from recombine.cppn.prune.magnitude import alive, count
    from recombine.cppn.sweep.scores import score

    mse = error(settings, goal, model)
    found = score(model, settings.size, weights=settings.n_weights, seed=seed, taken=taken)
    by_layer = {name: np.asarray(found.pop(name)) for name in ("redundancy_by_layer", "map_zip_by_layer")}
    layers = by_layer["redundancy_by_layer"]
    found["redundancy"] = float(layers[np.isfinite(layers)].mean()) if np.isfinite(layers).any() else np.nan
    fit = off(mse) | {"scored_mse": mse, "draws": float(mse <= (1 + compare.SLACK) * compare.GATE)}
    live = sparsity([np.asarray(w) for w in model.weights])["live_links"]
    size = {"weights": float(count(model)), "live": float(live), "alive": float(alive(model)[2])}
    return fit | size | found | by_layer


def untrained(settings: PictureSettings, make: Callable[[Any], Any]) -> Any:
    """A network at its initial weights."""
    import jax

    born = rc.initial_models(make, rc.key(settings.seed, "untrained")[None])
    return jax.tree.map(lambda a: a[0], born)


def controls(settings: PictureSettings, make: Callable[[Goal], Callable[[Any], Any]] = dense) -> list[dict]:
    """For each picture, scored alike: the designed network, the same rotated (it draws the same), one untrained."""
    from recombine.cppn.sweep import rotate

    rows = []
    for goal in goals(settings).values():
        rotated = rotate.rotated(goal.model, rc.key(settings.seed, "rotation"))
        systems = {"designed": goal.model, "rotated": rotated, "untrained": untrained(settings, make(goal))}
        rows += known_rows(settings, goal, systems)
    return rows


def known_rows(settings: PictureSettings, goal: Goal, systems: dict[str, Any], **facts: Any) -> list[dict]:
    """One row per system whose answer is known, scored as networks are."""
    facts = {"goal": goal.name, **facts}
    return rc.control_rows(lambda model: facts | scored(settings, goal, model, settings.seed), systems)
