"""A ReLU network whose layers run in one GPU kernel forwards and one backwards, so that little passes through memory.

Between two products a plain program writes and reads every activation several times. Here one
block of threads carries its tile of rows through all layers.

Grid       (rows / T,) with T = TILE = 64; `jax.vmap` over members adds an axis.
Ownership  Block i owns rows i T .. (i + 1) T of every activation and every gradient.
           All blocks read the same weights and biases, and no block reads another's rows.
Registers  One accumulator (T, N) per product, N the layer's outputs (at most 256 if hidden).
Shared     Nothing by hand: the compiler stages chunks of both factors, CHUNK columns at a time.
Global     Weights, biases, and every layer's activations or gradients. A layer reads what the
           layer before it wrote; a barrier lies between, as other threads of the block wrote it.
Precision  Factors bfloat16, products summed in float32, activations and gradients rounded to
           bfloat16 once per layer; a tile's sums for the biases are float32.
Backwards  The kernel makes the gradient dL/dz before each ReLU. The weights' gradients h^T dL/dz
           are large products over all rows and left to XLA.
Equals     `jax.vmap` of `models.student.StudentMLP`: z = h W + b, h' = max(z, 0), read-out linear.
           Test: test_the_kernels_give_the_plain_networks_answers_and_gradients[fused]
           (tests/models/test_model_fused.py; interpreted, in float32, to 1e-5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

TILE = 64  # rows of the batch that one block of threads carries through all layers
CHUNK = 32  # columns of a product's inner dimension taken at a time, so that loads overlap with products
_PARAMS = triton.CompilerParams(num_warps=4, num_stages=4)

Layers = Sequence[tuple[jax.Array, jax.Array]]
"""(weight, bias) of each layer, the read-out last."""


def fits(rows: int, widths: Sequence[int], dtype: Any) -> bool:
    """Whether the kernels take these shapes: whole tiles of rows, hidden widths that are powers of two from 16 to 256.

    In float32 a plain program does better: its products are the slower part there.
    """
    return rows % TILE == 0 and dtype == jnp.bfloat16 and all(n == _power(n) <= 256 for n in widths)


def relu_network(x: jax.Array, layers: Layers, *, interpret: bool = False) -> jax.Array:
    """x (rows, inputs) to (rows, outputs), differentiable in x and in the layers.

    Inputs and outputs are padded with zeros to powers of two, and the answer is cut again.
    """
    outputs = layers[-1][0].shape[1]  # before padding
    return _padded(_pad(x), [(_pad(w, both=True), _pad(b)) for w, b in layers], interpret)[:, :outputs]


def _power(n: int) -> int:
    """The least power of two that is n or more, and at least 16, the least side of a product's tile."""
    return max(16, 1 << (n - 1).bit_length())


def _pad(array: jax.Array, *, both: bool = False) -> jax.Array:
    """Zeros up to the next power of two along the last axis, or along both."""
    more = [(0, _power(n) - n) if both or axis == array.ndim - 1 else (0, 0) for axis, n in enumerate(array.shape)]
    return jnp.pad(array, more)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _padded(x: jax.Array, layers: Layers, interpret: bool) -> jax.Array:
    """The network on shapes that are powers of two; its derivative is `_remember`, then `_gradients`."""
    return _forward(x, layers, interpret)[-1]


def _remember(x: jax.Array, layers: Layers, interpret: bool):
    """The answer, and what the way back needs: the inputs and each activation after its ReLU."""
    *hidden, y = _forward(x, layers, interpret)  # each (rows, N_l); y (rows, outputs)
    return y, (x, hidden, layers)


def _gradients(interpret: bool, remembered: Any, dy: jax.Array):
    """dL/dx and dL/d(weight, bias) of each layer from dy = dL/dy (rows, outputs)."""
    x, hidden, layers = remembered
    # Transposed beforehand, so that both kernels read weights along their rows.
    # Hidden layers only: deltas dL/dz_l (rows, N_l); sums over each tile (rows / T, N_l), float32.
    deltas, sums = _backward(dy.astype(x.dtype), hidden, [w.T for w, _ in layers[1:]], interpret)
    deltas.append(dy.astype(x.dtype))  # the read-out has no ReLU: dL/dz = dy
    biases = [s.sum(axis=0) for s in sums] + [dy.sum(axis=0)]  # (N_l,) each
    gradients = [
        # (N_in, rows) @ (rows, N_out): summed over all rows in float32.
        (jnp.dot(h.T, d, preferred_element_type=jnp.float32).astype(w.dtype), bias.astype(b.dtype))
        for h, d, bias, (w, b) in zip([x, *hidden], deltas, biases, layers, strict=True)
    ]
    return deltas[0] @ layers[0][0].T, gradients  # dL/dx (rows, inputs)


_padded.defvjp(_remember, _gradients)


