"""What kernels of picture networks share: where units stand in a tile of pixels, products in parts, units' slopes.

No kernel of its own: `cppn_loss` and `cppn_sweep` call these functions inside their blocks.

Shapes     T pixels of a tile, one per row; W = Plan.width columns, one per unit, a power of 2
           from 16 to 64; U = Plan.used of them hold anything; L matrices; P parts per factor.
Columns    Linear units come first, from column 0. Inputs (before the first matrix) and h, s, v
           (after the last) use the same columns, so that every layer is one (W, W) matrix and
           no unit type but the identity touches them. Other unit types follow, type by type.
Empty      A column that holds nothing at some layer has zero weights onwards: its f(0) is unread.
Grid       `blocks` and `warps` say how many blocks share a picture, and their threads.
Memory     Sums z (T, W), the pre-activations, stay in registers; matrices (P, L, W, W)
           are read from global memory layer by layer, and the compiler stages factors of
           products in shared memory.
Precision  X3: factors as 2 bfloat16 parts (16 bits), 3 products. X6: 3 parts (24 bits), 6
           products. All products are summed in float32; units are computed in float32.
Equals     `cppn.network.bent` and `jax.numpy.matmul`, as each kernel's tests say; by themselves:
           test_every_type_of_unit_has_its_own_value_and_slope,
           test_the_parts_of_a_number_add_up_to_it,
           test_sine_and_cosine_are_exact_to_3e_7_up_to_a_thousand
           (tests/models/test_model_drawn.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recombine import device

X3, X6 = jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X3, jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X6
PRECISION = X3
"""How factors are rounded: X3 to 16 bits, X6 to 24, all that float32 has; TF32_TF32_F32 (to 11) is taken as well.

Training rounds more on the way back (`cppn_loss.py`), unless all 24 are asked for.
"""
TILE = 64  # pixels that one block of threads carries through the layers, unless a kernel has reasons for more
PROGRAMS = 256  # blocks that share a picture, at most
FEW, LEAST = 32, 2  # beyond so many blocks each has so many tiles: sums of its own have to be added up
ENOUGH = 8  # blocks without which a device stands idle


class Kind(NamedTuple):
    """What the compiler bakes in: a layer's functions with their numbers of units, and how h, s, v become colours."""

    units: tuple[tuple[Callable[[jax.Array], jax.Array], int], ...]
    colour: Callable[..., tuple[jax.Array, ...]]
    precision: jax.lax.DotAlgorithmPreset = PRECISION
    interpret: bool = False

    @property
    def exact(self) -> bool:
        """Whether all bits of float32 are asked for, so that nothing may be rounded on the way back either."""
        return self.precision == X6


class Plan(NamedTuple):
    """Where units stand inside the kernel: linear ones first, in the columns that inputs and h, s, v use as well.

    `place` is each unit's column, then the columns that no unit has, (W,) in all. `bent` has the other functions with
    first column and number of units. `used` is the number of columns that hold anything, rounded up to a multiple of 8.
    Matrices are padded to `width` x `width`, a power of 2.
    """

    place: np.ndarray
    bent: tuple[tuple[Callable[[jax.Array], jax.Array], int, int], ...]
    used: int
    width: int


def available() -> bool:
    """Whether kernels are wanted, and the default device is a GPU of NVIDIA's whose tensor cores take bfloat16."""
    return device.own_kernels() and _capability() >= 8


@cache
def _capability() -> float:
    """8.0 and later have such cores; 0 for what is no GPU of NVIDIA's."""
    told = str(getattr(jax.local_devices()[0], "compute_capability", ""))
    return float(told) if told.replace(".", "").isdigit() else 0.0


def fits(pixels: int, shapes: Sequence[tuple[int, ...]], dtype: Any) -> bool:
    """Whether kernels take these shapes: whole tiles in float32, inputs and units up to 64 together, any depth."""
    inputs, units = shapes[0]
    return shared(pixels, TILE) and dtype == jnp.float32 and units + max(inputs, 3) <= 64


