"""Network-steps per second of decoders over tokens: a population, and a plain PyTorch loop with torch.compile and SDPA.

4 layers of width 128, 64 tokens, batch 256. PyTorch trains one network at a time, if torch is there; a ratio above 1
means that the population does more steps per second and network. On a GPU both float32 and bfloat16 are timed, with 32
networks; on a CPU, where they take turns, two (a minute or two).
"""

from __future__ import annotations

from importlib.util import find_spec
from statistics import median

import jax
import jax.numpy as jnp

from recombine.bench import _tokens, _tokens_torch, device


def measure(
    *,
    members: int = 0,
    width: int = 128,
    depth: int = 4,
    heads: int = 4,
    tokens: int = 64,
    batch: int = 256,
    steps: int = 0,
    repeats: int = 3,
) -> dict:
    """Both in one run, on one device, in the same precision; 32 networks for 20 steps on a GPU, 2 for 6 elsewhere."""
    usual = (2, 6) if jax.default_backend() == "cpu" else (32, 20)
    members, steps = members or usual[0], steps or usual[1]
    sizes = {"width": width, "depth": depth, "heads": heads, "tokens": tokens}
    kinds = (jnp.float32,) if jax.default_backend() == "cpu" else (jnp.float32, jnp.bfloat16)
    rows = [compared(members, compute, sizes, batch, steps, repeats=repeats) for compute in kinds]
    return {"device": device(), "members": members, **sizes, "batch": batch, "rows": rows}


def compared(members: int, compute, sizes: dict[str, int], batch: int, steps: int, *, repeats: int) -> dict:
    """Speeds in one precision, and where the time of one network goes."""
    ours = _tokens.train(members, compute=compute, sizes=sizes, batch=batch, steps=steps, repeats=repeats)
    rates = sorted(round(members * steps / t, 2) for t in ours)
    found = {"compute": compute.__name__, "network_steps_per_second": rates}
    found["seconds_of_parts"] = _tokens.time_split(compute=compute, sizes=sizes, batch=batch, repeats=repeats)
    if find_spec("torch"):
        half = compute == jnp.bfloat16
        theirs = _tokens_torch.train(half=half, sizes=sizes, batch=batch, steps=steps, repeats=repeats)
        found["pytorch_steps_per_second"] = sorted(round(steps / t, 2) for t in theirs)
        found["ratio_pytorch"] = round(median(rates) / median(found["pytorch_steps_per_second"]), 2)
    return found
