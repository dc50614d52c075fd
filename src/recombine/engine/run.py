"""Runs an experiment: computes the cells that are missing, then writes table, verdicts and figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine import table as tables
from recombine.core import UserError, Variant
from recombine.engine import machine, store
from recombine.engine.catalogue import Experiment, changed
from recombine.engine.cells import CheckpointMonitor, check_values, compute
from recombine.engine.conclude import conclude, plot
from recombine.engine.folder import OLD_SETTINGS, claim_folder, flat, holds_more, owner
from recombine.engine.identity import cell_identity, changed_files, code_files, code_hash
from recombine.engine.overlap import Flight, together
from recombine.engine.request import RunRequest
from recombine.train.monitor import Monitor

if TYPE_CHECKING:
    import pandas as pd

    from recombine.claims import Verdict


MADE_WITH = ("commit", "kernels", *machine.KIND)
"""What a table says of the machines and commits that made its cells."""


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

    from recombine.device import use_own_kernels

    use_own_kernels(kernels)
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


class Work(NamedTuple):
    """One cell of a run: under which protocol, what, and the identity of its file."""

    protocol: str
    cell: Any
    identity: str


def execute(order: RunRequest, monitor: Monitor, flight: Flight | None = None) -> Result:
    """Compute what is missing, then write the table, the verdicts and the figure.

    Runs that share a `flight` may go on side by side, each in a thread: it bounds the cells computed at a time.
    """
    flight = flight or Flight()
    claim_folder(order)
    with store.lock(order.home):
        if more := holds_more(order):
            return _kept_whole(order, more, monitor)
        store.sweep(order.home)
        work = _work(order)
        contents = _finished(order, work, monitor, flight)
        content = _joined(order, contents, work)
        store.write(order.folder / "table.parquet", content)
        table = tables.modern(store.read_table(content))
        made = [store.read_facts(c) for c in contents]
        if said := machine.mixture(made):
            monitor.note(said)
        store.write_json(order.folder / "settings.json", _provenance(order, made))
        verdicts = conclude(order.experiment, order.tier, table, order.folder)
        plot(order.experiment, order.settings, table, order.folder, verdicts, tier=order.tier)
        spent = sum(facts["seconds"] for facts in made)
        machine.forget_programs()
        return Result(order.folder, table, verdicts, spent)


def _joined(order: RunRequest, contents: list[bytes], work: list[Work]) -> bytes:
    """The cells of all protocols and their controls in one table; figures show the pictures of the primary one only."""
    cells = [(content, one.protocol) for content, one in zip(contents, work, strict=True)]
    parts = [store.with_variant(c, name, pictures=name == tables.PRIMARY) for c, name in cells + _controls(order)]
    return store.joined(parts)


def _kept_whole(order: RunRequest, more: str, monitor: Monitor) -> Result:
    """A result that has more than is ordered, judged and plotted again; refused if other code made it."""
    if (changes := code_changes(order.experiment, order.folder)) != []:
        made = "by code that it does not name" if changes is None else "by other code than today's"
        raise UserError(
            f"{order.folder} has {more}, made {made}: order as many to compute them again, or give a --name"
        )
    monitor.note(f"{order.folder} already has {more}, and keeps them: nothing is computed, no weights or records kept")
    tier, settings, table = load(order.experiment, order.folder)
    verdicts = conclude(order.experiment, tier, table, order.folder)
    plot(order.experiment, settings, table, order.folder, verdicts, tier=tier)
    return Result(order.folder, table, verdicts, 0.0)


def _work(order: RunRequest) -> list[Work]:
    """Every cell of every protocol, the primary one first."""
    import jax

    from recombine.device import own_kernels

    experiment, backend = order.experiment, jax.default_backend()
    backend += "" if own_kernels() or backend != "gpu" else ", plain programs"
    found = [
        Work(protocol, cell, cell_identity(experiment.name, experiment.module, cell, backend))
        for protocol, settings in order.protocols.items()
        for cell in experiment.module.cells(settings)
    ]
    if len({one.identity for one in found}) != len(found):
        raise UserError(f"{experiment.name}: two of its cells are alike; each must say what sets it apart")
    return found


def _controls(order: RunRequest) -> list[tuple[bytes, str]]:
    """For each protocol, the rows of systems whose answer is known."""
    make = getattr(order.experiment.module, "controls", lambda settings: [])
    rows = {protocol: make(settings) for protocol, settings in order.protocols.items()}
    return [(store.table_bytes(mine), name) for name, mine in rows.items() if mine]


def _finished(order: RunRequest, work: list[Work], monitor: Monitor, flight: Flight) -> list[bytes]:
    """Every cell's table, in order: from its file, or computed now, several at a time where that is faster."""
    kept = store.Cells(order.home / "cells")
    contents = [_kept(order, kept, one.identity, monitor) for one in work]
    missing = [one for one, content in zip(work, contents, strict=True) if content is None]
    monitor.begin(len(work), len(work) - len(missing))
    if order.cluster and missing:
        _on_cluster(order, missing, kept, monitor, len(work))
        contents = [_kept(order, kept, one.identity, monitor) for one in work]

    def computed(number: int, one: Work) -> bytes:
        told = monitor.cell(number, _label(one))
        watched = CheckpointMonitor(kept, one.identity, told, order.keep, flight.clock)
        rows, facts = compute(order.experiment, one.cell, watched)
        content = kept.save(one.identity, rows, facts)
        kept.forget_checkpoints(one.identity)
        if one.protocol == tables.PRIMARY:
            check_values(order.experiment, rows, one.cell, [o.cell for o in work if o.protocol == tables.PRIMARY])
        told.finished()
        return content

    pairs = enumerate(zip(work, contents, strict=True), start=1)
    jobs = [partial(computed, number, one) for number, (one, content) in pairs if content is None]
    fresh = iter(together(jobs, min(len(jobs), flight.cells), flight.slot))
    return [next(fresh) if content is None else content for content in contents]


