"""Turns clues such as "the baker lives directly left of the tea drinker" into who lives where: puzzles of houses.

After Dziri et al., "Faith and Fate" (2023, arXiv 2305.18654). K houses in a row have M attributes, each with K values,
one per house. A clue says where a value is found, that two values share a house, or that their houses are neighbours,
in order or in any. All clues that are true of a solution drawn at random are candidates; some are removed, a tenth of
them at a time, then a twentieth, then single ones, as long as they leave one solution. Tokens are K and M, three for
each clue, SEP, the values of each house in turn, EOS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task, UserError
from recombine.device import MOST_COMBINATIONS
from recombine.encodings.tasks import generator, seed_of
from recombine.tasks.tokens import EOS, SEP, Vocabulary, example, padded, scored

LARGEST = 5
"""Houses and attributes, at most."""
AT, SAME, LEFT, NEXT = "at", "same house", "directly left of", "next to"
VOCABULARY = Vocabulary(
    (
        AT,
        SAME,
        LEFT,
        NEXT,
        *(str(number) for number in range(1, LARGEST + 1)),
        *(f"attribute {a} value {v}" for a in range(LARGEST) for v in range(LARGEST)),
    )
)

Value = tuple[int, int]
"""An attribute and one of its values."""


@dataclass(frozen=True)
class Clue:
    """Something true of two values, or of a value and a house (the second number of `second`, whose first is -1)."""

    kind: str
    first: Value
    second: Value

    def holds(self, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Whether houses `here` of the first value and `there` of the second keep the clue."""
        if self.kind in (AT, SAME):
            return here == there
        return there - here == 1 if self.kind == LEFT else np.abs(there - here) == 1

    def words(self) -> list[str]:
        """Its three tokens."""
        second = str(self.second[1] + 1) if self.kind == AT else _named(self.second)
        return [self.kind, _named(self.first), second]


def _named(value: Value) -> str:
    return f"attribute {value[0]} value {value[1]}"


@cache
def _orders(houses: int) -> np.ndarray:
    """(K!, K) in which house each value of an attribute can be."""
    return np.array(list(permutations(range(houses))), np.int8)


def solutions(houses: int, attributes: int, clues: Sequence[Clue], most: int = 2) -> list[tuple[int, ...]]:
    """Solutions that keep all clues, at most so many: for each attribute the number of an order of its values.

    A clue speaks of one attribute, or of two: so orders are kept or refused one by one, then two by two.
    """
    orders = _orders(houses)
    alone = np.ones((attributes, len(orders)), bool)
    pairs = {(a, b): np.ones((len(orders),) * 2, bool) for a in range(attributes) for b in range(a)}
    for clue in clues:
        (a, v), (b, w) = clue.first, clue.second
        if clue.kind == AT:
            alone[a] &= clue.holds(orders[:, v], np.asarray(w))
        elif a == b:
            alone[a] &= clue.holds(orders[:, v], orders[:, w])
        else:
            kept = clue.holds(orders[:, v][:, None], orders[:, w][None])
            pairs[max(a, b), min(a, b)] &= kept if a > b else kept.T
    return _search(alone, pairs, most)


def _search(alone: np.ndarray, pairs: dict[tuple[int, int], np.ndarray], most: int) -> list[tuple[int, ...]]:
    """Orders of one attribute after another that agree with all before."""
    found: list[tuple[int, ...]] = []
    open_: list[tuple[int, ...]] = [()]
    while open_ and len(found) < most:
        chosen = open_.pop()
        a = len(chosen)
        if a == len(alone):
            found.append(chosen)
            continue
        fits = alone[a].copy()
        for b, order in enumerate(chosen):
            fits &= pairs[a, b][:, order]
        open_ += [(*chosen, int(order)) for order in np.flatnonzero(fits)]
    return found


def candidates(where: np.ndarray, rng: np.random.Generator) -> list[Clue]:
    """All clues that are true where value v of attribute a is in house where[a, v]; of neighbours one of two kinds."""
    values = [(a, v) for a, v in product(*map(range, where.shape))]
    clues = [Clue(AT, value, (-1, int(where[value]))) for value in values]
    for one, other in product(values, values):
        if one < other and one[0] != other[0] and where[one] == where[other]:
            clues.append(Clue(SAME, one, other))
        if where[other] - where[one] == 1:
            ends = (one, other) if rng.uniform() < 0.5 else (other, one)
            clues.append(Clue(LEFT, one, other) if rng.uniform() < 0.5 else Clue(NEXT, *ends))
    return [clues[i] for i in rng.permutation(len(clues))]


def puzzle(houses: int, attributes: int, rng: np.random.Generator) -> tuple[list[Clue], np.ndarray]:
    """Clues that leave one solution, none of which can be spared, and in which house each value is (M, K)."""
    where = np.stack([rng.permutation(houses) for _ in range(attributes)])
    clues = candidates(where, rng)
    for share in (0.1, 0.05):
        size = max(1, round(share * len(clues)))
        while len(fewer := clues[size:]) and len(solutions(houses, attributes, fewer)) == 1:
            clues = fewer
    for clue in list(clues):
        fewer = [one for one in clues if one is not clue]
        if len(solutions(houses, attributes, fewer)) == 1:
            clues = fewer
    return clues, where


@dataclass(frozen=True)
class Puzzles:
    """The `sample` of the task: puzzles of some sizes, so many of each; its key is not used."""

    sizes: tuple[tuple[int, int], ...]
    items: int
    seed: tuple[int, ...]

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (T,) and y (T, 2) for one combination."""
        table = written(self.sizes, self.items, self.seed)
        sizes = jnp.asarray(self.sizes)
        place = jnp.argmax(jnp.all(sizes == z[:2], axis=1)) * self.items + z[2]
        return example(jnp.asarray(table)[place], jnp.asarray(scored(table))[place])


@cache
def written(sizes: tuple[tuple[int, int], ...], items: int, seed: tuple[int, ...]) -> np.ndarray:
    """The tokens of all puzzles, those of one size after another; a puzzle depends on seed, size and number alone."""
    rows = []
    for (houses, attributes), item in product(sizes, range(items)):
        clues, where = puzzle(houses, attributes, generator("houses", houses, attributes, item, *seed))
        asked = [str(houses), str(attributes), *(word for clue in clues for word in clue.words())]
        lives = [_named((a, int(v))) for house in range(houses) for a, v in enumerate(np.argsort(where)[:, house])]
        rows.append([*VOCABULARY.ids(asked), SEP, *VOCABULARY.ids(lives), EOS])
    return padded(rows)


def houses(sizes: Sequence[tuple[int, int]], items: int, *, key: jax.Array) -> Task:
    """Rows (houses, attributes, item): so many puzzles of each size."""
    wrong = [size for size in sizes if not all(2 <= number <= LARGEST for number in size)]
    if wrong or not sizes or len(set(sizes)) < len(sizes) or items < 1:
        raise UserError(f"puzzles have 2 to {LARGEST} houses and attributes, each size once; got {tuple(sizes)}")
    if len(sizes) * items > MOST_COMBINATIONS:
        raise UserError(f"{items} puzzles of each of {len(sizes)} sizes are more than {MOST_COMBINATIONS:,} rows")
    rows = [(*size, item) for size in sizes for item in range(items)]
    return Task("houses", np.array(rows, np.int32), Puzzles(tuple(sizes), items, seed_of(key)))
