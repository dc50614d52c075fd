"""Greedy generation for a population of decoders over tokens: each network writes its own answers, token by token.

The law that saves most of it: a written answer equals the right one exactly if every prediction given the right
beginning is right. So exact match is read off one pass (`measures/tokens.py`), and generation is for what networks
write after a first error.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Record, UserError
from recombine.measures.tokens import need_known
from recombine.models.network import answer_shapes, member_shapes

_AT_ONCE = 256  # rows written together, to bound memory


def generate(models: Any, asked: Record, *, end: int, pad: int = 0) -> np.ndarray:
    """What each member of a population writes after the prompts of these rows: ids (members, rows, T), as y[.., 0].

    A prompt is a row up to its first place that counts (y[.., 1] > 0). At each place after it the id of the largest
    logit is written, until that was `end`, then `pad`. Every step is a whole pass: rows are short.
    """
    if not isinstance(asked, Record):
        raise UserError(f"prompts are one recombine.Record, such as rc.truth gives; got a {type(asked).__name__}")
    counts = asked.y[..., 1] > 0
    if np.any(asked.x < 0):
        row = int(np.argwhere(asked.x < 0)[0, 0])
        raise UserError(
            f"row {row} has tokens below 0, so it is from a world that does not exist: nothing can be written"
        )
    if not np.all(np.any(counts & (asked.y[..., 0] == end), axis=1)):
        row = int(np.argmin(np.any(counts & (asked.y[..., 0] == end), axis=1)))
        raise UserError(f"the answer of row {row} has no end token ({end}): generation would not know where to stop")
    _check_decoders(models, asked.x)
    params, static = eqx.partition(models, eqx.is_array)
    begins = jnp.asarray(counts.argmax(axis=1))
    written = _write(params, jnp.asarray(asked.x), begins, static=static, end=end, pad=pad)
    return np.asarray(written)


def _check_decoders(models: Any, x: np.ndarray) -> None:
    """Refuse what is no population of decoders, and rows with tokens that they do not know."""
    try:
        logits, _ = answer_shapes(member_shapes(models), jax.ShapeDtypeStruct(x.shape[1:], x.dtype))
    except ValueError as error:
        how = "one network is given as jax.tree.map(lambda a: a[None], model)"
        raise UserError(f"{error}; {how}") from error
    need_known(x, logits.shape[-1])


@partial(jax.jit, static_argnames=("static", "end", "pad"))
def _write(params: Any, x: jax.Array, begins: jax.Array, *, static: Any, end: int, pad: int) -> jax.Array:
    """(members, rows, T) of prompts x (rows, T) whose answers begin after place `begins` (rows,)."""

    def row(model: Any, x: jax.Array, begin: jax.Array) -> jax.Array:
        def place(carry: tuple[jax.Array, jax.Array], t: jax.Array):
            tokens, ended = carry  # (T + 1,), ()
            best = jnp.argmax(model(tokens[:-1])[0][t])
            told = jnp.where(t < begin, tokens[t + 1], jnp.where(ended, pad, best))
            return (tokens.at[t + 1].set(told), ended | ((t >= begin) & (told == end))), None

        start = jnp.append(x, pad), jnp.zeros((), bool)
        (tokens, _), _ = jax.lax.scan(place, start, jnp.arange(len(x)))
        return tokens[1:]

    def member(params: Any) -> jax.Array:
        model = eqx.combine(params, static)
        return jax.lax.map(lambda both: row(model, *both), (x, begins), batch_size=_AT_ONCE)

    return jax.vmap(member)(params)
