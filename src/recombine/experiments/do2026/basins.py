"""What theory says of picture networks: how flat the loss is where they are, how noise shows, how units interfere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import scoring, shared
from recombine.theory.interference import interference, steepest

SIGMA = 0.05
"""Noise in the weights, relative to the size of each."""
FLAT = ("log_trace", "log_relative", "log_noise")
"""log10 of the trace of the loss's Hessian; of the same for moves relative to each weight; of the sensitivity to noise
in the weights, relative to each, in units of the picture's variance."""
OVERLAP = ("overlap", "largest", "welch", "respected", "room", "log_compounded")
"""Means over layers: mean and largest |cos| of two unit maps, the Welch bound on the latter, its slack; whether every
layer respects the bound; and log10 of the bound on interference that compounds over all layers."""


def measured(settings: Any, goal: shared.Goal, models: Sequence[Any], *, probes: int = 32) -> list[dict[str, float]]:
    """For each network of any shapes what theory says of it, and its error."""
    shapes: dict[Any, list[int]] = {}
    for i, model in enumerate(models):
        shapes.setdefault((model.mix, tuple(w.shape for w in model.weights)), []).append(i)
    found: dict[int, dict[str, float]] = {}
    for mine in shapes.values():
        flat = flatness(settings, goal, [models[i] for i in mine], probes)
        found |= dict(zip(mine, flat, strict=True))
    crossed = scoring.in_threads(lambda model: crosstalk(settings, model), models) if models else []
    return [found[i] | crossed[i] for i in range(len(models))]


def flatness(settings: Any, goal: shared.Goal, models: Sequence[Any], probes: int) -> list[dict[str, float]]:
    """Flatness, sensitivity to noise and error of networks of one shape."""
    import jax

    x, y = rc.grid(settings.size), goal.picture.reshape(-1, 3)
    key = rc.key(settings.seed, "probes")
    numbers = jax.device_get(_program(probes)(shared.stacked(models), x, y, key))
    scale = float(np.var(goal.picture, axis=(0, 1)).mean())
    logs = [np.log10(np.maximum(np.asarray(n, float), 1e-12)) for n in (*numbers[:2], numbers[2] / scale)]
    return [
        dict(zip(FLAT, map(float, one), strict=True)) | {"mse": float(mse)}
        for *one, mse in zip(*logs, numbers[3], strict=True)
    ]


@cache
def _program(probes: int) -> Any:
    """Traces, sensitivity and error of stacked networks, one after the other, compiled once for each shape."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from recombine.theory.flatness import hessian_trace, noise_sensitivity, relative, there

    def every(models: Any, x: Any, y: Any, key: Any) -> Any:
        def one(model: Any) -> Any:
            def colours(weights: Any) -> Any:
                return eqx.tree_at(lambda m: m.weights, model, weights)(x)[0]

            def loss(weights: Any) -> Any:
                return jnp.mean((colours(weights) - y) ** 2)

            weights = model.weights
            plain, own = there(weights), relative(weights)
            traces = [hessian_trace(loss, weights, scale, key, probes=probes)[0] for scale in (plain, own)]
            noise = noise_sensitivity(colours, weights, own, key, sigma=SIGMA, draws=probes)
            return *traces, noise, loss(weights)

        return jax.lax.map(one, models)

    return eqx.filter_jit(every)


def crosstalk(settings: Any, model: Any) -> dict[str, float]:
    """How much units of one layer interfere, by their maps over the picture."""
    from recombine.cppn.sweep.scores import unit_maps

    maps = unit_maps(model, settings.size)
    layers = [np.asarray(layer, float).reshape(len(layer), -1).T for layer in maps]
    if not np.isfinite(maps).all():
        return dict.fromkeys(OVERLAP, np.nan)
    found = interference(layers, steepest(name for name, _ in model.mix))
    means = [np.mean([getattr(one, name) for one in found]) for name in ("mean", "largest", "welch")]
    numbers = [*means, min(one.respected for one in found), np.mean([one.room for one in found])]
    return dict(zip(OVERLAP, map(float, [*numbers, np.log10(found[-1].compounded + 1e-12)]), strict=True))


def theory_of(settings: Any, goal: shared.Goal, every: Sequence[scoring.Entry], *, probes: int) -> list[dict]:
    """One row per network: what theory says of it at the end of training."""
    sound = [one.model for one in every if one.diverged_at < 0]
    found = iter(measured(settings, goal, sound, probes=probes))
    none = dict.fromkeys((*FLAT, *OVERLAP), np.nan)
    return [scoring.row(goal, one, none | (next(found) if one.diverged_at < 0 else {})) for one in every]
