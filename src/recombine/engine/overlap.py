"""Several cells in flight on one device: while one trains, the next compiles and the one before is measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Semaphore
from typing import TypeVar

from recombine.train.monitor import Progress

T = TypeVar("T")
IN_FLIGHT = {"gpu": 8}
"""Cells at a time, by backend, if there are two cores for each; one on a CPU, where training keeps every core busy."""
PLANNED = 3
"""Populations that plan with an equal share of the memory: of the cells in flight, few train and most compile."""


def at_a_time() -> int:
    """How many cells, of one experiment or of several, this machine computes at a time."""
    import jax

    from recombine.device import share_memory

    most = IN_FLIGHT.get(jax.default_backend(), 1)
    cells = max(1, min(most, (os.cpu_count() or 1) // 2)) if most > 1 else 1
    share_memory(min(cells, PLANNED))
    return cells


def in_order(jobs: Sequence[Callable[[], T]], workers: int) -> Iterator[T]:
    """What each job returns, in order, while those behind it are already at work.

    When one fails, those not yet begun never begin, and those at work are waited for: each keeps what it finished.
    """
    if workers <= 1:
        yield from (job() for job in jobs)
        return
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            yield from (future.result() for future in futures)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class Clock:
    """How long training alone takes: the time in which a chunk of steps was computed, whichever cell it belonged to.

    A population's first chunk also compiles, and counts as long as the shortest of the others.
    """

    def __init__(self) -> None:
        self.chunks: dict[object, list[tuple[float, float]]] = {}
        self._lock = Lock()

    def chunk(self, population: object, progress: Progress) -> None:
        """A chunk of a population is done."""
        with self._lock:
            self.chunks.setdefault(population, []).append((progress.began, progress.ended))

    @property
    def training(self) -> float:
        """Seconds of training, without what compiling, measuring and saving added to it."""
        later = [spans[1:] for spans in self.chunks.values() if len(spans) > 1]
        firsts = sum(min(ended - began for began, ended in spans) for spans in later)
        return union([span for spans in later for span in spans]) + firsts


class Flight:
    """How many cells are computed at a time, of one run or of several side by side, and the clock that times them."""

    def __init__(self) -> None:
        self.cells, self.clock = at_a_time(), Clock()
        self.slot = Semaphore(self.cells)


def union(spans: Sequence[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    total, until = 0.0, float("-inf")
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return total
