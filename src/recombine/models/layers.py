"""Linear layers, convolution kernels and PReLUs that start as they would in PyTorch.

All weights of a network come from one draw of random numbers: every separate draw adds about half a second to the time
in which the network's birth is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

CUT = 0.87962566103423978
"""The standard deviation of a standard normal cut at +-2."""


class Linear(eqx.Module):
    """x W + b along the last axis; W is (inputs, outputs)."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.weight + self.bias


class Kernel(eqx.Module):
    """The weight (side, side, inputs, outputs) and bias of a convolution."""

    weight: jax.Array
    bias: jax.Array


class PReLU(eqx.Module):
    """x where x >= 0, a x elsewhere, with one trained slope a that starts at 1/4."""

    slope: jax.Array

    def __init__(self) -> None:
        self.slope = jnp.asarray(0.25, jnp.float32)  # a weak type would have the training loop compiled twice

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.where(x >= 0, x, self.slope * x)


def linears(key: jax.Array, sizes: Sequence[int]) -> list[Linear]:
    """A layer from each size to the next."""
    return [Linear(*drawn) for drawn in _draw(key, list(pairwise(sizes)), _fan_in)]


def kernels(key: jax.Array, channels: Sequence[int], *, side: int = 3) -> list[Kernel]:
    """A kernel from each number of channels to the next."""
    return [Kernel(*drawn) for drawn in _draw(key, [(side, side, *ends) for ends in pairwise(channels)], _fan_in)]


def transposed_kernels(key: jax.Array, shapes: list[tuple[int, int, int, int]]) -> list[Kernel]:
    """Kernels of transposed convolutions, of these shapes; PyTorch counts their fan over outputs."""
    return [Kernel(*drawn) for drawn in _draw(key, shapes, lambda shape: shape[0] * shape[1] * shape[3])]


def _fan_in(shape: tuple[int, ...]) -> int:
    return prod(shape[:-1])


def _draw(
    key: jax.Array, shapes: Sequence[tuple[int, ...]], fan: Callable[[tuple[int, ...]], int]
) -> list[tuple[jax.Array, jax.Array]]:
    """Weights of these shapes and their biases ~ U(-b, b), b = 1 / sqrt(fan); the last axis counts outputs."""
    ends = np.cumsum([prod(shape) + shape[-1] for shape in shapes])
    numbers = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-1.0, maxval=1.0), ends[:-1])
    scaled = [n * fan(shape) ** -0.5 for n, shape in zip(numbers, shapes, strict=True)]
    return [(n[: -shape[-1]].reshape(shape), n[-shape[-1] :]) for n, shape in zip(scaled, shapes, strict=True)]
