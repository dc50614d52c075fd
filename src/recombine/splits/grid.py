"""Turns combinations of parts into a Split: which of them are held out of training."""

from __future__ import annotations

from numbers import Real

import jax
import numpy as np

from recombine.core import ABSENT, Split, as_combinations, as_mask
from recombine.keys import one_key


def square(combinations: np.ndarray, low: int, high: int) -> Split:
    """Hold out the closed square low <= every part <= high (the hole of the donut).

    >>> square(np.array([[0, 0], [1, 1], [2, 2]]), 1, 1).train.tolist()
    [True, False, True]
    """
    z = as_combinations(combinations)
    return _without(z, np.all((z >= low) & (z <= high), axis=1), f"{low}..{high}")


def corner(combinations: np.ndarray, start: int) -> Split:
    """Hold out the corner where every part is at least `start`, so that training is L-shaped.

    >>> corner(np.array([[0, 2], [1, 1], [2, 2]]), 1).train.tolist()
    [True, False, False]
    """
    z = as_combinations(combinations)
    return _without(z, np.all(z >= start, axis=1), f"from {start} on")


def cross(combinations: np.ndarray, low: int, high: int) -> Split:
    """Hold out every combination with a part in low..high: those values are never seen at all.

    >>> cross(np.array([[0, 0], [0, 1], [1, 1]]), 1, 1).train.tolist()
    [True, False, False]
    """
    z = as_combinations(combinations)
    return _without(z, np.any((z >= low) & (z <= high), axis=1), f"{low}..{high}")


def gap(combinations: np.ndarray, low: int, high: int) -> Split:
    """Hold out the combinations whose first part lies strictly between two values, which are trained on.

    >>> gap(np.array([[0, 5], [1, 5], [2, 5]]), 0, 2).train.tolist()
    [True, False, True]
    """
    z = as_combinations(combinations)
    return _without(z, (z[:, 0] > low) & (z[:, 0] < high), f"between {low} and {high}")


def _without(combinations: np.ndarray, held_out: np.ndarray, where: str) -> Split:
    if not held_out.any():
        values = f"parts are {combinations.min()}..{combinations.max()}" if len(combinations) else "there is none"
        raise ValueError(f"nothing is held out: no combination has parts {where}; {values}")
    if held_out.all():
        raise ValueError(f"nothing is trained on: every combination has parts {where}")
    return Split(combinations, ~held_out)


def random_fraction(combinations: np.ndarray, held_out: float, key: jax.Array) -> Split:
    """Hold out a random share of the combinations.

    >>> random_fraction(np.arange(4)[:, None], 0.25, jax.random.key(0))
    Split(3 of 4 combinations trained on)
    """
    if not isinstance(held_out, Real) or not 0 <= held_out < 1:
        raise ValueError(f"the held-out fraction must be in [0, 1), got {held_out!r}")
    combinations = as_combinations(combinations)
    count = round(held_out * len(combinations))
    return Split(combinations, ~sample(np.ones(len(combinations), bool), count, key))


def narrow(split: Split, keep: np.ndarray) -> Split:
    """Train on those training combinations only that `keep` names.

    >>> split = Split(np.arange(3)[:, None], np.array([True, True, False]))
    >>> narrow(split, np.array([True, False, True])).train.tolist()
    [True, False, False]
    """
    _check_split(split)
    return Split(split.combinations, split.train & as_mask(keep, split.train.shape))


def percent(split: Split, share: float, key: jax.Array) -> Split:
    """Train on a random share, in percent, of the training combinations only.

    >>> percent(Split(np.arange(4)[:, None], np.ones(4, bool)), 50, jax.random.key(0))
    Split(2 of 4 combinations trained on)
    """
    _check_split(split)
    if not isinstance(share, Real) or not 0 < share <= 100:
        raise ValueError(f"a share must be above 0 and at most 100 percent, got {share!r}")
    count = round(share / 100 * int(split.train.sum()))
    if not count:
        raise ValueError(f"{share} percent of {split.train.sum()} training combinations is less than one of them")
    return Split(split.combinations, sample(split.train, count, key))


def _check_split(split: Split) -> None:
    if not isinstance(split, Split):
        raise TypeError(f"split must be a recombine.Split, got a {type(split).__name__}")


def sample(mask: np.ndarray, count: int, key: jax.Array) -> np.ndarray:
    """A mask of `count` combinations drawn without replacement from a mask.

    >>> sample(np.array([True, False, True]), 2, jax.random.key(0)).tolist()
    [True, False, True]
    """
    mask = as_mask(mask, np.shape(mask)[:1])
    rows = np.flatnonzero(mask)
    if not isinstance(count, int | np.integer) or not 0 <= count <= len(rows):
        raise ValueError(f"cannot draw {count!r} combinations from {len(rows)}")
    chosen = np.zeros(len(mask), bool)
    chosen[rows[np.asarray(jax.random.permutation(one_key(key), len(rows)))[:count]]] = True
    return chosen


def whole(combinations: np.ndarray) -> np.ndarray:
    """The mask of combinations in which no part is absent.

    >>> whole(np.array([[0, 1], [0, ABSENT]])).tolist()
    [True, False]
    """
    return np.all(as_combinations(combinations) != ABSENT, axis=1)


def interior(split: Split, depth: int) -> np.ndarray:
    """The mask of held-out combinations farther than `depth` from every whole training combination.

    Cells near the rim of a hole are solved by interpolation; the interior is where composition shows.

    >>> interior(gap(np.arange(5)[:, None], 0, 4), 1).tolist()
    [False, False, True, False, False]
    """
    _check_split(split)
    z, inside = split.combinations, np.zeros(len(split.train), bool)
    train = z[split.train & whole(z)]
    for row in np.flatnonzero(split.held_out & whole(z)):
        inside[row] = not len(train) or np.abs(train - z[row]).max(axis=1).min() > depth
    return inside
