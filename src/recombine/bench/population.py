"""Model-steps per second of hyperteacher students: on a GPU beside the authors' loop, on a CPU beside separate runs."""

from __future__ import annotations

from statistics import median

import jax
import jax.numpy as jnp

from recombine.bench import device, spread
from recombine.bench._students import bytes_for_one, train
from recombine.device import SHARE, device_memory

# Steps per second of the authors' released loop on one H200, which trains one network at a time.
AUTHORS = {256: 640, 1024: 740}


def measure(*, members: int = 16, width: int = 64, depth: int = 3, steps: int = 50, repeats: int = 3) -> dict:
    """On a CPU these options; on a GPU the two sizes of the paper, and `steps` and `repeats`."""
    if jax.default_backend() == "cpu":
        return {"device": device()} | against_separate(members, width, depth, steps, repeats=repeats)
    rows = [
        beside_authors(width, members, compute, steps, repeats=repeats)
        for width, members in ((256, 128), (1024, 32))
        for compute in (jnp.float32, jnp.bfloat16)
    ]
    return {"device": device(), "tasks": 128, "samples": 16, "depth": 4, "rows": rows}


def against_separate(members: int, width: int, depth: int, steps: int, *, repeats: int) -> dict:
    """One population against as many separate runs of the same program; above 1 the population is faster."""
    work = {"width": width, "depth": depth, "steps": steps, "repeats": repeats, "compute": jnp.float32}
    work |= {"modules": 8, "size": 8, "samples": 8}
    together = train(members, **work)
    alone = [train(1, first=i, **work) for i in range(members)]
    apart = [sum(times) for times in zip(*alone, strict=True)]
    result = {"population": spread(together), "separate": spread(apart)}
    ratio = result["separate"]["median"] / result["population"]["median"]
    rate = round(members * steps / result["population"]["median"])
    return {"members": members, "width": width, "depth": depth, "model_steps_per_second": rate} | {
        "seconds": result,
        "ratio_separate": round(ratio, 2),
    }


def beside_authors(width: int, members: int, compute, steps: int, *, repeats: int) -> dict:
    """Speed beside the authors' loop, the memory of one network, and how many would fit side by side."""
    sizes = {"width": width, "depth": 4, "compute": compute}
    rates = sorted(round(members * steps / t) for t in train(members, steps=steps, repeats=repeats, **sizes))
    one = bytes_for_one(**sizes)
    return {
        "width": width,
        "members": members,
        "compute": compute.__name__,
        "model_steps_per_second": rates,
        "authors": AUTHORS[width],
        "ratio_to_authors": round(median(rates) / AUTHORS[width], 1),
        "bytes_per_network": one,
        "networks_that_fit": int(SHARE * (device_memory() or 0)) // one,
    }
