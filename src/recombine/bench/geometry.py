"""Exact geometry of every layer of a decoder over the grid, batched and point by point: metric, volume, additive share.

Each row has a process of its own, so that its peak memory can be told, and the rows take turns, so that all meet the
same machine. The loops visit only `points` of the cells, spread evenly, and the time of their visits is scaled to all
cells; what they do once is not scaled.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.bench import device, spread

Found = dict[str, tuple[np.ndarray, float]]
"""The volume at each cell and the additive share, by layer."""
Look = Callable[[Any], Iterator[tuple[str, np.ndarray, np.ndarray]]]
"""From one cell to each layer's name, its activations, and its derivatives in x and y (units, 2)."""


class Work(NamedTuple):
    """What is done at each cell, by its number, and what is done once."""

    visit: Callable[[int], None]
    conclude: Callable[[], Found]


Row = Callable[[Any, int], Work]
"""From a decoder and the grid's size to the work of measuring it."""


def measure(
    *, size: int = 28, width: int = 64, depth: int = 4, points: int = 14, repeats: int = 3, seed: int = 0
) -> dict:
    """Seconds of each row, their ratio to the batch's in the same round, and by how much the process's memory grew."""
    decoder = {"size": size, "width": width, "depth": depth, "seed": seed}
    points = min(points, size**2)
    with ExitStack() as stack:
        pools = {name: stack.enter_context(_process()) for name in ROWS}

        def turn(name: str) -> tuple[float, float]:
            return pools[name].submit(_round, ROWS[name], points=points, **decoder).result()

        rounds = [{name: turn(name) for name in ROWS} for _ in range(repeats + 1)]
        where = pools["batched"].submit(device).result()
    times = {name: [done[name][0] for done in rounds[1:]] for name in ROWS}
    return {
        "device": where,
        **decoder,
        "cells": size**2,
        "points_visited_by_the_loops": points,
        "rows": {
            name: {
                "seconds": spread(times[name]),
                "ratio": spread([t / base for t, base in zip(times[name], times["batched"], strict=True)]),
                "megabytes": round(rounds[-1][name][1]),
            }
            for name in ROWS
        },
    }


def batched(model: Any, size: int) -> Work:
    """`layer_geometry`: derivatives in x and y of all layers, a few cells at a time, reduced where they are made."""
    from recombine.recording.jacobians import additive, layer_geometry

    def conclude() -> Found:
        found = layer_geometry(model, rc.local_bump(size), size)
        return {name: (rc.volume(layer.g), additive(layer.energies)) for name, layer in found.items()}

    return Work(_nothing, conclude)


def code_jacobians(model: Any, size: int) -> Work:
    """The straightforward loop: at each cell, layer by layer, the Jacobian in the code, times the code's derivative."""
    import jax

    def layer(name: str) -> Callable[[Any, Any], Any]:
        return jax.jit(lambda model, code: _jacobian(lambda code: _layers(model, code)[name], code))

    told = jax.jit(lambda z: _jacobian(lambda z: _code(size, z), z))
    programs = {name: layer(name) for name in _shapes(model, size)}

    def look(z: Any) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        slope, code = told(z)
        for name, program in programs.items():
            jacobian, acts = program(model, code)
            yield name, np.asarray(acts), np.asarray(jacobian) @ np.asarray(slope)

    return _loop(look, model, size)


def cell_jacobians(model: Any, size: int) -> Work:
    """The better loop: at each cell, all layers at once, their derivatives in x and y alone."""
    import jax

    program = jax.jit(lambda model, z: _jacobian(lambda z: _layers(model, _code(size, z)), z))

    def look(z: Any) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        jacobians, acts = program(model, z)
        for name, jacobian in jacobians.items():
            yield name, np.asarray(acts[name]), np.asarray(jacobian)

    return _loop(look, model, size)


def differences(model: Any, size: int) -> Work:
    """No derivatives: differences between recorded cells, another quantity that is often used in their place."""
    import jax

    task = rc.bumps(size, rc.local_bump(size))
    kept = [name for name in _shapes(model, size) if name != "output"]

    def conclude() -> Found:
        answer = rc.record(model, task, task.combinations, key=jax.random.key(0), keep=kept)
        layers = {**answer.acts, "output": answer.y_hat}
        grids = {name: a.reshape(size, size, -1) for name, a in layers.items()}
        return {
            name: (rc.volume(rc.metric(*rc.finite_differences(grid))), rc.additive_share(grid))
            for name, grid in grids.items()
        }

    return Work(_nothing, conclude)


ROWS: dict[str, Row] = {
    "batched": batched,
    "code_jacobians": code_jacobians,
    "cell_jacobians": cell_jacobians,
    "differences": differences,
}


def _loop(look: Look, model: Any, size: int) -> Work:
    """Visit cell by cell, keep the activations and the metric; at the end, volumes and shares."""
    # Ones, not zeros: memory that was never written to would not count.
    kept = {name: np.ones((size**2, units), np.float32) for name, units in _shapes(model, size).items()}
    g = {name: np.ones((size**2, 2, 2)) for name in kept}

    def visit(cell: int) -> None:
        for name, acts, slopes in look(np.array(divmod(cell, size), np.float32)):
            kept[name][cell] = acts
            g[name][cell] = rc.metric(*slopes.T[:, None])[0]

    def conclude() -> Found:
        return {name: (_grid(rc.volume(g[name]), size), rc.additive_share(_grid(kept[name], size))) for name in kept}

    return Work(visit, conclude)


def _jacobian(function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
    """The Jacobian and the value, which comes along for nothing."""
    import jax

    return jax.jacfwd(lambda x: 2 * (function(x),), has_aux=True)(at)


def _grid(values: np.ndarray, size: int) -> np.ndarray:
    return values.reshape(size, size, *values.shape[1:])


def _nothing(cell: int) -> None:
    pass


def _code(size: int, z: Any) -> Any:
    import jax.numpy as jnp

    encode = rc.local_bump(size)
    return jnp.concatenate([encode(z[0]), encode(z[1])])


def _layers(model: Any, code: Any) -> dict[str, Any]:
    y, acts = model(code)
    return {name: a.ravel() for name, a in {**acts, "output": y}.items()}


def _shapes(model: Any, size: int) -> dict[str, int]:
    import jax

    shapes = jax.eval_shape(lambda z: _layers(model, _code(size, z)), np.zeros(2, np.float32))
    return {name: shape.size for name, shape in shapes.items()}


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_share_the_device)


def _share_the_device() -> None:
    """Keep JAX from taking most of a GPU's memory for one of several processes."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@cache
def _prepared(row: Row, **decoder: int) -> tuple[Work, float]:
    """A row's work, made once in its process, and the process's peak memory before it."""
    import jax

    size, seed = decoder["size"], decoder["seed"]
    shape = {"width": decoder["width"], "depth": decoder["depth"]}
    model = jax.block_until_ready(rc.CNNDecoder(2 * size, size, **shape, key=jax.random.key(seed)))
    before = _peak()
    return row(model, size), before


def _round(row: Row, *, points: int, size: int, **decoder: int) -> tuple[float, float]:
    """Seconds of one round, and the growth of the largest memory so far in MB, compilation included."""
    work, before = _prepared(row, size=size, **decoder)
    start = time.perf_counter()
    for cell in np.linspace(0, size**2 - 1, points).astype(int).tolist():
        work.visit(cell)
    visited = time.perf_counter()
    work.conclude()
    done = time.perf_counter()
    return (visited - start) * size**2 / points + done - visited, _peak() - before


def _peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, getrusage would count what the parent held before this process began
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # bytes on macOS
