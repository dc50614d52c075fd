"""Turns a symbol and a chain of functions into the value of the chain, f3(f2(f1(x))), answered at once or in steps.

Dziri et al. (2023, arXiv 2305.18654) ask whether computations are composed or their pieces remembered; this is the
smallest family of that kind. Functions are tables drawn at random, a set of its own for each world. They are not
permutations: of those, a value that is not yet used can be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task, UserError
from recombine.device import MOST_COMBINATIONS
from recombine.encodings.tasks import generator, seed_of
from recombine.tasks.tokens import EOS, FIRST, SEP, Vocabulary, example


@dataclass(frozen=True)
class Chains:
    """The tokens of (t, x, f1, .., fK), f ABSENT from the right: x, K functions, SEP, the answer, EOS.

    The answer is the last value or, with steps, all K values in turn. What is ABSENT is told by the token NONE.
    Rows of a world that does not exist have no tokens but -1, which decoders and scores refuse.
    """

    symbols: int
    functions: int
    longest: int
    worlds: int
    steps: bool
    seed: tuple[int, ...]

    def __call__(self, row: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        world, x, chain = row[0], row[1], row[2:]
        none = self.symbols + self.functions
        tables, there_is = jnp.asarray(self.tables)[world], (world >= 0) & (world < self.worlds)
        values = [x]
        for f in chain:  # an ABSENT function is -1: the last table, which leaves a symbol as it is
            values.append(tables[f, values[-1]])
        there = chain != ABSENT
        answer = jnp.where(there, jnp.stack(values[1:]), none) if self.steps else values[-1][None]
        asked = jnp.concatenate([x[None], jnp.where(there, self.symbols + chain, none)])
        tokens = jnp.concatenate([FIRST + asked, jnp.array([SEP]), FIRST + answer, jnp.array([EOS])])
        return example(jnp.where(there_is, tokens, -1), jnp.arange(len(tokens)) > self.longest + 1)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Symbols, then functions, then NONE."""
        symbols, functions = (f"x{i}" for i in range(self.symbols)), (f"f{i}" for i in range(self.functions))
        return Vocabulary((*symbols, *functions, "NONE"))

    @property
    def tables(self) -> np.ndarray:
        """(worlds, functions + 1, symbols): f(x) of each world, which depends on the seed and its number alone.

        The last function leaves a symbol as it is.
        """
        return _tables(self.symbols, self.functions, self.worlds, self.seed)

    def values(self, combinations: np.ndarray) -> np.ndarray:
        """(rows, K) the value after each step; where a function is ABSENT, the value before it."""
        if (wrong := combinations[:, 0][(combinations[:, 0] < 0) | (combinations[:, 0] >= self.worlds)]).size:
            raise UserError(f"there is no world {wrong[0]}: they are numbered from 0 to {self.worlds - 1}")
        value, found = combinations[:, 1], []
        for f in combinations[:, 2:].T:
            value = self.tables[combinations[:, 0], f, value]
            found.append(value)
        return np.stack(found, axis=1)


@lru_cache
def _tables(symbols: int, functions: int, worlds: int, seed: tuple[int, ...]) -> np.ndarray:
    drawn = [generator("chains", t, *seed).integers(symbols, size=(functions, symbols)) for t in range(worlds)]
    same = np.broadcast_to(np.arange(symbols), (worlds, 1, symbols))
    return np.concatenate([np.stack(drawn), same], axis=1).astype(np.int32)


def chains(
    *, symbols: int = 8, functions: int = 8, longest: int = 3, worlds: int = 1, steps: bool = False, key: jax.Array
) -> Task:
    """Rows (t, x, f1, .., fK) for every world, symbol and chain of up to K functions; worlds in blocks of equal order.

    A world has symbols (functions + functions^2 + ..) rows.
    """
    if min(functions, longest, worlds) < 1 or symbols < 2:
        raise UserError(
            f"a family of chains has two symbols, a function, a step and a world, got {symbols}, {functions},"
            f" {longest} and {worlds}"
        )
    if longest > 31:  # a grid over all chains has an axis for each function, of which NumPy has 32
        raise UserError(f"chains have up to 31 functions, got longest={longest}")
    if max(symbols, functions, worlds) > 32_767:
        raise UserError(f"at most 32767 symbols, functions and worlds, got {symbols}, {functions} and {worlds}")
    if worlds * symbols * sum(functions**k for k in range(1, longest + 1)) > MOST_COMBINATIONS:
        raise UserError(
            f"chains of up to {longest} of {functions} functions, {symbols} symbols and {worlds} worlds make more than"
            f" {MOST_COMBINATIONS:,} rows"
        )
    sample = Chains(symbols, functions, longest, worlds, steps, seed_of(key))
    each = np.concatenate([_of_length(k, symbols, functions, longest) for k in range(1, longest + 1)])
    who = np.repeat(np.arange(worlds, dtype=np.int16), len(each))
    kind = "in steps" if steps else "at once"
    return Task(f"chains of up to {longest}, {kind}", np.column_stack([who, np.tile(each, (worlds, 1))]), sample)


def _of_length(k: int, symbols: int, functions: int, longest: int) -> np.ndarray:
    axes = np.meshgrid(np.arange(symbols), *[np.arange(functions)] * k, indexing="ij")
    rows = np.stack(axes, axis=-1).reshape(-1, k + 1).astype(np.int16)
    return np.pad(rows, ((0, 0), (0, longest - k)), constant_values=ABSENT)
