"""How many pictures are needed: where they lie, rulers of what is right, thresholds, power laws, and known solvers."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.measures.peak import misplacement

if TYPE_CHECKING:
    import pandas as pd

GOAL = 0.9
"""the share of answers that must be right"""
BOX = 0.6
"""side of the central box over that of the grid: the largest of the release, and about that of the paper's hole"""
DRAWS, POINTS = 5, 16
"""training sets over which a control's accuracy is averaged, and numbers of pictures that it is tried with"""
WHOLE = "whole"
BUMPS, OUTSIDE, STRIPES = "bumps", "bumps outside the box", "stripes"
TOLERANCES = {"nearest": 0.5, "0.6": 0.6, "1": 1.0}
"""Pixels by which a peak may be off along the worse axis; within 0.5 only the nearest pixel is right."""
REGIONS = ("box", "everywhere")
RULERS = {f"{region}_{name}": (region, off) for region, (name, off) in product(REGIONS, TOLERANCES.items())}
"""What counts as right: where the network is asked, and how far its peak may be off."""
PRIMARY = "box_1"
"""The paper judges bumps of the box by their coordinates; its released code allows one pixel."""


@cache
def pictures(side: int, law: str, seed: int) -> rc.Task:
    """All pictures that may be shown, on white: every cell and stripe, or places drawn once, uniformly."""
    from recombine.tasks.continuous import bumps_at

    if law == WHOLE:
        cells = np.stack(np.meshgrid(*[np.arange(side)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
        values = np.tile(np.arange(side), (2, 1))
    else:
        rng = rc.rng(seed, "places", side)
        cells, values = (rng.uniform(-0.5, side - 0.5, shape) for shape in ((8 * side**2, 2), (2, 16 * side)))
    absent = np.full(values.shape[1], rc.ABSENT)
    alone = [np.stack(pair, axis=1) for pair in ((values[0], absent), (absent, values[1]))]
    places = np.concatenate([cells, *alone]).astype(np.float32)
    return bumps_at(places, side, rc.local_bump(side), dark=True)


@cache
def asked(side: int, law: str, seed: int) -> np.ndarray:
    """The bumps that a network is asked for: every cell, or about a thousand places, as many in each cell."""
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 2, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float32)
    if law == WHOLE:
        return cells
    cells = np.tile(cells, (max(1, 1024 // side**2), 1))
    return (cells + rc.rng(seed, "asked", side).uniform(-0.5, 0.5, cells.shape)).astype(np.float32)


def in_box(places: np.ndarray, side: int) -> np.ndarray:
    """The mask of places in the central box of whole cells."""
    inside = int(BOX * side)
    low = (side - inside) // 2
    return np.all((places >= low - 0.5) & (places < low + inside - 0.5), axis=1)


def sizes(kind: str, side: int, law: str, count: int) -> np.ndarray:
    """Numbers of pictures, evenly in the logarithm; of `OUTSIDE` the largest alone; stripes of each axis as many."""
    if kind == STRIPES:
        half = np.geomspace(side / 4, side if law == WHOLE else 8 * side, count)
        return 2 * np.unique(half.round().astype(int))
    many = np.geomspace(side / 2, side**2 * (1 if law == WHOLE else 4), count)
    if kind == BUMPS:
        return np.unique(many.round().astype(int))
    return np.array([int(many[-1] * (1 - BOX**2))])


def some(task: rc.Task, kind: str, side: int, size: int, key) -> np.ndarray:
    """The mask of so many pictures of a kind."""
    import jax

    z = task.combinations
    if kind == STRIPES:
        horizontal, vertical = (z == rc.ABSENT).T
        first, second = jax.random.split(key)
        return rc.sample(vertical, size // 2, first) | rc.sample(horizontal, size // 2, second)
    return rc.sample(rc.whole(z) & ~(in_box(z, side) & (kind == OUTSIDE)), size, key)


def right(answer: rc.Record, side: int) -> dict[str, float]:
    """The share of right answers by each ruler, and of those outside the box within one pixel."""
    from recombine.tasks.bumps import intensity

    y, y_hat = (intensity(a, dark=True) for a in (answer.y, answer.y_hat))
    return shares(misplacement(rc.Record(answer.z, answer.x, y, y_hat)), in_box(answer.z, side))


def shares(off: np.ndarray, inside: np.ndarray) -> dict[str, float]:
    """The same, from how far each peak is off."""
    where = {"box": inside, "everywhere": np.ones(len(off), bool)}
    found = {name: float(np.mean(off[where[region]] <= most)) for name, (region, most) in RULERS.items()}
    return found | {"outside_1": float(np.mean(off[~inside] <= 1))}


def curve(numbers: np.ndarray, found: list[dict[str, float]]) -> dict:
    """The columns of a row: by each ruler the share right for each number of pictures, and the number needed."""
    row: dict = {"sizes": numbers}
    for name in (*RULERS, "outside_1"):
        shares = np.array([one[name] for one in found])
        needed, beyond = threshold(numbers, shares)
        row |= {f"right_{name}": shares, f"most_{name}": shares[-1]}
        row |= {f"needed_{name}": needed, f"beyond_{name}": beyond}
    return row


def threshold(sizes: np.ndarray, accuracies: np.ndarray) -> tuple[float, float]:
    """The smallest M with accuracy GOAL, linear in log M between the two sizes around it; and whether it is a bound.

    Accuracies count as the best that so many pictures or fewer gave. Where no set reaches GOAL the number needed is
    censored at the largest (1), where every set does at the smallest (-1), else it is known (0). NaN if one diverged.

    >>> [round(number, 6) for number in threshold(np.array([4, 16, 64]), np.array([0.0, 0.8, 1.0]))]
    [32.0, 0.0]
    >>> threshold(np.array([4, 16, 64]), np.array([0.0, 0.5, 0.8]))
    (64.0, 1.0)
    """
    best = np.maximum.accumulate(accuracies)
    if not np.isfinite(best).all():
        return float("nan"), float("nan")
    if best[-1] < GOAL or best[0] >= GOAL:
        return (float(sizes[-1]), 1.0) if best[-1] < GOAL else (float(sizes[0]), -1.0)
    i = int(np.argmax(best >= GOAL))
    return float(np.exp(np.interp(GOAL, best[i - 1 : i + 1], np.log(sizes[i - 1 : i + 1])))), 0.0


def thresholds(rows: pd.DataFrame, ruler: str) -> pd.DataFrame:
    """One row per seed, one column per side; a number that lies beyond the sizes tried is its bound."""
    return rows.pivot(index="seed", columns="side", values=f"needed_{ruler}")


def censored(rows: pd.DataFrame, ruler: str) -> pd.DataFrame:
    """The same: whether a number is only a bound."""
    return rows.pivot(index="seed", columns="side", values=f"beyond_{ruler}").abs() == 1


def exponents(rows: pd.DataFrame, ruler: str) -> pd.Series:
    """The slope of log threshold over log N by least squares, by seed; bounds count as they are."""
    found = thresholds(rows, ruler).map(np.log)
    side = np.log(found.columns.to_numpy(float))
    side -= side.mean()
    return found.mul(side).sum(axis=1, skipna=False) / np.sum(side**2)


def solver(settings, side: int, kind: str, rule) -> dict:
    """The columns of a system that is right by a rule, averaged over DRAWS training sets of each size."""
    task, places = pictures(side, settings.law, settings.seed), asked(side, settings.law, settings.seed)
    inside, numbers = in_box(places, side), sizes(kind, side, settings.law, POINTS)

    def mean(size: int) -> dict[str, float]:
        keys = [rc.key(settings.seed, rule.__name__, side, size, i) for i in range(DRAWS)]
        shown = [task.combinations[some(task, kind, side, size, key)] for key in keys]
        each = [shares(rule(side, one, places), inside) for one in shown]
        return {ruler: float(np.mean([one[ruler] for one in each])) for ruler in each[0]}

    return curve(numbers, [mean(int(size)) for size in numbers])


def remembered(side: int, shown: np.ndarray, places: np.ndarray) -> np.ndarray:
    """How far the peak nearest to each place is off, among the peaks of the pictures shown; 9 if farther than 1.5."""
    seen = np.zeros((side + 4, side + 4), bool)
    seen[tuple(np.rint(shown).astype(int).T + 2)] = True
    cells, off = np.rint(places).astype(int), np.full(len(places), 9.0)
    for step in product((-1, 0, 1), repeat=2):
        near = cells + step
        away = np.abs(near - places).max(axis=1)
        off = np.where(seen[tuple(near.T + 2)], np.minimum(off, away), off)
    return off


def composed(side: int, shown: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The same where each coordinate takes the nearest of those shown, from any picture."""
    axes = []
    for values, wanted in zip(shown.T, places.T, strict=True):
        known = np.unique(np.rint(values[values != rc.ABSENT]))
        axes.append(np.abs(known[None] - wanted[:, None]).min(axis=1) if len(known) else np.full(len(wanted), 9.0))
    return np.max(axes, axis=0)
