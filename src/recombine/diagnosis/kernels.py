"""How alike a layer makes combinations: its cosines beside the AND and the OR kernel, and its Schmidt spectrum.

Cosines are of centred means, so both kernels are centred and scaled alike: a layer that is AND reads 1 on AND. No layer
has OR for its products, since OR is not positive: the nearest that a layer can have stands for it, and reads 1 on OR.
Pairs of a combination with itself are alike in every layer and do not count.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from recombine.diagnosis.evidence import Evidence, sampled
from recombine.diagnosis.jackknife import around, groups_of, spread
from recombine.diagnosis.probes import SHUFFLES
from recombine.measures.gap import Interval
from recombine.measures.grid import grid_order
from recombine.measures.similarity import and_kernel, cosine_matrix, near, or_kernel, same
from recombine.measures.spectrum import effective_rank

CELLS = 900
"""Combinations between which kernels are compared, at most."""
_FOLDS = 5


class Kernels:
    """What all layers are compared with: both kernels of the data's own combinations, and which pairs count."""

    def __init__(self, e: Evidence) -> None:
        self.e = e
        self.rows = sampled(np.arange(len(e.combinations)), CELLS)
        self.z = e.combinations[self.rows]
        new = e.new[self.rows]
        self.new = np.flatnonzero(new if new.any() else np.ones(len(new), bool))
        self.groups = np.eye(min(20, len(self.rows)))[groups_of(len(self.rows))]
        self.pairs = (self.new[:, None] != np.arange(len(self.rows))).astype(float)
        rng = np.random.default_rng(0)
        self.orders = [rng.permutation(len(self.rows)) for _ in range(SHUFFLES)]

    def match(self, apart: np.ndarray) -> np.ndarray:
        """Numbers match the better the nearer they are, words only if they are the same."""
        return np.where(self.e.ordered, near(1.0)(apart), same(apart))

    @cached_property
    def pure(self) -> dict[str, np.ndarray]:
        """AND and OR as centred cosines."""
        kinds = {"and": and_kernel, "or": or_kernel}
        return {name: _centred_cosines(kernel(self.z, self.z, self.match)) for name, kernel in kinds.items()}

    @property
    def speaking(self) -> dict[str, np.ndarray]:
        """Those that say something of pairs of different combinations: AND of words only does not."""
        return {name: k for name, k in self.pure.items() if name == "or" or self.e.ordered.any()}

    @cached_property
    def whole(self) -> bool:
        """Is every combination of the values there?"""
        full = len(self.z) == np.prod([len(np.unique(part)) for part in self.z.T])
        return bool(full) and len(self.rows) == len(self.e.combinations)

    @cached_property
    def readings(self) -> dict[str, dict[str, float]]:
        """What a layer that is AND, or the nearest that a layer can be to OR, reads on these combinations."""
        return {name: self._values(kernel) for name, kernel in self.pure.items()}

    def _values(self, kernel: np.ndarray) -> dict[str, float]:
        found = {f"{name}_agreement": self._agreement(kernel, k).value for name, k in self.speaking.items()}
        ranks = {f"schmidt/{n}": r for n, r in self._ranks(kernel).items()} if self.whole else {}
        return {name: value for name, value in {**found, **ranks}.items() if np.isfinite(value)}

    def told(self, means: np.ndarray, silent: list[str]) -> dict[str, Any]:
        """A layer's agreements and ranks, each with its interval and its control."""
        centred = means[self.rows] - means[self.rows].mean(axis=0)
        kernel = cosine_matrix(centred, centred)
        if "and" not in self.speaking:
            silent.append("AND agreement: no factor has an order, and different words have nothing in common")
        agreements = {f"{name}_agreement": self._agreement(kernel, k) for name, k in self.speaking.items()}
        controls = {
            f"{name}_agreement": float(np.mean([self._agreement(kernel[np.ix_(o, o)], k).value for o in self.orders]))
            for name, k in self.speaking.items()
        }
        still = [name for name, i in agreements.items() if not np.isfinite(i.value)]
        silent += [f"{name.partition('_')[0].upper()} agreement: all pairs are equally alike" for name in still]
        agreements = {name: i for name, i in agreements.items() if name not in still}
        controls = {name: value for name, value in controls.items() if name in agreements and np.isfinite(value)}
        said: dict[str, Any] = {name: i.value for name, i in agreements.items()}
        said |= {"kernel": kernel, "intervals": agreements, "controls": controls}
        if not self.whole:
            silent.append(f"Schmidt spectrum: every combination of the values must be there, and at most {CELLS}")
            return said
        ranks = self._ranks(kernel)
        shuffled = self._ranks(kernel[np.ix_(self.orders[0], self.orders[0])])
        said["intervals"] |= {f"schmidt/{n}": i for n, i in self._rank_intervals(kernel, ranks).items()}
        said["controls"] |= {f"schmidt/{n}": r for n, r in shuffled.items()}
        return {**said, "schmidt": ranks, "spectrum": self._spectra(kernel)}

    def _agreement(self, kernel: np.ndarray, reference: np.ndarray) -> Interval:
        """The correlation over pairs of a new combination with any other; the interval leaves out combinations."""
        x, y, w = kernel[self.new], reference[self.new], self.pairs
        mine, other = self.groups[self.new].T, self.groups
        sums = np.stack([mine @ term @ other for term in (w, w * x, w * y, w * x * x, w * y * y, w * x * y)])
        total = sums.sum(axis=(1, 2))
        away = sums.sum(axis=1) + sums.sum(axis=2) - np.einsum("sgg->sg", sums)
        return around(float(_correlation(total)), _correlation(total[:, None] - away))

    def _tensor(self, kernel: np.ndarray) -> np.ndarray:
        order, sizes = grid_order(self.z)
        return kernel[np.ix_(order, order)].reshape(*sizes, *sizes)

    def _ranks(self, kernel: np.ndarray) -> dict[str, float]:
        return _ranks(self._tensor(kernel), self.e.names)

    def _spectra(self, kernel: np.ndarray) -> dict[str, tuple[float, ...]]:
        tensor = self._tensor(kernel)
        values = {name: _schmidt(tensor, part) for part, name in enumerate(self.e.names)}
        return {name: tuple((v / v[0]).tolist()[:8]) for name, v in values.items() if v[0] > 0}

    def _rank_intervals(self, kernel: np.ndarray, ranks: dict[str, float]) -> dict[str, Interval]:
        """Values of each factor are left out in some groups, so that the grid stays full."""
        tensor, n = self._tensor(kernel), len(self.e.names)
        sides: list[list[dict[str, float]]] = []
        for part in range(n):
            groups = groups_of(tensor.shape[part], _FOLDS)
            kept = [np.flatnonzero(groups != k) for k in range(groups.max() + 1)]
            kept = kept if min(map(len, kept)) >= 2 else []
            sides.append([_ranks(tensor.take(k, part).take(k, part + n), self.e.names) for k in kept])
        return {name: spread(value, [[s[name] for s in side] for side in sides], 2.0) for name, value in ranks.items()}


