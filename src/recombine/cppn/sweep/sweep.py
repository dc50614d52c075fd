"""Turns a picture network and some of its weights into the pictures it draws when each of them is changed.

Weight sweeps as in Kumar, Clune, Lehman, Stanley (2025), batched: what lies before a changed weight is computed once,
and what it does to the next layer is one unit's change times that unit's outgoing weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.tree_util import Partial
from numpy.typing import ArrayLike

from recombine import device
from recombine.cppn.network import CPPN
from recombine.cppn.sweep.after import Groups, Plain, Stack, by_kernel, plain_network, redrawn, slope, stacked
from recombine.cppn.task import grid
from recombine.kernels import cppn_tiles

COLUMNS = 1024
"""Pixels computed side by side on a CPU: their units share a core's cache; 512 and 2048 are slower."""
MOST_COLUMNS = 2**22
"""The same on an accelerator, memory permitting."""
PICTURES = 16
"""Pictures that one call of the program returns on a CPU, whose cores take turns at the calls."""
CALLERS = 8
"""Sweeps that may go on at once on an accelerator: each plans with that part of its memory."""
GROUP, GROUPS = 64, 16
"""Pictures computed together on an accelerator, and groups of them a call, memory permitting: few programs."""
RETURNED = 2**28
"""Bytes that one call returns, at most, if they hold a group."""
FETCHED = 256
"""Pictures drawn one by one before they are fetched."""
Reduce = Callable[[jax.Array], Any]
"""From a picture (pixels, 3) to what is kept of it; as `jax.tree_util.Partial` it may hold arrays of its own."""
_Kind = tuple[Callable[..., jax.Array], Reduce]


class WeightIndex(NamedTuple):
    """Weights by number of the matrix, row (the unit it comes from) and column (the unit it goes to)."""

    layer: np.ndarray
    row: np.ndarray
    col: np.ndarray


def every_weight(model: CPPN, at_most: int | None = None, seed: int = 0) -> WeightIndex:
    """All weights that are not zero, matrix by matrix; of more than `at_most`, so many drawn by the seed."""
    places = [np.argwhere(np.asarray(w)) for w in model.weights]
    found = np.concatenate([np.insert(place, 0, i, axis=1) for i, place in enumerate(places)])
    if not len(found):
        raise ValueError("all weights of the network are zero: there is nothing to sweep")
    if at_most is not None and at_most < len(found):
        drawn = np.random.default_rng(seed).choice(len(found), at_most, replace=False)
        found = found[np.sort(drawn)]
    return WeightIndex(*found.T)


def whole(picture: jax.Array) -> jax.Array:
    """The picture itself."""
    return picture


def sweep(model: CPPN, where: WeightIndex, deltas: ArrayLike, size: int, *, reduce: Reduce = whole) -> Any:
    """What `reduce` makes of the picture with one weight changed by one delta: (weights, deltas, ...).

    Deltas are the same for all weights, or one row per weight. A weight of matrix l from unit i to j changes the sum
    z_l[j] by delta h_l[i], hence the next sums by W_{l+1}[j] (f(z_l[j] + delta h_l[i]) - f(z_l[j])). Only layers after
    that are computed again. Pictures beyond a chunk exist only as what `reduce` leaves of them.
    """
    draw = by_kernel if has_kernel(model, size) else redrawn
    return _in_turn(model, where, _one_row_each(deltas, where), size, (draw, reduce))


def has_kernel(model: CPPN, size: int) -> bool:
    """Whether a kernel of an accelerator renders the changed pictures."""
    whole = room(model, size).block == size**2
    return whole and cppn_tiles.available() and cppn_tiles.fits(size**2, [model.weights[0].shape], jnp.float32)


def slopes(model: CPPN, where: WeightIndex, size: int, *, reduce: Reduce = whole) -> Any:
    """What the linear function `reduce` makes of the derivative of the picture in each weight: (weights, ...)."""
    at_zero = np.zeros((len(where.layer), 1), np.float32)
    return jax.tree.map(lambda a: a[:, 0], _in_turn(model, where, at_zero, size, (slope, reduce)))


def one_by_one(model: CPPN, where: WeightIndex, deltas: ArrayLike, size: int, *, reduce: Reduce = whole) -> Any:
    """The same as `sweep` the straightforward way: one compiled program draws one whole picture, again and again."""
    deltas, x = _one_row_each(deltas, where), jnp.asarray(grid(size))
    kept = reduce if isinstance(reduce, Partial) else Partial(reduce)
    rows, columns = np.array([w.shape for w in model.weights]).T
    begins = np.cumsum(rows * columns) - rows * columns
    places = begins[where.layer] + where.row * columns[where.layer] + where.col
    every, found = list(zip(np.repeat(places, deltas.shape[1]), deltas.ravel(), strict=True)), []
    for first in range(0, len(every), FETCHED):
        found += jax.device_get([_drawn(model, *one, x, kept) for one in every[first : first + FETCHED]])
    return jax.tree.map(lambda *a: np.stack(a).reshape(*deltas.shape, *np.shape(a[0])), *found)


