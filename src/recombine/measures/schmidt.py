"""Turns a kernel between cells into the weights of its products of one-part kernels (the Schmidt decomposition).

Liang, Qian, Ziyin, Fiete (2025), equations 1, 30 and 31: K((x,y),(x',y')) = sum_r s_r k_r(x,x') l_r(y,y'). One term
is a kernel that factorises; the factors need not be positive semi-definite though K is.
"""

from __future__ import annotations

import numpy as np

from recombine.measures.grid import grid_order


def by_factor(kernel: np.ndarray, z: np.ndarray) -> np.ndarray:
    """K[z, z'] as the tensor M[(x,x'), (y,y'), ...] with one axis for each part; z must fill the grid.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> by_factor(np.eye(4, dtype=int), z).tolist()
    [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]
    """
    order, sizes = grid_order(z)
    n, kernel = len(sizes), np.asarray(kernel)
    if kernel.shape != (len(order), len(order)):
        raise ValueError(f"a kernel of {len(order)} combinations has a row and a column for each, got {kernel.shape}")
    pairs = kernel[np.ix_(order, order)].reshape(*sizes, *sizes)
    together = [axis for part in range(n) for axis in (part, part + n)]
    return pairs.transpose(together).reshape([size**2 for size in sizes])


def schmidt_values(kernel: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The singular values of M[(x,x'), (y,y')], largest first; `rank_at`, `effective_rank`, `top_share` read them.

    For three parts and more there is no such decomposition: give `by_factor(kernel, z)` to `cp_rank`.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> schmidt_values(np.eye(4), z).round(2).tolist()
    [2.0, 0.0, 0.0, 0.0]
    """
    matrix = by_factor(kernel, z)
    if matrix.ndim != 2:
        raise ValueError(f"a Schmidt decomposition has two parts, not {matrix.ndim}")
    if not np.isfinite(matrix).all():
        raise ValueError("a kernel with a NaN or an infinity has no Schmidt decomposition: did the network diverge?")
    return np.linalg.svd(matrix, compute_uv=False)


def grouped_schmidt_values(kernel: np.ndarray, z: np.ndarray, part: int) -> np.ndarray:
    """The singular values of M[(v,v'), (rest,rest')]: one part against all others together, for any number of parts.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> grouped_schmidt_values(np.eye(4), z, 1).round(2).tolist()
    [2.0, 0.0, 0.0, 0.0]
    """
    tensor = np.moveaxis(by_factor(kernel, z), part, 0)
    return np.linalg.svd(tensor.reshape(len(tensor), -1), compute_uv=False)
