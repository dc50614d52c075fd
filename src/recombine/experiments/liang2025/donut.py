"""Cheap measures of a network on the donut alone, without evaluating it in the hole.

A network that was trained on part of the donut is evaluated on all of it.
"""

from __future__ import annotations

from math import log10

import numpy as np

import recombine as rc
from recombine.experiments.liang2025.shared import HoleSettings
from recombine.measures.geometry import factorisation_from_zero

# A measure, and in which direction it is expected to go with composing: stated before any run.
EXPECTED = {
    "additive": +1,
    "factorised": +1,
    "volume_spread": -1,
    "effective_rank": -1,
    "probe": +1,
    "or_like": -1,
    "error": -1,
    "placed": +1,
}
MEANING = {
    "additive": "additive share of the last hidden layer",
    "factorised": "factorisation of the last hidden layer",
    "volume_spread": "unevenness of its volume element",
    "effective_rank": "effective rank of the last hidden layer",
    "probe": "probe from one half of the donut to the other",
    "or_like": "hidden likeness: OR more than AND",
    "error": "log error on the donut",
    "placed": "placed within 1 px on the donut",
}


def seen(settings: HoleSettings, answer: rc.Record, units: np.ndarray) -> dict[str, float]:
    """Every measure, from the answers and some units of the last hidden layer."""
    region = rc.square(answer.z, settings.low, settings.high)
    on_donut = answer.where(region.train)
    hidden = units[region.train].astype(float)
    return {
        **shapes(settings, rc.on_grid(answer, units.astype(float))),
        "effective_rank": float(rc.effective_rank(np.linalg.svd(hidden - hidden.mean(axis=0), compute_uv=False))),
        "probe": rc.held_out_r2(hidden, on_donut.z.astype(float), on_donut.z.sum(axis=1) < settings.size),
        "or_like": or_like(settings, on_donut.z, hidden),
        "error": log10(max(rc.mse(on_donut), 1e-12)),
        "placed": rc.peak_accuracy(on_donut, 1),
    }


def strips(settings: HoleSettings) -> list[tuple[slice, slice]]:
    """The four full rectangles of the donut: beside, above and below the hole."""
    every, before, after = slice(None), slice(settings.low), slice(settings.high + 1, None)
    return [(before, every), (after, every), (every, before), (every, after)]


def shapes(settings: HoleSettings, acts: np.ndarray) -> dict[str, float]:
    """Additive share, factorisation and unevenness of volume, averaged over the four strips."""
    metrics = [rc.metric(*rc.finite_differences(acts[strip])) for strip in strips(settings)]
    return {
        "additive": float(np.mean([rc.additive_share(acts[strip]) for strip in strips(settings)])),
        "factorised": float(np.mean([factorisation_from_zero(g) for g in metrics])),
        "volume_spread": float(np.mean([np.std(rc.log_volume(g)) for g in metrics])),
    }


def or_like(settings: HoleSettings, z: np.ndarray, hidden: np.ndarray) -> float:
    """How much more the likeness of hidden activations follows x OR y than x AND y."""
    likeness = rc.cosine_matrix(hidden, hidden)
    soft = rc.near(settings.sigma)
    return rc.agreement(likeness, rc.or_kernel(z, z, soft)) - rc.agreement(likeness, rc.and_kernel(z, z, soft))
