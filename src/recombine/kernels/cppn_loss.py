"""A picture network's mean squared error and its gradient in one GPU kernel, tile of pixels by tile.

The same numbers as the plain program's up to rounding. A plain program writes and reads every unit map of the whole
picture several times; here a tile goes through all layers and back, and only its sums before the units are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from recombine.kernels.cppn_tiles import (
    TILE,
    Kind,
    Plan,
    bends,
    blocks,
    first_three,
    parts,
    planned,
    product,
    read,
    shared,
    units_of,
    upwards,
    warps,
    widened,
)

LARGE = 128
"""Pixels of a tile where so many sums fit into the registers of a block: matrices are fetched less often."""
MOST = float(jnp.finfo(jnp.float16).max)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def squared_error(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind) -> jax.Array:
    """The mean of (colour(network(x)) - y)^2, x (pixels, inputs) and y (pixels, 3); differentiable in the weights."""
    return _whole(weights, x, y, kind)[0]


def _remember(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind):
    error, gradients = _whole(weights, x, y, kind)
    return error, (gradients, x, y)


def _gradients(kind: Kind, remembered: Any, scale: jax.Array):
    gradients, x, y = remembered
    return [scale * g for g in gradients], jnp.zeros_like(x), jnp.zeros_like(y)


squared_error.defvjp(_remember, _gradients)


def _whole(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind) -> tuple[jax.Array, list[jax.Array]]:
    """Error and gradients: put units in their columns, run the kernel, add up what its blocks found, put back."""
    plan, layers = planned(kind, x.shape[1]), len(weights)
    large = plan.width <= 32 and not kind.exact and shared(len(x), LARGE)
    width, tile = plan.width, LARGE if large else TILE
    tiles, programs = len(x) // tile, blocks(len(x) // tile)
    stack = jnp.stack([widened(w, plan, 0, 1) for w in weights])[_moved(np.argsort(plan.place), layers)]
    ins = (jnp.stack(parts(stack, kind)), widened(x, plan, 1), y.T)
    outs = [(layers, plan.used, plan.used), (tile,), (layers, tile, plan.used)]
    kinds = [jnp.float32, jnp.float32, jnp.float32 if kind.exact else jnp.float16]
    slopes, errors, _ = pl.pallas_call(
        partial(_block, tiles=tiles // programs, tile=tile, plan=plan, kind=kind),
        grid=(programs,),
        in_specs=[pl.BlockSpec(a.shape, partial(_first, a.ndim)) for a in ins],
        out_specs=[pl.BlockSpec((None, *s), partial(_own, len(s))) for s in outs],
        out_shape=[jax.ShapeDtypeStruct((programs, *s), k) for s, k in zip(outs, kinds, strict=True)],
        # What the next step reads is fetched ahead, which is right because a step writes to its own layer alone.
        compiler_params=triton.CompilerParams(num_warps=warps(plan), num_stages=2),
        interpret=kind.interpret,
    )(*ins)
    slopes = jnp.pad(2 / y.size * slopes.sum(axis=0), ((0, 0), *[(0, width - plan.used)] * 2))
    moved = slopes[_moved(plan.place, layers)]
    return errors.sum() / y.size, [g[: w.shape[0], : w.shape[1]] for g, w in zip(moved, weights, strict=True)]


def _moved(order: np.ndarray, layers: int) -> tuple[np.ndarray, ...]:
    """Indices that reorder rows and columns of matrices, all but the first one's rows and the last one's columns."""
    rows, columns = np.tile(order, (2, layers, 1))
    rows[0] = columns[-1] = np.arange(len(order))
    return np.arange(layers)[:, None, None], rows[:, :, None], columns[:, None, :]


def _first(axes: int, _):
    return (0,) * axes


def _own(axes: int, program):
    return (program, *(0,) * axes)


def _block(*refs, tiles: int, tile: int, plan: Plan, kind: Kind) -> None:
    """One block: its tiles one after the other, forwards and back. `kept` has what goes into the units, layer by layer.

    The inputs stand in columns of linear units, and so do h, s, v: all layers are alike.
    """
    weights, x, y, slopes, error, kept = refs
    layers, width = weights.shape[1], plan.width
    begin = pl.program_id(0) * tiles
    row, column = (jax.lax.broadcasted_iota(jnp.int32, (tile, width), axis) for axis in (0, 1))
    # Made once for both ways: the compiler then sees which columns a thread has, and leaves out the other functions.
    bent = bends(plan, column)
    here, there = (jax.lax.broadcasted_iota(jnp.int32, (width, width), axis) for axis in (0, 1))
    used, both = column < plan.used, (here < plan.used) & (there < plan.used)

    def clear(layer, _):
        triton.store(slopes.at[layer, here, there], jnp.zeros((width, width), jnp.float32), mask=both)

    def up(layer, z):
        triton.store(kept.at[layer, row, column], _as_kept(z, kept.dtype), mask=used)
        return upwards(z, weights, layer, bent, kind)

    def down(step, delta):
        layer, pulls = layers - 1 - step, parts(delta, kind)
        z = triton.load(kept.at[layer, row, column], mask=used, other=0.0).astype(jnp.float32)
        values, delta = units_of(_held_as(z, delta), product(pulls, read(weights, layer), ((1,), (1,)), kind), bent)
        slope = triton.load(slopes.at[layer, here, there], mask=both, other=0.0)
        slope += _over_pixels(values, pulls, kind)
        triton.store(slopes.at[layer, here, there], slope, mask=both)
        return delta

    def one(i, errors):
        rows = pl.ds((begin + i) * tile, tile)
        out = jax.lax.fori_loop(0, layers, up, x[rows, :])
        squares, delta = _judged(out, [y[k, rows] for k in range(3)], column, kind)
        _meet(kind)
        jax.lax.fori_loop(0, layers, down, delta)
        _meet(kind)
        return errors + squares

    jax.lax.fori_loop(0, layers, clear, None)
    error[...] = jax.lax.fori_loop(0, tiles, one, jnp.zeros(tile, jnp.float32))


def _as_kept(z: jax.Array, dtype: Any) -> jax.Array:
    """Sums on their way to memory: the way back needs them to 11 bits, unless all 24 are wanted."""
    return z if dtype == jnp.float32 else jnp.clip(z, -MOST, MOST).astype(dtype)


def _over_pixels(values: jax.Array, pulls: list[jax.Array], kind: Kind) -> jax.Array:
    """What a tile adds to a layer's slopes: first parts are enough, as roundings of many pixels cancel.

    WeightIndex unit and pull are the same in all pixels they do not: such a slope may be off by 2^-8 of itself.
    """
    count = len(pulls) if kind.exact else 1
    return product(parts(values, kind)[:count], pulls[:count], ((0,), (0,)), kind)


def _judged(out: jax.Array, wanted: list[jax.Array], column: jax.Array, kind: Kind) -> tuple[jax.Array, jax.Array]:
    """Each pixel's sum of (colour - wanted)^2, and half its slope in the columns of h, s, v, which come first."""
    colours, back = jax.vjp(kind.colour, *map(_held_as, first_three(out, column), wanted))
    off = [c - w for c, w in zip(colours, wanted, strict=True)]
    pulls = [jnp.where(column == k, pull[:, None], 0) for k, pull in enumerate(back(tuple(off)))]
    return off[0] ** 2 + off[1] ** 2 + off[2] ** 2, pulls[0] + pulls[1] + pulls[2]


def _meet(kind: Kind) -> None:
    """Wait for the whole block: what one thread wrote, another reads next."""
    if not kind.interpret:
        triton.debug_barrier()


def _held_as(a: jax.Array, b: jax.Array) -> jax.Array:
    """Nothing but a, in a form that makes the compiler hold it in the same threads as b, and pass it on only once."""
    axis = a.ndim - 1
    return jnp.where(jax.lax.broadcasted_iota(jnp.int32, a.shape, axis) < a.shape[axis], a, b)
