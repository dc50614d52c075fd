"""Turns the maps of units into how much they interfere, and into the bounds on it.

Welch (1974): of m unit vectors in d < m dimensions, two have |cos| >= sqrt((m - d) / (d (m - 1))). "Compositionality
Emerges in a Narrow Depth-Connectivity Regime" (2026, arXiv 2606.19941) has bounds on the interference of features. Its
formulas could not be read; how cross-talk compounds here is our own reconstruction.

Features a_1 .. a_m in [-1, 1] are written along unit vectors f_j, as h = sum_j a_j f_j, and read as f_i h. With
coherence mu = max |f_i f_j| a reading is off by at most c = (m - 1) mu. If a layer is a' = phi(reading), with phi from
[-1, 1] into itself and of Lipschitz constant K, an error e becomes at most K (c + (1 + c) e). After L layers with K = 1
that is (1 + c)^L - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import e, sqrt

import numpy as np
from numpy.typing import ArrayLike

LIPSCHITZ = {
    "cache": 1.0,
    "cos": 1.0,
    "gaussian": 2 * sqrt(2 / e),
    "identity": 1.0,
    "relu": 1.0,
    "sigmoid": 0.5,
    "sin": 1.0,
    "tanh": 1.0,
}
"""The steepest slope of each type of unit; the gaussian is 2 exp(-z^2) - 1, the sigmoid 2 / (1 + exp(-z)) - 1."""
_SLACK = 1e-8  # rounding
_NO_ENERGY = 1e-12  # directions with less than this share of the strongest one's energy are rounding


def steepest(types: Iterable[str]) -> float:
    """The Lipschitz constant of a layer: the largest of its types of unit."""
    unknown = sorted(set(types := tuple(types)) - LIPSCHITZ.keys())
    if unknown or not types:
        raise ValueError(f"no Lipschitz constant for {', '.join(unknown) or 'a layer without units'}")
    return max(LIPSCHITZ[t] for t in types)


def welch_bound(vectors: int, dimensions: int) -> float:
    """sqrt((m - d) / (d (m - 1))) for m > d, else 0: no m unit vectors in d dimensions have a smaller largest |cos|."""
    if vectors < 0 or dimensions < 1:
        raise ValueError(f"{vectors} vectors in {dimensions} dimensions have no Welch bound")
    return sqrt((vectors - dimensions) / (dimensions * (vectors - 1))) if vectors > dimensions else 0.0


def centred(maps: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """Maps (pixels, units) less their means, without constant units: those of variance <= tolerance * mean square."""
    maps = _finite(maps)
    away = maps - maps.mean(axis=0)
    return away[:, np.mean(away**2, axis=0) > tolerance * np.mean(maps**2, axis=0)]


def cosines(vectors: np.ndarray) -> np.ndarray:
    """f_i f_j (m, m) of the columns, each scaled to length 1."""
    units = _unit_columns(vectors)
    return np.clip(units.T @ units, -1, 1)


def coherence(vectors: np.ndarray) -> tuple[float, float]:
    """The largest and the mean |cos| over pairs of different columns; 0 if there are fewer than two."""
    cos = cosines(vectors)
    pairs = np.abs(cos[np.triu_indices(len(cos), 1)])
    return (float(pairs.max()), float(pairs.mean())) if pairs.size else (0.0, 0.0)


def cross_talk(features: np.ndarray, read_outs: np.ndarray | None = None) -> np.ndarray:
    """|r_i f_j| / |r_i f_i| (m, m), diagonal 0: what read-out i answers to a unit change along another feature j.

    Features and read-outs are columns, over pixels or units alike. Without read-outs each feature is read along itself;
    then no entry exceeds the coherence mu, and no row sums to more than (m - 1) mu. Other read-outs may do better or
    worse.
    """
    units = _unit_columns(features)
    read = units if read_outs is None else _finite(read_outs)
    if read.shape != units.shape:
        raise ValueError(f"read-outs {read.shape} do not fit features {units.shape}")
    answers = np.abs(read.T @ units)
    own = np.diag(answers)
    if np.any(own <= _SLACK * np.linalg.norm(read, axis=0)):
        raise ValueError("a read-out does not answer to its own feature")
    return answers / own[:, None] * (1 - np.eye(len(own)))


def compounded_bound(features: ArrayLike, mu: ArrayLike, lipschitz: ArrayLike) -> float:
    """e <- K (c + (1 + c) e) from e = 0, with c = (m - 1) mu and K = `lipschitz`, one number per layer.

    Features and coherence are one number per layer too, or one for all. (1 + c)^L - 1 where all K are 1. A layer that
    mixes features by a matrix M before phi has K times the largest sum_j |M_ij|, if its values stay within [-1, 1].
    """
    m, mu, steep = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (features, mu, lipschitz)))
    if m.ndim > 1 or not np.all((m >= 1) & (mu >= 0) & (mu <= 1) & (steep >= 0) & np.isfinite(m * steep)):
        raise ValueError("a layer needs 1 feature or more, a coherence in [0, 1] and a finite Lipschitz constant")
    error = 0.0
    for c, k in zip((m - 1) * mu, steep, strict=True):
        error = k * (c + (1 + c) * error)
    return float(error)


def compounded_cross_talk(
    frames: Sequence[np.ndarray], units: Sequence[Callable[[np.ndarray], np.ndarray]], values: np.ndarray
) -> float:
    """max |a - a*| after layers a' = phi(F^T F a) and a*' = phi(a*), a frame F and a phi each, from `values` (m, ...).

    What interference really does to features in [-1, 1]; never above `compounded_bound`.
    """
    dirty = clean = np.asarray(values, float)
    for frame, unit in zip(frames, units, strict=True):
        dirty, clean = unit(np.tensordot(cosines(frame), dirty, axes=1)), unit(clean)
    return float(np.max(np.abs(dirty - clean)))


@dataclass(frozen=True)
class Interference:
    """One layer: m `features` (units that vary) in `dimensions` (their rank), with their `largest` and `mean` |cos|.

    `received` is max_i sum_j |cos_ij|, the cross-talk into the worst read-out; `compounded` is the bound on what
    all layers so far make of it.
    """

    features: int
    dimensions: int
    largest: float
    mean: float
    received: float
    compounded: float

    @property
    def welch(self) -> float:
        return welch_bound(self.features, max(1, self.dimensions))

    @property
    def respected(self) -> bool:
        """Is the largest |cos| at least the Welch bound, as it must be?"""
        return self.largest >= self.welch - _SLACK

    @property
    def bound(self) -> float:
        """(m - 1) mu, which `received` cannot exceed."""
        return max(0, self.features - 1) * self.largest

    @property
    def room(self) -> float:
        """How far `received` is below its bound, as a share of the bound: 0 at the bound; 1 if nothing interferes."""
        return 1 - self.received / self.bound if self.bound > 0 else 1.0


def interference(layers: Sequence[np.ndarray], lipschitz: ArrayLike = 1.0) -> list[Interference]:
    """One `Interference` for the maps (pixels, units) of each layer, constant units left out and maps centred.

    Where a layer's maps are independent, their rank is their number and the Welch bound is 0. `lipschitz` is one number
    a layer, or one for all.
    """
    steep = np.broadcast_to(np.asarray(lipschitz, float), (len(layers),))
    kept = [centred(maps) for maps in layers]
    pairs = [coherence(vectors) for vectors in kept]
    counts = [max(1, vectors.shape[1]) for vectors in kept]
    return [
        Interference(
            vectors.shape[1],
            _rank(vectors),
            largest,
            mean,
            float(cross_talk(vectors).sum(axis=1).max(initial=0)),
            compounded_bound(counts[: i + 1], [mu for mu, _ in pairs[: i + 1]], steep[: i + 1]),
        )
        for i, (vectors, (largest, mean)) in enumerate(zip(kept, pairs, strict=True))
    ]


def _rank(vectors: np.ndarray) -> int:
    energies = np.linalg.eigvalsh(cosines(vectors))
    return int(np.sum(energies > _NO_ENERGY * energies.max(initial=0)))


def _unit_columns(vectors: np.ndarray) -> np.ndarray:
    vectors = _finite(vectors)
    lengths = np.linalg.norm(vectors, axis=0)
    if np.any(lengths == 0):
        raise ValueError("a vector of length 0 has no direction")
    return vectors / lengths


def _finite(columns: np.ndarray) -> np.ndarray:
    columns = np.asarray(columns, float)
    if columns.ndim != 2 or not len(columns) or not np.all(np.isfinite(columns)):
        raise ValueError(f"expected finite columns of one length, got an array of shape {columns.shape}")
    return columns
