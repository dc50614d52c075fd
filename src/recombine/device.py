"""What a machine holds: how many members of a population together, how many rows; and whether it uses our kernels."""

from __future__ import annotations

import jax

CACHE_FLOATS = 2**18
"""Activations of a batch that a core's cache holds, measured on two cores with about 1 MB each."""
SHARE = 0.8
"""How much of an accelerator's memory a population may plan with."""
COPIES = 4
"""How often an activation is there at once, at most: saved, its gradient, and what surrounds the two."""
MOST_COMBINATIONS = 20_000_000
"""A task of more rows is refused: they would fill a machine's memory."""


def members_per_batch(members: int, *, activations: int, parameters: int, limit: int | None) -> int:
    """How many members to compute together; the others take turns, in the same program.

    On a CPU (`limit` None) as many as share a core's cache: a population that spills out of it waits for memory, and
    runs slower than its members in turn (docs/performance.md). On an accelerator all that fit its memory, where every
    member's weights and optimiser stay, and `activations` (floats of a batch) only of those whose turn it is.
    """
    if limit is None:
        return largest_divisor(members, CACHE_FLOATS // max(activations, 1))
    resident = 4 * parameters * 3 * members
    working = 4 * (COPIES * activations + 3 * parameters)
    return largest_divisor(members, int((SHARE * limit - resident) // working))


def largest_divisor(members: int, at_most: int) -> int:
    """The largest number up to `at_most`, and at least one, that divides the members: all turns are then alike."""
    return max(k for k in range(1, members + 1) if members % k == 0 and k <= max(1, at_most))


_own = {"kernels": True}
_shared = {"by": 1}


def share_memory(populations: int) -> None:
    """For this process: so many populations are trained at a time, and plan with an equal share of memory each."""
    _shared["by"] = populations


def use_own_kernels(wanted: bool) -> None:
    """For this process: the project's kernels where they fit, or plain programs throughout."""
    _own["kernels"] = wanted


def own_kernels() -> bool:
    """Whether the project's kernels are wanted, and the default device is one that runs them."""
    return _own["kernels"] and jax.default_backend() == "gpu"


def device_memory() -> int | None:
    """The bytes that the default accelerator lends a population; None on a CPU, or where it does not say."""
    device = jax.local_devices()[0]
    if device.platform == "cpu":
        return None
    limit = (device.memory_stats() or {}).get("bytes_limit")
    return limit and limit // _shared["by"]
