"""Side-by-side measurements: same work, same machine, one run, warmed up; each prints one line of JSON.

`recombine bench NAME`, or `python -m recombine.bench NAME` where the full command line is not installed.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

from recombine.core import UserError


def described() -> dict[str, str]:
    """Every benchmark with the first line of its docstring; a name of two words has a hyphen."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return {name.replace("_", "-"): (_module(name).__doc__ or "").splitlines()[0] for name in names}


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name.replace('-', '_')}")


def main(words: list[str]) -> int:
    """Run one benchmark; what follows its name are its options as name=number."""
    name, options = (words or ["(none)"])[0], {}
    if name not in described():
        raise UserError(f"no benchmark is called {name!r}; there are {', '.join(described())}")
    measure = _module(name).measure
    known = list(inspect.signature(measure).parameters)
    if {"-h", "--help"} & set(words[1:]):
        print(f"{described()[name]}\nOptions: {', '.join(f'{option}=NUMBER' for option in known)}")
        return 0
    for word in words[1:]:
        key, _, value = word.lstrip("-").partition("=")
        if not value.isdigit() or not int(value):
            raise UserError(f"options of a benchmark are written name=number, from 1 on, got {word!r}")
        options[key] = int(value)
    if unknown := [key for key in options if key not in known]:
        raise UserError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known)}")
    result = measure(**options)
    print(json.dumps({"bench": name, **result}))
    return 0


def seconds(work: Callable[[], Any], repeats: int) -> list[float]:
    """Wall times of repeated work, after one unmeasured round."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def spread(times: list[float]) -> dict[str, float]:
    """Median, fastest and slowest."""
    return {"median": round(median(times), 4), "min": round(min(times), 4), "max": round(max(times), 4)}


def device() -> str:
    import jax

    return jax.devices()[0].device_kind
