"""A population of hyperteacher students as work to be timed."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import jax

import recombine as rc
from recombine.watch import Progress, Quiet


@cache
def task(modules: int, size: int, samples: int) -> rc.Task:
    return rc.hyperteacher(
        modules=modules, inputs=size, hidden=(size,), outputs=size, samples=samples, key=jax.random.key(0)
    )


class Clock(Quiet):
    """The time at which each chunk of steps was finished."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def chunk(self, label: str, progress: Progress, state: Any) -> None:
        self.times.append(time.perf_counter())


def train(
    members: int,
    *,
    width: int,
    depth: int,
    steps: int,
    repeats: int,
    compute: Any,
    modules: int = 16,
    size: int = 16,
    samples: int = 16,
    tasks: int = 128,
    first: int = 0,
) -> list[float]:
    """Seconds of `repeats` stretches of `steps` updates of the whole population, after one that compiles."""
    family = task(modules, size, samples)
    inputs, outputs = rc.widths(family)
    masks = family.combinations[:, 1:]
    split = rc.Split(family.combinations, rc.supports.random(masks, 0.25, jax.random.key(1)))

    def make(key: jax.Array) -> rc.StudentMLP:
        return rc.StudentMLP(inputs, outputs, width=width, depth=depth, key=key)

    clock = Clock()
    recipe = rc.Recipe(steps * (repeats + 1), tasks, compute=compute, chunks=repeats + 1)
    keys = rc.member_keys(0, range(first, first + members))
    rc.population(family, split, make, keys, recipe, dials={"learning_rate": 3e-4}, watch=clock)
    return [later - sooner for sooner, later in zip(clock.times, clock.times[1:], strict=False)]
