"""A picture network's mean squared error and its gradient in one GPU kernel, tile of pixels by tile.

The same numbers as the plain program's up to rounding. A plain program writes and reads every unit map of the whole
picture several times; here a tile goes through all layers and back, and only its sums before the units are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from recombine import room

X3, X6 = jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X3, jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X6
PRECISION = X3
"""How factors are rounded: X3 to 16 bits, X6 to 24, all that float32 has; TF32_TF32_F32 (to 11) is taken as well."""
TILE = 64  # pixels that one block of threads carries through all layers and back
PROGRAMS = 64  # blocks that share a picture, at most; each adds up the gradient of its own pixels


class Kind(NamedTuple):
    """What the compiler bakes in: a layer's functions with their numbers of units, and how h, s, v become colours."""

    units: tuple[tuple[Callable[[jax.Array], jax.Array], int], ...]
    colour: Callable[..., tuple[jax.Array, ...]]
    precision: jax.lax.DotAlgorithmPreset = PRECISION
    interpret: bool = False


class Plan(NamedTuple):
    """Where units stand inside the kernel: linear ones first, in the columns that inputs and h, s, v use as well.

    `place` is each unit's column, `bent` has the other functions with first column and number of units, `used` is the
    number of columns that hold anything, in eights; matrices are padded to `width` x `width`, a power of 2.
    """

    place: np.ndarray
    bent: tuple[tuple[Callable[[jax.Array], jax.Array], int, int], ...]
    used: int
    width: int


def fits(pixels: int, shapes: Sequence[tuple[int, ...]], dtype: Any) -> bool:
    """Whether the kernel takes these shapes: whole tiles in float32, inputs and units up to 64 together, any depth."""
    inputs, units = shapes[0]
    tiles = pixels // TILE
    shared = pixels % TILE == 0 and _programs(tiles) >= min(tiles, 8)
    return shared and dtype == jnp.float32 and units + max(inputs, 3) <= 64


@cache
def available() -> bool:
    """Whether the default device is a GPU of NVIDIA's with tensor cores that take bfloat16 (8.0 and later)."""
    capability = str(getattr(jax.local_devices()[0], "compute_capability", ""))
    return room.own_kernels() and capability.replace(".", "").isdigit() and float(capability) >= 8


