"""The front door: a model of any framework, or arrays, in; a diagnosis out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine.core import Record, UserError
from recombine.diagnosis.diagnosis import Diagnosis, diagnosed
from recombine.diagnosis.evidence import Evidence
from recombine.diagnosis.from_arrays import from_arrays
from recombine.diagnosis.from_torch import from_torch, is_torch


def diagnose(
    model: Any,
    data: Any = None,
    *,
    factors: Any = None,
    trained: Any = None,
    targets: Any = None,
    layers: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    output: str | int | None = None,
    name: str = "model",
    batch: int = 256,
) -> Diagnosis:
    """Does this model compose or memorize? A PyTorch module, a JAX callable on one example, or arrays of what it did.

    `data` are the inputs, or a pair (inputs, targets); `factors` one label per example for each factor; `trained` one
    boolean per example, or the combinations trained on. Arrays: a dict, a Record, an npz file, a folder of npy files.
    """
    given: dict[str, Any] = {"factors": factors, "trained": trained, "targets": targets, "names": names}
    if batch < 1:
        raise UserError(f"batch is how many examples are asked at once, 1 or more, got {batch}")
    if isinstance(model, Mapping | Record | str | Path):
        if output is not None:
            raise UserError("output= chooses among the outputs of a model; arrays have y_hat only")
        return diagnosed(from_arrays(model, layers=layers, **given), _name(model, name))
    if not callable(model):
        raise UserError(f"a model is a callable, a file or a dict of arrays, not a {type(model).__name__}")
    if isinstance(data, tuple) and len(data) == 2 and targets is None:
        data, given["targets"] = data
    if data is None or given["targets"] is None or factors is None:
        raise UserError("a model needs data=(inputs, targets) and factors=; without a model, give arrays")
    return diagnosed(evidence_of(model, data, layers=layers, output=output, batch=batch, **given), name)


def evidence_of(model: Any, data: Any, *, output: str | int | None = None, **given: Any) -> Evidence:
    """What a model does on some data, by the door of its framework."""
    if is_torch(model):
        return from_torch(model, data, output=output, **given)
    from recombine.diagnosis.from_jax import from_jax

    return from_jax(model, data, output=output, **given)


def _name(given: Any, name: str) -> str:
    return Path(given).stem if isinstance(given, str | Path) and name == "model" else name
