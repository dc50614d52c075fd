"""Named random streams: every purpose has a name, and no two names share a key.

Members of a population use the numbers 0, 1, 2, ... below 2^31 (`member_keys`); names use those from 2^31 on. So no
stream of a name can meet that of a member, and none depends on how many members there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    import jax

_NAMES = 2**31


def key(seed: int, *words: str | int) -> jax.Array:
    """The JAX key of a purpose: `key(seed, "test")`, `key(seed, "support", 3)`."""
    import jax

    stream = jax.random.key(check_seed(seed))
    for word in words:
        stream = jax.random.fold_in(stream, np.uint32(number(word)))
    return stream


def rng(seed: int, *words: str | int) -> np.random.Generator:
    """The NumPy generator of a purpose: `rng(seed, "rewiring", member)`."""
    return np.random.default_rng([check_seed(seed), *(number(word) for word in words)])


def number(word: str | int) -> int:
    """A word as a number from 2^31 on, by its checksum; a number as itself.

    >>> number("test") >= 2**31, number(3)
    (True, 3)
    """
    if isinstance(word, str):
        return _NAMES | crc32(word.encode())
    if not isinstance(word, int | np.integer) or not 0 <= word < 2**32:
        raise ValueError(f"the purpose of a stream is told by words and whole numbers from 0 on, got {word!r}")
    return int(word)


def check_seed(seed: int) -> int:
    """The seed itself, if it is a whole number from 0 on."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"a seed must be a whole number from 0 on, got {seed!r}")
    return int(seed)


def one_key(key: Any) -> Any:
    """The key itself, if it is one random key of JAX, of the new or the old kind."""
    import jax

    axes = 0 if isinstance(key, jax.Array) and jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key) else 1
    if not isinstance(key, jax.Array | np.ndarray) or key.ndim != axes:
        got = f"an array of shape {key.shape}" if hasattr(key, "shape") else repr(key)
        raise TypeError(f'key must be one random key, as recombine.key(0, "test") gives it; got {got}')
    return key
