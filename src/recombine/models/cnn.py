"""A convolutional decoder: from a code vector to a picture, by doubling a small map twice.

The default network of Liang et al. (2025), at any size that is a multiple of four.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models import convolution
from recombine.models.layers import Kernel, transposed_kernels
from recombine.models.network import Network


class CNNDecoder(Network):
    """Code -> size/4 map -> two doublings -> depth - 2 convolutions at full size -> one linear output channel.

    Activations `layer0` .. `layer{depth}` are the maps after each ReLU.
    """

    seed_map: Kernel
    blocks: tuple[Kernel, ...]
    read_out: Kernel

    def __init__(self, inputs: int, size: int, *, width: int, depth: int, key: jax.Array):
        at_least_one(inputs=inputs, size=size, width=width, depth=depth)
        if size % 4 or depth < 2:
            raise ValueError(f"the decoder needs a size divisible by 4 and depth >= 2, got {size} and {depth}")
        sides = [4, 4, *[3] * (depth - 2)]
        shapes = [(size // 4, size // 4, inputs, width), *((s, s, width, width) for s in sides), (3, 3, width, 1)]
        self.seed_map, *blocks, self.read_out = transposed_kernels(one_key(key), shapes)
        self.blocks = tuple(blocks)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        h = jax.nn.relu(jnp.tensordot(x, self.seed_map.weight, axes=(0, 2)) + self.seed_map.bias)
        acts = {"layer0": h}
        for i, block in enumerate(self.blocks, start=1):
            convolve = convolution.double if len(block.weight) == 4 else convolution.same
            h = acts[f"layer{i}"] = jax.nn.relu(convolve(h, block.weight) + block.bias)
        y = convolution.same(h, self.read_out.weight) + self.read_out.bias
        return y[..., 0], acts
