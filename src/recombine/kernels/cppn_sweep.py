"""Pictures after single changes of weights in one GPU kernel: a tile of pixels goes through all later layers at once.

A plain program writes and reads every unit map of every picture, layer by layer. Here nothing
leaves a block of threads but colours. Columns and the letters T, W, P are those of `cppn_tiles`;
T is TILE, M is the number of matrices.

Grid       (changes, blocks(pixels / T)).
Ownership  Block (c, p) owns pixels / (T blocks) consecutive tiles of the picture after change c.
Registers  Sums z (T, W), float32, of the layer at hand.
Shared     Nothing by hand: the compiler stages factors of products there.
Global     Read: matrices (P, M, W, W) and unchanged sums (pixels, W), the same for all blocks;
           per change its push, (pixels,) times (W,). Written: colours (3, pixels) per change.
Precision  As in `cppn_tiles`; sweeps ask for X6: factors to 24 bits, sums in float32.
Equals     `cppn.sweep.after.redrawn`, and so one whole picture after the other. Test:
           test_the_kernel_draws_what_is_drawn_one_by_one
           (tests/test_sweeps.py; interpreted, X6 to 5e-5).
"""

from __future__ import annotations

from functools import partial

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
    upwards,
    warps,
    widened,
)

INPUTS = 4
"""Inputs of a pixel, which a plan leaves columns for."""


def colours(
    matrices: jax.Array,
    ends: tuple[jax.Array, jax.Array],
    sums: jax.Array,
    pushes: tuple[jax.Array, jax.Array],
    kind: Kind,
) -> jax.Array:
    """Colours (changes, 3, pixels) of pictures whose sums (units, pixels) before some layer were changed.

    `matrices` (number, units, units) go from columns to rows; `ends` are the number of the first one still to come, and
    of the one that makes h, s, v. `pushes` are how far each change moves a unit (changes, pixels), and that unit's
    weights to those sums (units, changes).
    """
    plan, (first, last), (moved, onwards) = planned(kind, INPUTS), ends, pushes
    # (W,) each: the unit in each column of the plan, and no reordering
    order, plain = jnp.asarray(np.argsort(plan.place)), jnp.arange(plan.width)
    here = jnp.where(first <= last, order, plain)  # h, s and v stand where they stand
    there = jnp.where(jnp.arange(len(matrices))[:, None] == last, plain, order)  # (M, W)
    steps = widened(matrices, plan, 1, 2).swapaxes(1, 2)[:, order]  # (M, W, W) from rows
    steps = jnp.take_along_axis(steps, there[:, None], axis=2)  # to columns, in the order of the plan
    ins = (
        jnp.stack([first, last + 1]).astype(jnp.int32),  # (2,) the loop's ends
        jnp.stack(parts(steps, kind)),  # (P, M, W, W)
        widened(sums, plan, 0)[here].T,  # (pixels, W)
        moved,  # (changes, pixels)
        widened(onwards, plan, 0)[here].T,  # (changes, W)
    )
    tiles = moved.shape[1] // TILE
    shared, own = (lambda c, p: (0, 0)), (lambda c, p: (c, 0))
    return pl.pallas_call(
        partial(_block, tiles=tiles // blocks(tiles), plan=plan, kind=kind),
        grid=(len(moved), blocks(tiles)),
        in_specs=[
            pl.BlockSpec(ins[0].shape, lambda c, p: (0,)),
            pl.BlockSpec(ins[1].shape, lambda c, p: (0, 0, 0, 0)),
            pl.BlockSpec(ins[2].shape, shared),
            pl.BlockSpec((None, moved.shape[1]), own),
            pl.BlockSpec((None, plan.width), own),
        ],
        out_specs=pl.BlockSpec((None, 3, moved.shape[1]), lambda c, p: (c, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((len(moved), 3, moved.shape[1]), jnp.float32),
        compiler_params=triton.CompilerParams(num_warps=warps(plan), num_stages=1),
        interpret=kind.interpret,
    )(*ins)


def _block(*refs, tiles: int, plan: Plan, kind: Kind) -> None:
    """One block: its tiles of one picture, one after the other; z <- f(z) W_l for l from ends[0] to before ends[1]."""
    # (2,), (P, M, W, W), (pixels, W); of this change: (pixels,), (W,), (3, pixels)
    ends, weights, sums, moved, onwards, out = refs
    begin = pl.program_id(1) * tiles  # this block's first tile
    column = jax.lax.broadcasted_iota(jnp.int32, (TILE, plan.width), 1)  # (T, W)
    bent = bends(plan, column)

    def up(layer, z):
        return upwards(z, weights, layer, bent, kind)

    def tile(i, _):
        rows = pl.ds((begin + i) * TILE, TILE)
        z = sums[rows, :] + moved[rows][:, None] * onwards[...][None, :]  # (T, W) + (T, 1) * (1, W)
        z = jax.lax.fori_loop(ends[0], ends[1], up, z)  # (T, W): h, s, v in columns 0, 1, 2
        for k, colour in enumerate(kind.colour(*first_three(z, column))):
            out[k, rows] = colour  # (T,)

    jax.lax.fori_loop(0, tiles, tile, None)
