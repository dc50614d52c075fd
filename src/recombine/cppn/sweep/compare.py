"""Turns two picture networks into how far apart they are inside, measure by measure, as effect sizes.

An effect size is the chance that a value of the second network exceeds one of the first, ties at a half (the area under
the ROC curve): it has no unit, needs no spread over seeds, and is one half for two networks that are alike.
"""

from __future__ import annotations

import numpy as np

from recombine.cppn import measures
from recombine.cppn.network import CPPN
from recombine.cppn.sweep.scores import Features, features
from recombine.measures.agreement import roc_area


def contrast(first: CPPN, second: CPPN, size: int, *, weights: int | None = 60, seed: int = 0) -> dict[str, float]:
    """For each measure of `inside`, the chance that a value of the second network exceeds one of the first."""
    return probability_of_superiority(*(inside(model, size, weights=weights, seed=seed) for model in (first, second)))


def probability_of_superiority(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> dict[str, float]:
    """The same of measures that were taken."""
    return {name: _exceeds(first[name], second[name]) for name in first}


def inside(
    model: CPPN, size: int, *, weights: int | None = 60, seed: int = 0, taken: Features | None = None
) -> dict[str, np.ndarray]:
    """Measures with a value for each change of a weight, each map of a unit, or each two maps of a layer.

    Of a change: `change_zip` its compressed size, `information` and `symmetry` what it leaves of the picture's, `rank`.
    Of a map: `map_zip` its compressed size, `purity` its parity, `additive` the share that is a sum of a term for its
    row and one for its column. Of two maps: `alike`, their |correlation|. From features that were taken, if given.
    """
    taken = taken or features(model, size, weights=weights, seed=seed)
    every = taken.units.reshape(-1, *taken.units.shape[-2:])
    swept = {name: getattr(taken.swept, name) for name in ("change_zip", "information", "symmetry", "rank")}
    return swept | {
        "map_zip": taken.maps.zip,
        "purity": taken.maps.purity,
        "additive": measures.additive_shares(every[measures.varying(every)]),
        "alike": np.concatenate([measures.alike(layer) for layer in taken.units]),
    }


def _exceeds(first: np.ndarray, second: np.ndarray) -> float:
    return roc_area(np.concatenate([first, second]), np.repeat([0, 1], [len(first), len(second)]))
