"""What kind of machine a cell was computed on: results are equal bit for bit only on one kind."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

KIND = ("device", "cpu", "cores", "xla_flags")
"""Facts of a cell that name the kind of machine it was computed on."""


def describe() -> dict[str, Any]:
    """The processor, the number of cores that may be used, and the flags given to XLA."""
    return {"cpu": processor(), "cores": cores(), "xla_flags": os.environ.get("XLA_FLAGS", "").strip()}


def cores() -> int:
    """The cores this process may use, which is what XLA divides work by; all of them where that is unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def processor(source: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model, and a short hash of the instructions that it has, where the system tells."""
    try:
        lines = source.read_text(errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    told = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    model = told.get("model name") or platform.processor() or platform.machine() or "unknown"
    features = " ".join(sorted((told.get("flags") or told.get("features") or "").split()))
    return f"{model} [{hashlib.sha256(features.encode()).hexdigest()[:8]}]" if features else model


def forget_programs(most: int = 20_000, maps: Path = Path("/proc/self/maps")) -> bool:
    """Let go of compiled programs where they map many pieces of memory: Linux ends a process that maps 65,530."""
    if not maps.exists() or maps.read_bytes().count(b"\n") <= most:
        return False
    import gc

    import jax

    jax.clear_caches()
    gc.collect()
    return True


def mixture(made: Sequence[Mapping[str, Any]]) -> str:
    """A sentence that says in what the machines of a table's cells differ; nothing if they were of one kind."""
    values = {name: sorted({str(facts.get(name, "unknown")) for facts in made}) for name in KIND}
    several = {name: found for name, found in values.items() if len(found) > 1}
    if not several:
        return ""
    told = "; ".join(f"{name}: {', '.join(value or 'none' for value in found)}" for name, found in several.items())
    return f"cells of this table come from different kinds of machine, so rerunning may change last digits ({told})"
