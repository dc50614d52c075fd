"""Computes one cell: its rows, its checkpoints on the way, and what is said of how it was made."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine
from recombine.core import UserError
from recombine.engine import machine, store
from recombine.engine.catalogue import Experiment
from recombine.engine.missing import no_such_value
from recombine.engine.overlap import Clock
from recombine.table import NETWORK, NoSuchColumn, modern
from recombine.train.monitor import Monitor, Progress

if TYPE_CHECKING:
    from recombine.core import Record


@dataclass(frozen=True)
class Keep:
    """What a cell leaves behind besides its rows."""

    models: bool = False
    records: bool = False


BYTES_PER_SECOND = 2e8
"""About how fast a checkpoint is fetched and written."""
PATIENCE = 20
"""A checkpoint waits this many times as long as it will take, so that keeping them costs a twentieth at most."""
_SECONDS = "seconds spent on the cell"


class CheckpointMonitor(Monitor):
    """The monitor of one cell: keeps a checkpoint after a chunk unless a large one is not due; passes progress on."""

    def __init__(self, cells: store.Cells, identity: str, inner: Monitor, keep: Keep, clock: Clock | None = None):
        self.cells, self.identity, self.inner, self.keep = cells, identity, inner, keep
        self.clock = clock or Clock()
        self.labels: set[str] = set()
        self.started = self.kept_at = time.perf_counter()
        self.before = 0.0

    @property
    def seconds(self) -> float:
        """Time spent on this cell: by this process, and by earlier ones up to the last checkpoint that was found."""
        return self.before + time.perf_counter() - self.started

    def resume(self, label: str) -> Mapping[str, np.ndarray] | None:
        if label in self.labels:
            raise ValueError(f"two populations of one cell are labelled {label!r}: give each a label of its own")
        self.labels.add(label)
        saved = store.load_arrays(self.cells.checkpoint(self.identity, label), self.inner.note)
        if saved:
            # Each checkpoint of a cell counts all that was spent on the cell before it.
            self.before = max(self.before, float(saved.pop(_SECONDS, 0.0)))
            self.inner.note(f"going on from step {int(saved['done'])}")
        return saved

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None:
        if time.perf_counter() - self.kept_at >= PATIENCE * progress.size / BYTES_PER_SECOND:
            spent = {_SECONDS: np.asarray(self.seconds)}
            store.save_arrays(self.cells.checkpoint(self.identity, label), {**state(), **spent})
            self.kept_at = time.perf_counter()
        self.clock.chunk((self.identity, label), progress)
        self.inner.chunk(label, progress, state)

    def measured(self, done: int, networks: int) -> None:
        self.inner.measured(done, networks)

    def trained(self, label: str, model: Any) -> None:
        if self.keep.models:
            from recombine.recording.records import model_bytes

            store.write(self.cells.kept(self.identity, label, "safetensors"), model_bytes(model))

    def recorded(self, label: str, record: Record) -> None:
        if self.keep.records:
            from recombine.recording.records import record_bytes

            store.write(self.cells.kept(self.identity, label, "record.npz"), record_bytes(record))


def compute(experiment: Experiment, cell: Any, monitor: CheckpointMonitor) -> tuple[list[dict], dict[str, Any]]:
    """A cell's rows, and the facts of its making."""
    import jax

    from recombine.device import own_kernels

    rows = _checked(experiment, experiment.module.run(cell, monitor))
    device = f"{jax.devices()[0].device_kind} ({jax.default_backend()})"
    made = {"seconds": round(monitor.seconds, 1), "device": device, **machine.describe()}
    return rows, {**made, "kernels": own_kernels(), "commit": commit(), "versions": versions()}


def _checked(experiment: Experiment, rows: Any) -> list[dict]:
    """What run() returned, if it is a list of rows that name their seed and have the columns that claims read."""
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) and "seed" in row for row in rows) or not rows:
        raise UserError(f"{experiment.name}: run() must return a list of rows, dicts with a 'seed' each")
    import pandas as pd

    rows = [{"system": NETWORK, **row} for row in rows]
    table = modern(pd.DataFrame(rows))
    for claim, reads in [(one, part) for one in experiment.claims for part in (one.effect, *one.fits)]:
        try:
            reads(table)
        except NoSuchColumn as error:
            said = f"the claim {claim.name!r} reads what run() does not write: {error}"
            raise UserError(f"{experiment.name}: {said}") from error
        except Exception:
            continue
    return rows


def check_values(experiment: Experiment, rows: list[dict], own: Any, cells: Sequence[Any]) -> None:
    """Refuse a claim that picks what no cell gives, such as a misspelt condition, once the first cell has its rows."""
    import pandas as pd

    points = [dict(getattr(cell, "at", ())) for cell in cells]
    named = [k for k, v in dict(getattr(own, "at", ())).items() if all(row.get(k) == v for row in rows)]
    every = [{**row, **{k: point[k] for k in named if k in point}} for point in points for row in rows]
    table, one_point = modern(pd.DataFrame(every)), all(point == points[0] for point in points)
    for claim, reads in [(one, part) for one in experiment.claims for part in (one.effect, *one.fits)]:
        try:
            reads(table)
        except ValueError as error:
            missing = no_such_value(table, error)
            if missing and (missing.column in named or one_point):  # else another cell may have it
                said = f"the claim {claim.name!r} picks what no cell has: {missing}"
                raise UserError(f"{experiment.name}: {said}") from error
        except Exception:
            continue


def versions() -> dict[str, str]:
    names = ("jax", "jaxlib", "equinox", "optax", "numpy")
    ours = {"recombine": recombine.__version__, "python": platform.python_version()}
    return ours | {name: version(name) for name in names}


@cache
def commit() -> str | None:
    """The commit that the code runs from, and whether its code was changed since.

    RECOMBINE_COMMIT names it where the checkout cannot say: it is a copy without its repository.
    """
    if told := os.environ.get("RECOMBINE_COMMIT"):
        return told
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
