"""Turns a picture network and some of its weights into the pictures it draws when each of them is changed.

Weight sweeps as in Kumar, Clune, Lehman, Stanley (2025), batched: what lies before a changed weight is computed once,
and what it does to the next layer is one unit's change times that unit's outgoing weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from recombine import room
from recombine.models.cppn import CPPN, UNITS, Mix, hsv_to_rgb
from recombine.tasks.pictures import grid

LINEAR = ("cache", "identity")
"""The unit types that hand on their sum as it is."""
COLUMNS = 1024
"""Pixels computed side by side on a CPU: their units share a core's cache; 512 and 2048 are slower."""
MOST_COLUMNS = 2**22
"""The same on an accelerator, memory permitting."""
PICTURES = 16
"""Pictures that one call of the program returns, at least."""
Reduce = Callable[[jax.Array], Any]
"""From a picture (pixels, 3) to what is kept of it; as `jax.tree_util.Partial` it may hold arrays of its own."""
_Kind = tuple[Callable[..., jax.Array], Reduce]


class Where(NamedTuple):
    """Weights by number of the matrix, row (the unit it comes from) and column (the unit it goes to)."""

    layer: np.ndarray
    row: np.ndarray
    col: np.ndarray


def every_weight(model: CPPN, at_most: int | None = None, seed: int = 0) -> Where:
    """All weights that are not zero, matrix by matrix; of more than `at_most`, so many drawn by the seed."""
    places = [np.argwhere(np.asarray(w)) for w in model.weights]
    found = np.concatenate([np.insert(place, 0, i, axis=1) for i, place in enumerate(places)])
    if not len(found):
        raise ValueError("all weights of the network are zero: there is nothing to sweep")
    if at_most is not None and at_most < len(found):
        drawn = np.random.default_rng(seed).choice(len(found), at_most, replace=False)
        found = found[np.sort(drawn)]
    return Where(*found.T)


def whole(picture: jax.Array) -> jax.Array:
    """The picture itself."""
    return picture


def sweep(model: CPPN, where: Where, deltas: ArrayLike, size: int, *, reduce: Reduce = whole) -> Any:
    """What `reduce` makes of the picture with one weight changed by one delta: (weights, deltas, ...).

    Deltas are the same for all weights, or one row a weight. A weight of matrix l from unit i to unit j changes the sum
    z_l[j] by delta h_l[i], hence the next sums by W_{l+1}[j] (f(z_l[j] + delta h_l[i]) - f(z_l[j])). Only layers after
    that are computed again. Pictures beyond a chunk exist only as what `reduce` leaves of them.
    """
    return _in_turn(model, where, _one_row_each(deltas, where), size, (_changed, reduce))


def slopes(model: CPPN, where: Where, size: int, *, reduce: Reduce = whole) -> Any:
    """What the linear function `reduce` makes of the derivative of the picture in each weight: (weights, ...)."""
    at_zero = np.zeros((len(where.layer), 1), np.float32)
    return jax.tree.map(lambda a: a[:, 0], _in_turn(model, where, at_zero, size, (_slope, reduce)))


def one_by_one(model: CPPN, where: Where, deltas: ArrayLike, size: int, *, reduce: Reduce = whole) -> Any:
    """The same as `sweep` the straightforward way: one compiled program draws one whole picture, again and again."""
    deltas = _one_row_each(deltas, where)
    matrices, x = [np.asarray(w) for w in model.weights], jnp.asarray(grid(size))
    found = []
    for (layer, row, col), values in zip(np.stack(where, axis=1), deltas, strict=True):
        for delta in values:
            changed = list(matrices)
            changed[layer] = matrices[layer].copy()
            changed[layer][row, col] += delta
            found.append(jax.device_get(_drawn(eqx.tree_at(lambda m: m.weights, model, tuple(changed)), x, reduce)))
    return jax.tree.map(lambda *a: np.stack(a).reshape(*deltas.shape, *np.shape(a[0])), *found)


