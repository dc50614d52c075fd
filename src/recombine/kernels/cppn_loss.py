"""A picture network's mean squared error and its gradient in one GPU kernel, tile of pixels by tile.

A plain program writes and reads every unit map of the whole picture several times. Here a tile
goes through all layers and back, and only its sums before the units, the pre-activations, are
kept. Columns and the letters T, W, U, L, P are those of `cppn_tiles`; T is TILE or LARGE.

Grid       (programs,), programs = blocks(pixels / T); `jax.vmap` over members adds an axis.
Ownership  Block p owns pixels / (T programs) consecutive tiles, takes one after the other, and
           has its own copy of all gradients: no atomics; XLA adds up the copies of all blocks.
Registers  Sums z or their gradient (T, W), float32, of the layer at hand; errors (T,).
Shared     Nothing by hand: the compiler stages factors of products there.
Global     Read: matrices (P, L, W, W), inputs (pixels, W), targets (3, pixels).
           Own: gradients (L, U, U) float32, `kept` (L, T, U): sums before the units, written on
           the way up, read on the way back, and written over by the next tile.
Precision  Products as in `cppn_tiles`, summed in float32. On the way back kept sums have 11 bits
           (float16), and weights' gradients multiply first parts alone (8 bits in X3); X6 rounds
           neither.
Equals     `cppn.network.CPPN.squared_error` by its plain program, value and gradient. Test:
           test_the_kernel_gives_the_plain_networks_error_and_gradients
           (tests/models/test_model_drawn.py; interpreted, X3 to 1e-3 of the largest, X6 to 1e-5).
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
"""The largest number that a kept sum can be."""


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def squared_error(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind) -> jax.Array:
    """The mean of (colour(network(x)) - y)^2, x (pixels, inputs) and y (pixels, 3); differentiable in the weights."""
    return _whole(weights, x, y, kind)[0]


def _remember(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind):
    """The error, and its gradients, which the same call of the kernel has found."""
    error, gradients = _whole(weights, x, y, kind)
    return error, (gradients, x, y)


def _gradients(kind: Kind, remembered: Any, scale: jax.Array):
    """The remembered gradients times dL/d(error); x and y are data: theirs are given as zero."""
    gradients, x, y = remembered
    return [scale * g for g in gradients], jnp.zeros_like(x), jnp.zeros_like(y)


squared_error.defvjp(_remember, _gradients)


def _whole(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array, kind: Kind) -> tuple[jax.Array, list[jax.Array]]:
    """Error and gradients: put units in their columns, run the kernel, add up what its blocks found, put back."""
    plan, layers = planned(kind, x.shape[1]), len(weights)
    large = plan.width <= 32 and not kind.exact and shared(len(x), LARGE)
    width, tile = plan.width, LARGE if large else TILE
    tiles, programs = len(x) // tile, blocks(len(x) // tile)
    # (L, W, W), rows and columns in the order of the plan
    stack = jnp.stack([widened(w, plan, 0, 1) for w in weights])[_moved(np.argsort(plan.place), layers)]
    # matrices (P, L, W, W) from rows to columns, inputs (pixels, W), targets (3, pixels)
    ins = (jnp.stack(parts(stack, kind)), widened(x, plan, 1), y.T)
    # per block: gradients (L, U, U), errors (T,), kept sums (L, T, U)
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
    # Blocks' copies added up, (L, U, U) -> (L, W, W); the kernel leaves out the 2 / y.size.
    slopes = jnp.pad(2 / y.size * slopes.sum(axis=0), ((0, 0), *[(0, width - plan.used)] * 2))
    moved = slopes[_moved(plan.place, layers)]  # (L, W, W), units in their own order
    return errors.sum() / y.size, [g[: w.shape[0], : w.shape[1]] for g, w in zip(moved, weights, strict=True)]


def _moved(order: np.ndarray, layers: int) -> tuple[np.ndarray, ...]:
    """Indices that reorder rows and columns of matrices, all but the first one's rows and the last one's columns."""
    rows, columns = np.tile(order, (2, layers, 1))  # (L, W) each
    rows[0] = columns[-1] = np.arange(len(order))  # inputs and h, s, v stay where they are
    return np.arange(layers)[:, None, None], rows[:, :, None], columns[:, None, :]


def _first(axes: int, _):
    """Every block sees the whole array."""
    return (0,) * axes


def _own(axes: int, program):
    """Block p sees entry p of the first axis."""
    return (program, *(0,) * axes)


def _block(*refs, tiles: int, tile: int, plan: Plan, kind: Kind) -> None:
    """One block: its tiles one after the other, forwards and back. `kept` has what goes into the units, layer by layer.

    The inputs stand in columns of linear units, and so do h, s, v: all layers are alike. f is each column's function.

    Forwards   z_0 = x, z_{l+1} = f(z_l) W_l for l = 0 .. L - 1; z_L holds h, s, v.
    Backwards  delta = dE/dz_{l+1}, with E half the sum of squares: dE/dW_l = f(z_l)^T delta,
               dE/dz_l = f'(z_l) * (delta W_l^T), element by element.
    """
    # (P, L, W, W), (pixels, W), (3, pixels); own: (L, U, U), (T,), (L, T, U)
    weights, x, y, slopes, error, kept = refs
    layers, width = weights.shape[1], plan.width
    begin = pl.program_id(0) * tiles  # this block's first tile
    row, column = (jax.lax.broadcasted_iota(jnp.int32, (tile, width), axis) for axis in (0, 1))  # (T, W) each
    # Made once for both ways: the compiler then sees which columns a thread has, and leaves out the other functions.
    bent = bends(plan, column)
    here, there = (jax.lax.broadcasted_iota(jnp.int32, (width, width), axis) for axis in (0, 1))  # (W, W) each
    used, both = column < plan.used, (here < plan.used) & (there < plan.used)  # (T, W), (W, W)

    def clear(layer, _):
        triton.store(slopes.at[layer, here, there], jnp.zeros((width, width), jnp.float32), mask=both)

    def up(layer, z):  # z (T, W): z_l -> z_{l+1}
        triton.store(kept.at[layer, row, column], _as_kept(z, kept.dtype), mask=used)
        return upwards(z, weights, layer, bent, kind)

    def down(step, delta):  # delta (T, W): dE/dz_{l+1} -> dE/dz_l
        layer, pulls = layers - 1 - step, parts(delta, kind)  # P parts of (T, W)
        z = triton.load(kept.at[layer, row, column], mask=used, other=0.0).astype(jnp.float32)  # (T, W) z_l
        # delta W_l^T (T, W) is dE/df(z_l); values f(z_l) (T, W), delta dE/dz_l (T, W)
        values, delta = units_of(_held_as(z, delta), product(pulls, read(weights, layer), ((1,), (1,)), kind), bent)
        slope = triton.load(slopes.at[layer, here, there], mask=both, other=0.0)  # (W, W) so far
        slope += _over_pixels(values, pulls, kind)  # dE/dW_l of this tile's T pixels
        triton.store(slopes.at[layer, here, there], slope, mask=both)
        return delta

    def one(i, errors):  # tile i of this block; errors (T,)
        rows = pl.ds((begin + i) * tile, tile)
        out = jax.lax.fori_loop(0, layers, up, x[rows, :])  # (T, W) z_L: h, s, v in columns 0, 1, 2
        squares, delta = _judged(out, [y[k, rows] for k in range(3)], column, kind)  # (T,), (T, W)
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

    Where unit and pull are the same in all pixels they do not: such a slope may be off by 2^-8 of itself.
    values (T, W) and pulls, parts of (T, W), to values^T pull (W, W).
    """
    count = len(pulls) if kind.exact else 1
    return product(parts(values, kind)[:count], pulls[:count], ((0,), (0,)), kind)


