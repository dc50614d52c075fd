"""One population of picture decoders against separate runs, and against a plain PyTorch loop if torch is there."""

from __future__ import annotations

from importlib.util import find_spec

import jax
import jax.numpy as jnp

from recombine.bench import device, seconds, spread
from recombine.bench._decoder import train, train_in_torch


def measure(
    *, members: int = 8, size: int = 16, width: int = 32, depth: int = 3, steps: int = 40, repeats: int = 5
) -> dict:
    """Wall times of the same number of steps; a ratio above 1 means that the population is faster."""
    work = {"size": size, "width": width, "depth": depth, "steps": steps}
    keys = jax.random.split(jax.random.key(0), members)
    together = seconds(lambda: train(keys, compute=jnp.float32, **work), repeats)
    apart = seconds(lambda: [train(key[None], compute=jnp.float32, **work) for key in keys], repeats)
    rows = {"population": together, "separate": apart}
    if find_spec("torch"):
        rows["pytorch"] = seconds(lambda: [train_in_torch(seed, **work) for seed in range(members)], repeats)
    result = {name: spread(times) for name, times in rows.items()}
    base = result["population"]["median"]
    return {
        "device": device(),
        "members": members,
        **work,
        "seconds": result,
        "samples_per_second": round(members * steps * 32 / base),
        **{f"ratio_{name}": round(row["median"] / base, 2) for name, row in result.items() if name != "population"},
    }
