"""Turns numbers into a composition of functions of two of them each: targets whose parts are known exactly.

Step 1: u_p = g_p(x_2p, x_2p+1) with g_p(a, b) = sin(pi (a + c_p b)) and c_p spread over [-1, 1].
Step 2: v = sin(pi / 2 s), where s = sqrt(2 / P) sum_p u_p, so that y = g3(g1, g2) where there are two parts.
Step 3: w = sin(pi / 2 (v + u_1)), so that a part has to be carried past the second step.
The target is s, v or w, scaled to a variance of about one: a sum, or a composition in two or three steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task, at_least_one


def values(x: jax.Array, parts: jax.Array | int) -> tuple[jax.Array, jax.Array]:
    """The values u_1 .. u_P, v, w on the way at one point x (2 P,), and the targets of 1, 2 and 3 steps.

    Of a point with room for more parts than there are, the u_p of those that are not there are 0.
    """
    pairs = x.reshape(-1, 2)
    numbers = jnp.arange(len(pairs))
    slopes = 2 * numbers / jnp.maximum(parts - 1, 1) - 1
    u = jnp.where(numbers < parts, jnp.sin(jnp.pi * (pairs[:, 0] + slopes * pairs[:, 1])), 0.0)
    s = u.sum() * jnp.sqrt(2 / parts)
    v = jnp.sin(jnp.pi / 2 * s)
    w = jnp.sin(jnp.pi / 2 * (v + u[0]))
    return jnp.concatenate([u, jnp.stack([v, w])]), jnp.stack([s, 2**0.5 * v, 2**0.5 * w])


@dataclass(frozen=True)
class Composition:
    """The `sample` of the task: fresh points x, uniform on [-1, 1) and 0 where a part is not there, and their y."""

    most: int
    points: int

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        parts, steps = z[0], z[1]
        there = jnp.repeat(jnp.arange(self.most) < parts, 2)
        x = jax.random.uniform(key, (self.points, 2 * self.most), minval=-1.0, maxval=1.0) * there
        targets = jax.vmap(lambda point: values(point, parts)[1])(x)
        return x, targets[:, steps - 1, None]


def compositions(parts: Sequence[int] = (3,), steps: Sequence[int] = (1, 2, 3), *, points: int = 128) -> Task:
    """A combination (parts, steps) is one target; an example is so many points and their answers."""
    at_least_one(points=points, **{f"parts[{i}]": part for i, part in enumerate(parts)})
    if not parts or not set(steps) <= {1, 2, 3} or not steps:
        raise ValueError(f"a target has a part and 1 to 3 steps, got {parts} and {steps}")
    rows = np.array([(p, k) for k in steps for p in parts], np.int16)
    return Task(f"compositions of {max(parts)} parts", rows, Composition(max(parts), points))


def sum_of_parts(parts: int = 3, *, points: int = 128) -> Task:
    """y = sqrt(2 / P) sum_p u_p alone; there is one combination, since nothing is held out."""
    return compositions((parts,), (1,), points=points)
