"""A convolutional encoder: from a picture to a code vector, by halving the picture three times.

Liang et al. (2025) train it to read x and y, as a bump code or as two numbers. Their text gives strides and channels;
3x3 kernels with a ring of zeros are the usual choice for them, and ours.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models.layers import Kernel, Linear, kernels, linears
from recombine.models.network import Network


class CNNEncoder(Network):
    """Picture -> 3x3 convolutions of stride 2 with ReLU, one for each of `channels` -> linear, ReLU -> linear code.

    Activations `layer0`, `layer1`, .. are the maps after each convolution, then the vector before the code.
    """

    halvings: tuple[Kernel, ...]
    hidden: Linear
    read_out: Linear

    def __init__(
        self,
        size: int,
        outputs: int,
        *,
        channels: tuple[int, ...] = (32, 64, 128),
        width: int = 128,
        key: jax.Array,
    ):
        if not isinstance(channels, tuple | list) or not channels:
            raise ValueError(f"channels holds how many each convolution has, one or more: (32, 64); got {channels!r}")
        at_least_one(size=size, outputs=outputs, width=width)
        at_least_one(**{f"channels[{i}]": count for i, count in enumerate(channels)})
        first, last = jax.random.split(one_key(key))
        self.halvings = tuple(kernels(first, (1, *channels)))
        for _ in channels:
            size = (size + 1) // 2
        self.hidden, self.read_out = linears(last, (size**2 * channels[-1], width, outputs))

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        h, acts = x[..., None], {}
        for i, kernel in enumerate(self.halvings):
            h = acts[f"layer{i}"] = jax.nn.relu(halve(h, kernel.weight) + kernel.bias)
        h = acts[f"layer{len(self.halvings)}"] = jax.nn.relu(self.hidden(h.ravel()))
        return self.read_out(h), acts


def halve(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """A 3x3 convolution of stride 2 that halves the picture's sides, rounding up: gathered windows times weights."""
    height, width, channels = x.shape
    padded = jnp.pad(x, ((1, 1), (1, 1), (0, 0)))
    windows = [padded[i : i + height : 2, j : j + width : 2] for i in range(3) for j in range(3)]
    return jnp.concatenate(windows, axis=-1) @ kernel.reshape(9 * channels, -1)
