"""A decoder that renders each factor as a map in pixel space, and only then lets the maps meet.

The factorised-embedding network of Liang et al. (2025), section 4.1. As released it has 2 hidden channels, with which
some seeds never learn to intersect the maps; 8 are the default here.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import at_least_one
from recombine.keys import one_key
from recombine.models import convolution
from recombine.models.layers import Kernel, PReLU, kernels
from recombine.models.network import Network

FACTORS = ("x", "y")


class Rendering(Network):
    """One-hot codes of x and y -> maps W^x(x), W^y(y) as two channels -> PReLU convolutions -> one picture.

    W^f(t) = sum_n u^f_{t,n} lambda^f_{t,n} (v^f_{t,n})^T, with u and v of length one at use, and stored as they are.
    Activations: `embed_x` and `embed_y`, the two maps; `layer0`, `layer1`, .. the channels after each PReLU.
    """

    u: jax.Array
    v: jax.Array
    lambdas: jax.Array
    kernels: tuple[Kernel, ...]
    slopes: tuple[PReLU, ...]

    def __init__(self, size: int, *, rank: int | None = None, channels: int = 8, depth: int = 2, key: jax.Array):
        rank = size if rank is None else rank
        at_least_one(size=size, rank=rank, channels=channels)
        if not isinstance(depth, int | np.integer) or depth < 0:
            raise ValueError(f"depth must be a whole number from 0 on, got {depth!r}")
        first, last = jax.random.split(one_key(key))
        drawn = jax.random.normal(first, (2, size, rank, 2 * size + 1))
        self.u, self.v = _unit(drawn[..., :size]), _unit(drawn[..., size:-1])
        self.lambdas = drawn[..., -1] * size**-0.5
        self.kernels = tuple(kernels(last, (2, *[channels] * depth, 1)))
        self.slopes = tuple(PReLU() for _ in self.kernels)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        embedded = jnp.einsum("ft,ftij->ijf", x.reshape(2, -1), self.maps())
        acts = {f"embed_{factor}": embedded[..., i] for i, factor in enumerate(FACTORS)}
        h = embedded
        for i, (kernel, slope) in enumerate(zip(self.kernels, self.slopes, strict=True)):
            h = acts[f"layer{i}"] = slope(h)
            h = convolution.narrow(h, kernel.weight) + kernel.bias
        return h[..., 0], acts

    def maps(self) -> jax.Array:
        """W^f(t) of every factor and token, shape (2, tokens, size, size).

        They do not depend on the example, so a batch shares them: cheaper than looking up u and v for each example.
        """
        return jnp.einsum("...ni,...nj->...ij", _unit(self.u) * self.lambdas[..., None], _unit(self.v))


def tables(model: Rendering) -> dict[str, np.ndarray]:
    """What a network, or a population of them, has stored: `lambda_x`, `lambda_y` (tokens, modes), `map_x`, `map_y`."""
    lambdas, maps = np.asarray(model.lambdas), np.asarray(model.maps())
    return {f"lambda_{f}": lambdas[..., i, :, :] for i, f in enumerate(FACTORS)} | {
        f"map_{f}": maps[..., i, :, :, :] for i, f in enumerate(FACTORS)
    }


def _unit(vectors: jax.Array) -> jax.Array:
    squares = jnp.sum(vectors**2, axis=-1, keepdims=True)
    return vectors * jax.lax.rsqrt(jnp.maximum(squares, 1e-24))
