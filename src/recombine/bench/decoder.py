"""Samples per second of the 28x28 decoder (width 64, depth 4) for growing populations, in float32 and bfloat16."""

from __future__ import annotations

from statistics import median

import jax
import jax.numpy as jnp

from recombine.bench import device, seconds
from recombine.bench._decoder import train

# Measured with the authors' released loop on one H200 (batch 32, their data loader).
AUTHORS_LOOP = 6_800


def measure(
    *, largest: int = 128, size: int = 28, width: int = 64, depth: int = 4, steps: int = 200, repeats: int = 3
) -> dict:
    rows = []
    for compute in (jnp.float32, jnp.bfloat16):
        for members in (m for m in (1, 8, 32, 128, 512) if m <= largest):
            keys = jax.random.split(jax.random.key(0), members)
            work = {"size": size, "width": width, "depth": depth, "steps": steps, "compute": compute}
            times = seconds(lambda keys=keys, work=work: train(keys, **work), repeats)
            rates = [round(members * steps * 32 / t) for t in times]
            row = {"members": members, "compute": compute.__name__, "samples_per_second": sorted(rates)}
            rows.append(row | {"ratio_to_authors": round(median(rates) / AUTHORS_LOOP, 1)})
    return {"device": device(), "size": size, "width": width, "depth": depth, "rows": rows}
