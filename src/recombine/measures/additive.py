"""Turns activations on the grid of parts into how far they are a sum of one term for each part.

Liang, Qian, Ziyin, Fiete (2025), appendix A.2, made linear: alpha(x,y) = mu + a(x) + b(y) + r(x,y).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.measures.anova import anova_energies, ratio

Blocks = Sequence[tuple[int, ...]]
EACH = ((0,), (1,))
"""Two parts, each for itself."""


def additive_share(acts: np.ndarray, blocks: Blocks = EACH) -> float:
    """A = 1 - |r|^2 / |alpha - mu|^2, r being what no block of parts explains alone; NaN for a constant layer.

    `acts` has one axis for each part and then the units. Blocks ((0, 1), (2,)) ask for partial factorisation:
    the first two parts may interact, the third may not interact with them.

    >>> additive_share(np.array([[0.0, 1.0], [2.0, 3.0]]))
    1.0
    >>> round(additive_share(np.array([[0.0, 0.0], [0.0, 1.0]])), 2)
    0.67
    """
    energies = {s: float(v.sum()) for s, v in anova_energies(np.asarray(acts), _factors(blocks)).items() if s}
    alone = sum(v for s, v in energies.items() if any(set(s) <= set(block) for block in blocks))
    return float(ratio(alone, sum(energies.values())))


def additive_share_of_rows(acts: np.ndarray, z: np.ndarray) -> float:
    """The same from rows of activations and their combinations, which need not fill a grid: R^2 of mu + sum_f a_f(z_f).

    Equal to `additive_share` where each cell of a grid stands once. With few rows per value it reads high on noise too:
    compare with rows in another order.

    >>> z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> round(additive_share_of_rows(np.array([[0.0], [0.0], [0.0], [1.0]]), z), 2)
    0.67
    """
    flat = np.asarray(acts, float).reshape(len(acts), -1)
    flat = flat - flat.mean(axis=0)
    design = np.concatenate([part[:, None] == np.unique(part) for part in z.T], axis=1).astype(float)
    sides, strength, _ = np.linalg.svd(design - design.mean(axis=0), full_matrices=False)
    explained = sides[:, strength > 1e-9 * strength.max(initial=1.0)].T @ flat
    return float(ratio(np.sum(explained**2), np.sum(flat**2)))


def subspace_overlap(acts: np.ndarray, blocks: Blocks = EACH, tolerance: float = 1e-3) -> float:
    """The largest cosine of a principal angle between span{a(x)} and span{b(y)}, over all pairs of blocks.

    Directions weaker than `tolerance` times their block's strongest do not count. It is one whenever the spans
    together have more dimensions than the layer has units, whatever the layer does.

    >>> round(subspace_overlap(np.array([[[0, 0], [0, 1]], [[1, 0], [1, 1]]])), 2)
    0.0
    >>> round(subspace_overlap(np.array([[[0], [1]], [[2], [3]]])), 2)
    1.0
    """
    spans = [_span(acts, block, _factors(blocks), tolerance) for block in blocks]
    pairs = [(a, b) for i, a in enumerate(spans) for b in spans[:i] if len(a) and len(b)]
    return max((float(np.linalg.norm(a @ b.T, ord=2)) for a, b in pairs), default=0.0)


def generally_factorised(acts: np.ndarray, factors: int = 2, tolerance: float = 1e-6) -> bool:
    """The paper's definition: some invertible T makes each block of T(alpha) a function of one part.

    T is unrestricted, so this only asks that no two cells look alike (to `tolerance` times the largest distance
    from the mean): almost any layer passes, also in networks that fail. `additive_share` is the one to read.

    >>> generally_factorised(np.array([[0, 1], [2, 3]])), generally_factorised(np.array([[0, 0], [2, 3]]))
    (True, False)
    """
    flat = np.asarray(acts, float).reshape(int(np.prod(acts.shape[:factors])), -1)
    flat = flat - flat.mean(axis=0)
    gram = flat @ flat.T
    squared = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram
    apart = squared[~np.eye(len(flat), dtype=bool)]
    return bool(np.min(apart) > tolerance**2 * np.max(np.diag(gram)))


def _factors(blocks: Blocks) -> int:
    if not blocks or not all(isinstance(block, tuple | list) for block in blocks):
        raise ValueError(f"blocks are tuples of parts, ((0,), (1,)); got {blocks!r}")
    parts = sorted(part for block in blocks for part in block)
    if parts != list(range(len(parts))):
        raise ValueError(f"blocks must name every part once, got {tuple(blocks)}")
    return len(parts)


def _span(acts: np.ndarray, block: tuple[int, ...], factors: int, tolerance: float) -> np.ndarray:
    """Orthonormal rows that span the mean over all other parts."""
    others = tuple(axis for axis in range(factors) if axis not in block)
    effect = acts.mean(axis=others, dtype=float)
    effect = effect.reshape(int(np.prod(effect.shape[: len(block)])), -1)
    _, strength, rows = np.linalg.svd(effect - effect.mean(axis=0), full_matrices=False)
    scale = np.linalg.norm(effect, ord=2)
    return rows[(strength > tolerance * strength.max()) & (strength > 1e-12 * scale)]