def shared(pixels: int, tile: int) -> bool:
    """Whether several blocks can share the tiles of a picture evenly."""
    tiles = pixels // tile
    return pixels % tile == 0 and blocks(tiles) >= min(tiles, ENOUGH)


def blocks(tiles: int) -> int:
    """Blocks that share a picture's tiles evenly: many keep a device busy, but each has sums of its own to add up."""
    return max(p for p in range(1, PROGRAMS + 1) if tiles % p == 0 and (p <= FEW or tiles >= LEAST * p))


def warps(plan: Plan) -> int:
    """Groups of 32 threads that make up a block."""
    return 2 if plan.width <= 32 else 4


def planned(kind: Kind, inputs: int) -> Plan:
    """Linear units from column 0 on; the others after them, after the inputs and after h, s, v."""
    lines = [_linear(function) for function, _ in kind.units]
    linear = sum(count for (_, count), line in zip(kind.units, lines, strict=True) if line)
    # The next free column of linear units (True) and of the others (False).
    free, place, bent = {True: 0, False: max(inputs, 3, linear)}, [], []
    for (function, count), line in zip(kind.units, lines, strict=True):
        first, free[line] = free[line], free[line] + count
        place += range(first, free[line])  # units in the order of kind.units
        bent += [] if line else [(function, first, count)]
    width = max(16, 1 << (free[False] - 1).bit_length())
    others = sorted(set(range(width)) - set(place))  # columns without a unit
    return Plan(np.asarray(place + others), tuple(bent), -(-free[False] // 8) * 8, width)


def _linear(function: Callable[[jax.Array], jax.Array]) -> bool:
    """Whether the function hands on its argument as it is."""
    traced = jax.make_jaxpr(function)(jax.ShapeDtypeStruct((), jnp.float32)).jaxpr
    return traced.outvars == traced.invars


def widened(array: jax.Array, plan: Plan, *axes: int) -> jax.Array:
    """Filled up with zeros along these axes to the columns of the plan."""
    return jnp.pad(array, [(0, (plan.width - n) * (i in axes)) for i, n in enumerate(array.shape)])


def bends(plan: Plan, column: jax.Array) -> list[tuple[Callable[[jax.Array], jax.Array], jax.Array]]:
    """Functions that are not linear, and where they stand: a mask (T, W) for each; column (T, W) counts 0 .. W - 1."""
    # As unsigned numbers, columns left of `first` become large: one comparison for both ends.
    return [(function, (column - first).astype(jnp.uint32) < count) for function, first, count in plan.bent]


def first_three(out: jax.Array, column: jax.Array) -> list[jax.Array]:
    """The columns of h, s, v: (T, W) to three of (T,), by masked sums."""
    return [jnp.sum(jnp.where(column == k, out, 0), axis=1) for k in range(3)]


def read(weights, layer) -> list[jax.Array]:
    """The parts of one layer's matrix: weights (P, L, W, W) to P of (W, W)."""
    return [weights[part, layer] for part in range(weights.shape[0])]


def parts(a: jax.Array, kind: Kind) -> list[jax.Array]:
    """What products are made of: a itself, or numbers that add up to it: its first 8 bits, the next 8, the last 8.

    X3 gives 2 bfloat16 arrays of the shape of a, X6 gives 3, any other precision a itself in float32.
    """
    found = []
    for _ in range({X3: 1, X6: 2}.get(kind.precision, 0)):
        # Add half of the last bit kept, cut off the lower 16: rounded to bfloat16.
        bits = jax.lax.bitcast_convert_type(a, jnp.int32)
        high = jax.lax.bitcast_convert_type((bits + 0x8000) & ~0xFFFF, jnp.float32)  # to bfloat16 and back is slower
        found.append(high.astype(jnp.bfloat16))
        a -= high  # exact: what the next part has to hold
    return [*found, a.astype(jnp.bfloat16) if found else a]


def product(a: list[jax.Array], b: list[jax.Array], axes: tuple[tuple[int], tuple[int]], kind: Kind) -> jax.Array:
    """The product over these axes; of parts, all pairs but those below the last bit, the smallest first.

    Part i is about 2^(-8 i) of the whole, so pair (i, j) is 2^(-8 (i + j)): pairs with i + j < P are kept.
    `axes` (1,), (0,) is a b, (1,), (1,) is a b^T, (0,), (0,) is a^T b. The result is float32.
    """
    whole = jax.lax.Precision.HIGHEST if kind.interpret else kind.precision
    times = partial(
        jax.lax.dot_general,
        dimension_numbers=(axes, ((), ())),
        precision=whole if a[0].dtype == jnp.float32 else None,
        preferred_element_type=jnp.float32,
    )
    pairs = [(i, rank - i) for rank in reversed(range(len(a))) for i in range(rank + 1)]  # X3: 01 10 00
    return reduce(jnp.add, [times(a[i], b[j]) for i, j in pairs])


def upwards(z: jax.Array, weights, layer, bent, kind: Kind) -> jax.Array:
    """A layer's sums from those before it: f(z) W, (T, W) @ (W, W) -> (T, W)."""
    return product(parts(units_of(z, z, bent)[0], kind), read(weights, layer), ((1,), (0,)), kind)


def units_of(z: jax.Array, pull: jax.Array, bent) -> tuple[jax.Array, jax.Array]:
    """Each column's function of z, and pull times its slope; columns of no function here are linear.

    z and pull (T, W) to f(z) and pull f'(z), (T, W) each.
    """
    values, pulls = z, pull  # linear columns: f(z) = z, f'(z) = 1
    for function, here in bent:
        value, pulled = _BRIEF.get(function, partial(_value_and_pull, function))(z, pull)  # (T, W), (T, W)
        values, pulls = jnp.where(here, value, values), jnp.where(here, pulled, pulls)
    return values, pulls


def _value_and_pull(function, z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    """f(z) and pull f'(z): forward mode serves the way back, as f acts on each element alone."""
    return jax.jvp(function, (z,), (pull,))


def sine_and_cosine(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both to 3e-7 for |x| up to 1000 and bounded beyond, without a branch: they share all but the polynomials.

    x = k pi + r with |r| <= pi/2; sin r and cos r are polynomials in r, and an odd k turns the signs.
    """
    k = jnp.floor(x * np.float32(1 / np.pi) + np.float32(0.5))  # x / pi to the nearest whole number
    r = x
    for part in (3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7):  # pi, so short that k times it is exact
        r -= k * np.float32(part)
    r = jnp.clip(r, -1.58, 1.58)  # from a million on, where neighbouring numbers are far apart
    q = r * r
    sine = r + r * q * _polynomial(q, -0.16666657, 8.3330162e-3, -1.98065463e-4, 2.5999027e-6)
    cosine = _polynomial(q, 1.0, -0.5, 0.041665435, -1.38651847e-3, 2.33779938e-5)
    sign = jax.lax.shift_left(k.astype(jnp.int32), 31)  # an odd k sets the sign bit
    return _flipped(sine, sign), _flipped(cosine, sign)


def _polynomial(q: jax.Array, *coefficients: float) -> jax.Array:
    """c0 + c1 q + c2 q^2 + ... by Horner's rule."""
    found = jnp.full_like(q, coefficients[-1])
    for c in coefficients[-2::-1]:
        found = found * q + np.float32(c)
    return found


def _flipped(a: jax.Array, sign: jax.Array) -> jax.Array:
    """-a where the sign bit is set in `sign`, a elsewhere."""
    return jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(a, jnp.int32) ^ sign, jnp.float32)


def _sine(z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    sine, cosine = sine_and_cosine(z)
    return sine, pull * cosine


def _cosine(z: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    sine, cosine = sine_and_cosine(z)
    return cosine, -pull * sine


_BRIEF = {jnp.sin: _sine, jnp.cos: _cosine}
"""Functions whose value and slope share their work; the others are differentiated by JAX."""
