"""A picture network's mean squared error and its gradient in one GPU kernel, tile of pixels by tile.

The same numbers as the plain program's up to rounding, products in full float32 as there. A plain
program writes and reads every unit map of the whole picture several times; here the maps of a tile stay close by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

TILE = 64  # pixels that one block of threads carries through all layers and back
PROGRAMS = 16  # blocks that share a picture, at most; each adds up the gradient of its own pixels
DEEPEST = 16  # layers whose gradients still fit a block's registers
_PARAMS = triton.CompilerParams(num_warps=4, num_stages=2)


class Kind(NamedTuple):
    """What the compiler bakes in: a layer's functions with their numbers of units, and how h, s, v become colours."""

    units: tuple[tuple[Callable[[jax.Array], jax.Array], int], ...]
    colour: Callable[..., tuple[jax.Array, ...]]
    interpret: bool = False


def fits(pixels: int, shapes: Sequence[tuple[int, ...]], dtype: Any) -> bool:
    """Whether the kernel takes these shapes: whole tiles in float32, up to 16 inputs, 32 units and 16 layers."""
    widest = max(shape[1] for shape in shapes[:-1])
    small = shapes[0][0] <= 16 and widest <= 32 and len(shapes) - 1 <= DEEPEST
    return pixels % TILE == 0 and dtype == jnp.float32 and small


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
    """Error and gradients: pad, run the kernel, add up what its blocks found, cut again."""
    width = 32 if weights[-1].shape[0] > 16 else 16
    padded = [_pad(w, 16 if i == 0 else width, width) for i, w in enumerate(weights[:-1])]
    last = _pad(weights[-1].T, 4, width)
    programs = max(p for p in range(1, PROGRAMS + 1) if (len(x) // TILE) % p == 0)
    found = pl.pallas_call(
        partial(_block, layers=len(padded), tiles=len(x) // TILE // programs, kind=kind),
        grid=(programs,),
        in_specs=[_all(a) for a in (*padded, last, _pad(x, len(x), 16), _pad(y.T, 4, len(y)))],
        out_specs=[_own(a.shape) for a in (*padded, last)] + [_own((TILE,)), _own((len(padded), TILE, width))],
        out_shape=[jax.ShapeDtypeStruct((programs, *a.shape), jnp.float32) for a in (*padded, last)]
        + [
            jax.ShapeDtypeStruct((programs, TILE), jnp.float32),
            jax.ShapeDtypeStruct((programs, len(padded), TILE, width), jnp.float32),
        ],
        compiler_params=_PARAMS,
        interpret=kind.interpret,
    )(*padded, last, _pad(x, len(x), 16), _pad(y.T, 4, len(y)))
    *slopes, errors, _ = found
    slopes = [s.sum(axis=0) for s in slopes]
    slopes[-1] = slopes[-1].T
    count = 3 * len(x)
    return errors.sum() / count, [
        2 / count * s[: w.shape[0], : w.shape[1]] for s, w in zip(slopes, weights, strict=True)
    ]


def _pad(array: jax.Array, rows: int, columns: int) -> jax.Array:
    return jnp.pad(array, ((0, rows - array.shape[0]), (0, columns - array.shape[1])))


def _all(array: jax.Array) -> pl.BlockSpec:
    return pl.BlockSpec(array.shape, lambda _: (0,) * array.ndim)


def _own(shape: tuple[int, ...]) -> pl.BlockSpec:
    return pl.BlockSpec((None, *shape), lambda i: (i, *(0,) * len(shape)))


def _block(*refs, layers: int, tiles: int, kind: Kind) -> None:
    """One block: its tiles one after the other, forwards and back; gradients are kept until the last."""
    weights, (last, x, y) = refs[:layers], refs[layers : layers + 3]
    *slopes, error, kept = refs[layers + 3 :]
    width = last.shape[1]
    first = pl.program_id(0) * tiles

    def tile(i, found):
        rows = pl.ds((first + i) * TILE, TILE)
        values = x[rows, :]
        for layer, weight in enumerate(weights):
            kept[layer] = _dot(values, weight[...])
            values = _units(kept[layer], kind)
        reads = [last[k, :] for k in range(3)]
        hsv = [jnp.sum(values * read[None, :], axis=1) for read in reads]
        rgb, back = jax.vjp(kind.colour, *hsv)
        off = [c - y[k, rows] for k, c in enumerate(rgb)]
        pulls = back(tuple(off))
        *products, tail, errors = found
        column = jax.lax.broadcasted_iota(jnp.int32, (4, 1), 0)
        tail += sum(
            jnp.where(column == k, jnp.sum(values * p[:, None], axis=0)[None, :], 0) for k, p in enumerate(pulls)
        )
        delta = sum(p[:, None] * read[None, :] for p, read in zip(pulls, reads, strict=True))
        for layer in reversed(range(layers)):
            delta = jax.vjp(partial(_units, kind=kind), kept[layer])[1](delta)[0]
            before = _units(kept[layer - 1], kind) if layer else x[rows, :]
            products[layer] += _dot(before, delta, trans_a=True)
            if layer:
                delta = _dot(delta, weights[layer][...], trans_b=True)
        return (*products, tail, errors + sum(o**2 for o in off))

    nothing = [jnp.zeros((16 if i == 0 else width, width), jnp.float32) for i in range(layers)]
    start = (*nothing, jnp.zeros((4, width), jnp.float32), jnp.zeros(TILE, jnp.float32))
    *products, errors = jax.lax.fori_loop(0, tiles, tile, start)
    for slope, product in zip(slopes, products, strict=True):
        slope[...] = product
    error[...] = errors


_dot = partial(triton.dot, precision=jax.lax.Precision.HIGHEST)


def _units(z: jax.Array, kind: Kind) -> jax.Array:
    """Each column by its own function; columns beyond the last are none and give 0."""
    column = jax.lax.broadcasted_iota(jnp.int32, (1, z.shape[1]), 1)
    ends = np.cumsum([count for _, count in kind.units])
    answer = jnp.zeros_like(z)
    for (function, count), end in zip(kind.units, ends, strict=True):
        answer = jnp.where((column >= end - count) & (column < end), function(z), answer)
    return answer
