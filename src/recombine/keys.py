"""Named random streams: every purpose has a name, and no two names share a key.

Members of a population use the numbers 0, 1, 2, ... below 2^31 (`member_keys`); names use those from 2^31 on. So no
stream of a name can meet that of a member, and none depends on how many members there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    import jax

_NAMES = 2**31


def key(seed: int, *words: str | int) -> jax.Array:
    """The JAX key of a purpose: `key(seed, "test")`, `key(seed, "support", 3)`."""
    import jax

    stream = jax.random.key(seed)
    for word in words:
        stream = jax.random.fold_in(stream, np.uint32(number(word)))
    return stream


def rng(seed: int, *words: str | int) -> np.random.Generator:
    """The NumPy generator of a purpose: `rng(seed, "rewiring", member)`."""
    return np.random.default_rng([seed, *(number(word) for word in words)])


def number(word: str | int) -> int:
    """A word as a number from 2^31 on, by its checksum; a number as itself.

    >>> number("test") >= 2**31, number(3)
    (True, 3)
    """
    return word if isinstance(word, int) else _NAMES | crc32(word.encode())
