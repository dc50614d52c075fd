"""Turns values on a grid of parts into what each set of parts adds to them (functional analysis of variance)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

Parts = tuple[int, ...]


def anova(values: np.ndarray, factors: int = 2) -> dict[Parts, np.ndarray]:
    """f = sum_S f_S over all sets S of the first `factors` axes: f_S is centred along S and constant elsewhere.

    Axes along which a component is constant are kept with length one, so the components add up by broadcasting.

    >>> {s: f.ravel().tolist() for s, f in anova(np.array([[0, 0], [0, 4]])).items()}
    {(): [1.0], (1,): [-1.0, 1.0], (0,): [-1.0, 1.0], (0, 1): [1.0, -1.0, -1.0, 1.0]}
    """
    if np.ndim(values) < factors or not np.size(values):
        raise ValueError(f"values have one axis for each of {factors} parts, and then units; got {np.shape(values)}")
    components: dict[Parts, np.ndarray] = {(): np.asarray(values)}
    for axis in range(factors):
        split: dict[Parts, np.ndarray] = {}
        for parts, component in components.items():
            mean = component.mean(axis=axis, keepdims=True)
            split |= {parts: mean, (*parts, axis): component - mean}
        components = split
    return components


def anova_energies(values: np.ndarray, factors: int = 2) -> dict[Parts, np.ndarray]:
    """V_S = mean of f_S^2 over the grid, one number for each unit of the axes that are not parts.

    What is no larger than the rounding of the values counts as zero, so that a constant unit has no variance.

    >>> {s: float(v) for s, v in anova_energies(np.array([[0.0, 1.0], [2.0, 3.0]])).items()}
    {(): 2.25, (1,): 0.25, (0,): 1.0, (0, 1): 0.0}
    """
    axes = tuple(range(factors))
    energies = {s: np.mean(np.square(f), axis=axes, dtype=float) for s, f in anova(values, factors).items()}
    rounding = (16 * np.finfo(np.result_type(values, np.float32)).eps) ** 2 * sum(energies.values())
    return {s: np.where(v <= rounding, 0.0, v) for s, v in energies.items()}


def ratio(part: ArrayLike, whole: ArrayLike) -> np.ndarray:
    """part / whole, and NaN where the whole is zero: what does not vary has no shares.

    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole != 0)
