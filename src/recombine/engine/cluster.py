"""Runs cells on a Ray cluster; the rows come back here, so that only one process writes results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recombine.core import UserError
from recombine.engine.catalogue import Experiment, find


def connect(address: str) -> None:
    """Join a Ray cluster: auto, local (one on this machine, for trying), or host:port. Before JAX starts its threads."""
    try:
        import ray
    except ImportError as error:
        raise UserError("a cluster needs Ray: pip install 'recombine[ray]'") from error
    try:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(f"cannot reach a Ray cluster at {address}: {str(error).splitlines()[0]}") from error


def rows(experiment: Experiment, work: list[tuple[str, Any]], folder: Path) -> Iterator[tuple[str, list[dict]]]:
    """The rows of each (identity, cell), as they finish."""
    import ray

    name = experiment.name if experiment.module.__package__ else str(experiment.module.__file__)
    remote = ray.remote(_compute)
    pending = {remote.remote(name, identity, cell, str(folder.resolve())): identity for identity, cell in work}
    while pending:
        (ready,), _ = ray.wait(list(pending), num_returns=1)
        yield pending.pop(ready), ray.get(ready)


def _compute(name: str, identity: str, cell: Any, folder: str) -> list[dict]:
    """On a worker: checkpoints go to the results folder where the worker can see it (a shared disk)."""
    from recombine.engine import Keeper, Report, store
    from recombine.train import Quiet

    shared = Path(folder).is_dir()
    watch = Keeper(store.Cells(Path(folder)), identity, Report()) if shared else Quiet()
    return find(name).module.run(cell, watch)
