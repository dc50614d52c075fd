"""A PyTorch module as evidence: forward hooks record its layers, and the module is left exactly as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.diagnosis.evidence import Evidence, Sample, assembled, sampling
from recombine.diagnosis.from_arrays import choose_layers
from recombine.diagnosis.layers import WIDE, projected, projection_note
from recombine.diagnosis.reading import as_array
from recombine.diagnosis.untouched import own_train, untouched

MOST_LAYERS = 16
"""Layers that are recorded unless some are named."""
_RESTLESS = "asked twice, the model gave two answers: is dropout or noise left on in evaluation mode?"
_PLAIN = ("Dropout", "Identity", "Flatten", "Unflatten")


def is_torch(model: Any) -> bool:
    """Is this a PyTorch module? Asked without importing PyTorch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def from_torch(
    model: Any,
    data: Any,
    *,
    factors: Any,
    trained: Any,
    targets: Any,
    layers: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    output: str | int | None = None,
    batch: int = 256,
) -> Evidence:
    """Ask the module the examples that are measured in evaluation mode, without gradients, on its own device."""
    there = [name for name, _ in model.named_modules() if name]
    kept = choose_layers(there, layers) if layers is not None else _leaves(model)
    sample = sampling(factors, trained, targets, names)
    if _length(data) != sample.given:
        raise UserError(f"inputs have {_length(data)} examples, but the factors have {sample.given}")
    told = sample.take(targets, "targets")
    heard = _heard(model, data, kept, sample, output=output, batch=batch)
    inputs = {"input": sample.take(data, "inputs")} if not isinstance(data, Mapping | tuple | list) else {}
    inputs = {k: v for k, v in inputs.items() if as_array(v[:1], "inputs").dtype.kind == "f"}
    return assembled(sample, told, heard.outputs, {**inputs, **heard.layers}, notes=heard.notes, units=heard.units)


@dataclass
class Heard:
    """What a module answered, what its layers gave, how many units those that were projected have, and notes."""

    outputs: Any
    layers: dict[str, Any]
    units: dict[str, int]
    notes: list[str]


def _heard(
    model: Any, data: Any, kept: Sequence[str], sample: Sample, *, output: str | int | None, batch: int
) -> Heard:
    """Ask some examples at a time, and keep what the hooks see."""
    n = len(sample.trained)
    heard, called = Heard([], {name: [] for name in kept}, {}, []), []
    with untouched(model), hooked(model, kept) as seen:
        for start in range(0, n, batch):
            rows = slice(start, min(start + batch, n))
            given = _moved(data, rows if sample.rows is None else sample.rows[rows], model)
            picked, said = pick_output(_called(model, given), output)
            heard.outputs.append(as_array(picked, "outputs"))
            called = called or [*seen]
            _keep(heard, seen, rows.stop - rows.start)
            if not start:
                again = as_array(pick_output(_called(model, given), output)[0], "outputs")
                heard.notes += [] if np.array_equal(again, heard.outputs[0]) else [_RESTLESS]
            heard.notes += [said] if said and said not in heard.notes else []
    heard.outputs = np.concatenate(heard.outputs)
    full = [name for name in called if sum(map(len, heard.layers[name])) == n]  # registration order need not be depth
    heard.layers = {name: np.concatenate(heard.layers.pop(name)) for name in full}  # parts of one go before the next
    missing = [k for k in kept if k not in heard.layers and not any(repr(k) in note for note in heard.notes)]
    if missing:
        heard.notes.append(f"layers that the model did not use are left out: {', '.join(missing)}")
    if own := own_train(model):
        heard.notes.append(f"training flags were set directly: the train() of {', '.join(own)} was not called")
    return heard


def list_layers(model: Any, data: Any = None) -> list[tuple[str, str, str]]:
    """Names, kinds and, where data are given, the shapes of one example."""
    rows = [(name, type(module).__name__, "") for name, module in model.named_modules() if name]
    if data is None:
        return rows
    with untouched(model), hooked(model, [name for name, _, _ in rows]) as seen:
        _called(model, _moved(data, slice(0, 2), model))
    shapes = {name: str(tuple(calls[-1].shape[1:])) for name, calls in seen.items()}
    return [(name, kind, shapes.get(name, "not used")) for name, kind, _ in rows]


