"""Turns a kernel between cells into the share of it that is a sum of kernels of few parts (the PF coefficient).

Liang, Qian, Ziyin, Fiete (2025), equations 33 and 35, with functional analysis of variance as the basis.
"""

from __future__ import annotations

import numpy as np

from recombine.measures.anova import anova_energies, ratio
from recombine.measures.schmidt import by_factor


def pf_coefficient(kernel: np.ndarray, z: np.ndarray, order: int = 1) -> float:
    """PF = sum_{1 <= |S| <= order} |K_S|^2 / sum_{1 <= |S|} |K_S|^2 over the components of K on M[(x,x'), (y,y')].

    It rewards sums, so it ranks memorisers (hard OR, 0.98 for N = 28) above the truth (soft AND, 0.29), while the
    Schmidt rank calls the truth factorised (1) and OR not (2). It may be shown; nothing follows from it alone.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> round(pf_coefficient(np.eye(4), z), 2)
    0.67
    """
    tensor = by_factor(kernel, z)
    energies = anova_energies(tensor, tensor.ndim)
    few = sum(v for s, v in energies.items() if 1 <= len(s) <= order)
    return float(ratio(few, sum(v for s, v in energies.items() if s)))