def _centred_cosines(kernel: np.ndarray) -> np.ndarray:
    """The cosines of centred rows whose products are these, as nearly as products of rows can be."""
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    values, sides = np.linalg.eigh(centred)
    rows = sides * np.sqrt(np.maximum(values, 0))
    return cosine_matrix(rows, rows)


def _correlation(sums: np.ndarray) -> np.ndarray:
    """From the sums of 1, x, y, x², y², xy; NaN where one does not vary."""
    n, x, y, xx, yy, xy = sums
    mine, other = n * xx - x * x, n * yy - y * y
    told = (mine > 1e-10 * n * xx) & (other > 1e-10 * n * yy)
    return np.where(told, (n * xy - x * y) / np.sqrt(np.where(told, mine * other, 1.0)), np.nan)


def _schmidt(tensor: np.ndarray, part: int) -> np.ndarray:
    """Singular values of one part against all others together, largest first, by the smaller Gram matrix."""
    n = tensor.ndim // 2
    turned = np.moveaxis(tensor, (part, part + n), (0, 1))
    matrix = turned.reshape(tensor.shape[part] ** 2, -1)
    matrix = matrix if len(matrix) <= matrix.shape[1] else matrix.T
    return np.sqrt(np.maximum(np.linalg.eigvalsh(matrix @ matrix.T)[::-1], 0))


def _ranks(tensor: np.ndarray, names: tuple[str, ...]) -> dict[str, float]:
    """Effective ranks; of two factors both are one."""
    if len(names) == 2:
        rank = float(effective_rank(_schmidt(tensor, 0)))
        return dict.fromkeys(names, rank)
    return {name: float(effective_rank(_schmidt(tensor, part))) for part, name in enumerate(names)}
