"""Turns masks over modules into which of them are trained on: supports that cover and connect the modules, or do not.

Redhardt, Akram, Schug (2025). A support is a function (masks, held_out, key) -> train, one boolean a mask, that holds
out floor(held_out N) of the N masks unless it says otherwise. Those that leave nothing to chance do not use the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import jax
import numpy as np

from recombine.core import Split, UserError, as_combinations, as_mask
from recombine.keys import one_key

Support = Callable[[np.ndarray, float, jax.Array], np.ndarray]
TRIES = 1000


def usage(masks: np.ndarray, train: np.ndarray) -> np.ndarray:
    """How many training masks hold each module.

    >>> usage(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([True, True, False])).tolist()
    [1, 2, 1]
    """
    return masks[as_mask(train, (len(masks),))].sum(axis=0, dtype=int)


def split(masks: np.ndarray, train: np.ndarray) -> Split:
    """Masks as a Split, in which a module that is not active is absent.

    >>> split(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([True, True, False]))
    Split(2 of 3 combinations trained on)
    """
    return Split(masks, train, absent=0)


def covers(masks: np.ndarray, train: np.ndarray) -> bool:
    """Is every module in some training mask?

    >>> covers(np.array([[1, 1, 0], [0, 1, 1]]), np.array([True, False]))
    False
    """
    return split(masks, train).covers


def connected(masks: np.ndarray, train: np.ndarray) -> bool:
    """Are all modules linked by chains of two that share a training mask? One that is never seen is linked to none.

    >>> connected(np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]]), np.array([True, True, False]))
    False
    """
    one = split(masks, train)
    return one.covers and one.connected


def coverage(masks: np.ndarray, train: np.ndarray, k: int) -> float:
    """Of the sets of k modules that are together in some mask, the share that are together in a training mask.

    >>> masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> round(coverage(masks, np.array([True, True, False]), 2), 2)
    0.67
    """
    return split(masks, train).coverage(k)


def for_teacher(combinations: np.ndarray, teacher: int, chosen: np.ndarray) -> np.ndarray:
    """The rows (t, mask) of a hyperteacher that are this teacher's and whose mask is chosen; others are not.

    >>> for_teacher(np.array([[0, 1], [1, 0], [1, 1]]), 1, np.array([True, False])).tolist()
    [False, True, False]
    """
    rows = combinations[:, 0] == teacher
    if rows.sum() != len(chosen):
        raise ValueError(f"teacher {teacher} has {rows.sum()} masks, of which {len(chosen)} cannot be told apart")
    rows[rows] = as_mask(chosen, (len(chosen),))
    return rows


def random(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Any masks, drawn anew until they cover and connect the modules.

    >>> masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> int(random(masks, 0.34, jax.random.key(0)).sum())
    2
    """
    return _first_sound(masks, _draws(masks, held_out, _generator(key)))


