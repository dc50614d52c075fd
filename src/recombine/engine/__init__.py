"""Maps an experiment's cells to a table, verdicts and a figure: here, or on a Ray cluster.

A finished cell is a file; a run that was killed goes on where it stopped and ends with the same table, bit for bit.
"""

from __future__ import annotations

import io
import platform
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recombine
from recombine.core import UserError
from recombine.engine import store
from recombine.engine.catalogue import Experiment, changed, code_version, identity

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from recombine.claims import Verdict
    from recombine.train import Progress


class Report:
    """Who is told how a run goes; silent unless somebody overrides it."""

    def begin(self, cells: int, finished: int) -> None: ...

    def cell(self, number: int, label: str) -> None: ...

    def chunk(self, progress: Progress) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self) -> None: ...


@dataclass(frozen=True)
class Order:
    """What to run, and where its results go."""

    experiment: Experiment
    tier: str
    settings: Any
    out: Path
    keep_models: bool = False
    cluster: bool = False

    @property
    def home(self) -> Path:
        return self.out / self.experiment.name

    @property
    def folder(self) -> Path:
        """One folder a tier; settings that differ from the tier's are part of its name."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        return self.home / ",".join([self.tier, *(f"{name}={_flat(value)}" for name, value in other.items())])

    @property
    def command(self) -> str:
        """The command that makes these results again."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        flags = [word for name, value in other.items() for word in _flag(name, value)]
        source = getattr(self.experiment.module, "__file__", "") if not self.experiment.module.__package__ else ""
        return shlex.join(["recombine", "run", source or self.experiment.name, "--tier", self.tier, *flags])


def _flat(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _flag(name: str, value: Any) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]


@dataclass(frozen=True)
class Result:
    """What a run left behind."""

    folder: Path
    table: pd.DataFrame
    verdicts: list[Verdict]
    seconds: float


def prepare(*, device: str = "auto", cache: Path | None = None, ray: str | None = None) -> str:
    """Join a cluster if asked, choose the device, switch on the persistent compilation cache; returns the backend."""
    if ray is not None:
        from recombine.engine import cluster

        cluster.connect(ray)
    import jax

    if cache is not None:
        jax.config.update("jax_compilation_cache_dir", str(cache))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    if device == "cpu":
        jax.config.update("jax_platforms", "cpu")
    try:
        backend = jax.default_backend()
    except RuntimeError as error:
        raise UserError(f"JAX cannot start: {str(error).splitlines()[0]}") from error
    if device == "gpu" and backend != "gpu":
        raise UserError(f"a GPU was asked for, but JAX sees only {backend}; use --device cpu, or --tier laptop")
    return backend


def execute(order: Order, report: Report) -> Result:
    """Compute what is missing, then write the table, the verdicts and the figure."""
    started = time.perf_counter()
    with store.lock(order.folder):
        contents = list(_finished(order, report))
        rows = order.experiment.module.controls(order.settings) if hasattr(order.experiment.module, "controls") else []
        content = _joined([*contents, store.table_bytes(rows)] if rows else contents)
        store.write(order.folder / "table.parquet", content)
        table = store.read_table(content)
        seconds = time.perf_counter() - started
        store.write_json(order.folder / "settings.json", _provenance(order, seconds))
        verdicts = conclude(order.experiment, order.tier, table, order.folder)
        draw(order.experiment, order.settings, table, order.folder)
    report.end()
    return Result(order.folder, table, verdicts, seconds)


def _joined(contents: list[bytes]) -> bytes:
    """Cells' tables, one below the other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(io.BytesIO(c)) for c in contents]
    sink = io.BytesIO()
    pq.write_table(pa.concat_tables(tables, promote_options="permissive"), sink)
    return sink.getvalue()


def _finished(order: Order, report: Report) -> Iterator[bytes]:
    """Every cell's table, in order: from its file, or computed now."""
    import jax

    cells = order.experiment.module.cells(order.settings)
    kept = store.Cells(order.home / "cells")
    names = [identity(order.experiment, cell, jax.default_backend()) for cell in cells]
    missing = [i for i, name in enumerate(names) if kept.load(name, report.note) is None]
    report.begin(len(cells), len(cells) - len(missing))
    if order.cluster:
        from recombine.engine import cluster

        work = [(names[i], cells[i]) for i in missing]
        for done, (name, rows) in enumerate(cluster.rows(order.experiment, work, kept.folder), start=1):
            kept.save(name, rows)
            report.cell(len(cells) - len(missing) + done, "on the cluster")
    for i in range(len(cells)):
        content = kept.load(names[i], report.note)
        if content is None:
            report.cell(i + 1, _label(cells[i]))
            kept.save(names[i], compute(order, cells[i], names[i], kept, report))
            kept.forget_checkpoints(names[i])
            content = kept.load(names[i], report.note)
        assert content is not None
        yield content


