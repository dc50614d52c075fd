"""A plain ReLU network for regression, as the students of Redhardt, Akram, Schug (2025): no norm, no residuals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from recombine import device
from recombine.core import at_least_one
from recombine.kernels import relu_narrow, relu_wide
from recombine.keys import one_key
from recombine.models.layers import CUT, Linear
from recombine.models.network import Network


class StudentMLP(Network):
    """depth x (linear to `width`, ReLU) -> linear, along the last axis: an example may be (samples, features).

    Activations `layer0` .. `layer{depth-1}` are taken before each ReLU, where the paper probes them. Weights start
    normal, cut at 2 sigma, with variance 1 / fan_in; biases start at zero.
    """

    hidden: tuple[Linear, ...]
    read_out: Linear

    def __init__(self, inputs: int, outputs: int, *, width: int = 1024, depth: int = 4, key: jax.Array):
        at_least_one(inputs=inputs, outputs=outputs, width=width, depth=depth)
        *hidden, self.read_out = _draw(one_key(key), list(pairwise((inputs, *[width] * depth, outputs))))
        self.hidden = tuple(hidden)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        acts = {}
        for i, layer in enumerate(self.hidden):
            acts[f"layer{i}"] = layer(x)
            x = jax.nn.relu(acts[f"layer{i}"])
        return self.read_out(x), acts

    def many(self, x: jax.Array) -> jax.Array:
        """The answers to a batch at once, without activations: by kernels of ours where they fit, else as above."""
        layers = [(layer.weight, layer.bias) for layer in (*self.hidden, self.read_out)]
        rows, widths = x.reshape(-1, x.shape[-1]), [layer.weight.shape[1] for layer in self.hidden]
        if device.own_kernels():
            for kernels in (relu_narrow, relu_wide):
                if kernels.fits(len(rows), widths, x.dtype):
                    return kernels.relu_network(rows, layers).reshape(*x.shape[:-1], -1)
        return jax.vmap(self)(x)[0]


def decays(params: Any) -> Any:
    """True for matrices and False for biases: `optax.adamw(..., mask=decays)` decays weights alone."""
    return jax.tree.map(lambda a: a.ndim > 1, params)


def _draw(key: jax.Array, shapes: list[tuple[int, int]]) -> list[Linear]:
    ends = np.cumsum([fan_in * fan_out for fan_in, fan_out in shapes])
    numbers = jnp.split(jax.random.truncated_normal(key, -2.0, 2.0, (ends[-1],)) / CUT, ends[:-1])
    return [
        Linear(n.reshape(shape) * shape[0] ** -0.5, jnp.zeros(shape[1]))
        for n, shape in zip(numbers, shapes, strict=True)
    ]
