"""Turns activations on the grid of parts into the shape of the surface that they form: metric, volume, factorisation.

Liang, Qian, Ziyin, Fiete (2025), equations 5-7 and 36-42. Grids are indexed [x, y, ...], see `on_grid`.
"""

from __future__ import annotations

import numpy as np

from recombine.core import as_selection, at_least_one
from recombine.measures.anova import ratio


def finite_differences(acts: np.ndarray, factors: int = 2) -> tuple[np.ndarray, ...]:
    """d alpha/dz_f for each part f, (alpha(v+1) - alpha(v-1)) / 2 inside and one-sided at the border.

    The first `factors` axes are the grid, all others together are the D units: each result is (*grid, D).

    >>> finite_differences(np.array([0.0, 1.0, 4.0]), 1)[0].ravel().tolist()
    [1.0, 2.0, 3.0]
    """
    acts = np.asarray(acts)
    at_least_one(factors=factors)
    if acts.ndim < factors or min(acts.shape[:factors]) < 2:
        raise ValueError(f"differences need {factors} axes of parts with two values or more, got shape {acts.shape}")
    flat = acts.reshape(*acts.shape[:factors], -1)
    return tuple(np.gradient(flat, axis=axis) for axis in range(factors))


def neighbour_differences(acts: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """d alpha/dz_f (rows, parts, D) between neighbours that are there, and which rows have one along every part.

    Central where both neighbours stand, else one-sided; z has whole numbers and need not fill its grid.

    >>> tangents, there = neighbour_differences(np.array([[0.0], [1.0], [4.0]]), np.array([[0], [1], [2]]))
    >>> tangents.ravel().tolist(), there.tolist()
    ([1.0, 2.0, 3.0], [True, True, True])
    """
    flat = np.asarray(acts, float).reshape(len(acts), -1)
    place = {tuple(row): i for i, row in enumerate(z.tolist())}
    tangents, there = np.zeros((len(z), z.shape[1], flat.shape[1])), np.ones(len(z), bool)
    for i, row in enumerate(z.tolist()):
        for part in range(len(row)):
            after, before = (place.get((*row[:part], row[part] + step, *row[part + 1 :]), i) for step in (1, -1))
            apart = z[after, part] - z[before, part]
            there[i] &= apart > 0
            tangents[i, part] = (flat[after] - flat[before]) / max(apart, 1)
    return tangents, there


def metric(*tangents: np.ndarray) -> np.ndarray:
    """g_fh = <d alpha/dz_f, d alpha/dz_h>: tangents (..., D), one for each part, to g (..., n, n).

    Tangents are finite differences, or exact derivatives where the code of a part is differentiable.

    >>> metric(np.array([[3, 0]]), np.array([[1, 2]])).tolist()
    [[[9.0, 3.0], [3.0, 5.0]]]
    """
    shapes = {np.shape(tangent) for tangent in tangents}
    if len(shapes) != 1 or len(shape := shapes.pop()) < 2 or not shape[0]:
        raise ValueError(
            f"tangents are arrays (..., D) of one shape, one for each part; got {[*map(np.shape, tangents)]}"
        )
    # One slice of the first axis at a time: in double precision, a whole layer would not fit a small machine.
    return np.stack([_gram(np.stack(points, axis=-2).astype(float)) for points in zip(*tangents, strict=True)])


def volume(g: np.ndarray) -> np.ndarray:
    """dv = sqrt(max(det g, 0)), how much of the layer one unit of every part spans.

    >>> float(volume(np.array([[9, 3], [3, 5]])).round(2))
    6.0
    """
    return np.sqrt(np.maximum(np.linalg.det(_square(g)), 0))


def log_volume(g: np.ndarray) -> np.ndarray:
    """log10(dv + 1e-12).

    >>> float(log_volume(np.diag([10, 10])).round(2))
    1.0
    """
    return np.log10(volume(g) + 1e-12)


def hole_depth(log_volumes: np.ndarray, held_out: np.ndarray, train: np.ndarray) -> float:
    """Delta = mean log10 dv over held-out cells - mean over training cells: negative where the surface collapses.

    >>> hole_depth(np.array([0.0, -2.0, 1.0]), np.array([False, True, False]), np.array([True, False, True]))
    -2.5
    """
    log_volumes = np.asarray(log_volumes)
    inside, outside = (log_volumes[as_selection(mask, log_volumes.shape)] for mask in (held_out, train))
    return float(np.mean(inside) - np.mean(outside))


def factorisation_map(g: np.ndarray) -> np.ndarray:
    """F = 1 - sum_{f<h} |g_fh| / ((n-1) sum_f g_ff) at each point; NaN where the surface does not move at all.

    >>> factorisation_map(np.array([[[1, 0], [0, 1]], [[3, 3], [3, 3]]])).tolist()
    [1.0, 0.5]
    """
    mixed, own = _mixed_and_own(g)
    return 1 - ratio(mixed, own)


def factorisation(g: np.ndarray) -> float:
    """The paper's F, averaged over the points that move: it lies in [1/2, 1], and 1/2 is complete entanglement.

    >>> factorisation(np.array([[[1, 0], [0, 1]], [[3, 3], [3, 3]]]))
    0.75
    """
    g = _square(g)
    values = factorisation_map(g)[np.trace(g, axis1=-2, axis2=-1) != 0]
    return float(np.mean(values)) if values.size else float("nan")


def factorisation_of_means(g: np.ndarray) -> float:
    """The released code's F = 1 - mean|g_xy| / mean(g_xx + g_yy), where long tangents outweigh short ones.

    >>> factorisation_of_means(np.array([[[1, 0], [0, 1]], [[3, 3], [3, 3]]]))
    0.625
    """
    mixed, own = _mixed_and_own(g)
    return float(1 - ratio(np.mean(mixed), np.mean(own)))


def factorisation_from_zero(g: np.ndarray) -> float:
    """F' = 2F - 1 = mean(1 - 2|g_xy| / (g_xx + g_yy)), which fills [0, 1]: the one to read as a share.

    >>> factorisation_from_zero(np.array([[[1, 0], [0, 1]], [[3, 3], [3, 3]]]))
    0.5
    """
    return 2 * factorisation(g) - 1


def _square(g: np.ndarray) -> np.ndarray:
    found = np.asarray(g)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2]:
        raise ValueError(f"g is the metric that `metric` gives, (..., parts, parts); got shape {found.shape}")
    return found


def _gram(tangents: np.ndarray) -> np.ndarray:
    return tangents @ tangents.swapaxes(-1, -2)


def _mixed_and_own(g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sum_{f<h} |g_fh| and (n-1) sum_f g_ff."""
    g = _square(g)
    n, own = g.shape[-1], np.trace(g, axis1=-2, axis2=-1)
    if n < 2:
        raise ValueError("factorisation compares two parts or more")
    return (np.abs(g).sum(axis=(-1, -2)) - own) / 2, (n - 1) * own
