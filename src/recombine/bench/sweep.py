"""Pictures a second of a weight sweep, batched and one by one: the same changes of the same weights of one network.

Both reduce a picture to its root mean square change: nothing but numbers leaves the device. The rows take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from recombine.bench import device, spread

MIX = "12;cache:15,gaussian:4,identity:2,sin:1"
"""The layers and units of an evolved skull, here with all 5,478 weights."""
FEW, MANY = 12, 1000
"""Weights swept by default on a CPU and on an accelerator."""


def measure(*, size: int = 256, weights: int | None = None, values: int = 9, repeats: int = 3, seed: int = 0) -> dict:
    """Pictures a second of each row, and how often the batch is as fast in the same round.

    Weights are spread evenly over the network: 12 by default on a CPU, 1000 on an accelerator.
    """
    rows, swept = _rows(size, weights, values, seed)
    rounds = [{name: _timed(row) for name, row in rows.items()} for _ in range(repeats + 1)][1:]
    found = {name: [done[name][1] for done in rounds] for name in rows}
    times = {name: [done[name][0] for done in rounds] for name in rows}
    return {
        "device": device(),
        "network": MIX,
        "size": size,
        "weights": swept,
        "values": values,
        "rows": {name: {"pictures_per_second": spread([swept * values / t for t in times[name]])} for name in rows},
        "ratio": spread([b / a for a, b in zip(times["sweep"], times["one_by_one"], strict=True)]),
        "largest_difference": float(np.abs(found["sweep"][0] - found["one_by_one"][0]).max()),
    }


def _rows(size: int, weights: int | None, values: int, seed: int) -> tuple[dict[str, Callable[[], np.ndarray]], int]:
    import jax
    from jax.tree_util import Partial

    from recombine.cppn.network import CPPN, parse_mix
    from recombine.cppn.sweep import sweep
    from recombine.cppn.sweep.matching import rms_change

    depth, mix = parse_mix(MIX)
    model = CPPN(mix, depth, key=jax.random.key(seed))
    every = sweep.every_weight(model)
    count = min(weights or (FEW if jax.default_backend() == "cpu" else MANY), len(every.layer))
    spaced = ((np.arange(count) + 0.5) * len(every.layer) / count).astype(int)
    where = sweep.WeightIndex(*(a[spaced] for a in every))
    deltas, reduce = np.linspace(-1, 1, values), Partial(rms_change, sweep.forward(model, size)[0])
    ways = {"sweep": sweep.sweep, "one_by_one": sweep.one_by_one}
    return {name: lambda way=way: way(model, where, deltas, size, reduce=reduce) for name, way in ways.items()}, count


def _timed(row: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    found = row()
    return time.perf_counter() - start, found
