"""Linear layers and convolution kernels with the weights that PyTorch would draw for them.

All layers of a network come from one draw of random numbers: every separate draw adds about half a second to the time
in which the network's birth is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Linear(eqx.Module):
    """x W + b along the last axis; W is (inputs, outputs)."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.weight + self.bias


class Kernel(eqx.Module):
    """The weight (side, side, inputs, outputs) and bias of an ordinary convolution."""

    weight: jax.Array
    bias: jax.Array


def linears(key: jax.Array, sizes: Sequence[int]) -> list[Linear]:
    """A layer from each size to the next."""
    return [Linear(*drawn) for drawn in _draw(key, list(pairwise(sizes)))]


def kernels(key: jax.Array, channels: Sequence[int], *, side: int = 3) -> list[Kernel]:
    """A kernel from each number of channels to the next."""
    return [Kernel(*drawn) for drawn in _draw(key, [(side, side, *ends) for ends in pairwise(channels)])]


def _draw(key: jax.Array, shapes: list[tuple[int, ...]]) -> list[tuple[jax.Array, jax.Array]]:
    """Weights of these shapes and their biases ~ U(-b, b), b = 1 / sqrt(fan in); the last axis counts outputs."""
    ends = np.cumsum([prod(shape) + shape[-1] for shape in shapes])
    numbers = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-1.0, maxval=1.0), ends[:-1])
    scaled = [n * prod(shape[:-1]) ** -0.5 for n, shape in zip(numbers, shapes, strict=True)]
    return [(n[: -shape[-1]].reshape(shape), n[-shape[-1] :]) for n, shape in zip(scaled, shapes, strict=True)]
