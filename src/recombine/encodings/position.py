"""Turns the value of one part into the vector that a model is given.

The codes of Liang et al. (2025): one-hot, local bump (also padded beyond the picture), rate, and positional.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, UserError, at_least_one

Absent = Callable[[np.ndarray, float], Any]
"""The code of a missing part, from the places of the units and the variance of their tuning."""


@dataclass(frozen=True)
class Encoding:
    """e(v) = function(v, *settings), a vector of `size` numbers; equal where all its fields are.

    `smooth` says whether e has a derivative in v wherever the part is present.
    """

    name: str
    function: Callable[..., jax.Array]
    size: int
    smooth: bool
    settings: tuple[Hashable, ...] = ()

    def __call__(self, v: jax.Array) -> jax.Array:
        return self.function(v, *self.settings)


def width(encode: Callable[[jax.Array], jax.Array], kind: Any = jnp.float32) -> int:
    """How many numbers any encoding gives for one part of this kind of number, found without computing them."""
    wanted = "encode gives the vector of one value, as recombine.one_hot(8) does"
    if not callable(encode):
        raise TypeError(f"{wanted}; got {encode!r}")
    try:
        code = jax.eval_shape(encode, jax.ShapeDtypeStruct((), kind))
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise TypeError(f"{wanted}; {encode} cannot: {str(error).partition(chr(10))[0]}") from error
    if getattr(code, "ndim", 0) != 1:
        raise TypeError(f"{wanted}; {encode} gives {getattr(code, 'shape', code)}")
    return code.shape[0]


def require_smooth(encoding: Callable[[jax.Array], jax.Array]) -> None:
    """Refuse an encoding whose derivative in v does not exist, or that does not say whether it does."""
    if not isinstance(encoding, Encoding):
        raise UserError(f"{encoding} does not say whether it is smooth; wrap it in an Encoding")
    if not encoding.smooth:
        raise UserError(f"{encoding.name} has no derivative: it is discontinuous; take differences between cells")


def one_hot(size: int) -> Encoding:
    """e_k = 1 where k = v; zeros where the part is absent. Discontinuous in v."""
    at_least_one(size=size)
    return Encoding(f"one-hot {size}", _one_hot, size, smooth=False, settings=(size,))


def local_bump(size: int, sigma: float = 1.0, multiplier: float = 1.0) -> Encoding:
    """e_k = exp(-(k - v)^2 / (2 m sigma^2)), k = 0..size-1, where m scales the variance; zeros where absent."""
    at_least_one(size=size)
    _check_widths(sigma, multiplier)
    return Encoding(
        f"local bump {size}", _bump, size, smooth=True, settings=(0, size, float(multiplier * sigma**2), silent)
    )


def _check_widths(sigma: float, multiplier: float = 1.0) -> None:
    if not (isinstance(sigma, Real) and isinstance(multiplier, Real)) or not multiplier * sigma**2 > 0:
        raise ValueError(f"a bump needs a width above 0, got sigma {sigma!r} and multiplier {multiplier!r}")


def silent(units: np.ndarray, variance: float) -> np.ndarray:
    """An absent part silences every unit."""
    return np.zeros(len(units), np.float32)


def in_margin(units: np.ndarray, variance: float) -> np.ndarray:
    """An absent part is a bump in the middle of the margin before the first pixel, where no picture shows it."""
    if units[0] >= 0:
        raise ValueError("only a padded code has a margin in which an absent part can lie")
    return np.exp(-((units - (units[0] - 1) / 2) ** 2) / (2 * variance)).astype(np.float32)


def padded_bump(size: int, sigma: float = 1.0, *, margin: int = 6, absent: Absent = silent) -> Encoding:
    """e_k = exp(-(k - v)^2 / (2 sigma^2)), k = -margin..size+margin-1; `absent` is silent or in_margin."""
    at_least_one(size=size)
    _check_widths(sigma)
    if not isinstance(margin, int | np.integer) or margin < 0:
        raise ValueError(f"margin must be a whole number from 0 on, got {margin!r}")
    if not callable(absent):
        raise TypeError(f"absent is a function, silent or in_margin of recombine.encodings.position; got {absent!r}")
    units = size + 2 * margin
    return Encoding(
        f"padded bump {units}", _bump, units, smooth=True, settings=(-margin, units, float(sigma**2), absent)
    )


def positional(size: int) -> Encoding:
    """e = [sin(v w_k), cos(v w_k)] with w_k = 10000^(-2k / size), k = 0..size/2-1; zeros where absent."""
    at_least_one(size=size)
    if size % 2:
        raise ValueError(f"a positional code has as many sines as cosines, so its size is even, got {size}")
    return Encoding(f"positional {size}", _positional, size, smooth=True, settings=(size,))


def rate(*, flag: bool = True) -> Encoding:
    """e = [v p, p], where p = 1 if the part is present and 0 if not; without the flag, e = v p alone.

    Without the flag an absent part reads as v = 0.
    """
    return Encoding("rate", _rate, 1 + flag, smooth=True, settings=(1.0, 0.0, flag))


def scaled_rate(size: int, *, flag: bool = True) -> Encoding:
    """e = [u p, p] with u = 2v / (size - 1) - 1 in [-1, 1], and p as in `rate`; without the flag, e = u p alone.

    Without the flag an absent part reads as the middle of the range.
    """
    at_least_one(size=size)
    if size < 2:
        raise ValueError(f"a range of {size} values cannot be scaled to [-1, 1]")
    return Encoding(f"rate in [-1, 1] over {size}", _rate, 1 + flag, smooth=True, settings=(2 / (size - 1), -1.0, flag))


def _one_hot(v: jax.Array, size: int) -> jax.Array:
    return (jnp.arange(size) == v).astype(jnp.float32)


def _bump(v: jax.Array, first: int, size: int, variance: float, absent: Absent) -> jax.Array:
    units = np.arange(first, first + size)
    return jnp.where(v == ABSENT, absent(units, variance), jnp.exp(-((units - v) ** 2) / (2 * variance)))


def _positional(v: jax.Array, size: int) -> jax.Array:
    angles = v * 10000.0 ** (-2 * jnp.arange(size // 2) / size)
    return jnp.where(v == ABSENT, 0.0, jnp.concatenate([jnp.sin(angles), jnp.cos(angles)]))


def _rate(v: jax.Array, slope: float, offset: float, flag: bool) -> jax.Array:
    present = v != ABSENT
    value = jnp.where(present, slope * v + offset, 0.0)
    return jnp.stack([value, present.astype(value.dtype)]) if flag else value[None]
