"""The two convolutions that a picture decoder needs, each in the form that is fastest on the backend at hand.

Inside a compiled training loop XLA's own convolution is slow on CPUs, where shifted slices and matrix products do the
same sums many times faster; on GPUs it is the other way round, except towards a single output channel
(docs/performance.md has the measurements).
One example: pictures are (height, width, channels), kernels (rows, columns, channels in, channels out).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

# A transposed convolution of stride 2 with a 4x4 kernel reads two taps along each axis, at these shifts,
# for outputs at even and at odd positions: (tap, shift of the input).
_TAPS = (((3, -1), (1, 0)), ((2, 0), (0, 1)))


def same(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """A 3x3 convolution that keeps the picture's size."""
    if kernel.shape[-1] == 1:
        return _same_thin(x, kernel)
    return _same_rows(x, kernel) if jax.default_backend() == "cpu" else _xla(x, kernel, padding=1)


def narrow(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """The same for a few channels: products on every backend, since a GPU library's groups of two channels crawl."""
    return _same_thin(x, kernel) if kernel.shape[-1] == 1 else _same_rows(x, kernel)


def double(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """A transposed 4x4 convolution of stride 2 that doubles the picture's size."""
    if jax.default_backend() == "cpu":
        return _double_by_parity(x, kernel)
    return _xla(x, kernel[::-1, ::-1], padding=2, dilation=2)


def _xla(x: jax.Array, kernel: jax.Array, *, padding: int, dilation: int = 1) -> jax.Array:
    return jax.lax.conv_general_dilated(
        x[None],
        kernel,
        window_strides=(1, 1),
        padding=((padding, padding), (padding, padding)),
        lhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )[0]


def _ring(x: jax.Array) -> jax.Array:
    return jnp.pad(x, ((1, 1), (1, 1), (0, 0)))


def _same_rows(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Gather the three columns of each window once, then sum three matrix products over its rows."""
    height, width, channels = x.shape
    padded = _ring(x)
    columns = jnp.concatenate([padded[:, j : j + width] for j in range(3)], axis=-1)
    weights = kernel.reshape(3, 3 * channels, -1)
    return columns[:height] @ weights[0] + columns[1 : height + 1] @ weights[1] + columns[2:] @ weights[2]


def _same_thin(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """To one output channel: one product for all nine taps, then add the nine shifted results."""
    height, width, channels = x.shape
    taps = _ring(x @ kernel.reshape(9, channels).T)
    shifted = [taps[i : i + height, j : j + width, 3 * i + j] for i in range(3) for j in range(3)]
    return jnp.sum(jnp.stack(shifted), axis=0)[..., None]


def _double_by_parity(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Even and odd output rows and columns are four 2x2 convolutions, interleaved."""
    height, width, _ = x.shape
    padded = _ring(x)

    def quarter(row_taps, column_taps):
        shifts = [(i, j) for _, i in row_taps for _, j in column_taps]
        window = [padded[1 + i : 1 + i + height, 1 + j : 1 + j + width] for i, j in shifts]
        weights = [kernel[i, j] for i, _ in row_taps for j, _ in column_taps]
        return jnp.concatenate(window, axis=-1) @ jnp.concatenate(weights, axis=0)

    rows = [jnp.stack([quarter(r, c) for c in _TAPS], axis=2) for r in _TAPS]
    return jnp.stack(rows, axis=1).reshape(2 * height, 2 * width, -1)
