"""Turns two numbers into their product, digit by digit: the long multiplication taught in school, as tokens.

After Dziri et al., "Faith and Fate" (2023, arXiv 2305.18654). A combination is the digits of a, then those of b, least
first, ABSENT where a number is shorter. Tokens are a, "x", b, SEP, the product with as many digits as a and b have
together, EOS. With steps, each digit b_j first gives r_ij = p_ij mod 10 and c_ij = floor(p_ij / 10) of every digit of
a, p_ij = a_i b_j + c_i-1,j; then ":" and the digits of the sum so far; the last sum is the product.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task, UserError
from recombine.device import MOST_COMBINATIONS
from recombine.tasks.tokens import EOS, FIRST, SEP, Vocabulary, closed_up, example

VOCABULARY = Vocabulary((*map(str, range(10)), "x", ":", ","))
_TIMES, _COLON, _COMMA = VOCABULARY.ids("x:,")


@dataclass(frozen=True)
class Product:
    """The `sample` of the task, for at most `sizes` digits of a and of b; its key is not used."""

    sizes: tuple[int, int]
    steps: bool

    @property
    def vocabulary(self) -> Vocabulary:
        """Digits, and the marks between them."""
        return VOCABULARY

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (T,) and y (T, 2) for one combination."""
        a, b = jnp.split(jnp.asarray(z, jnp.int32), [self.sizes[0]])
        pieces = [(FIRST + a, a != ABSENT), _mark(_TIMES), (FIRST + b, b != ABSENT), _mark(SEP)]
        pieces += [*self.worked(a, b), _mark(EOS)]
        tokens, here = (jnp.concatenate(each) for each in zip(*pieces, strict=True))
        row, places, prompt = closed_up(tokens, here), jnp.arange(len(tokens)), (z != ABSENT).sum() + 2
        return example(row, (places >= prompt) & (places < here.sum()))

    def worked(self, a: jax.Array, b: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
        """The answer in pieces: tokens, and which of them are there."""
        digits, total, pieces = jnp.sum(a != ABSENT), jnp.zeros(sum(self.sizes), jnp.int32), []
        places = jnp.arange(len(total))
        for j in range(self.sizes[1]):
            there = b[j] != ABSENT
            low, carried = _times(jnp.maximum(a, 0), jnp.maximum(b[j], 0))
            total = _plus(total, jnp.pad(jnp.append(low, carried[-1]), (j, len(total) - len(low) - 1 - j)))
            if self.steps:
                each = FIRST + jnp.stack([low, carried], axis=1).ravel()
                pieces += [(each, there & jnp.repeat(a != ABSENT, 2)), _mark(_COLON, there)]
                pieces += [(FIRST + total, there & (places <= digits + j))]
                pieces += [_mark(_COMMA, b[j + 1] != ABSENT)] if j + 1 < self.sizes[1] else []
        return pieces if self.steps else [(FIRST + total, places < digits + jnp.sum(b != ABSENT))]


def _mark(token: int, there: jax.Array | bool = True) -> tuple[jax.Array, jax.Array]:
    return jnp.full(1, token, jnp.int32), jnp.full(1, there)


def _times(a: jax.Array, digit: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Each digit of a times one digit, with carry: what is written down, and what is carried on."""

    def step(carry: jax.Array, one: jax.Array):
        product = one * digit + carry
        return product // 10, (product % 10, product // 10)

    return jax.lax.scan(step, jnp.zeros((), jnp.int32), a)[1]


def _plus(first: jax.Array, second: jax.Array) -> jax.Array:
    """The sum of two numbers, digit by digit."""

    def step(carry: jax.Array, both: jax.Array):
        total = both.sum() + carry
        return total // 10, total % 10

    return jax.lax.scan(step, jnp.zeros((), jnp.int32), jnp.stack([first, second], axis=1))[1]


def multiplication(combinations: np.ndarray, sizes: tuple[int, int], *, steps: bool) -> Task:
    """A task over combinations that `every` or `some` made, with room for these numbers of digits."""
    combinations = np.asarray(combinations)
    if combinations.ndim != 2 or combinations.shape[1] != sum(sizes) or not len(combinations):
        raise UserError(f"combinations are the digits of two numbers, {sizes} of them; got {combinations.shape}")
    digits = np.split(combinations != ABSENT, [sizes[0]], axis=1)
    whole = [each[:, 0] & ~np.any(each[:, 1:] & ~each[:, :-1], axis=1) for each in digits]  # least first, no hole
    good = np.all((combinations >= ABSENT) & (combinations < 10), axis=1) & whole[0] & whole[1]
    if not good.all():
        raise UserError(
            f"combinations are the digits of two numbers, {sizes} of them; {combinations[~good][0]} is none"
        )
    return Task(f"multiplication {sizes[0]} x {sizes[1]}", combinations, Product(sizes, steps))


def every(sizes: tuple[int, int]) -> np.ndarray:
    """All pairs of numbers from 1 on with at most so many digits: (10^A - 1)(10^B - 1) of them."""
    if sum(sizes) > 64 or 10 ** sum(sizes) > MOST_COMBINATIONS:
        raise UserError(f"all pairs of numbers of {sizes} digits are more than {MOST_COMBINATIONS:,} rows: draw `some`")
    a, b = (np.arange(1, 10**size) for size in sizes)
    return written(np.repeat(a, len(b)), np.tile(b, len(a)), sizes)


def some(digits: tuple[int, int], count: int, rng: np.random.Generator, sizes: tuple[int, int]) -> np.ndarray:
    """So many distinct pairs of numbers of exactly these digits, drawn at random, with room for `sizes`."""
    spans = [(10 ** (size - 1), 9 * 10 ** (size - 1)) for size in digits]
    if not 0 <= count <= min(MOST_COMBINATIONS, spans[0][1] * spans[1][1]):
        most = min(MOST_COMBINATIONS, spans[0][1] * spans[1][1])
        raise UserError(f"at most {most:,} pairs of {digits[0]} and {digits[1]} digits can be drawn, got {count:,}")
    flat = rng.choice(spans[0][1] * spans[1][1], count, replace=False, shuffle=False)
    a, b = np.divmod(flat, spans[1][1])
    return written(a + spans[0][0], b + spans[1][0], sizes)


def written(a: np.ndarray, b: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """Pairs of numbers as combinations.

    >>> written(np.array([120]), np.array([7]), (3, 2)).tolist()
    [[0, 2, 1, 7, -1]]
    """
    columns = []
    for numbers, size in zip((a, b), sizes, strict=True):
        for place in range(size):
            columns.append(np.where(numbers >= 10**place, numbers // 10**place % 10, ABSENT))
    return np.stack(columns, axis=1).astype(np.int8)


def digit_pairs(combinations: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """The number of each one-digit product (a_i, b_j), in the order of the steps; ABSENT where a digit is."""
    a, b = _sides(combinations, sizes)
    return np.where((a != ABSENT) & (b != ABSENT), 10 * a + b, ABSENT).reshape(len(combinations), -1)


def partial_products(combinations: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """The number of (a_0 .. a_i, b_j), the whole subgraph of r_ij and c_ij; ABSENT where a digit is."""
    a, b = _sides(combinations, sizes)
    up_to = np.cumsum((a + 1) * 11 ** np.arange(sizes[0]), axis=2)  # digits from 1 on, so that two lengths differ
    return np.where((a != ABSENT) & (b != ABSENT), 10 * up_to + b, ABSENT).reshape(len(combinations), -1)


def step_tokens(digits: tuple[int, int]) -> np.ndarray:
    """(B, A, 2) where y has r_ij and c_ij, in rows with steps of exactly these digits.

    >>> step_tokens((2, 2)).tolist()  # after "27x43=", 1 2 8 0 : 1 8 0 , 8 2 0 1 : 1 6 1 1
    [[[5, 6], [7, 8]], [[14, 15], [16, 17]]]
    """
    a, b = digits
    round_of = np.arange(b)  # each before has 2 a steps, ":", a sum of a + 1 digits and one more per round, ","
    start = a + b + 1 + round_of * (3 * a + 3) + round_of * (round_of - 1) // 2
    return start[:, None, None] + np.arange(2 * a).reshape(a, 2)


def coupled(tokens: jax.Array) -> jax.Array:
    """Places (.., T) by which digits that are worked on together stand together, whatever the length.

    Digit a_i, what a_i b_j leaves and carries, and the digit of the sum that this is added to have place i + 1, so that
    the sum before lies one place further on. "x" has the place after the last digit of a, ":" has 0, and b_j and the
    mark that opens its products -j. For rows with steps (position coupling, Cho et al. 2024, arXiv 2405.20671).
    """
    t, last = jnp.arange(tokens.shape[-1]), tokens.ndim - 1
    times, end = (jnp.argmax(tokens == mark, axis=-1, keepdims=True) for mark in (_TIMES, SEP))
    opens, colon = (tokens == SEP) | (tokens == _COMMA), tokens == _COLON
    opened, parted = (jax.lax.cummax(jnp.where(mark, t, -1), axis=last) for mark in (opens, colon))
    j = jnp.cumsum(opens, axis=-1) - 1
    steps = jnp.where(parted > opened, t - parted - j, (t - opened + 1) // 2)
    places = jnp.where(colon, 0, jnp.where(opens, -j, steps))
    return jnp.where(t <= times, t + 1, jnp.where(t < end, times + 1 - t, places))


def _sides(combinations: np.ndarray, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The digits of a (rows, 1, A) and of b (rows, B, 1)."""
    wide = combinations.astype(np.int64)
    return wide[:, None, : sizes[0]], wide[:, sizes[0] :, None]