def looked_at(model: CPPN, size: int) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The picture (pixels, 3) that a network draws, and its activations."""
    return _asked(model, jnp.asarray(grid(size)))


@eqx.filter_jit
def _asked(model: CPPN, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
    return model(x)


@eqx.filter_jit
def _drawn(model: CPPN, x: jax.Array, reduce: Reduce) -> Any:
    return reduce(model(x)[0])


def _one_row_each(deltas: ArrayLike, where: Where) -> np.ndarray:
    deltas = np.atleast_1d(np.asarray(deltas, np.float32))
    if not deltas.size or not len(where.layer):
        raise ValueError("there is nothing to sweep: no weight, or no delta")
    return np.broadcast_to(deltas, (len(where.layer), deltas.shape[-1]))


def _in_turn(model: CPPN, where: Where, deltas: np.ndarray, size: int, kind: _Kind) -> Any:
    """Pictures matrix by matrix, in one program for all of them, put back into the order of the weights."""
    shapes = np.array([w.shape for w in model.weights])
    if np.max(where.layer) >= len(shapes) or np.any(np.stack(where[1:], axis=1) >= shapes[where.layer]):
        raise ValueError("some of these weights are not in the network")
    stack, fit = _stacked(model), _room(model, size, np.bincount(where.layer).max() * deltas.shape[1])
    parts = []
    for layer, before in enumerate(_layers(stack, size, fit.block)):
        chosen = np.flatnonzero(where.layer == layer)
        row, col = (np.repeat(a[chosen], deltas.shape[1]) for a in (where.row, where.col))
        parts += _in_calls(stack, before, (row, col, deltas[chosen].ravel()), fit, kind)
    back = np.argsort(np.argsort(where.layer, kind="stable"))
    return jax.tree.map(lambda *a: np.concatenate(a).reshape(*deltas.shape, *a[0].shape[1:])[back], *parts)


class _Stack(eqx.Module):
    """All matrices, transposed and padded with zeros to one shape (depth + 2, H, H); the last one copies."""

    weights: jax.Array
    mix: Mix = eqx.field(static=True)

    @property
    def depth(self) -> int:
        """The number of hidden layers: matrix `depth` makes h, s, v."""
        return len(self.weights) - 2

    def product(self, i: ArrayLike, h: jax.Array) -> jax.Array:
        return _dot(self.weights[i], h)

    def bent(self, z: jax.Array) -> jax.Array:
        """What the units of a hidden layer make of their sums, one unit a row."""
        start = 0
        for name, count in self.mix:
            if name not in LINEAR:
                z = z.at[start : start + count].set(UNITS[name](z[start : start + count]))
            start += count
        return z

    def bent_by(self, z: jax.Array, unit: jax.Array) -> jax.Array:
        """The same where z is (blocks, changes, pixels) and each change is of a unit of its own; -1 is a linear one."""
        kinds = np.repeat(np.arange(len(self.mix)), [count for _, count in self.mix])
        kind = jnp.asarray(np.append(kinds, -1))[unit, None]
        for i, (name, _) in enumerate(self.mix):
            z = z if name in LINEAR else jnp.where(kind == i, UNITS[name](z), z)
        return z


def _stacked(model: CPPN) -> _Stack:
    matrices = [np.asarray(w, np.float32).T for w in model.weights]
    if matrices[0].shape[1] != 4:
        raise ValueError(f"a sweep draws from the 4 inputs of a pixel, the network has {matrices[0].shape[1]}")
    most = max(max(m.shape) for m in matrices)
    padded = [np.pad(m, [(0, most - n) for n in m.shape]) for m in (*matrices, np.eye(3, dtype=np.float32))]
    return _Stack(jnp.asarray(np.stack(padded)), model.mix)


def _dot(weight: jax.Array, h: jax.Array) -> jax.Array:
    return jnp.matmul(weight, h, precision=jax.lax.Precision.HIGHEST)


class _Room(NamedTuple):
    """Pictures computed together, pixels of each computed together and in all, pictures a call, calls at a time."""

    group: int
    block: int
    pixels: int
    call: int
    threads: int


def _room(model: CPPN, size: int, pictures: int) -> _Room:
    """As many columns as share a core's cache, on each core, or fit an accelerator's memory."""
    limit, pixels = room.device_memory(), size**2
    units = max(max(w.shape) for w in model.weights)
    fit = COLUMNS if limit is None else min(MOST_COLUMNS, int(room.SHARE * limit) // (4 * room.COPIES * units))
    block = min(pixels, fit)
    group = min(fit // block, 2 ** int(np.ceil(np.log2(max(pictures, 1)))))  # powers of two: few programs
    # The program keeps one core busy: its products are too small to be shared out.
    threads = (os.cpu_count() or 1) if limit is None else 1
    return _Room(group, block, pixels, group * max(1, PICTURES // group), threads)


class _Before(NamedTuple):
    """One matrix's number, its inputs h, its sums z, and the next sums, in blocks of pixels (blocks, H, pixels)."""

    layer: jax.Array
    inputs: jax.Array
    sums: jax.Array
    after: jax.Array