def equal(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Random masks, exchanged until no module is in more than one mask more than another; covers and connects.

    >>> masks = np.array([mask for mask in np.ndindex(2, 2, 2, 2) if sum(mask) == 2])
    >>> usage(masks, equal(masks, 0.34, jax.random.key(0))).tolist()
    [2, 2, 2, 2]
    """
    rng = _generator(key)
    return _first_sound(masks, (_balanced(masks, train, rng) for train in _draws(masks, held_out, rng)))


def popular(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Every mask with one of the first modules, as many modules as fit; what is left goes to masks of the next.

    >>> masks = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> popular(masks, 0.34, jax.random.key(0)).tolist()
    [False, True, True]
    """
    train, count = np.zeros(len(as_combinations(masks)), bool), _count(masks, held_out)
    train[np.argsort(_ends(masks)[0], kind="stable")[:count]] = True
    return train


def unpopular(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Every mask within a core, as many of the first modules as fit, and one mask that ties each other module to it.

    What is left goes to masks of the core with the next module.

    >>> masks = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    >>> unpopular(masks, 0.34, jax.random.key(0)).tolist()
    [True, True, True, False, True, False]
    """
    count, modules = _count(masks, held_out), masks.shape[1]
    last = _ends(masks)[1]
    needed = np.bincount(last, minlength=modules).cumsum() + np.arange(modules)[::-1]
    core = int(np.sum(needed <= count))
    if not core:
        raise UserError(f"{count} training masks are too few for a core and a mask with each of {modules} modules")
    train, tied = last < core, masks[:, :core].any(axis=1)
    for module in range(core, modules):
        train[np.flatnonzero(tied & (last == module))[:1]] = True
    train[np.flatnonzero((last == core) & ~train)[: count - int(train.sum())]] = True
    return _first_sound(masks, [train])


def disconnected(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """No mask across a cut that parts the first s modules from the others; random others are held out to make up.

    s is such that the masks across are as many as may be held out; where even s = 1 has more, more are held out.
    All modules are seen.

    >>> masks = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    >>> disconnected(masks, 0.34, jax.random.key(0)).tolist()
    [True, True, False, True, False, True]
    """
    _count(masks, held_out)  # refuses what is no share
    rng, (first, last) = _generator(key), _ends(masks)
    cuts = [(first < s) & (last >= s) for s in range(1, masks.shape[1] // 2 + 1)]
    across = max((a for a in cuts if a.mean() <= held_out), key=np.sum, default=cuts[0])
    # Rounded as the authors round it: 173 of 696 for a quarter, one fewer than elsewhere.
    more = max(0, int((held_out - across.mean()) * len(masks)))
    for _ in range(TRIES):
        train = ~across
        train[rng.permutation(np.flatnonzero(train))[:more]] = False
        if covers(masks, train):
            return train
    raise UserError(f"in {TRIES} tries, holding out {held_out} of the masks always held out some module altogether")


def non_compositional(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Every mask without the last module, whatever share that holds out.

    >>> non_compositional(np.array([[1, 1, 0], [0, 1, 1]]), 0.5, jax.random.key(0)).tolist()
    [True, False]
    """
    return masks[:, -1] == 0


def parted(masks: np.ndarray, held_out: float, key: jax.Array) -> np.ndarray:
    """Every mask within the first or within the second half of the modules, whatever share that holds out.

    Covers, does not connect, and leaves no module rare, as `disconnected` does.

    >>> masks = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    >>> parted(masks, 0.34, jax.random.key(0)).tolist()
    [True, False, True]
    """
    first, second = np.array_split(masks, 2, axis=1)
    return (first.sum(axis=1) == 0) | (second.sum(axis=1) == 0)


def ring(masks: np.ndarray) -> np.ndarray:
    """Single modules and pairs of modules one or two steps apart on a ring; masks have at most two modules.

    >>> ring(np.array([[1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1]])).tolist()
    [True, False, True]
    """
    modules, (first, last) = _pairs(masks), _ends(masks)
    steps = last - first
    return (steps <= 2) | (steps >= modules - 2)


def halves(masks: np.ndarray) -> np.ndarray:
    """Single modules and pairs within the first or within the second half of the modules: covers, does not connect.

    >>> halves(np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 1]])).tolist()
    [True, False, True]
    """
    modules, (first, last) = _pairs(masks), _ends(masks)
    return (first < modules // 2) == (last < modules // 2)


def apart(masks: np.ndarray) -> np.ndarray:
    """What both `ring` and `halves` hold out, to ask them the same; with ten modules, both train on 30 masks.

    >>> apart(np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 0, 1, 0, 0]])).tolist()
    [False, False, True]
    """
    return ~(ring(masks) | halves(masks))


def _generator(key: jax.Array) -> np.random.Generator:
    return np.random.default_rng([*b"support", *np.asarray(jax.random.key_data(one_key(key))).ravel().tolist()])


def _count(masks: np.ndarray, held_out: float) -> int:
    """How many masks are trained on."""
    if not 0 <= held_out < 1:
        raise ValueError(f"the held-out fraction must be in [0, 1), got {held_out}")
    return len(as_combinations(masks)) - int(held_out * len(masks))


def _ends(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last active module of each mask."""
    masks = as_combinations(masks)
    return np.argmax(masks, axis=1), masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)


def _pairs(masks: np.ndarray) -> int:
    """The number of modules, where masks are singles and pairs of an even number of modules."""
    modules = masks.shape[1]
    if masks.sum(axis=1).max() != 2 or modules < 6 or modules % 2:
        raise ValueError(f"needs pairs of an even number of modules, at least 6; got {modules} modules")
    return modules


def _draws(masks: np.ndarray, held_out: float, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Random training masks, again and again."""
    count = _count(masks, held_out)
    while True:
        train = np.zeros(len(masks), bool)
        train[rng.choice(len(masks), count, replace=False)] = True
        yield train


def _first_sound(masks: np.ndarray, supports: Iterable[np.ndarray]) -> np.ndarray:
    """The first that covers and connects the modules."""
    train = np.zeros(len(masks), bool)
    for train in islice(supports, TRIES):
        if covers(masks, train) and connected(masks, train):
            return train
    raise UserError(f"{int(train.sum())} training masks do not cover and connect {masks.shape[1]} modules")


def _balanced(masks: np.ndarray, train: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace the most used module by the least used one in as many training masks as evens them out, until all are.

    More training masks hold the one without the other than the reverse, so enough have a twin that is held out.
    """
    train, used, codes = train.copy(), usage(masks, train), masks @ _bits(masks)
    order, holds = np.argsort(codes), np.ascontiguousarray(masks.T, bool)
    while (spread := used.max() - used.min()) > 1:
        most, least = int(np.argmax(used)), int(np.argmin(used))
        rows = np.flatnonzero(train & holds[most] & ~holds[least])
        wanted = codes[rows] + (1 << least) - (1 << most)
        twins = order[np.searchsorted(codes, wanted, sorter=order).clip(max=len(masks) - 1)]
        free = np.flatnonzero((codes[twins] == wanted) & ~train[twins])
        taken = rng.permutation(free)[: spread // 2]
        if not len(taken):
            raise UserError("these masks cannot be balanced: some are missing from the family")
        train[rows[taken]], train[twins[taken]] = False, True
        used[most], used[least] = used[most] - len(taken), used[least] + len(taken)
    return train


def _bits(masks: np.ndarray) -> np.ndarray:
    """2^m for each module, to write a mask as one number."""
    if masks.shape[1] > 62:
        raise ValueError(f"masks of at most 62 modules can be written as one number, got {masks.shape[1]}")
    return 1 << np.arange(masks.shape[1], dtype=np.int64)
