"""Turns a tensor into how many products of vectors add up to it (canonical polyadic rank, an upper bound).

The rank of Liang, Qian, Ziyin, Fiete (2025), equations 13-20 and 30, for three parts and more, by alternating least
squares: Carroll and Chang (1970), Harshman (1970).
"""

from __future__ import annotations

from functools import reduce

import numpy as np

_RIDGE = 1e-12


def cp_rank(tensor: np.ndarray, epsilon: float, rng: np.random.Generator, *, restarts: int = 5) -> int:
    """The smallest R for which some start reached |T - sum_r| <= epsilon |T|: an upper bound, for CP rank is NP-hard.

    At most prod_f N_f / max_f N_f, which always suffices.

    >>> cp_rank(np.eye(2), 1e-3, np.random.default_rng(0))
    2
    """
    enough = tensor.size // max(tensor.shape)
    if not np.any(tensor):
        return 0
    return next((r for r in range(1, enough) if cp_error(tensor, r, rng, restarts=restarts) <= epsilon), enough)


def cp_error(
    tensor: np.ndarray,
    rank: int,
    rng: np.random.Generator,
    *,
    restarts: int = 5,
    sweeps: int = 200,
    cap: float = 10.0,
) -> float:
    """The least |T - sum_{r <= rank} w_r a_r x b_r x ...| / |T| over some random starts, with w_r <= cap |T|.

    Without the cap, too few terms can come as near as one likes to some tensors, growing without end as they cancel.

    >>> round(cp_error(np.eye(2), 1, np.random.default_rng(0)), 2)
    0.71
    """
    tensor = np.asarray(tensor, float)
    starts = ([rng.normal(size=(n, rank)) for n in tensor.shape] for _ in range(restarts))
    return min(_descend(tensor, start, sweeps, cap) for start in starts)


def _descend(tensor: np.ndarray, factors: list[np.ndarray], sweeps: int, cap: float) -> float:
    """Solve for each factor in turn until the error stands still."""
    norm, best = float(np.linalg.norm(tensor)), np.inf
    factors, weights = [a / np.linalg.norm(a, axis=0) for a in factors], np.ones(factors[0].shape[1])
    for _ in range(sweeps):
        for axis in range(tensor.ndim):
            factors[axis], weights = _solve(tensor, factors, axis, cap * norm)
        error = float(np.linalg.norm(tensor - products(factors, weights))) / norm
        best, gain = min(best, error), best - error
        if gain < 1e-7 * error or error < 1e-10:
            break
    return best


def _solve(tensor: np.ndarray, factors: list[np.ndarray], axis: int, cap: float) -> tuple[np.ndarray, np.ndarray]:
    """The least-squares factor of one axis, as unit columns and their weights, capped."""
    others = [a for i, a in enumerate(factors) if i != axis]
    rows = reduce(lambda a, b: (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1]), others)
    gram = np.prod([a.T @ a for a in others], axis=0) + _RIDGE * np.eye(rows.shape[1])
    unfolded = np.moveaxis(tensor, axis, 0).reshape(tensor.shape[axis], -1)
    columns = np.linalg.solve(gram, (unfolded @ rows).T).T
    lengths = np.linalg.norm(columns, axis=0)
    return columns / np.where(lengths > 0, lengths, 1.0), np.minimum(lengths, cap)


def products(factors: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """sum_r w_r a_r x b_r x ...

    >>> products([np.array([[1], [2]]), np.array([[3], [4]])], np.array([1])).tolist()
    [[3, 4], [6, 8]]
    """
    return terms(factors, weights).sum(axis=-1)


def terms(factors: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """w_r a_r x b_r x ... with r along the last axis.

    >>> terms([np.array([[1, 2]]), np.array([[3, 4]])], np.array([1, 10])).tolist()
    [[[3, 80]]]
    """
    product = weights
    for a in factors:
        product = product[..., None, :] * a
    return product
