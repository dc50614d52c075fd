"""A wide ReLU network whose passes between products are GPU kernels: bias and ReLU forwards, mask and sum backwards.

The products are left to the vendor's library. What the compiler makes of the passes between them
takes almost twice the time that reading and writing memory needs.

Grid       (rows / R, N / C) with R = ROWS = 32, C = COLUMNS = 256 and N the layer's width;
           `jax.vmap` over members adds an axis.
Ownership  Block (i, j) owns an (R, C) piece of one activation or gradient, and row i, columns
           j C .. (j + 1) C of the sums over rows.
Registers  The (R, C) piece: each element is read once and written once.
Shared     Nothing by hand; the compiler may use it for the sum over R rows.
Global     Products z, activations, gradients (rows, N); sums (rows / R, N), added up by XLA.
Precision  Products by the library, factors and results in bfloat16; bias and ReLU in float32,
           then rounded to bfloat16; sums over rows in float32.
Equals     `jax.vmap` of `models.student.StudentMLP`: z = h W + b, h' = max(z, 0), read-out linear.
           Test: test_the_kernels_give_the_plain_networks_answers_and_gradients[passes]
           (tests/models/test_model_fused.py; interpreted, in float32, to 1e-5).
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
    """x (rows, inputs) to (rows, outputs), differentiable in x and in the layers."""
    return _remember(x, layers, interpret)[0]


def _remember(x: jax.Array, layers: Layers, interpret: bool):
    """The answer, and what the way back needs: the inputs and each activation after its ReLU."""
    hidden = [x]  # then (rows, N_l) per hidden layer
    for weight, bias in layers[:-1]:
        hidden.append(_with_bias(hidden[-1] @ weight, bias, interpret))
    weight, bias = layers[-1]
    return hidden[-1] @ weight + bias, (hidden, layers)  # (rows, outputs)


def _gradients(interpret: bool, remembered: Any, dy: jax.Array):
    """dL/dx and dL/d(weight, bias) of each layer from dy = dL/dy (rows, outputs)."""
    hidden, layers = remembered
    # delta is dL/dz of layer i (rows, N_i), sums is delta summed over rows (N_i,).
    delta, sums, gradients = dy.astype(hidden[0].dtype), dy.sum(axis=0, dtype=jnp.float32), []
    for i in reversed(range(len(layers))):
        weight, bias = layers[i]
        gradients.append((hidden[i].T @ delta, sums.astype(bias.dtype)))  # (N_in, N_out), (N_out,)
        delta = delta @ weight.T  # (rows, N_in) dL/dh of the layer below
        if i:
            delta, sums = _masked(hidden[i], delta, interpret)  # (rows, N_in) dL/dz, (N_in,)
    return delta, gradients[::-1]


relu_network.defvjp(_remember, _gradients)


def _with_bias(z: jax.Array, bias: jax.Array, interpret: bool) -> jax.Array:
    """relu(z + bias), z (rows, N) and bias (N,)."""
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
    """delta (rows, N) where the ReLU was open and zero elsewhere, and its sum over the rows (N,)."""
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
    return masked, sums.sum(axis=0)  # (rows, N), (rows / R, N) -> (N,)


_BLOCK = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))


def _blocks(array: jax.Array) -> tuple[int, int]:
    """The grid over an array (rows, N)."""
    return array.shape[0] // ROWS, array.shape[1] // COLUMNS


def _bias_block(z, bias, answer) -> None:
    """One block forwards: z (R, C) and bias (C,) to max(z + bias, 0), (R, C)."""
    answer[...] = jnp.maximum(z[...].astype(jnp.float32) + bias[...].astype(jnp.float32), 0.0).astype(answer.dtype)


def _mask_block(hidden, delta, masked, sums) -> None:
    """One block backwards: hidden (R, C) and dL/dh (R, C) to dL/dz (R, C) and its sum over R rows."""
    kept = jnp.where(hidden[...] > 0, delta[...], jnp.zeros((), delta.dtype))  # (R, C)
    masked[...] = kept
    sums[...] = jnp.sum(kept.astype(jnp.float32), axis=0)  # (C,)
