"""A population of hyperteacher students as work to be timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import recombine as rc
from recombine.tasks.hyperteacher import widths
from recombine.train.monitor import Monitor, Progress
from recombine.train.population import footprint


@cache
def task(modules: int, size: int, samples: int) -> rc.Task:
    return rc.hyperteacher(
        modules=modules, inputs=size, hidden=(size,), outputs=size, samples=samples, key=jax.random.key(0)
    )


class Clock(Monitor):
    """The time at which each chunk of steps was finished."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def chunk(self, label: str, progress: Progress, state: Any) -> None:
        self.times.append(time.perf_counter())


class Work(NamedTuple):
    """What is trained, and how."""

    task: rc.Task
    split: rc.Split
    make: Callable[[jax.Array], rc.StudentMLP]
    recipe: rc.Recipe


def work(
    *,
    width: int,
    depth: int,
    steps: int,
    chunks: int,
    compute: Any,
    modules: int = 16,
    size: int = 16,
    samples: int = 16,
    tasks: int = 128,
) -> Work:
    family = task(modules, size, samples)
    inputs, outputs = widths(family)
    split = rc.Split(family.combinations, rc.supports.random(family.combinations[:, 1:], 0.25, jax.random.key(1)))
    optimiser = partial(rc.adamw, moments=None if compute == jnp.float32 else compute)
    recipe = rc.Recipe(steps, tasks, optimiser, compute=compute, chunks=chunks)
    return Work(family, split, partial(_make, inputs, outputs, width, depth), recipe)


def _make(inputs: int, outputs: int, width: int, depth: int, key: jax.Array) -> rc.StudentMLP:
    return rc.StudentMLP(inputs, outputs, width=width, depth=depth, key=key)


def train(members: int, *, steps: int, repeats: int, first: int = 0, **sizes) -> list[float]:
    """Seconds of `repeats` stretches of `steps` updates of the whole population, after one that compiles."""
    it, clock = work(steps=steps * (repeats + 1), chunks=repeats + 1, **sizes), Clock()
    keys = rc.member_keys(0, range(first, first + members))
    rc.population(*it[:3], keys, it.recipe, dials={"learning_rate": 3e-4}, monitor=clock)
    return [later - sooner for sooner, later in zip(clock.times, clock.times[1:], strict=False)]


def bytes_for_one(**sizes) -> int:
    """What one network more adds to the memory that a population takes."""
    it = work(steps=4, chunks=1, **sizes)
    four, eight = (footprint(*it[:3], rc.member_keys(0, range(n)), it.recipe) for n in (4, 8))
    return (eight - four) // 4