def forward(model: CPPN, size: int) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The picture (pixels, 3) that a network draws, and its activations."""
    return _asked(model, jnp.asarray(grid(size)))


@eqx.filter_jit
def _asked(model: CPPN, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
    return model(x)


@jax.jit
def _drawn(model: CPPN, place: ArrayLike, delta: ArrayLike, x: jax.Array, reduce: Reduce) -> Any:
    """What is kept of the picture after one change; the weight is counted through all matrices."""
    weights, apart = ravel_pytree(model.weights)
    return reduce(eqx.tree_at(lambda m: m.weights, model, apart(weights.at[place].add(delta)))(x)[0])


def _one_row_each(deltas: ArrayLike, where: WeightIndex) -> np.ndarray:
    deltas = np.atleast_1d(np.asarray(deltas, np.float32))
    if not deltas.size or not len(where.layer):
        raise ValueError("there is nothing to sweep: no weight, or no delta")
    return np.broadcast_to(deltas, (len(where.layer), deltas.shape[-1]))


def _in_turn(model: CPPN, where: WeightIndex, deltas: np.ndarray, size: int, kind: _Kind) -> Any:
    """What is kept of each change, computed matrix by matrix, in the order of the weights."""
    shapes = np.array([w.shape for w in model.weights])
    if np.max(where.layer) >= len(shapes) or np.any(np.stack(where[1:], axis=1) >= shapes[where.layer]):
        raise ValueError("some of these weights are not in the network")
    stack, fit = stacked(model), room(model, size)
    place, groups = _grouped(where, deltas, fit.group)
    found = _in_calls(
        stack, plain_network(stack, pixel_blocks(stack.weights.shape[1], size, fit.block)), groups, fit, kind
    )
    back = np.argsort(np.ma.masked_less(place.ravel(), 0).filled(place.size), kind="stable")[: deltas.size]
    return jax.tree.map(lambda a: a[back].reshape(*deltas.shape, *a.shape[1:]), found)


def _grouped(where: WeightIndex, deltas: np.ndarray, group: int) -> tuple[np.ndarray, Groups]:
    """The changes in groups, and each one's place among all; a matrix's last group is filled up, with places of -1."""
    layer = np.repeat(where.layer, deltas.shape[1])
    mine = [np.flatnonzero(layer == i) for i in np.unique(layer)]
    filled = [np.pad(m, (0, -len(m) % group), constant_values=-1).reshape(-1, group) for m in mine]
    place = np.concatenate(filled)
    row, col = (np.repeat(a, deltas.shape[1])[place] for a in (where.row, where.col))
    return place, Groups(layer[place[:, 0]], row, col, deltas.ravel()[place])


class Room(NamedTuple):
    """Pictures computed together, pixels of each computed together and in all, calls at a time, groups a call."""

    group: int
    block: int
    pixels: int
    threads: int
    groups: int


def room(model: CPPN, size: int) -> Room:
    """As many columns as share a core's cache, on each core, or fit an accelerator's memory."""
    limit, pixels = device.device_memory(), size**2
    units = max(max(w.shape) for w in model.weights)
    share = 0 if limit is None else int(device.SHARE * limit) // CALLERS
    fit = COLUMNS if limit is None else min(MOST_COLUMNS, share // (4 * device.COPIES * units))
    block = min(pixels, fit)
    if limit is None:
        # The program keeps one core busy: its products are too small to be shared out.
        return Room(fit // block, block, pixels, os.cpu_count() or 1, max(1, PICTURES // (fit // block)))
    return Room(min(fit // block, GROUP), block, pixels, 1, GROUPS)


def pixel_blocks(high: int, size: int, block: int) -> jax.Array:
    """The inputs in blocks of pixels (blocks, H, pixels), the last filled up with zeros."""
    x = grid(size)
    x = np.pad(x, [(0, -len(x) % block), (0, high - x.shape[1])])
    return jnp.asarray(x.reshape(-1, block, high).swapaxes(1, 2))


def _in_calls(stack: Stack, plain: Plain, groups: Groups, fit: Room, kind: _Kind) -> Any:
    """What is kept of each change, one after the other, some calls of the program at a time."""
    count = len(groups.layer)
    one = jax.eval_shape(kind[1], jax.ShapeDtypeStruct((fit.pixels, 3), jnp.float32))
    returned = fit.group * sum(s.size * s.dtype.itemsize for s in jax.tree.leaves(one))
    length = max(1, min(fit.groups, RETURNED // max(1, returned)))
    step = max(1, min(length, -(-count // fit.threads)))

    def call(first: int) -> Any:
        some = [a[first : first + step] for a in groups]
        filled = (jnp.asarray(np.pad(a, [(0, length - len(a)), *[(0, 0)] * (a.ndim - 1)])) for a in some)
        found = _swept(stack, plain, (Groups(*filled), jnp.asarray(len(some[0]))), fit, kind)
        return jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), jax.device_get(_first(found, len(some[0]))))

    with ThreadPoolExecutor(fit.threads) as pool:
        parts = list(pool.map(call, range(0, count, step)))
    return jax.tree.map(lambda *a: np.concatenate(a), *parts)


def _first(found: Any, count: int) -> Any:
    """So many of each, lest the others travel; all of them need no program of their own."""
    return jax.tree.map(lambda a: a if count == len(a) else a[:count], found)


@eqx.filter_jit
def _swept(stack: Stack, plain: Plain, some: tuple[Groups, jax.Array], fit: Room, kind: _Kind) -> Any:
    """Groups, and how many of them count: one program for every matrix."""
    (groups, count), (draw, reduce) = some, kind

    def pictures(group: Groups) -> Any:
        colours = draw(stack, plain, group)
        return jax.vmap(reduce)(colours.swapaxes(0, 1).reshape(fit.group, -1, 3)[:, : fit.pixels])

    def advance(i: jax.Array, kept: Any) -> Any:
        new = pictures(Groups(*(a[i] for a in groups)))
        return jax.tree.map(lambda a, b: jax.lax.dynamic_update_index_in_dim(a, b, i, 0), kept, new)

    shapes = jax.eval_shape(lambda: pictures(Groups(*(a[0] for a in groups))))
    kept = jax.tree.map(lambda s: jnp.zeros((len(groups.layer), *s.shape), s.dtype), shapes)
    return jax.lax.fori_loop(0, count, advance, kept)
