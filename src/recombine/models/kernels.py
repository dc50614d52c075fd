"""The weights of an ordinary convolution, drawn as PyTorch draws them."""

from __future__ import annotations

import equinox as eqx
import jax


class Kernel(eqx.Module):
    """Weight and bias ~ U(-b, b) with b = 1 / sqrt(inputs * side^2): the fan is counted over inputs."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self, side: int, inputs: int, outputs: int, key: jax.Array):
        w, b = jax.random.split(key)
        bound = (inputs * side**2) ** -0.5
        self.weight = jax.random.uniform(w, (side, side, inputs, outputs), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(b, (outputs,), minval=-bound, maxval=bound)
