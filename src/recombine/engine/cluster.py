"""Runs cells on a Ray cluster; their rows come back here, so that only one process writes results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recombine.core import UserError
from recombine.engine import store
from recombine.engine.catalogue import Experiment, find
from recombine.engine.cells import CheckpointMonitor, Keep, compute
from recombine.train.monitor import Monitor


def connect(address: str) -> None:
    """Join a Ray cluster: auto, local (one on this machine), or host:port. To be done before JAX starts its threads."""
    try:
        import ray
    except ImportError as error:
        raise UserError("a cluster needs Ray: pip install 'recombine[ray]'") from error
    try:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(f"cannot reach a Ray cluster at {address}: {str(error).splitlines()[0]}") from error


def compute_all(
    experiment: Experiment, work: Mapping[str, Any], kept: store.Cells, keep: Keep, backend: str
) -> Iterator[str]:
    """Compute cells by identity and save each as it comes back; one that fails is told of when all others are done."""
    import ray

    name = experiment.name if experiment.module.__package__ else str(experiment.module.__file__)
    kept.folder.mkdir(parents=True, exist_ok=True)
    remote = ray.remote(num_cpus=1, num_gpus=int(backend == "gpu"), max_retries=2)(_compute)
    place = str(kept.folder.resolve())
    pending = {remote.remote(name, i, cell, place, (keep, backend)): i for i, cell in work.items()}
    troubles = []
    while pending:
        (ready,), _ = ray.wait(list(pending), num_returns=1)
        identity = pending.pop(ready)
        try:
            kept.save(identity, *ray.get(ready))
        except ray.exceptions.RayError as error:
            troubles.append(str(error).strip().splitlines()[-1])
            continue
        kept.forget_checkpoints(identity)
        yield identity
    if troubles:
        raise UserError(f"{len(troubles)} of {len(work)} cells failed on the cluster; the first: {troubles[0]}")


def _compute(name: str, identity: str, cell: Any, folder: str, how: tuple[Keep, str]) -> tuple[list[dict], dict]:
    """On a worker: checkpoints, weights and records go to the results folder, which must be on a shared disk."""
    from recombine.engine import prepare

    keep, backend = how
    prepare(device=backend)
    return compute(find(name), cell, CheckpointMonitor(store.Cells(Path(folder)), identity, Monitor(), keep))
