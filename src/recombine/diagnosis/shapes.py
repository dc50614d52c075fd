"""The shape of a layer over the combinations: how far it is a sum of parts, and the surface that it forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from recombine.diagnosis.evidence import Evidence
from recombine.diagnosis.jackknife import around, groups_of, jackknifed
from recombine.diagnosis.probes import SHUFFLES
from recombine.measures.anova import ratio
from recombine.measures.gap import Interval
from recombine.measures.geometry import factorisation_map, log_volume, neighbour_differences

EXACT = "exact derivatives"
DIFFERENCES = "differences between neighbours"
SLOPES = "slopes within cells of bins"
_NUMBERS = 2**25
_FEWEST = 2


class Surface(NamedTuple):
    """The metric at some points (points, F, F), the combination of each point, and how it was found."""

    g: np.ndarray
    of: np.ndarray
    how: str


class Told(NamedTuple):
    """Numbers by name, the interval of each, and what each reads on shuffled combinations."""

    values: dict[str, float]
    intervals: dict[str, Interval]
    controls: dict[str, float]


def additive(e: Evidence, means: np.ndarray) -> Told:
    """R² of one term per value of each factor; shuffled, the same terms explain means of other combinations."""
    flat = means - means.mean(axis=0)
    basis = _terms(e.combinations)
    total, explained = float(np.sum(flat**2)), basis.T @ flat
    share = float(np.sum(explained**2)) / total
    groups, left_out = groups_of(len(flat)), []
    for k in range(groups.max() + 1):
        there = np.flatnonzero(groups == k)
        away = [_taken(flat[there] - basis[there] @ explained, basis[there], len(flat))]
        away.append(_taken(flat[there], basis[there, :0], len(flat)))
        left_out.append(float(1 - ratio(total * (1 - share) - away[0], total - away[1])))
    rng = np.random.default_rng(0)
    shuffled = [np.sum((basis[rng.permutation(len(flat))].T @ flat) ** 2) / total for _ in range(SHUFFLES)]
    name = "additive_share"
    return Told({name: share}, {name: around(share, left_out)}, {name: float(np.mean(shuffled))})


def _terms(z: np.ndarray) -> np.ndarray:
    """An orthonormal basis (combinations, terms) of sums of one term per value, without the mean."""
    design = np.concatenate([part[:, None] == np.unique(part) for part in z.T], axis=1).astype(float)
    sides, strength, _ = np.linalg.svd(design - design.mean(axis=0), full_matrices=False)
    return sides[:, strength > 1e-9 * strength.max(initial=1.0)]


def _taken(missed: np.ndarray, basis: np.ndarray, rows: int) -> float:
    """How much of the squared error of least squares goes if some rows, of which these are the errors, are left out."""
    weights, turns = np.linalg.eigh(np.eye(len(basis)) - basis @ basis.T - 1 / rows)
    kept = weights > 1e-9
    return float(np.sum((turns[:, kept].T @ missed) ** 2 / weights[kept, None]))


def surface(e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]) -> Told | None:
    """Factorisation, log volume and its depth over new combinations, by whatever derivative there is."""
    found = _surface(e, name, acts, means, silent)
    if found is None:
        return None
    real, shuffled = found
    statistics = _statistics(e, real)
    intervals = {key: jackknifed(of, len(real.g)) for key, of in statistics.items()}
    values = {key: i.value for key, i in intervals.items() if np.isfinite(i.value)}
    if shuffled is not None:
        every = np.ones(len(shuffled.g), bool)
        controls = {key: of(every) for key, of in _statistics(e, shuffled).items()}
    else:
        controls = _exact_controls(e, real, acts.shape[1])
    controls = {key: value for key, value in controls.items() if key in values and np.isfinite(value)}
    return Told(values, {key: intervals[key] for key in values}, controls)


def how(e: Evidence, name: str) -> str | None:
    """Which derivative the surface of a layer rests on."""
    if name in e.geometry:
        return EXACT
    if not e.ordered.all():
        return None
    return SLOPES if e.continuous and _grid(e) is None else DIFFERENCES


def _statistics(e: Evidence, found: Surface) -> dict[str, Callable[[np.ndarray], float]]:
    shares, volumes = 2 * factorisation_map(found.g) - 1, log_volume(found.g)
    new, seen, moves = e.new[found.of], e.seen[found.of], np.isfinite(shares)

    def mean(values: np.ndarray, mask: np.ndarray) -> float:
        return float(values[mask].mean()) if mask.any() else float("nan")

    return {
        "factorisation": lambda there: mean(shares, there & moves),
        "log_volume": lambda there: mean(volumes, there),
        "hole_depth": lambda there: mean(volumes, there & new) - mean(volumes, there & seen),
    }


def _surface(
    e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]
) -> tuple[Surface, Surface | None] | None:
    """The metric by exact derivatives, differences or slopes, and the same of shuffled rows where that can be done."""
    if name in e.geometry:
        return Surface(e.geometry[name], np.arange(len(e.combinations)), EXACT), None
    if not e.ordered.all():
        silent.append("geometry: every factor must be a number, or the model differentiable in all of them")
        return None
    rng, grid = np.random.default_rng(0), _grid(e)
    if not e.continuous:
        rows, compute = means, lambda rows: _differences(rows, e.combinations, None, np.arange(len(means)))
    elif grid is not None:
        z, first, of = grid
        numbers = np.stack([np.asarray(f.numbers) for f in e.factors], axis=1)[first]
        rows = _means_of(acts, of, len(first))
        compute = lambda rows: _differences(rows, z, numbers, e.of[first])  # noqa: E731
    else:
        rows, compute = acts, lambda rows: _slopes(e, rows)
    real = compute(rows)
    if len(real.g) < _FEWEST:
        silent.append("geometry: no combination has a neighbour along every factor, or examples enough for slopes")
        return None
    return real, compute(rows[rng.permutation(len(rows))])


def _grid(e: Evidence) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Places of examples on the grid of distinct values, an example and the examples of each; none if they fill none.

    On a grid, half of the places that the values span are there.
    """
    codes = np.stack([np.unique(f.at, return_inverse=True)[1].reshape(-1) for f in e.factors], axis=1)
    z, first, of = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return (z, first, of.reshape(-1)) if len(z) >= 0.5 * np.prod(codes.max(axis=0) + 1.0) else None