def _programs(tiles: int) -> int:
    """Blocks that share a picture's tiles evenly."""
    return max(p for p in range(1, PROGRAMS + 1) if tiles % p == 0)


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
    plan, layers = _plan(kind, x.shape[1]), len(weights)
    width, tiles = plan.width, len(x) // TILE
    programs = _programs(tiles)
    stack = jnp.stack([_pad(w, width, width) for w in weights])[_moved(np.argsort(plan.place), layers)]
    ins = (jnp.stack(_parts(stack, kind)), _pad(x, len(x), width), y.T)
    outs = [(layers, plan.used, plan.used), (TILE,), (layers, TILE, plan.used)]
    slopes, errors, _ = pl.pallas_call(
        partial(_block, tiles=tiles // programs, plan=plan, kind=kind),
        grid=(programs,),
        in_specs=[pl.BlockSpec(a.shape, partial(_first, a.ndim)) for a in ins],
        out_specs=[pl.BlockSpec((None, *s), partial(_own, len(s))) for s in outs],
        out_shape=[jax.ShapeDtypeStruct((programs, *s), jnp.float32) for s in outs],
        compiler_params=triton.CompilerParams(num_warps=2 if width <= 32 else 4, num_stages=1),
        interpret=kind.interpret,
    )(*ins)
    slopes = jnp.pad(2 / y.size * slopes.sum(axis=0), ((0, 0), *[(0, width - plan.used)] * 2))
    moved = slopes[_moved(plan.place, layers)]
    return errors.sum() / y.size, [g[: w.shape[0], : w.shape[1]] for g, w in zip(moved, weights, strict=True)]


def _plan(kind: Kind, inputs: int) -> Plan:
    lines = [_linear(function) for function, _ in kind.units]
    linear = sum(count for (_, count), line in zip(kind.units, lines, strict=True) if line)
    free, place, bent = {True: 0, False: max(inputs, 3, linear)}, [], []
    for (function, count), line in zip(kind.units, lines, strict=True):
        first, free[line] = free[line], free[line] + count
        place += range(first, free[line])
        bent += [] if line else [(function, first, count)]
    width = max(16, 1 << (free[False] - 1).bit_length())
    others = sorted(set(range(width)) - set(place))
    return Plan(np.asarray(place + others), tuple(bent), -(-free[False] // 8) * 8, width)


def _linear(function: Callable[[jax.Array], jax.Array]) -> bool:
    traced = jax.make_jaxpr(function)(jax.ShapeDtypeStruct((), jnp.float32)).jaxpr
    return traced.outvars == traced.invars


def _moved(order: np.ndarray, layers: int) -> tuple[np.ndarray, ...]:
    """Indices that reorder rows and columns of matrices, all but the first one's rows and the last one's columns."""
    rows, columns = np.tile(order, (2, layers, 1))
    rows[0] = columns[-1] = np.arange(len(order))
    return np.arange(layers)[:, None, None], rows[:, :, None], columns[:, None, :]


def _pad(array: jax.Array, rows: int, columns: int) -> jax.Array:
    return jnp.pad(array, ((0, rows - array.shape[0]), (0, columns - array.shape[1])))


def _first(axes: int, _):
    return (0,) * axes


def _own(axes: int, program):
    return (program, *(0,) * axes)


def _block(*refs, tiles: int, plan: Plan, kind: Kind) -> None:
    """One block: its tiles one after the other, forwards and back. `kept` has what goes into the units, layer by layer.

    The inputs stand in columns of linear units, and so do h, s, v: all layers are alike.
    """
    weights, x, y, slopes, error, kept = refs
    layers, width = weights.shape[1], plan.width
    begin = pl.program_id(0) * tiles
    row, column = (jax.lax.broadcasted_iota(jnp.int32, (TILE, width), axis) for axis in (0, 1))
    # Made once for both ways: the compiler then sees which columns a thread has, and leaves out the other functions.
    bent = [(function, (column - first).astype(jnp.uint32) < count) for function, first, count in plan.bent]
    here, there = (jax.lax.broadcasted_iota(jnp.int32, (width, width), axis) for axis in (0, 1))
    used, both = column < plan.used, (here < plan.used) & (there < plan.used)

    def clear(layer, _):
        triton.store(slopes.at[layer, here, there], jnp.zeros((width, width), jnp.float32), mask=both)

    def up(layer, z):
        triton.store(kept.at[layer, row, column], z, mask=used)
        values = _parts(_units(z, z, bent)[0], kind)
        return _dot(values, _read(weights, layer), ((1,), (0,)), kind)

    def down(step, delta):
        layer, pulls = layers - 1 - step, _parts(delta, kind)
        z = triton.load(kept.at[layer, row, column], mask=used, other=0.0)
        values, delta = _units(_held_as(z, delta), _dot(pulls, _read(weights, layer), ((1,), (1,)), kind), bent)
        slope = triton.load(slopes.at[layer, here, there], mask=both, other=0.0)
        slope += _dot(_parts(values, kind), pulls, ((0,), (0,)), kind)
        triton.store(slopes.at[layer, here, there], slope, mask=both)
        return delta

    def tile(i, errors):
        rows = pl.ds((begin + i) * TILE, TILE)
        out = jax.lax.fori_loop(0, layers, up, x[rows, :])
        squares, delta = _judged(out, [y[k, rows] for k in range(3)], column, kind)
        _meet(kind)
        jax.lax.fori_loop(0, layers, down, delta)
        _meet(kind)
        return errors + squares

    jax.lax.fori_loop(0, layers, clear, None)
    error[...] = jax.lax.fori_loop(0, tiles, tile, jnp.zeros(TILE, jnp.float32))


def _judged(out: jax.Array, wanted: list[jax.Array], column: jax.Array, kind: Kind) -> tuple[jax.Array, jax.Array]:
    """Each pixel's sum of (colour - wanted)^2, and half its slope in the columns of h, s, v, which come first."""
    hsv = [jnp.sum(jnp.where(column == k, out, 0), axis=1) for k in range(3)]
    colours, back = jax.vjp(kind.colour, *map(_held_as, hsv, wanted))
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


def _read(weights, layer) -> list[jax.Array]:
    return [weights[part, layer] for part in range(weights.shape[0])]


def _parts(a: jax.Array, kind: Kind) -> list[jax.Array]:
    """What products are made of: a itself, or numbers that add up to it: its first 8 bits, the next 8, the last 8."""
    found = []
    for _ in range({X3: 1, X6: 2}.get(kind.precision, 0)):
        bits = jax.lax.bitcast_convert_type(a, jnp.int32)
        high = jax.lax.bitcast_convert_type((bits + 0x8000) & ~0xFFFF, jnp.float32)  # to bfloat16 and back is slower
        found.append(high.astype(jnp.bfloat16))
        a -= high
    return [*found, a.astype(jnp.bfloat16) if found else a]


def _dot(a: list[jax.Array], b: list[jax.Array], axes: tuple[tuple[int], tuple[int]], kind: Kind) -> jax.Array:
    """The product over these axes; of parts, all pairs but those below the last bit, the smallest first."""
    whole = jax.lax.Precision.HIGHEST if kind.interpret else kind.precision
    times = partial(
        jax.lax.dot_general,
        dimension_numbers=(axes, ((), ())),
        precision=whole if len(a) == 1 else None,
        preferred_element_type=jnp.float32,
    )
    pairs = [(i, rank - i) for rank in reversed(range(len(a))) for i in range(rank + 1)]
    return reduce(jnp.add, [times(a[i], b[j]) for i, j in pairs])


def _units(z: jax.Array, pull: jax.Array, bent) -> tuple[jax.Array, jax.Array]:
    """Each column's function of z, and pull times its slope; columns of no function here are linear."""
    values, pulls = z, pull
    for function, here in bent:
        value, pulled = _BRIEF.get(function, partial(_value_and_pull, function))(z, pull)
        values, pulls = jnp.where(here, value, values), jnp.where(here, pulled, pulls)
    return values, pulls


def _value_and_pull(function, z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(function, (z,), (pull,))


def sine_and_cosine(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both to 3e-7 for |x| up to 1000 and bounded beyond, without a branch: they share all but the polynomials.

    x = k pi + r with |r| <= pi/2; sin r and cos r are polynomials in r, and an odd k turns the signs.
    """
    k = jnp.floor(x * np.float32(1 / np.pi) + np.float32(0.5))
    r = x
    for part in (3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7):  # pi, so short that k times it is exact
        r -= k * np.float32(part)
    r = jnp.clip(r, -1.58, 1.58)  # from a million on, where neighbouring numbers are far apart
    q = r * r
    sine = r + r * q * _polynomial(q, -0.16666657, 8.3330162e-3, -1.98065463e-4, 2.5999027e-6)
    cosine = _polynomial(q, 1.0, -0.5, 0.041665435, -1.38651847e-3, 2.33779938e-5)
    sign = jax.lax.shift_left(k.astype(jnp.int32), 31)
    return _flipped(sine, sign), _flipped(cosine, sign)


def _polynomial(q: jax.Array, *coefficients: float) -> jax.Array:
    found = jnp.full_like(q, coefficients[-1])
    for c in coefficients[-2::-1]:
        found = found * q + np.float32(c)
    return found


def _flipped(a: jax.Array, sign: jax.Array) -> jax.Array:
    return jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(a, jnp.int32) ^ sign, jnp.float32)


def _sine(z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    sine, cosine = sine_and_cosine(z)
    return sine, pull * cosine


def _cosine(z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    sine, cosine = sine_and_cosine(z)
    return cosine, -pull * sine


_BRIEF = {jnp.sin: _sine, jnp.cos: _cosine}
