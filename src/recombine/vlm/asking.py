"""Turns many questions to an endpoint into answers: not too fast, a few at once, again when it fails."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeVar

from recombine.core import UserError
from recombine.vlm.endpoint import Busy

LONGEST_BACKOFF = 60.0
LONGEST_WAIT = 900.0
"""An endpoint that asks for more patience than these seconds is for another day."""

_KEPT = "answers so far are kept, run again to go on"
T = TypeVar("T")


@dataclass(frozen=True)
class Manner:
    """How to ask: requests per minute, threads, tries of a request that fails, times a question is put, seconds each.

    `now`, `sleep` and `luck` (uniform in [0, 1)) are for tests; by default a sleep ends when the asking is broken off.
    """

    per_minute: float = 60.0
    at_once: int = 4
    tries: int = 6
    asks: int = 3
    timeout: float = 60.0
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] | None = None
    luck: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not (self.per_minute > 0 and self.timeout > 0 and min(self.at_once, self.tries, self.asks) >= 1):
            raise ValueError("requests per minute and seconds are above 0; threads, tries and asks at least 1")


class Stopped(Exception):
    """Another question failed for good, or the asking was broken off."""


class Pace:
    """Gives out turns: two are at least 60 / per_minute seconds apart, and none is given while the endpoint rests."""

    def __init__(self, manner: Manner):
        self._manner = manner
        self._lock = threading.Lock()
        self._next = float("-inf")
        self._stop = threading.Event()

    def turn(self) -> None:
        """Wait for a turn."""
        while True:
            with self._lock:
                now = self._manner.now()
                if now >= self._next and not self._stop.is_set():
                    self._next = now + 60 / self._manner.per_minute
                    return
                wait = self._next - now
            self.rest(wait)

    def rest(self, seconds: float) -> None:
        (self._manner.sleep or self._stop.wait)(max(0.0, seconds))
        if self._stop.is_set():
            raise Stopped

    def hold(self, seconds: float) -> None:
        """No turns for anybody for so long."""
        with self._lock:
            self._next = max(self._next, self._manner.now() + seconds)

    def stop(self) -> None:
        self._stop.set()


def patiently(request: Callable[[], str], pace: Pace, manner: Manner, host: str) -> str:
    """A request's reply; after failure k (from 0) again in max(2^k (1 + u) / 2, what the endpoint asks) seconds."""
    says = ""
    for failures in range(manner.tries):
        pace.turn()
        try:
            return request()
        except Busy as busy:
            says, asked = str(busy), busy.wait or 0.0
        if asked > LONGEST_WAIT:
            raise UserError(f"the judge at {host} asks to wait {asked:.0f} s: {says}; {_KEPT}")
        if failures + 1 < manner.tries:
            pace.hold(asked)
            pace.rest(max(min(2.0**failures, LONGEST_BACKOFF) * (1 + manner.luck()) / 2, asked))
    raise UserError(f"the judge at {host} still fails after {manner.tries} tries: {says}; {_KEPT}")


def all_at_once(
    work: Callable[[T], float], items: Sequence[T], pace: Pace, manner: Manner
) -> Generator[tuple[T, float], None, None]:
    """Each item with its result, as they come; the first failure, or the caller's, ends the rest."""

    def guarded(item: T) -> float | None:
        try:
            return work(item)
        except Stopped:
            return None
        except BaseException:
            pace.stop()  # here and not where it is heard of, so that no other request starts in between
            raise

    pool = ThreadPoolExecutor(manner.at_once, thread_name_prefix="judge")
    try:
        futures = {pool.submit(guarded, item): item for item in items}
        for future in as_completed(futures):
            if (result := future.result()) is not None:
                yield futures[future], result
    finally:
        pace.stop()
        pool.shutdown(wait=True, cancel_futures=True)
