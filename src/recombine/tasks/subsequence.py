"""Turns a few numbers into the largest sum of some of them, no two adjacent: a small dynamic programme, as tokens.

The task of Dziri et al., "Faith and Fate" (2023, arXiv 2305.18654). From the right, dp_i = max(dp_i+1, in_i + dp_i+2,
0). Then, from the left, i is taken if dp_i = in_i + dp_i+2 and i - 1 is not. Inputs are -5 .. 5, and a combination
holds them plus 5, ABSENT from the right: 0 .. 10. Tokens are the inputs, SEP, with steps all dp from the right and
":", then 1 for each input that is taken and 2 for each that is not, EOS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task, UserError
from recombine.device import MOST_COMBINATIONS
from recombine.tasks.tokens import EOS, FIRST, SEP, Vocabulary, closed_up, example

LARGEST = 5
"""Inputs are -LARGEST .. LARGEST."""
VALUES = 2 * LARGEST + 1
_NEVER = -(10**6)  # in place of an input that is not there, so that it is never taken


def solved(inputs: jax.Array, there: jax.Array) -> tuple[jax.Array, jax.Array]:
    """All dp of some inputs, and whether each is taken; both 0 where there is no input.

    >>> dp, taken = solved(jnp.array([10, 10, 7, 5, 6]), jnp.ones(5, bool))
    >>> dp.tolist(), taken.tolist()
    ([23, 16, 13, 6, 6], [1, 0, 1, 0, 1])
    """
    inputs = jnp.where(there, inputs, _NEVER)
    dp = [jnp.zeros((), inputs.dtype)] * 2
    for number in inputs[::-1]:
        dp.append(jnp.maximum(jnp.maximum(dp[-1], number + dp[-2]), 0))
    found, before = [], jnp.zeros((), bool)
    for i, number in enumerate(inputs):
        before = (dp[-1 - i] == number + dp[-3 - i]) & ~before
        found.append(before)
    return jnp.stack(dp[:1:-1]), jnp.stack(found).astype(inputs.dtype)


@dataclass(frozen=True)
class Subsequence:
    """The `sample` of the task, for up to `longest` inputs and dp of up to `most`; its key is not used."""

    longest: int
    most: int
    steps: bool

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (T,) and y (T, 2) for one combination, T + 1 being 3 longest + 3 with steps and 2 longest + 2 without."""
        tokens, scored = self.written(z)
        return example(tokens, scored)

    def written(self, z: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The tokens of one combination, and which of them are to be predicted."""
        z = jnp.asarray(z, jnp.int32)
        there = z != ABSENT
        dp, taken = solved(z - LARGEST, there)
        one, yes = jnp.ones(1, jnp.int32), jnp.ones(1, bool)
        middle = [FIRST + VALUES + 3 + dp[::-1], self.colon * one] if self.steps else []
        tokens = [FIRST + z, SEP * one, *middle, self.answers[0] + 1 - taken, EOS * one]
        here = [there, yes, *([there[::-1], yes] if self.steps else []), there, yes]
        row = closed_up(jnp.concatenate(tokens), jnp.concatenate(here))
        places, count = jnp.arange(len(row)), there.sum()
        return row, (places > count) & (places < jnp.concatenate(here).sum())

    @property
    def colon(self) -> int:
        """What parts the steps from the answer."""
        return FIRST + VALUES

    @property
    def answers(self) -> tuple[int, int]:
        """The tokens for "taken" and "not taken"."""
        return FIRST + VALUES + 1, FIRST + VALUES + 2

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Inputs, ":", the two answers, and dp from 0 on."""
        inputs = tuple(f"in {i - LARGEST}" for i in range(VALUES))
        return Vocabulary((*inputs, ":", "taken", "not taken", *(f"dp {i}" for i in range(self.most + 1))))


def subsequence(combinations: np.ndarray, *, steps: bool, most: int = 25) -> Task:
    """A task over combinations that `every` or `some` made; `most` bounds dp, whose tokens all such tasks share."""
    longest = combinations.shape[1]
    if not np.all((combinations >= ABSENT) & (combinations < VALUES)):
        raise UserError(
            f"inputs plus {LARGEST} lie in 0 .. {VALUES - 1}, got {combinations.min()} .. {combinations.max()}"
        )
    reached = largest_sum(combinations)
    if reached > most:
        raise UserError(f"a sum of {reached} has no token: dp goes up to {most}")
    return Task(f"subsequence of {longest}", combinations, Subsequence(longest, most, steps))


def largest_sum(combinations: np.ndarray) -> int:
    """The largest answer that rows of so many inputs can have, by the inputs that there are."""
    longest = int((combinations != ABSENT).sum(axis=1).max())
    return LARGEST * ((longest + 1) // 2)


def every(longest: int, *, shortest: int = 1) -> np.ndarray:
    """All combinations of `shortest` to `longest` inputs: 11^n of each length n."""
    if not 1 <= shortest <= longest:
        raise UserError(f"rows have at least 1 input, and shortest is at most longest; got {shortest} and {longest}")
    if longest > 64 or sum(VALUES**n for n in range(shortest, longest + 1)) > MOST_COMBINATIONS:
        raise UserError(f"all rows of up to {longest} inputs are more than {MOST_COMBINATIONS:,}: draw `some` of them")
    blocks = []
    for length in range(shortest, longest + 1):
        rows = np.array(list(product(range(VALUES), repeat=length)), np.int8)
        blocks.append(np.pad(rows, ((0, 0), (0, longest - length)), constant_values=ABSENT))
    return np.concatenate(blocks)


def some(length: int, count: int, rng: np.random.Generator, *, columns: int | None = None) -> np.ndarray:
    """So many distinct combinations of exactly `length` inputs, drawn at random."""
    if not 0 <= count <= min(MOST_COMBINATIONS, VALUES**length / 2):
        raise UserError(
            f"at most half of the {VALUES**length:,} rows of {length} inputs can be drawn, and {MOST_COMBINATIONS:,};"
            f" got {count:,}"
        )
    rows = np.unique(rng.integers(0, VALUES, (2 * count + 64, length), np.int8), axis=0)
    while len(rows) < count:
        rows = np.unique(np.concatenate([rows, rng.integers(0, VALUES, rows.shape, np.int8)]), axis=0)
    rows = rng.permutation(rows)[:count]
    return np.pad(rows, ((0, 0), (0, (columns or length) - length)), constant_values=ABSENT)


def suffixes(combinations: np.ndarray) -> np.ndarray:
    """The number of the suffix from each input on, the whole subgraph of its dp; ABSENT where there is no input.

    >>> suffixes(np.array([[0, 3], [3, ABSENT]], np.int8)).tolist()
    [[49, 4], [4, -1]]
    """
    found = np.zeros((len(combinations), combinations.shape[1] + 1), np.int64)
    for i in reversed(range(combinations.shape[1])):  # digits from 1 on, so that suffixes of two lengths differ
        found[:, i] = (combinations[:, i] + 1) + (VALUES + 1) * found[:, i + 1]
    return np.where(combinations != ABSENT, found[:, :-1], ABSENT)


def local_steps(combinations: np.ndarray) -> np.ndarray:
    """The number of each step (in_i, dp_i+1, dp_i+2), whatever led to it; ABSENT where there is no input."""
    there = combinations != ABSENT
    dp = np.zeros((len(combinations), combinations.shape[1] + 2), np.int64)
    for i in reversed(range(combinations.shape[1])):
        best = np.maximum(np.maximum(dp[:, i + 1], combinations[:, i] - LARGEST + dp[:, i + 2]), 0)
        dp[:, i] = np.where(there[:, i], best, 0)
    room = dp.max() + 1
    return np.where(there, (combinations * room + dp[:, 1:-1]) * room + dp[:, 2:], ABSENT)


def lengths(combinations: np.ndarray) -> np.ndarray:
    """How many inputs each combination has."""
    return np.sum(combinations != ABSENT, axis=1)


def coupled(tokens: jax.Array) -> jax.Array:
    """Places (.., T) by which an input, its dp and its answer stand together, whatever the length (position coupling).

    Input i, dp_i and answer i have place i + 1, ":" has 0, and SEP the place after the last input. What a step needs
    then lies as far away in rows of every length. For rows with steps.
    """
    t = jnp.arange(tokens.shape[-1])
    n = jnp.argmax(tokens == SEP, axis=-1, keepdims=True)
    return jnp.where(t <= n, t + 1, jnp.abs(2 * n + 1 - t))
