"""What all tasks of tokens agree on: the first ids, how a row becomes an example, and words as ids.

A row is prompt, SEP, answer, EOS, then PAD to a common length. An example of it is x (T,), the tokens but the last, and
y (T, 2), for each of them the next token and its weight: 1 for the answer and its EOS, 0 for all else. The loss is
`rc.masked_cross_entropy`; `measures/tokens.py` has the scores. No token stands for the beginning of a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import UserError

PAD, EOS, SEP = 0, 1, 2
"""Ids that mean the same in every task: nothing, the end of an answer, the end of a prompt."""
FIRST = 3
"""The first id that a task may give to a token of its own."""


def example(tokens: jax.Array | np.ndarray, scored: jax.Array | np.ndarray) -> tuple[jax.Array, jax.Array]:
    """One row (T + 1,) and which of its tokens are to be predicted, as x (T,) and y (T, 2): next token and weight."""
    tokens = jnp.asarray(tokens, jnp.int32)
    return tokens[:-1], jnp.stack([tokens[1:], jnp.asarray(scored[1:], jnp.int32)], axis=-1)


def scored(tokens: np.ndarray) -> np.ndarray:
    """Which tokens of rows (.., T + 1) are to be predicted: those after the first SEP, up to and with the first EOS.

    >>> scored(np.array([[3, 4, SEP, 5, EOS, PAD]])).tolist()
    [[False, False, False, True, True, False]]
    """
    tokens = np.asarray(tokens)
    begun = np.cumsum(tokens == SEP, axis=-1) - (tokens == SEP) > 0
    ended = np.cumsum(tokens == EOS, axis=-1) - (tokens == EOS) > 0
    return begun & ~ended


def padded(rows: Sequence[Sequence[int]], length: int | None = None) -> np.ndarray:
    """Rows of tokens as one array (rows, length), PAD to the right; the longest row's length unless it is given.

    >>> padded([[3, EOS], [3, 4, EOS]]).tolist()
    [[3, 1, 0], [3, 4, 1]]
    """
    longest = max(map(len, rows), default=0)
    length = longest if length is None else length
    if longest > length:
        raise UserError(f"a row has {longest} tokens where there is room for {length}")
    found = np.full((len(rows), length), PAD, np.int32)
    for place, row in zip(found, rows, strict=True):
        place[: len(row)] = row
    return found


@dataclass(frozen=True)
class Vocabulary:
    """A task's own tokens by name; their ids follow on from FIRST, in this order.

    >>> Vocabulary(("walk", "run")).ids(["run", "walk"])
    [4, 3]
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"the tokens of a vocabulary have distinct names, got {self.names}")

    def __len__(self) -> int:
        """How many ids there are, those of every task included."""
        return FIRST + len(self.names)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: FIRST + i for i, name in enumerate(self.names)}

    def ids(self, names: Iterable[str]) -> list[int]:
        """The ids of some tokens."""
        names = list(names)
        if unknown := [name for name in names if name not in self._ids]:
            raise UserError(f"unknown token {unknown[0]!r}; there are {', '.join(self.names)}")
        return [self._ids[name] for name in names]

    def words(self, ids: Iterable[int]) -> list[str]:
        """The names of some ids, those of every task among them."""
        known = ("PAD", "EOS", "SEP", *self.names)
        found = [int(i) for i in ids]
        if unknown := [i for i in found if not 0 <= i < len(known)]:
            raise UserError(f"unknown token {unknown[0]}; there are {len(known)}")
        return [known[i] for i in found]


def closed_up(tokens: jax.Array, here: jax.Array) -> jax.Array:
    """The tokens of one row that are here, in their order, then PAD: how rows of several lengths are written.

    >>> closed_up(jnp.array([5, 6, 7]), jnp.array([True, False, True])).tolist()
    [5, 7, 0]
    """
    order = jnp.argsort(~here, stable=True)
    return jnp.where(here, tokens, PAD)[order]
