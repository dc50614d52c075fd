"""Who is told how a run goes: between chunks of training, while networks are measured, from cell to cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.core import Record


@dataclass(frozen=True)
class Progress:
    """Where a population stands after a chunk."""

    done: int
    steps: int
    members: int
    loss: float
    size: int = 0
    """bytes of the state that would be kept"""
    began: float = 0.0
    """when the chunk began, and when it ended, by `time.perf_counter`"""
    ended: float = 0.0


class Monitor:
    """Keeps nothing and tells nobody; whoever wants to know overrides what they want to know."""

    def begin(self, cells: int, finished: int) -> None:
        """A run of so many cells begins, some of them finished before."""

    def cell(self, number: int, label: str) -> Monitor:
        """The next cell is computed; who is told of it. Several may be computed at a time, each in a thread."""
        return self

    def resume(self, label: str) -> Mapping[str, np.ndarray] | None:
        """A population begins; what was kept of it, if anything."""
        return None

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None:
        """A chunk of training steps is done; `state()` is what would be kept."""

    def trained(self, label: str, model: Any) -> None:
        """A population is trained."""

    def recorded(self, label: str, record: Record) -> None:
        """A network was evaluated."""

    def measured(self, done: int, networks: int) -> None:
        """So many of the networks of a cell are measured."""

    def finished(self) -> None:
        """The cell is computed and saved."""

    def note(self, text: str) -> None:
        """Something that the user should know."""
