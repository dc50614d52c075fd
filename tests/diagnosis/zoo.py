"""Systems whose answer is known, as arrays: what each does on new combinations is made by construction.

`CASES` names a system, how it is made, and the verdict that is right. `python tests/diagnosis/zoo.py` prints how often
the verdict is right over 20 draws of every case on every kind of data.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

Arrays = dict[str, Any]


@dataclass
class World:
    """Combinations, which were seen, their targets, and the target of any combination."""

    z: np.ndarray
    seen: np.ndarray
    target: Callable[[np.ndarray], np.ndarray]
    rng: np.random.Generator
    continuous: bool = False

    def __post_init__(self) -> None:
        self.y = self.target(self.z)
        self.steps = np.array([np.abs(self.z[self.seen] - row).sum(axis=1).min() for row in self.z])

    @property
    def new(self) -> np.ndarray:
        return ~self.seen

    def answering(self, answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Right on seen combinations, and on new ones whatever `answer` says."""
        y_hat = self.y.copy()
        y_hat[self.new] = answer(self.z[self.new])
        return y_hat

    def nearest(self, z: np.ndarray) -> np.ndarray:
        known = self.z[self.seen]
        return self.y[self.seen][[int(np.argmin(np.abs(known - row).sum(axis=1))) for row in z]]


