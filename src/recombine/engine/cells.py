"""Computes one cell: its rows, its checkpoints on the way, and what is said of how it was made."""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recombine
from recombine.engine import store
from recombine.engine.catalogue import Experiment

if TYPE_CHECKING:
    import numpy as np

    from recombine.core import Record
    from recombine.watch import Progress


class Report:
    """Who is told how a run goes; silent unless somebody overrides it."""

    def begin(self, cells: int, finished: int) -> None: ...

    def cell(self, number: int, label: str) -> None: ...

    def chunk(self, progress: Progress) -> None: ...

    def measured(self, done: int, networks: int) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self) -> None: ...


@dataclass(frozen=True)
class Keep:
    """What a cell leaves behind besides its rows."""

    models: bool = False
    records: bool = False


BYTES_PER_SECOND = 2e8
"""About how fast a checkpoint is fetched and written."""
PATIENCE = 20
"""A checkpoint waits this many times as long as it will take, so that keeping them costs a twentieth at most."""


class Keeper:
    """The watch of one cell: keeps a checkpoint after a chunk unless a large one is not due; passes progress on."""

    def __init__(self, cells: store.Cells, identity: str, report: Report, keep: Keep):
        self.cells, self.identity, self.report, self.keep = cells, identity, report, keep
        self.labels: set[str] = set()
        self.kept_at = time.perf_counter()

    def resume(self, label: str) -> Mapping[str, np.ndarray] | None:
        if label in self.labels:
            raise ValueError(f"two populations of one cell are labelled {label!r}: give each a label of its own")
        self.labels.add(label)
        saved = store.load_arrays(self.cells.checkpoint(self.identity, label), self.report.note)
        if saved:
            self.report.note(f"going on from step {int(saved['done'])}")
        return saved

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None:
        if time.perf_counter() - self.kept_at >= PATIENCE * progress.size / BYTES_PER_SECOND:
            store.save_arrays(self.cells.checkpoint(self.identity, label), state())
            self.kept_at = time.perf_counter()
        self.report.chunk(progress)

    def measured(self, done: int, networks: int) -> None:
        self.report.measured(done, networks)

    def trained(self, label: str, model: Any) -> None:
        if self.keep.models:
            from recombine.recording import model_bytes

            store.write(self.cells.kept(self.identity, label, "safetensors"), model_bytes(model))

    def recorded(self, label: str, record: Record) -> None:
        if self.keep.records:
            from recombine.recording import record_bytes

            store.write(self.cells.kept(self.identity, label, "record.npz"), record_bytes(record))


def compute(experiment: Experiment, cell: Any, keeper: Keeper) -> tuple[list[dict], dict[str, Any]]:
    """A cell's rows, and the facts of its making."""
    import jax

    started = time.perf_counter()
    rows = experiment.module.run(cell, keeper)
    seconds = round(time.perf_counter() - started, 1)
    device = f"{jax.devices()[0].device_kind} ({jax.default_backend()})"
    return rows, {"seconds": seconds, "device": device, "git": commit(), "versions": versions()}


def versions() -> dict[str, str]:
    names = ("jax", "jaxlib", "equinox", "optax", "numpy")
    ours = {"recombine": recombine.__version__, "python": platform.python_version()}
    return ours | {name: version(name) for name in names}


@cache
def commit() -> str | None:
    """The commit of the checkout that the code runs from, if it is one, and whether its code was changed since."""
    package = Path(recombine.__file__).parent

    def git(*words: str) -> str:
        asked = {"cwd": package, "capture_output": True, "text": True, "timeout": 10}
        return subprocess.run(["git", *words], check=True, **asked).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "core.py")  # else it is somebody else's repository around us
        changed = git("status", "--porcelain", "--", ".")
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None
