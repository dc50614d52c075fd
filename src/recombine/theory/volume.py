"""Turns a network's width and depth into the share of its wirings that are compositional, the volume ratio.

"Compositionality Emerges in a Narrow Depth-Connectivity Regime" (2026, arXiv 2606.19941) draws such a ratio, called
C(W, P) / Total, for P = 3 primitives, widths 3 to 192 and depths 1 to 9. Its formulas could not be read. Both countings
here are our own reconstructions: if they disagree with its figure, they are the first to doubt.

A wiring says, for each of the W units of each of the L layers, which of the P primitives it carries. Layers are wired
independently, so the ratio is (compositional wirings of one layer / all wirings of one layer)^L. Only wirings are
counted: nothing is said of weights, or of which wirings training can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, inf, log, perm, sqrt
from numbers import Integral

import numpy as np

WIDTHS = (3, 6, 12, 24, 48, 96, 192)
DEPTHS = tuple(range(1, 10))
_AT_ONCE = 2**21  # units drawn together, to bound memory


def surjections(width: int, primitives: int) -> int:
    """P! S2(W, P) = sum_k (-1)^k C(P, k) (P - k)^W: one primitive a unit, no primitive left out; 0 if W < P."""
    return sum((-1) ** k * comb(primitives, k) * (primitives - k) ** width for k in range(primitives + 1))


def every_unit_pure(carried: np.ndarray) -> np.ndarray:
    """Does every unit carry exactly one primitive, and every primitive have a unit? For `carried` (..., W, P)."""
    return (carried.sum(axis=-1) == 1).all(axis=-1) & carried.any(axis=-2).all(axis=-1)


def one_carrier_each(carried: np.ndarray) -> np.ndarray:
    """Has every primitive exactly one unit, and is no unit shared? Units may be idle. For `carried` (..., W, P)."""
    return (carried.sum(axis=-1) <= 1).all(axis=-1) & (carried.sum(axis=-2) == 1).all(axis=-1)


@dataclass(frozen=True)
class Counting:
    """What counts as a wiring of one layer, and as a compositional one.

    `fewest` is 1 if a unit carries at least one primitive and 0 if it may be idle, so a layer has (2^P - fewest)^W
    wirings. Those for which `holds` are compositional, `count(W, P)` of them.
    """

    fewest: int
    count: Callable[[int, int], int]
    holds: Callable[[np.ndarray], np.ndarray]

    def codes(self, primitives: int) -> tuple[int, int]:
        """The sets that a unit may carry, as numbers from the first up to, not including, the second."""
        return self.fewest, 2**primitives


PURE = Counting(1, surjections, every_unit_pure)
"""Model A, a reconstruction: no unit is idle; P! S2(W, P) of (2^P - 1)^W."""
SPARSE = Counting(0, perm, one_carrier_each)
"""Model B, a reconstruction: units may be idle and P of them carry one primitive each; C(W, P) P! of 2^(P W)."""


def log_volume_ratio(counting: Counting, width: int, depth: int, *, primitives: int = 3, steps: int = 1) -> float:
    """ln rho = L (ln count(W, P) - W ln(2^P - fewest)), counted in whole numbers of any size, so nothing overflows.

    A target that composes in k = `steps` steps needs k layers, and P primitives need P units: -inf if L < k or W < P.
    """
    width, depth, primitives, steps = _whole(width=width, depth=depth, primitives=primitives, steps=steps)
    good = counting.count(width, primitives) if depth >= steps else 0
    first, end = counting.codes(primitives)
    return depth * (log(good) - width * log(end - first)) if good else -inf


def volume_ratios(
    counting: Counting,
    widths: Sequence[int] = WIDTHS,
    depths: Sequence[int] = DEPTHS,
    *,
    primitives: int = 3,
    steps: int = 1,
) -> np.ndarray:
    """ln rho (widths, depths) for a figure; -inf where the target cannot be carried."""
    return np.array(
        [[log_volume_ratio(counting, w, d, primitives=primitives, steps=steps) for d in depths] for w in widths]
    )


def sweet_spot(
    log_ratios: np.ndarray, widths: Sequence[int] = WIDTHS, depths: Sequence[int] = DEPTHS
) -> tuple[int, int]:
    """(W, L) of the largest ratio, the smallest of equal ones.

    Both countings fall beyond the smallest network that can carry the target, so it is that network: W = P, L = k.
    """
    if log_ratios.shape != (len(widths), len(depths)) or not np.any(log_ratios > -inf):
        raise ValueError(
            f"no ratio above 0 in a map of shape {log_ratios.shape} for {len(widths)} x {len(depths)} sizes"
        )
    w, d = divmod(int(np.argmax(log_ratios)), len(depths))
    return widths[w], depths[d]


def drawn_volume_ratio(
    counting: Counting, width: int, depth: int, *, primitives: int = 3, draws: int = 200_000, seed: int = 0
) -> tuple[float, float]:
    """The ratio and its standard error from wirings drawn evenly from all: for networks small enough to hit a good one.

    The error is sqrt(q (1 - q) / n) with q = (hits + 1) / (n + 2), so that no hit at all does not pass for certainty.
    """
    width, depth, primitives, draws = _whole(width=width, depth=depth, primitives=primitives, draws=draws)
    random = np.random.default_rng(seed)
    chunk = max(1, _AT_ONCE // (width * depth))
    sizes = [min(chunk, draws - start) for start in range(0, draws, chunk)]
    hits = sum(_hits(counting, random, (size, depth, width), primitives) for size in sizes)
    q = (hits + 1) / (draws + 2)
    return hits / draws, sqrt(q * (1 - q) / draws)


def _hits(counting: Counting, random: np.random.Generator, shape: tuple[int, int, int], primitives: int) -> int:
    """How many of the networks drawn, `shape` (networks, layers, units), are compositional in every layer."""
    sets = random.integers(*counting.codes(primitives), size=shape)
    carried = (sets[..., None] >> np.arange(primitives)) & 1 == 1
    return int(counting.holds(carried).all(axis=-1).sum())


def _whole(**numbers: int) -> list[int]:
    """The numbers as Python's own, which do not overflow."""
    for name, number in numbers.items():
        if not isinstance(number, Integral) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {number}")
    return [int(number) for number in numbers.values()]
