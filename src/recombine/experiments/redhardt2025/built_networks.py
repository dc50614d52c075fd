"""Networks that are built from a teacher's weights, and what they are evaluated on."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import shared
from recombine.theory.construction import Hyperteacher, construct, error_bound

if TYPE_CHECKING:
    from recombine.experiments.redhardt2025.construction import Settings

AT = 16
"""Pieces at which different numbers of modules are compared."""


def teacher(settings: Settings, modules: int, seed: int):
    """The teacher of a seed, the same that students learn from, as the construction takes it."""
    taught = replace(rc.teacher_of(shared.family(settings, 1)), modules=modules, teachers=seed + 1)
    layer = taught.weights.layers[0][-modules:].astype(float)
    return Hyperteacher(layer[:, :-1], layer[:, -1], taught.weights.read_out[-1].astype(float), settings.max_active)


def questions(settings: Settings, modules: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of up to `max_active` modules, all equally likely, times .5, .6, .., 1; inputs uniform on [-1, 1]."""
    rng = rc.rng(settings.seed, "questions", modules, seed)
    sizes = np.arange(1, settings.max_active + 1)
    odds = np.array([comb(modules, int(size)) for size in sizes], float)
    active = rng.choice(sizes, settings.points, p=odds / odds.sum())
    order = rng.permuted(np.tile(np.arange(modules), (settings.points, 1)), axis=1)
    z = (order < active[:, None]) * rng.integers(5, 11, order.shape) / 10
    return z, rng.uniform(-1, 1, (settings.points, settings.size))


def built(settings: Settings, modules: int, seed: int, monitor) -> list[dict]:
    """Networks built for one teacher, from coarse to fine."""
    it, (z, x) = teacher(settings, modules, seed), questions(settings, modules, seed)
    y, rows = it(z, x), []
    for pieces in settings.pieces:
        network = construct(it, pieces)
        answer = rc.Record(z, x, y[:, None], network(z, x)[:, None])
        if pieces == AT:
            monitor.recorded(f"built-{modules}-{seed}", answer)
        who = {"system": "network", "condition": "built", "modules": modules, "pieces": pieces, "seed": seed}
        size = {"hidden": network.hidden, "neurons": network.neurons, "bound": error_bound(it, pieces)}
        rows.append(who | size | errors(answer))
    return rows


def errors(answer: rc.Record) -> dict[str, float]:
    """The largest |y_hat - y|, and the root mean square as a share of the standard deviation of y."""
    return {
        "error": float(np.abs(answer.y_hat - answer.y).max()),
        "missed": float(np.sqrt(1 - rc.r2_pooled(answer))),
    }