def _means_of(acts: np.ndarray, of: np.ndarray, size: int) -> np.ndarray:
    order, counts = np.argsort(of, kind="stable"), np.bincount(of, minlength=size)
    return np.add.reduceat(acts[order].astype(float), np.cumsum(counts) - counts, axis=0) / counts[:, None]


def _differences(rows: np.ndarray, z: np.ndarray, numbers: np.ndarray | None, of: np.ndarray) -> Surface:
    """Between neighbours, per step of the code, or per unit of the factor where its numbers are given."""
    from recombine.diagnosis.layers import DIRECTIONS, projected

    wide = rows.size * z.shape[1] > _NUMBERS and rows.shape[1] > DIRECTIONS
    tangents, there = neighbour_differences(projected(rows) if wide else rows, z)
    if numbers is not None:
        steps = np.einsum("iff->if", neighbour_differences(numbers, z)[0])
        tangents = tangents / np.where(steps > 0, steps, 1.0)[..., None]
    return Surface((tangents @ tangents.swapaxes(-1, -2))[there], of[there], DIFFERENCES)


def _slopes(e: Evidence, acts: np.ndarray) -> Surface:
    """Least squares of the layer on the factors, over the examples of each cell that has twice as many as it needs."""
    numbers = np.stack([np.asarray(f.numbers, float) for f in e.factors], axis=1)
    codes = np.stack([f.codes for f in e.factors], axis=1)
    _, cell, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    found, of = [], []
    for rows in np.split(np.argsort(cell.reshape(-1), kind="stable"), np.cumsum(sizes)[:-1]):
        apart = numbers[rows] - numbers[rows].mean(axis=0)
        if len(rows) >= 2 * (len(e.factors) + 1) and np.linalg.matrix_rank(apart) == len(e.factors):
            tangents = np.linalg.pinv(apart) @ (acts[rows] - acts[rows].mean(axis=0, dtype=float))
            found.append(tangents @ tangents.T)
            of.append(e.of[rows[0]])
    shape = (-1, len(e.factors), len(e.factors))
    return Surface(np.asarray(found, float).reshape(shape), np.asarray(of, int), SLOPES)


def _exact_controls(e: Evidence, found: Surface, units: int) -> dict[str, float]:
    """Tangents as long as these in random directions, and new combinations drawn at random."""
    from scipy.special import gammaln

    cosine = np.exp(gammaln(units / 2) - gammaln((units + 1) / 2)) / np.sqrt(np.pi)  # the mean of |cos|
    lengths = np.sqrt(np.maximum(np.einsum("...ff->...f", found.g), 0))
    random = lengths[..., :, None] * lengths[..., None, :]
    eye = np.eye(lengths.shape[-1], dtype=bool)
    shuffled = found._replace(of=np.random.default_rng(0).permutation(found.of))
    every = np.ones(len(found.g), bool)
    return {
        "factorisation": _statistics(e, found._replace(g=np.where(eye, random, cosine * random)))["factorisation"](
            every
        ),
        "hole_depth": _statistics(e, shuffled)["hole_depth"](every),
    }
