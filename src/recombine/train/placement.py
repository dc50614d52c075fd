"""How many members of a population are computed together, and on which cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine import device
from recombine.core import UserError
from recombine.train.program import Given, Program, State


def members_per_batch(program: Program, params: Any, given: Given, combinations: jax.Array) -> int:
    """How many members to compute together, from the shapes of one: see `device`."""

    def one(params: Any, z: jax.Array) -> Any:
        x, _ = program.sample(z, jax.random.key(0))
        return eqx.combine(params, program.static)(x)

    first = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), params)
    shapes = jax.tree.leaves(jax.eval_shape(one, first, combinations[0]))
    return device.members_per_batch(
        len(given.count),
        activations=program.recipe.batch * sum(s.size for s in shapes),
        parameters=sum(s.size for s in jax.tree.leaves(first)),
        limit=device.device_memory(),
    )


def run_in_batches(work: Callable[..., Any], state: State, given: Given, shared: tuple, at_once: int) -> Any:
    """A chunk of all members. On a CPU, where `at_once` share a core's cache, every core takes such a group at a time.

    One call computes one group: populations of any size share a program. The first goes ahead and compiles it.
    """
    members = len(given.count)
    if jax.default_backend() != "cpu" or at_once == members:
        return work(state, given, *shared)

    def group(first: int) -> Any:
        mine = jax.tree.map(lambda a: a[first : first + at_once], (state, given))
        return jax.block_until_ready(work(*mine, *shared))

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        parts = [group(0), *pool.map(group, range(at_once, members, at_once))]
    return jax.tree.map(lambda *a: jnp.concatenate(a), *parts)


def fewer(at_once: int, members: int, error: Exception) -> int:
    """Half as many together when memory ran out; any other error stays one."""
    if "RESOURCE_EXHAUSTED" not in str(error):
        raise error
    if at_once == 1:
        raise UserError(
            "one network of this population does not fit the device's memory, beside what else is on it"
        ) from error
    return device.largest_divisor(members, at_once // 2)
