"""Several cells in flight on one device: while one trains, the next compiles and the one before is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from threading import Lock, Semaphore
from typing import TypeVar

from recombine.engine import machine
from recombine.train.monitor import Progress

T = TypeVar("T")
IN_FLIGHT = {"gpu": 8}
"""Cells at a time, by backend, if there are two cores for each; one on a CPU, where training keeps every core busy."""


def at_a_time() -> int:
    """How many cells, of one experiment or of several, this machine computes at a time; they share its memory."""
    import jax

    from recombine.device import share_memory

    most = IN_FLIGHT.get(jax.default_backend(), 1)
    cells = max(1, min(most, machine.cores() // 2)) if most > 1 else 1
    share_memory(cells)
    return cells


def together(jobs: Sequence[Callable[[], T]], workers: int, slot: AbstractContextManager | None = None) -> list[T]:
    """What each job returns, in order; up to `workers` of them at a time, each while it holds a slot.

    When one fails, none begins any more, and those at work are waited for: each keeps what it finished.
    """
    failed: list[BaseException] = []
    held = slot or nullcontext()

    def guarded(job: Callable[[], T]) -> T | None:
        with held:
            try:
                return None if failed else job()
            except BaseException as error:
                failed.append(error)
                raise

    if workers <= 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(guarded, job) for job in jobs]
        wait(futures, return_when=FIRST_EXCEPTION)
        pool.shutdown(cancel_futures=bool(failed))
    if failed:
        raise failed[0]
    return [future.result() for future in futures]  # pyrefly: ignore


class Clock:
    """The time in which a chunk of steps was computed, whichever cell it belonged to.

    A population's first chunk also compiles: of it the end counts, as long as the shortest of the others takes. Chunks
    of several cells that share the device take longer each, and the time in which they do counts once.
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
        """Seconds of training, without those in which all cells compiled, measured or saved."""
        spans = []
        for (_, first), *later in self.chunks.values():
            spans += later and [(first - min(ended - began for began, ended in later), first), *later]
        return union(spans)


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
