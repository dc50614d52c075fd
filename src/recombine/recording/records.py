"""Turns a model into a Record of what it did, and Records and models into files (npz, safetensors; never pickle)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Model, Record, Task, UserError, as_combinations
from recombine.keys import one_key
from recombine.models.network import answer_shapes, example_shapes, member_shapes

_AT_ONCE = 256  # examples computed together, to bound memory
_FIELDS = ("z", "x", "y", "y_hat")


def record(model: Model, task: Task, combinations: np.ndarray, *, key: jax.Array, keep: Sequence[str] = ()) -> Record:
    """Ask one model every combination once; `keep` names the activations to record."""
    stacked = jax.tree.map(lambda a: a[None] if eqx.is_array(a) else a, model)
    return records(stacked, task, combinations, key=key, keep=keep)[0]


def records(
    models: Any, task: Task, combinations: np.ndarray, *, key: jax.Array, keep: Sequence[str] = ()
) -> list[Record]:
    """The same for a population, whose members all get the same questions: one Record a member."""
    asked = truth(task, combinations, key=key)
    _check_layers(models, asked.x, keep)
    params, static = eqx.partition(models, eqx.is_array)
    y_hat, acts = jax.device_get(_answer(params, jnp.asarray(asked.x), static=static, keep=tuple(keep)))
    return [
        Record(asked.z, asked.x, asked.y, y_hat[i], {name: a[i] for name, a in acts.items()}) for i in range(len(y_hat))
    ]


def _check_layers(models: Any, x: np.ndarray, keep: Sequence[str]) -> None:
    """Refuse what is no population, cannot take x, or lacks a layer that is to be kept."""
    try:
        _, acts = answer_shapes(member_shapes(models), jax.ShapeDtypeStruct(x.shape[1:], x.dtype))
    except ValueError as error:
        raise ValueError(f"{error} (one network is asked by recombine.record, many by recombine.records)") from error
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise UserError(f"keep is a sequence of names of layers: keep=({keep!r},)")
    if unknown := [name for name in keep if name not in acts]:
        raise UserError(f"the model has no layer {unknown[0]!r}; it has {', '.join(acts)}")


def truth(task: Task, combinations: np.ndarray, *, key: jax.Array) -> Record:
    """What a solver that never errs would leave behind."""
    example_shapes(task)
    z, parts = as_combinations(combinations), task.combinations.shape[1]
    if z.shape[1] != parts:
        raise ValueError(f"a combination of {task.name} has {parts} parts, got rows of {z.shape[1]}")
    x, y = jax.device_get(jax.jit(jax.vmap(task.sample))(jnp.asarray(z), jax.random.split(one_key(key), len(z))))
    return Record(z, x, y, y)


@partial(jax.jit, static_argnames=("static", "keep"))
def _answer(params: Any, x: jax.Array, *, static: Any, keep: tuple[str, ...]):
    def member(params):
        model = eqx.combine(params, static)

        def one(x):
            y_hat, acts = model(x)
            return y_hat, {name: acts[name] for name in keep}

        return jax.lax.map(one, x, batch_size=_AT_ONCE)

    return jax.vmap(member)(params)


def record_bytes(record: Record) -> bytes:
    """A record as npz; activations are prefixed by `acts/`."""
    sink = io.BytesIO()
    acts = {f"acts/{name}": a for name, a in record.acts.items()}
    arrays = {name: getattr(record, name) for name in _FIELDS} | acts
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def save_record(record: Record, path: Path | str) -> None:
    """Write a record as npz."""
    if not isinstance(record, Record):
        raise TypeError(f"record must be a recombine.Record, got a {type(record).__name__}")
    Path(path).write_bytes(record_bytes(record))


def load_record(path: Path | str) -> Record:
    """Read a record that `save_record`, or any framework's own code, wrote."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise UserError(f"{path} is not a record (npz): {error}") from error
    missing = [name for name in _FIELDS if name not in arrays]
    if missing:
        raise UserError(f"{path} is not a record: it lacks {', '.join(missing)}")
    acts = {name.removeprefix("acts/"): a for name, a in arrays.items() if name.startswith("acts/")}
    return Record(acts=acts, **{name: arrays[name] for name in _FIELDS})


def model_bytes(model: Any) -> bytes:
    """A model's (or a population's) arrays as safetensors, named by their place in the tree."""
    from safetensors.numpy import save

    return save({name: np.asarray(a) for name, a in _named(model)})


def save_model(model: Any, path: Path | str) -> None:
    """Write a model's arrays as safetensors."""
    Path(path).write_bytes(model_bytes(model))


def load_model(like: Any, path: Path | str) -> Any:
    """Read arrays back into a model of the same shape."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path} is not a safetensors file: {error}") from error
    names = [name for name, _ in _named(like)]
    if set(names) != set(arrays):
        raise UserError(f"{path} holds other arrays than the model: {sorted(set(names) ^ set(arrays))[:4]}")
    if other := [name for name, a in _named(like) if arrays[name].shape != a.shape]:
        shapes = f"{arrays[other[0]].shape} in {path} and {dict(_named(like))[other[0]].shape} in the model"
        raise UserError(f"{other[0]} has shape {shapes}")
    leaves, tree = jax.tree.flatten(like, is_leaf=eqx.is_array)
    fresh = iter(jnp.asarray(arrays[name]) for name in names)
    return jax.tree.unflatten(tree, [next(fresh) if eqx.is_array(a) else a for a in leaves])


def _named(model: Any) -> list[tuple[str, jax.Array]]:
    paths = jax.tree_util.tree_flatten_with_path(model)[0]
    return [(jax.tree_util.keystr(path).strip("."), a) for path, a in paths if eqx.is_array(a)]