def _forward(x: jax.Array, layers: Layers, interpret: bool) -> list[jax.Array]:
    """Every hidden activation after its ReLU and the output, (rows, N_l) each: one call of the kernel."""
    rows, sizes = len(x), [w.shape[1] for w, _ in layers]
    weights, biases = zip(*layers, strict=True)
    return pl.pallas_call(
        partial(_forward_tile, depth=len(layers), wait=_wait(interpret)),
        grid=(rows // TILE,),
        in_specs=[_tile(x.shape[1]), *map(_whole, weights), *map(_whole, biases)],
        out_specs=[_tile(n) for n in sizes],
        out_shape=[jax.ShapeDtypeStruct((rows, n), x.dtype) for n in sizes],
        compiler_params=_PARAMS,
        interpret=interpret,
    )(x, *weights, *biases)


def _backward(dy: jax.Array, hidden: Sequence[jax.Array], weights: Sequence[jax.Array], interpret: bool):
    """The gradient at every hidden layer before its ReLU, and its sum over each tile.

    `weights` are those above each hidden layer, transposed: (N_{l+1}, N_l).
    """
    rows, sizes = len(dy), [h.shape[1] for h in hidden]
    tiles = rows // TILE
    deltas = [jax.ShapeDtypeStruct((rows, n), dy.dtype) for n in sizes]  # dL/dz_l, bfloat16
    sums = [jax.ShapeDtypeStruct((tiles, n), jnp.float32) for n in sizes]  # one row per tile
    found = pl.pallas_call(
        partial(_backward_tile, depth=len(hidden), wait=_wait(interpret)),
        grid=(tiles,),
        in_specs=[_tile(dy.shape[1]), *map(_whole, weights), *(_tile(n) for n in sizes)],
        out_specs=[*(_tile(n) for n in sizes), *(pl.BlockSpec((None, n), lambda i: (i, 0)) for n in sizes)],
        out_shape=[*deltas, *sums],
        compiler_params=_PARAMS,
        interpret=interpret,
    )(dy, *weights, *hidden)
    return list(found[: len(hidden)]), found[len(hidden) :]


def _wait(interpret: bool) -> Callable[[], None]:
    """The next layer's threads read what these have written; interpreted, everything runs in order."""
    return (lambda: None) if interpret else triton.debug_barrier


def _tile(columns: int) -> pl.BlockSpec:
    """Block i sees rows i T .. (i + 1) T, all columns."""
    return pl.BlockSpec((TILE, columns), lambda i: (i, 0))


def _whole(array: jax.Array) -> pl.BlockSpec:
    """Every block sees all of it."""
    return pl.BlockSpec(array.shape, lambda i: (0,) * array.ndim)


def _forward_tile(x, *refs, depth: int, wait: Callable[[], None]) -> None:
    """One block forwards: x (T, inputs) to each layer's answer (T, N_l). `depth` counts the read-out."""
    # weights (N_{l-1}, N_l), biases (N_l,), answers (T, N_l), one each per layer
    weights, biases, answers = refs[:depth], refs[depth : 2 * depth], refs[2 * depth :]
    given = x  # (T, inputs), a reference to global memory
    for i, (weight, bias, answer) in enumerate(zip(weights, biases, answers, strict=True)):
        z = _product(given, weight) + bias[...].astype(jnp.float32)  # (T, N_l) float32
        answer[...] = (z if i == depth - 1 else jnp.maximum(z, 0.0)).astype(answer.dtype)  # (T, N_l) rounded
        wait()
        given = answer  # read back by the next layer


def _backward_tile(dy, *refs, depth: int, wait: Callable[[], None]) -> None:
    """One block backwards: dL/dy (T, outputs) to dL/dz of each hidden layer. `depth` counts hidden layers."""
    # weights (N_{l+1}, N_l), hidden (T, N_l), deltas (T, N_l), sums (N_l,), one each per hidden layer
    weights, hidden, deltas, sums = (refs[i * depth : (i + 1) * depth] for i in range(4))
    given = dy  # (T, outputs), dL/dz of the layer above
    for i in reversed(range(depth)):
        z = _product(given, weights[i]).astype(deltas[i].dtype)  # (T, N_l) dL/dh
        z = jnp.where(hidden[i][...] > 0, z, jnp.zeros((), z.dtype))  # (T, N_l) dL/dz
        deltas[i][...] = z
        # The sum over the tile as a product: sixteen equal rows, the fewest that a product has.
        # (16, T) @ (T, N_l) -> (N_l,)
        sums[i][...] = jnp.max(triton.dot(jnp.ones((16, TILE), z.dtype), z), axis=0)
        wait()
        given = deltas[i]


def _product(h, weight) -> jax.Array:
    """h W: (T, inner) @ (inner, outer) -> (T, outer) in float32, a chunk of the inner dimension at a time."""
    inner, outer = weight.shape
    chunk = min(CHUNK, inner)

    def add(k, total):
        part = pl.ds(k * chunk, chunk)
        return total + triton.dot(h[:, part], weight[part, :])  # (T, chunk) @ (chunk, outer)

    return jax.lax.fori_loop(0, inner // chunk, add, jnp.zeros((TILE, outer), jnp.float32))
