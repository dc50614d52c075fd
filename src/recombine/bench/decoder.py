"""Samples per second of the 28x28 decoder (width 64, depth 4) for growing populations, in float32 and bfloat16.

A run of n steps takes fixed + n * per step; both are read off two lengths. `samples_per_second` is the per-step speed
alone, `with_fixed_cost` that of whole runs of the longer length.
"""

from __future__ import annotations

from statistics import median

import jax
import jax.numpy as jnp

from recombine.bench import device, seconds
from recombine.bench._decoder import train

# Measured with the authors' released loop on one H200 (batch 32, their data loader).
AUTHORS_LOOP = 6_800
BATCH = 32


def measure(
    *, largest: int = 128, size: int = 28, width: int = 64, depth: int = 4, steps: int = 200, repeats: int = 3
) -> dict:
    rows = []
    for compute in (jnp.float32, jnp.bfloat16):
        for members in (m for m in (1, 8, 32, 128, 512) if m <= largest):
            work = {"size": size, "width": width, "depth": depth, "compute": compute}
            rows.append({"members": members, "compute": compute.__name__, **timed(members, steps, repeats, work)})
    return {"device": device(), "size": size, "width": width, "depth": depth, "rows": rows}


def timed(members: int, steps: int, repeats: int, work: dict) -> dict:
    """The speed of a step and the fixed cost of a run, from runs of `steps` and of five times as many."""
    keys = jax.random.split(jax.random.key(0), members)
    short, long = (seconds(lambda n=n: train(keys, **work, steps=n), repeats) for n in (steps, 5 * steps))
    steady = [(b - a) / (4 * steps) for a, b in zip(sorted(short), sorted(long), strict=True)]
    speeds = sorted(round(members * BATCH / t) for t in steady)
    whole = sorted(round(members * BATCH * 5 * steps / t) for t in long)
    return {
        "samples_per_second": speeds,
        "with_fixed_cost": whole,
        "fixed_seconds": round(median(short) - steps * median(steady), 3),
        "ratio_to_authors": round(median(speeds) / AUTHORS_LOOP, 1),
    }
