"""A wide ReLU network whose passes between products are GPU kernels: bias and ReLU forwards, mask and sum backwards.

The same function as a chain of `Linear` and ReLU, for a batch of rows at once. The products are left to the vendor's
library; what the compiler makes of the passes takes almost twice the time that reading and writing memory needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from recombine.kernels.relu_narrow import Layers

ROWS, COLUMNS = 32, 256  # what one block of threads takes
_PARAMS = triton.CompilerParams(num_warps=4, num_stages=1)


def fits(rows: int, widths: Sequence[int], dtype: Any) -> bool:
    """Whether the kernels take these shapes: whole blocks, in bfloat16, of layers wide enough to gain by it."""
    return rows % ROWS == 0 and dtype == jnp.bfloat16 and all(n >= 512 and n % COLUMNS == 0 for n in widths)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def relu_network(x: jax.Array, layers: Layers, interpret: bool = False) -> jax.Array:
    """(rows, inputs) to (rows, outputs)."""
    return _remember(x, layers, interpret)[0]


def _remember(x: jax.Array, layers: Layers, interpret: bool):
    hidden = [x]
    for weight, bias in layers[:-1]:
        hidden.append(_with_bias(hidden[-1] @ weight, bias, interpret))
    weight, bias = layers[-1]
    return hidden[-1] @ weight + bias, (hidden, layers)


def _gradients(interpret: bool, remembered: Any, dy: jax.Array):
    hidden, layers = remembered
    delta, sums, gradients = dy.astype(hidden[0].dtype), dy.sum(axis=0, dtype=jnp.float32), []
    for i in reversed(range(len(layers))):
        weight, bias = layers[i]
        gradients.append((hidden[i].T @ delta, sums.astype(bias.dtype)))
        delta = delta @ weight.T
        if i:
            delta, sums = _masked(hidden[i], delta, interpret)
    return delta, gradients[::-1]


relu_network.defvjp(_remember, _gradients)


def _with_bias(z: jax.Array, bias: jax.Array, interpret: bool) -> jax.Array:
    """relu(z + bias)."""
    return pl.pallas_call(
        _bias_block,
        grid=_blocks(z),
        in_specs=[_BLOCK, pl.BlockSpec((COLUMNS,), lambda _, j: (j,))],
        out_specs=_BLOCK,
        out_shape=jax.ShapeDtypeStruct(z.shape, z.dtype),
        compiler_params=_PARAMS,
        interpret=interpret,
    )(z, bias)


def _masked(hidden: jax.Array, delta: jax.Array, interpret: bool) -> tuple[jax.Array, jax.Array]:
    """delta where the ReLU was open and zero elsewhere, and its sum over the rows."""
    masked, sums = pl.pallas_call(
        _mask_block,
        grid=_blocks(hidden),
        in_specs=[_BLOCK, _BLOCK],
        out_specs=[_BLOCK, pl.BlockSpec((None, COLUMNS), lambda i, j: (i, j))],
        out_shape=[
            jax.ShapeDtypeStruct(hidden.shape, delta.dtype),
            jax.ShapeDtypeStruct((_blocks(hidden)[0], hidden.shape[1]), jnp.float32),
        ],
        compiler_params=_PARAMS,
        interpret=interpret,
    )(hidden, delta)
    return masked, sums.sum(axis=0)


_BLOCK = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))


def _blocks(array: jax.Array) -> tuple[int, int]:
    return array.shape[0] // ROWS, array.shape[1] // COLUMNS


def _bias_block(z, bias, answer) -> None:
    answer[...] = jnp.maximum(z[...].astype(jnp.float32) + bias[...].astype(jnp.float32), 0.0).astype(answer.dtype)


def _mask_block(hidden, delta, masked, sums) -> None:
    kept = jnp.where(hidden[...] > 0, delta[...], jnp.zeros((), delta.dtype))
    masked[...] = kept
    sums[...] = jnp.sum(kept.astype(jnp.float32), axis=0)
