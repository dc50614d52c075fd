"""Turns a table of embedding maps, one picture for each value of a part, into how far they are bands along one axis.

Liang, Qian, Ziyin, Fiete (2025), section 4.1 and figures 3 and 6: a part that is rendered well gives bands, W^x
vertical ones (constant along rows of the picture) and W^y horizontal ones. Tables are [value, row, column].
"""

from __future__ import annotations

import numpy as np

from recombine.measures.anova import ratio
from recombine.measures.spectrum import effective_rank


def vertical_share(table: np.ndarray) -> float:
    """|W averaged over rows|^2 / |W|^2: one if every column of every map is constant.

    A map that is constant altogether scores one here and in `horizontal_share`: read both.

    >>> vertical_share(np.array([[[1, 2], [1, 2]]]))
    1.0
    """
    return _explained(table, axis=-2)


def horizontal_share(table: np.ndarray) -> float:
    """|W averaged over columns|^2 / |W|^2: one if every row of every map is constant.

    >>> round(horizontal_share(np.array([[[1, 2], [1, 2]]])), 2)
    0.9
    """
    return _explained(table, axis=-1)


def table_rank(table: np.ndarray) -> np.ndarray:
    """The effective rank exp(H(p)), p_n = s_n^2 / sum s^2, of each value's map.

    A network that stores its maps as sum_n lambda_n u_n v_n^T has `effective_rank(lambdas)` besides, which is
    not the same unless its u and v are orthogonal.

    >>> table_rank(np.array([[[1, 0], [0, 1]], [[1, 1], [1, 1]]])).round(2).tolist()
    [2.0, 1.0]
    """
    return effective_rank(np.linalg.svd(np.asarray(table, float), compute_uv=False))


def _explained(table: np.ndarray, axis: int) -> float:
    table = np.asarray(table, float)
    return float(ratio(table.shape[axis] * np.sum(table.mean(axis=axis) ** 2), np.sum(table**2)))