@contextmanager
def hooked(model: Any, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """What the named layers gave at each call, the last one kept and None for the others, for as long as it lasts."""
    modules, seen, handles = dict(model.named_modules()), {}, []

    def keep(name: str) -> Any:
        def hook(module: Any, given: Any, got: Any) -> None:
            tensor = first_tensor(got)
            if tensor is not None:
                seen[name] = [None] * len(seen.get(name, ())) + [tensor.clone()]  # the next may write into it

        return hook

    try:
        for name in names:
            handles.append(_hook(modules[name], keep(name)))
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hook(module: Any, keep: Any) -> Any:
    try:
        return module.register_forward_hook(keep)
    except RuntimeError as error:
        raise UserError("a scripted module lets nobody see its layers: give layers=[]") from error


def first_tensor(got: Any) -> Any:
    """The tensor that a layer gave: itself, or the main one of a tuple, a dict or a ModelOutput."""
    if hasattr(got, "detach"):
        return got
    if isinstance(got, Mapping):
        named = [got[k] for k in ("last_hidden_state", "logits") if k in got]
        return next((t for v in [*named, *got.values()] if (t := first_tensor(v)) is not None), None)
    if isinstance(got, tuple | list):
        return next((t for v in got if (t := first_tensor(v)) is not None), None)
    return None


def pick_output(got: Any, output: str | int | None) -> tuple[Any, str]:
    """The model's answer, and which one was taken where it gave several."""
    if hasattr(got, "detach"):
        if output is not None:
            raise UserError(f"the model returns one tensor, so there is no output {output!r} to choose: leave it out")
        return got, ""
    if isinstance(got, Mapping):
        names = [str(k) for k, v in got.items() if hasattr(v, "detach")]
        name = output if output is not None else next((k for k in ("logits", "last_hidden_state") if k in names), None)
        name = name if name is not None else (names[0] if names else None)
        if name not in names:
            raise UserError(f"the model's output has no {name!r}: choose output= from {', '.join(names)}")
        return got[name], f"of the outputs {', '.join(names)}, {name!r} was taken (output= chooses)"
    if isinstance(got, tuple | list):
        if isinstance(output, str):
            raise UserError(f"the model returns {len(got)} things without names: choose output= by number, from 0")
        place = output if output is not None else 0
        if not 0 <= place < len(got) or first_tensor(got[place]) is None:
            raise UserError(f"the model returns {len(got)} things, and number {place} is no tensor: choose output=")
        return first_tensor(got[place]), f"of {len(got)} outputs, number {place} was taken (output= chooses)"
    raise UserError(f"the model returns a {type(got).__name__}, not a tensor")


def _leaves(model: Any) -> list[str]:
    """Modules without modules in them, but for those that change nothing; of many, some evenly."""
    leaves = [n for n, m in model.named_modules() if n and not any(True for _ in m.children())]
    kinds = {n: type(m).__name__ for n, m in model.named_modules()}
    leaves = [n for n in leaves if not kinds[n].startswith(_PLAIN)]
    chosen = np.unique(np.linspace(0, len(leaves) - 1, min(len(leaves), MOST_LAYERS)).astype(int)) if leaves else []
    return [leaves[i] for i in chosen]


def _length(data: Any) -> int:
    """How many examples there are: at least one."""
    parts = [*data.values()] if isinstance(data, Mapping) else data if isinstance(data, tuple | list) else [data]
    if not len(parts) or not len(parts[0]):
        raise UserError("there are 0 examples")
    return len(parts[0])


def _moved(data: Any, rows: slice | np.ndarray, model: Any) -> Any:
    """Some examples, as tensors where the model is; numbers in the model's own precision."""
    import torch

    if isinstance(data, Mapping):
        return {k: _moved(v, rows, model) for k, v in data.items()}
    if isinstance(data, tuple | list):
        return tuple(_moved(v, rows, model) for v in data)
    like = next((p for p in model.parameters() if p.is_floating_point()), None)
    tensor = torch.as_tensor(np.array(data[rows]) if isinstance(data, np.ndarray) else data[rows])
    if like is None:
        return tensor
    return tensor.to(like.device, like.dtype) if tensor.is_floating_point() else tensor.to(like.device)


def _called(model: Any, given: Any) -> Any:
    try:
        if isinstance(given, Mapping):
            return model(**given)
        return model(*given) if isinstance(given, tuple) else model(given)
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        raise UserError(f"the model cannot take these data: it raised {type(error).__name__}: {said}") from error


def _keep(heard: Heard, seen: dict[str, list[Any]], rows: int) -> None:
    """Move what the hooks saw to NumPy; a layer whose first axis does not count examples is left out."""
    notes = []
    for name, (*before, tensor) in seen.items():
        if not tensor.ndim or len(tensor) != rows:
            if not any(repr(name) in n for n in heard.notes):
                notes.append(f"the layer {name!r} gives {tuple(tensor.shape)} for {rows} examples: it is left out")
            continue
        if before:
            notes.append(f"the layer {name!r} is called {len(before) + 1} times for one answer: the last is measured")
        flat = as_array(tensor, name).reshape(rows, -1)
        if flat.shape[1] > WIDE:
            heard.units[name] = flat.shape[1]
            notes.append(projection_note(name, flat.shape[1]))
            flat = projected(flat)
        heard.layers[name].append(flat)
    heard.notes += [note for note in notes if note not in heard.notes]
    seen.clear()