def split(z: np.ndarray, size: int, rng: np.random.Generator, hole: bool) -> np.ndarray:
    """Which combinations are seen: all but a box in the middle, or seven in ten at random; each value is seen."""
    if hole:
        return ~np.all((z >= size // 4) & (z < size - size // 4), axis=1)
    seen = rng.random(len(z)) < 0.7
    seen[[int(np.flatnonzero(z[:, part] == v)[0]) for part in range(z.shape[1]) for v in range(size)]] = True
    return seen


def vectors(seed: int, factors: int = 2, size: int = 8, hole: bool = False) -> World:
    """A vector per value; the target is their product, so that no part tells anything alone."""
    rng = np.random.default_rng(seed)
    z = np.array(list(product(range(size), repeat=factors)))
    parts = [rng.normal(size=(size, 12)) for _ in range(factors)]
    target = lambda z: np.prod([p[z[:, i]] for i, p in enumerate(parts)], axis=0)  # noqa: E731
    return World(z, split(z, size, rng, hole), target, rng)


def images(seed: int, factors: int = 2, size: int = 12) -> World:
    """A bump at (x, y), of one of `size` widths if there are three factors."""
    rng = np.random.default_rng(seed)
    size = size if factors == 2 else 6
    z = np.array(list(product(range(size), repeat=factors)))
    pixels = np.arange(size)
    width = 0.7 + 0.1 * rng.random()

    def target(z: np.ndarray) -> np.ndarray:
        wide = width * (1 if factors == 2 else (0.7 + 0.35 * z[:, 2])[:, None])
        along = [np.exp(-((z[:, i, None] - pixels) ** 2) / (2 * wide**2)) for i in range(2)]
        return along[1][:, :, None] * along[0][:, None, :]

    return World(z, split(z, size, rng, factors == 2), target, rng)


def continuous(seed: int, factors: int = 2, examples: int = 2000) -> World:
    """Products of waves of real-valued factors; a box of them is held out, in the middle or in a corner."""
    rng = np.random.default_rng(seed)
    z = rng.random((examples if factors == 2 else 2 * examples, factors))
    seen = ~np.all((z > 0.25) & (z < 0.75), axis=1) if factors == 2 else ~np.all(z > 0.4, axis=1)
    pace, phase = 3 + 6 * rng.random((factors, 8)), 6.28 * rng.random((factors, 8))
    target = lambda z: np.prod([np.sin(pace[i] * z[:, i, None] + phase[i]) for i in range(factors)], axis=0)  # noqa: E731
    return World(z, seen, target, rng, continuous=True)


WORLDS: dict[str, Callable[[int], World]] = {
    "2 factors, vectors": vectors,
    "2 factors, vectors, box held out": lambda seed: vectors(seed, size=12, hole=True),
    "3 factors, vectors": lambda seed: vectors(seed, 3, 5),
    "2 factors, images": images,
    "3 factors, images": lambda seed: images(seed, 3),
    "2 factors, continuous": continuous,
    "3 factors, continuous": lambda seed: continuous(seed, 3),
}


def composes(w: World) -> np.ndarray:
    return w.y


def looks_up(w: World) -> np.ndarray:
    return w.answering(w.nearest)


def superposes(w: World) -> np.ndarray:
    """The sum over parts of the mean memory that shares the part (within a twentieth, if it is continuous)."""
    known, answers, slack = w.z[w.seen], w.y[w.seen], 0.05 if w.continuous else 0

    def recall(row: np.ndarray) -> np.ndarray:
        return np.sum([answers[np.abs(known[:, i] - v) <= slack].mean(axis=0) for i, v in enumerate(row)], axis=0)

    return w.answering(lambda z: np.stack([recall(row) for row in z]))


def one_factor(w: World) -> np.ndarray:
    """The first factor is right; every other one is that of some other example."""
    others = w.rng.permutation(len(w.z))[: w.new.sum()]
    return w.answering(lambda z: w.target(np.concatenate([z[:, :1], w.z[others][:, 1:]], axis=1)))


def near_only(w: World) -> np.ndarray:
    """Right within a step of the seen region, and the nearest memory beyond."""
    limit = 0.1 if w.continuous else 1
    y_hat = w.y.copy()
    y_hat[w.steps > limit] = w.nearest(w.z[w.steps > limit])
    return y_hat


def random_answers(w: World) -> np.ndarray:
    return w.rng.normal(size=w.y.shape) * w.y.std()


def constant(w: World) -> np.ndarray:
    return np.broadcast_to(w.y[w.seen].mean(axis=0), w.y.shape)


CASES: dict[str, tuple[Callable[[World], np.ndarray], str]] = {
    "composes": (composes, "composes"),
    "look-up table": (looks_up, "memorizes"),
    "superposition": (superposes, "memorizes"),
    "composes in one factor": (one_factor, "partly"),
    "composes near only": (near_only, "partly"),
    "random network": (random_answers, "cannot tell"),
    "constant output": (constant, "cannot tell"),
    "perfect, few data": (composes, "cannot tell"),
}
BOXED = ("2 factors, vectors, box held out", "2 factors, images", "2 factors, continuous", "3 factors, continuous")
"""Worlds in which some new combinations are far from all seen ones: elsewhere nothing is right near only."""


def arrays(world: str, case: str, seed: int) -> Arrays:
    """What one system did in one world."""
    w = WORLDS[world](seed)
    y_hat = CASES[case][0](w)
    keep = np.ones(len(w.z), bool)
    if case == "perfect, few data":
        few = np.flatnonzero(w.new)[:4]
        keep = w.seen.copy()
        keep[few] = True
    return {"z": w.z[keep], "trained": w.seen[keep], "y": w.y[keep], "y_hat": y_hat[keep]}


def applies(world: str, case: str) -> bool:
    return case != "composes near only" or world in BOXED


def rates(world: str, case: str, draws: int = 20) -> Counter[str]:
    """How often each verdict is given."""
    from recombine.diagnosis.behaviour import behaviour
    from recombine.diagnosis.from_arrays import from_arrays
    from recombine.diagnosis.rules import rule

    return Counter(rule(behaviour(from_arrays(arrays(world, case, seed))))[0].verdict for seed in range(draws))


def main(draws: int) -> None:
    for world, case in product(WORLDS, CASES):
        if applies(world, case):
            found, right = rates(world, case, draws), CASES[case][1]
            others = ", ".join(f"{word} {n}" for word, n in found.items() if word != right)
            print(f"| {world} | {case} | {right} | {found[right]} of {draws} | {others} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
