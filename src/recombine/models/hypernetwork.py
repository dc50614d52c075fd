"""A network whose weights are written by another one that reads the code of the task.

In the released code of Redhardt, Akram and Schug (2025, arXiv 2507.07207), where it has 574,768 parameters for codes,
inputs and outputs of size 16.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models.layers import CUT, Linear
from recombine.models.network import Network


class Hypernetwork(Network):
    """x (samples, code + inputs), the code alike in all samples -> y (samples, outputs).

    (W, b, V, c) = linear(LayerNorm(code)); y = ReLU(x W / sqrt(inputs) + b) V / sqrt(width) + c. LayerNorm removes the
    scale of the code, by which a task's answers may grow: without `normalise` the code itself is read.
    The activation `layer0` (samples, width) is taken before the ReLU. The linear map starts normal, cut at two
    standard deviations, with variance 1 / code; its biases start at zero.
    """

    norm: eqx.nn.LayerNorm | None
    write: Linear
    inputs: int = eqx.field(static=True)
    width: int = eqx.field(static=True)

    def __init__(
        self, code: int, inputs: int, outputs: int, *, width: int = 1024, normalise: bool = True, key: jax.Array
    ):
        at_least_one(code=code, inputs=inputs, outputs=outputs, width=width)
        written = (inputs + 1) * width + (width + 1) * outputs
        self.norm = eqx.nn.LayerNorm(code, eps=1e-6) if normalise else None
        weight = jax.random.truncated_normal(one_key(key), -2.0, 2.0, (code, written)) * (code**-0.5 / CUT)
        self.write = Linear(weight, jnp.zeros(written))
        self.inputs, self.width = inputs, width

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        first, last = self.target(x[0, : -self.inputs])
        h = first(x[:, -self.inputs :])
        return last(jax.nn.relu(h)), {"layer0": h}

    def target(self, code: jax.Array) -> tuple[Linear, Linear]:
        """The two layers that are written for a code."""
        written = self.write(self.norm(code) if self.norm else code)
        first, last = jnp.split(written, [(self.inputs + 1) * self.width])
        return _layer(first, self.inputs, self.width), _layer(last, self.width, last.size // (self.width + 1))


def _layer(written: jax.Array, inputs: int, outputs: int) -> Linear:
    weight, bias = jnp.split(written, [inputs * outputs])
    return Linear(weight.reshape(inputs, outputs) * inputs**-0.5, bias)
