"""Activation patching: what does a network answer if part of it sees another example?

An edit of one pass: the activations at some places of a layer are replaced by those that a donor's row has there, and
the layers after it go on. It works with every model that has `rest(h, x, first)`, as `TokenDecoder` does.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import UserError


def patched(model: Any, x: jax.Array, donor: jax.Array, *, before: int, places: jax.Array) -> jax.Array:
    """The answer to x, where layer number `before` is given the donor's activations at some places (T,).

    `before` is 0 for the embedding, and the number of layers for what is read out.
    """
    if not callable(getattr(model, "rest", None)):
        raise UserError("only a network with rest(h, x, first) can be patched, such as a TokenDecoder")
    if not all(hasattr(a, "dtype") for a in (x, donor, places)):
        kinds = ", ".join(type(a).__name__ for a in (x, donor, places))
        raise UserError(f"x, donor and places are arrays (T,); got {kinds}")
    if places.dtype != bool or jnp.ndim(before) or getattr(before, "dtype", np.asarray(before).dtype).kind not in "iu":
        raise UserError(
            f"places have a boolean per token, and `before` is the number of a layer; got {places.dtype} and {before!r}"
        )
    if jnp.ndim(x) != 1:
        raise UserError(f"one row of ids at a time, an array (T,), got shape {jnp.shape(x)}: use jax.vmap for many")
    if not x.shape == donor.shape == jnp.shape(places):
        shapes = f"{x.shape}, {donor.shape} and {jnp.shape(places)}"
        raise UserError(f"a row, its donor and the places are of one shape, a boolean per token; got {shapes}")
    acts, others = model(x)[1], model(donor)[1]
    layers = len(acts) - 1
    if not 0 <= before <= layers:
        raise UserError(f"a network of {layers} layers can be patched before layer 0 to {layers}, got {before}")
    name = f"layer{before - 1}" if before else "embedding"
    mixed = jnp.where(places[:, None], others[name], acts[name])
    return model.rest(mixed, x, before)