def _judged(out: jax.Array, wanted: list[jax.Array], column: jax.Array, kind: Kind) -> tuple[jax.Array, jax.Array]:
    """Each pixel's sum of (colour - wanted)^2, and half its slope in the columns of h, s, v, which come first.

    out (T, W) and wanted, three of (T,), to (T,) and (T, W). `_whole` puts back the factor 2.
    """
    # red, green, blue (T,) each; `back` is the transposed Jacobian, pixel by pixel
    colours, back = jax.vjp(kind.colour, *map(_held_as, first_three(out, column), wanted))
    off = [c - w for c, w in zip(colours, wanted, strict=True)]  # (T,) each
    pulls = [jnp.where(column == k, pull[:, None], 0) for k, pull in enumerate(back(tuple(off)))]  # (T, W) each
    return off[0] ** 2 + off[1] ** 2 + off[2] ** 2, pulls[0] + pulls[1] + pulls[2]


def _meet(kind: Kind) -> None:
    """Wait for the whole block: what one thread wrote, another reads next."""
    if not kind.interpret:
        triton.debug_barrier()


def _held_as(a: jax.Array, b: jax.Array) -> jax.Array:
    """Nothing but a, in a form that makes the compiler hold it in the same threads as b, and pass it on only once."""
    axis = a.ndim - 1
    return jnp.where(jax.lax.broadcasted_iota(jnp.int32, a.shape, axis) < a.shape[axis], a, b)