def _on_cluster(order: RunRequest, missing: list[Work], kept: store.Cells, monitor: Monitor, cells: int) -> None:
    """Compute the missing cells on a Ray cluster; each is saved as it comes back."""
    import jax

    from recombine.engine import cluster

    cells_by_name = {one.identity: one.cell for one in missing}
    found = cluster.compute_all(order.experiment, cells_by_name, kept, order.keep, jax.default_backend())
    for done, name in enumerate(found, start=1):
        monitor.cell(cells - len(missing) + done, f"{name} came back from the cluster")


def _kept(order: RunRequest, kept: store.Cells, name: str, monitor: Monitor) -> bytes | None:
    """A finished cell that also has the weights and records now asked for."""
    wanted = [kind for kind, asked in (("safetensors", order.keep.models), ("record.npz", order.keep.records)) if asked]
    if any(not list(kept.folder.glob(f"{name}.*.{kind}")) for kind in wanted):
        return None
    return kept.load(name, monitor.note)


def _label(work: Work) -> str:
    """What sets a cell apart, in words."""
    cell, said = work.cell, [] if work.protocol == tables.PRIMARY else [f"variant {work.protocol}"]
    if isinstance(cell, tables.Cell):
        said += [f"{name} {flat(value)}" for name, value in cell.at]
    else:
        names = [f.name for f in fields(cell) if f.name not in ("settings", "members")]
        said += [f"{name} {flat(getattr(cell, name))}" for name in names]
    members = getattr(cell, "members", ())
    return ", ".join([*said, f"seeds {members[0]}..{members[-1]}"] if members else said)


def load(experiment: Experiment, folder: Path) -> tuple[str, Any, pd.DataFrame]:
    """The tier, settings and table of a finished run; fields that settings no longer have are left out."""
    facts = store.read_json(folder / "settings.json")
    if whose := owner(facts, experiment):
        raise UserError(f"{folder} holds the results of {whose}, not of {experiment.source}")
    try:
        known = {f.name for f in fields(experiment.module.Settings)}
        stored = {OLD_SETTINGS.get(name, name): value for name, value in facts["settings"].items()}
        values = {name: _frozen(value) for name, value in stored.items() if name in known}
        tier, settings = str(facts["tier"]), experiment.module.Settings(**values)
        experiment.settings(tier)
    except (TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{folder} was made by another version of {experiment.name}: {error}") from error
    return tier, settings, tables.modern(store.read_table(folder / "table.parquet"))


def _frozen(value: Any) -> Any:
    """What settings were before they were written as JSON: lists are tuples, also within each other."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def code_changes(experiment: Experiment, folder: Path) -> list[str] | None:
    """The modules whose code has changed since a result was made; None if the result does not say what made it."""
    files = store.read_json(folder / "settings.json").get("files")
    return changed_files(files, code_files(experiment.module)) if isinstance(files, dict) else None


def _described(order: RunRequest, variant: Variant) -> dict[str, Any]:
    """Why a variant is a reasonable choice, and what it changes in the settings of an order."""
    return {"why": variant.why, "changes": changed(variant.applied(order.settings), order.settings)}


def _provenance(order: RunRequest, made: list[dict[str, Any]]) -> dict[str, Any]:
    """How the results came about: what was asked, and where and when its cells were really computed."""
    told = {name: sorted({str(facts.get(name)) for facts in made}) for name in MADE_WITH}
    files, protocols = code_files(order.experiment.module), order.protocols
    return {
        "experiment": order.experiment.name,
        "source": order.experiment.source,
        "tier": order.tier,
        "settings": asdict(order.settings),
        "variants": {v.name: _described(order, v) for v in order.variants if v.name in protocols},
        "command": order.command,
        "code": code_hash(files),
        "files": files,
        "seconds": round(sum(facts["seconds"] for facts in made), 1),
        **told,
        "versions": made[-1]["versions"],
    }