def compute(order: Order, cell: Any, name: str, kept: store.Cells, report: Report) -> list[dict]:
    """One cell's rows, with checkpoints inside."""
    return order.experiment.module.run(cell, Keeper(kept, name, report, order.keep_models))


def _label(cell: Any) -> str:
    said = [f"{f.name} {_flat(getattr(cell, f.name))}" for f in fields(cell) if f.name not in ("settings", "members")]
    members = getattr(cell, "members", ())
    return ", ".join([*said, f"seeds {members[0]}..{members[-1]}"] if members else said)


class Keeper:
    """The watch of one cell: keeps a checkpoint after every chunk and passes progress on."""

    def __init__(self, cells: store.Cells, identity: str, report: Report, keep_models: bool = False):
        self.cells, self.identity, self.report, self.keep_models = cells, identity, report, keep_models

    def resume(self, label: str) -> Mapping[str, np.ndarray] | None:
        return store.load_arrays(self.cells.checkpoint(self.identity, label), self.report.note)

    def chunk(self, label: str, progress: Progress, state: Callable[[], Mapping[str, np.ndarray]]) -> None:
        store.save_arrays(self.cells.checkpoint(self.identity, label), state())
        self.report.chunk(progress)

    def trained(self, label: str, model: Any) -> None:
        if self.keep_models:
            from recombine.recording import save_model

            save_model(model, self.cells.folder / f"{self.identity}.{label}.safetensors")


def conclude(experiment: Experiment, tier: str, table: pd.DataFrame, folder: Path) -> list[Verdict]:
    """Judge every claim on the table and write verdicts.json; the quick tier is never evidence."""
    from recombine.claims import judge_all

    verdicts = judge_all(table, experiment.claims, evidence=tier != "quick")
    store.write_json(folder / "verdicts.json", [asdict(v) for v in verdicts])
    return verdicts


def draw(experiment: Experiment, settings: Any, table: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw the experiment's figure as SVG and PNG."""
    figure = experiment.module.figure(settings, table)
    paths = [folder / "figure.svg", folder / "figure.png"]
    for path in paths:
        sink = io.BytesIO()
        figure.savefig(sink, format=path.suffix[1:], dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        store.write(path, sink.getvalue())
    return paths


def load(experiment: Experiment, folder: Path) -> tuple[str, Any, pd.DataFrame]:
    """The tier, settings and table of a finished run."""
    facts = store.read_json(folder / "settings.json")
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in facts["settings"].items()}
    try:
        settings = experiment.module.Settings(**values)
    except TypeError as error:
        raise UserError(f"{folder} was made by another version of {experiment.name}: {error}") from error
    return facts["tier"], settings, store.read_table(folder / "table.parquet")


def _provenance(order: Order, seconds: float) -> dict[str, Any]:
    from importlib.metadata import version

    import jax

    return {
        "experiment": order.experiment.name,
        "tier": order.tier,
        "settings": asdict(order.settings),
        "command": order.command,
        "code": code_version(order.experiment.module),
        "versions": {
            "recombine": recombine.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("jax", "jaxlib", "equinox", "optax", "numpy")},
        },
        "device": f"{jax.devices()[0].device_kind} ({jax.default_backend()})",
        "seconds": round(seconds, 1),
        "git": _commit(),
    }


def _commit() -> str | None:
    """The commit of the checkout that the code runs from, if it is one."""
    try:
        asked = {"cwd": Path(__file__).parent, "capture_output": True, "text": True, "timeout": 5}
        done = subprocess.run(["git", "rev-parse", "HEAD"], check=False, **asked)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
