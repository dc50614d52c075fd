"""Who looks on while a population trains: told between chunks, and free to keep what it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from recombine.core import Record


class Watch(Protocol):
    """Who is told about a run between its chunks, and may keep its state; and how far measuring has come after it."""

    def resume(self, label: str) -> Mapping[str, np.ndarray] | None: ...

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None: ...

    def trained(self, label: str, model: Any) -> None: ...

    def recorded(self, label: str, record: Record) -> None: ...

    def measured(self, done: int, networks: int) -> None: ...


@dataclass(frozen=True)
class Progress:
    """Where a population stands after a chunk."""

    done: int
    steps: int
    members: int
    loss: float
    size: int = 0
    """bytes of the state that would be kept"""


class Quiet:
    """A watch that keeps and tells nothing."""

    def resume(self, label: str) -> None:
        return None

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None:
        return None

    def trained(self, label: str, model: Any) -> None:
        return None

    def recorded(self, label: str, record: Record) -> None:
        return None

    def measured(self, done: int, networks: int) -> None:
        return None
