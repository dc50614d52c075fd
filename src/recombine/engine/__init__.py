"""Maps an experiment's cells to a table, verdicts and a figure: here, or on a Ray cluster.

A finished cell is a file; a run that was killed goes on where it stopped and ends with the same table, bit for bit.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.core import UserError
from recombine.engine import store
from recombine.engine.catalogue import Experiment, changed, code_version, identity
from recombine.engine.cells import Keep, Keeper, Report, compute

if TYPE_CHECKING:
    import pandas as pd

    from recombine.claims import Verdict

__all__ = ["Keep", "Order", "Report", "Result", "conclude", "draw", "execute", "load", "prepare"]


NOTHING_MORE = Keep()


@dataclass(frozen=True)
class Order:
    """What to run, and where its results go."""

    experiment: Experiment
    tier: str
    settings: Any
    out: Path
    keep: Keep = NOTHING_MORE
    cluster: bool = False
    device: str | None = None

    @property
    def home(self) -> Path:
        return self.out / self.experiment.name

    @property
    def folder(self) -> Path:
        """One folder a tier; settings that differ from the tier's are part of its name."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        words = [self.tier, *(f"{name}={_flat(value)}" for name, value in other.items())]
        return self.home / ",".join(words).replace("/", "_")  # a setting may be a path

    @property
    def command(self) -> str:
        """The command that makes these results again."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        flags = ["--device", self.device] if self.device else []
        flags += ["--out", str(self.out)] if self.out != Path("results") else []
        flags += [word for name, value in other.items() for word in _flag(name, value)]
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


def prepare(*, device: str = "auto", cache: Path | None = None, ray: str | None = None, kernels: bool = True) -> str:
    """Join a cluster if asked, choose the device, and the project's kernels; keep compiled programs in a cache.

    Returns the backend.
    """
    if ray is not None:
        from recombine.engine import cluster

        cluster.connect(ray)
    import jax

    from recombine import room

    room.use_own_kernels(kernels)
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
    try:
        with store.lock(order.home):
            store.sweep(order.home)
            contents = list(_finished(order, report))
            module = order.experiment.module
            controls = module.controls(order.settings) if hasattr(module, "controls") else []
            content = store.joined([*contents, store.table_bytes(controls)] if controls else contents)
            store.write(order.folder / "table.parquet", content)
            table = store.read_table(content)
            made = [store.read_facts(c) for c in contents]
            store.write_json(order.folder / "settings.json", _provenance(order, made))
            verdicts = conclude(order.experiment, order.tier, table, order.folder)
            draw(order.experiment, order.settings, table, order.folder)
            return Result(order.folder, table, verdicts, sum(facts["seconds"] for facts in made))
    finally:
        report.end()


def _finished(order: Order, report: Report) -> Iterator[bytes]:
    """Every cell's table, in order: from its file, or computed now."""
    import jax

    cells, backend = order.experiment.module.cells(order.settings), jax.default_backend()
    kept = store.Cells(order.home / "cells")
    names = [identity(order.experiment, cell, backend) for cell in cells]
    if len(set(names)) != len(names):
        raise UserError(f"{order.experiment.name}: two of its cells are alike; each must say what sets it apart")
    contents = [_kept(order, kept, name, report) for name in names]
    missing = [i for i, content in enumerate(contents) if content is None]
    report.begin(len(cells), len(cells) - len(missing))
    if order.cluster and missing:
        from recombine.engine import cluster

        work = {names[i]: cells[i] for i in missing}
        for done, name in enumerate(cluster.compute_all(order.experiment, work, kept, order.keep, backend), start=1):
            report.cell(len(cells) - len(missing) + done, f"{name} came back from the cluster")
        contents = [_kept(order, kept, name, report) for name in names]
    for i, (name, content) in enumerate(zip(names, contents, strict=True)):
        if content is not None:
            yield content
            continue
        report.cell(i + 1, _label(cells[i]))
        computed = compute(order.experiment, cells[i], Keeper(kept, name, report, order.keep))
        yield kept.save(name, *computed)
        kept.forget_checkpoints(name)


def _kept(order: Order, kept: store.Cells, name: str, report: Report) -> bytes | None:
    """A finished cell that also has the weights and records now asked for."""
    wanted = [kind for kind, asked in (("safetensors", order.keep.models), ("record.npz", order.keep.records)) if asked]
    if any(not list(kept.folder.glob(f"{name}.*.{kind}")) for kind in wanted):
        return None
    return kept.load(name, report.note)


def _label(cell: Any) -> str:
    said = [f"{f.name} {_flat(getattr(cell, f.name))}" for f in fields(cell) if f.name not in ("settings", "members")]
    members = getattr(cell, "members", ())
    return ", ".join([*said, f"seeds {members[0]}..{members[-1]}"] if members else said)


def conclude(experiment: Experiment, tier: str, table: pd.DataFrame, folder: Path) -> list[Verdict]:
    """Judge every claim on the table and write verdicts.json; the quick tier is never evidence."""
    from recombine.claims import judge_all

    verdicts = judge_all(table, experiment.claims, evidence=tier != "quick")
    store.write_json(folder / "verdicts.json", [asdict(v) for v in verdicts])
    return verdicts


def draw(experiment: Experiment, settings: Any, table: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw the experiment's figure as SVG and PNG."""
    from recombine import plots

    paths = [folder / "figure.svg", folder / "figure.png"]
    with plots.look():
        figure = experiment.module.figure(settings, table)
        for path in paths:
            sink, vector = io.BytesIO(), path.suffix == ".svg"
            figure.savefig(sink, format=path.suffix[1:], dpi=150, metadata={"Date": None} if vector else {})
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


def _provenance(order: Order, made: list[dict[str, Any]]) -> dict[str, Any]:
    """How the results came about: what was asked, and where and when its cells were really computed."""
    told = {name: sorted({str(facts[name]) for facts in made}) for name in ("device", "git")}
    return {
        "experiment": order.experiment.name,
        "tier": order.tier,
        "settings": asdict(order.settings),
        "command": order.command,
        "code": code_version(order.experiment.module),
        "seconds": round(sum(facts["seconds"] for facts in made), 1),
        **told,
        "versions": made[-1]["versions"],
    }
