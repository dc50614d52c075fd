"""Turns numbers into a sum of functions of two of them each: a target whose parts are known exactly.

y = sum_p g_p(x_2p, x_2p+1), with g_p(a, b) = sin(pi (a + c_p b)) and c_p spread over [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task


@dataclass(frozen=True)
class Sum:
    """The `sample` of the task: fresh points x, uniform on [-1, 1), and y, scaled to a variance of about one."""

    parts: int
    points: int

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = jax.random.uniform(key, (self.points, 2 * self.parts), minval=-1.0, maxval=1.0)
        pairs = x.reshape(self.points, self.parts, 2)
        slopes = jnp.linspace(-1.0, 1.0, self.parts)
        terms = jnp.sin(jnp.pi * (pairs[..., 0] + slopes * pairs[..., 1]))
        return x, terms.sum(axis=1, keepdims=True) * (2 / self.parts) ** 0.5


def sum_of_parts(parts: int = 3, *, points: int = 128) -> Task:
    """An example is so many points and their answers; there is one combination, since nothing is held out."""
    if parts < 1 or points < 1:
        raise ValueError(f"a sum has a part and a point at least, got {parts} and {points}")
    return Task(f"sum of {parts} parts", np.zeros((1, 1), np.int16), Sum(parts, points))