def _layers(stack: _Stack, size: int, block: int) -> Iterator[_Before]:
    """The unchanged network, matrix by matrix; the last block is filled up with zeros."""
    x = grid(size)
    high = stack.weights.shape[1]
    x = np.pad(x, [(0, -len(x) % block), (0, high - x.shape[1])]).reshape(-1, block, high).swapaxes(1, 2)
    inputs = jnp.asarray(x)
    sums = stack.product(0, inputs)
    for layer in map(jnp.asarray, range(stack.depth + 1)):
        units, after = _after(stack, layer, sums)
        yield _Before(layer, inputs, sums, after)
        inputs, sums = units, after


@eqx.filter_jit
def _after(stack: _Stack, layer: jax.Array, sums: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the units make of the sums of a matrix, and the sums of the next one."""

    def block(z: jax.Array) -> tuple[jax.Array, jax.Array]:
        units = jnp.where(layer < stack.depth, stack.bent(z), z)
        return units, stack.product(layer + 1, units)

    return jax.lax.map(block, sums)


def _in_calls(stack: _Stack, before: _Before, changes: tuple[np.ndarray, ...], fit: _Room, kind: _Kind) -> list[Any]:
    """What is kept of each change (row, column, delta) of one matrix, some calls of the program at a time."""

    def call(some: list[np.ndarray]) -> Any:
        count = len(some[0])
        filled = (jnp.asarray(np.pad(a, (0, fit.call - count))) for a in some)
        found = _swept(stack, before, (*filled, jnp.asarray(-(-count // fit.group))), fit, kind)
        return jax.tree.map(lambda a: a[:count], jax.device_get(found))

    share = -(-len(changes[0]) // (fit.threads * fit.group)) * fit.group
    step = max(1, min(fit.call, share))
    with ThreadPoolExecutor(fit.threads) as pool:
        return list(pool.map(call, [[a[i : i + step] for a in changes] for i in range(0, len(changes[0]), step)]))


@eqx.filter_jit
def _swept(stack: _Stack, before: _Before, changes: tuple[jax.Array, ...], fit: _Room, kind: _Kind) -> Any:
    """Changes are rows, columns, deltas and how many groups of them count: one program for every matrix."""
    (*every, groups), (draw, reduce) = changes, kind

    def pictures(first: jax.Array) -> Any:
        row, col, delta = (jax.lax.dynamic_slice_in_dim(a, first, fit.group) for a in every)
        colours = draw(stack, before, row, col, delta)
        return jax.vmap(reduce)(colours.swapaxes(0, 1).reshape(fit.group, -1, 3)[:, : fit.pixels])

    def advance(i: jax.Array, kept: Any) -> Any:
        first = i * fit.group
        new = pictures(first)
        return jax.tree.map(lambda a, b: jax.lax.dynamic_update_slice_in_dim(a, b, first, 0), kept, new)

    shapes = jax.eval_shape(pictures, groups)
    kept = jax.tree.map(lambda s: jnp.zeros((fit.call, *s.shape[1:]), s.dtype), shapes)
    return jax.lax.fori_loop(0, groups, advance, kept)


def _changed(stack: _Stack, before: _Before, row: jax.Array, col: jax.Array, delta: jax.Array) -> jax.Array:
    """The colours (blocks, changes, pixels, 3) after each change of one matrix."""
    layer = before.layer
    unit = jnp.where(layer < stack.depth, col, -1)  # h, s and v are linear
    old = before.sums[:, col]
    new = old + delta[:, None] * before.inputs[:, row]
    moved = stack.bent_by(new, unit) - stack.bent_by(old, unit)
    onwards = stack.weights[layer + 1][:, col, None]

    def read_out(z: jax.Array) -> jax.Array:
        return _dot(stack.weights[stack.depth, :3], stack.bent(z))

    def block(given: tuple[jax.Array, jax.Array]) -> jax.Array:
        moved, after = given
        z = (after[:, None] + onwards * moved).reshape(len(after), -1)
        z = jax.lax.fori_loop(layer + 2, stack.depth, lambda i, z: stack.product(i, stack.bent(z)), z)
        hsv = jax.lax.cond(layer + 1 < stack.depth, read_out, lambda z: z[:3], z)
        return hsv_to_rgb(hsv.reshape(3, len(col), -1).transpose(1, 2, 0))

    return jax.lax.map(block, (moved, before.after))


def _slope(stack: _Stack, before: _Before, row: jax.Array, col: jax.Array, delta: jax.Array) -> jax.Array:
    """The derivative of the same colours in each change."""
    return jax.jvp(lambda d: _changed(stack, before, row, col, d), (delta,), (jnp.ones_like(delta),))[1]
