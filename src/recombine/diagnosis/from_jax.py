"""Any JAX callable on one example as evidence: it returns y, or y and a dict of activations.

Equinox models are asked in inference mode, Flax NNX models as a copy in evaluation mode. Where the data are a
function of the factors, or the factors themselves, the geometry of every layer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.diagnosis.evidence import Evidence, Sample, assembled, sampling
from recombine.diagnosis.from_arrays import choose_layers
from recombine.diagnosis.layers import WIDE, projected, projection_note
from recombine.diagnosis.reading import as_array

_ONLY_ENDS = (
    "only input and output are recorded, since the model returns an answer alone; to see its layers, return"
    " (y, {'name': activation, ...}) from its __call__, or wrap it in a function that does"
)
_POINTS = 400
"""Combinations at which derivatives are taken."""


def from_jax(
    model: Callable,
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
    """Ask the model the examples that are measured, some at a time; keep answers and layers as NumPy arrays."""
    import jax
    import jax.numpy as jnp

    sample = sampling(factors, trained, targets, names)
    values = _numeric(sample)
    encode = data if callable(data) else None
    if encode is not None and values is None:
        raise UserError("data as a function of the factors needs factors that are numbers")
    x = np.asarray(values if encode is not None else as_array(sample.take(data, "inputs"), "inputs"))
    ask = _asked(_quiet(model), encode, output)
    kept = choose_layers(_order(ask, x[0]), layers)
    one = jax.eval_shape(ask, jax.ShapeDtypeStruct(x.shape[1:], jnp.asarray(x[:1]).dtype))
    wide = {n: one[1][n].size for n in kept if one[1][n].size > WIDE}
    told = sample.take(targets, "targets")
    outputs, acts = _answers(ask, x, kept, batch)
    inputs = {"input": _inputs(encode, x, batch)} if encode is not None or x.dtype.kind in "fiub" else {}
    notes = [projection_note(name, units) for name, units in wide.items()] + ([] if one[1] else [_ONLY_ENDS])
    found = assembled(sample, told, outputs, {**inputs, **acts}, notes=notes, units=wide)
    if encode is None and not (values is not None and x.shape == values.shape and np.allclose(x, values)):
        return found
    return _with_geometry(found, ask, encode, values, kept)


def _quiet(model: Any) -> Any:
    """The model without dropout, as a copy: the model given stays as it was."""
    kinds = {kind.__module__.split(".")[0] for kind in type(model).__mro__}
    if "equinox" in kinds:
        import equinox as eqx

        return eqx.nn.inference_mode(model)
    if "flax" in kinds:
        from flax import nnx

        copy = nnx.merge(*nnx.split(model))
        copy.eval()
        return copy
    return model


def _asked(
    model: Callable, encode: Callable | None, output: str | int | None = None
) -> Callable[[Any], tuple[Any, dict[str, Any]]]:
    """One example to (y, activations), whatever the model returns; `output` chooses among several answers."""

    def ask(x: Any) -> tuple[Any, dict[str, Any]]:
        got = model(encode(x) if encode is not None else x)
        if isinstance(got, tuple) and len(got) == 2 and isinstance(got[1], Mapping):
            if output not in (None, 0):
                raise UserError(f"the model returns y and its layers, so there is no output {output!r} to choose")
            return got[0], dict(got[1])
        if isinstance(got, Mapping):
            if output is not None and output not in got:
                raise UserError(f"the model's output has no {output!r}: choose output= from {', '.join(got)}")
            first = next(n for n in (output, "logits", "y", "output", next(iter(got))) if n in got)
            return got[first], {k: v for k, v in got.items() if k != first}
        if isinstance(got, tuple | list):
            place = output if isinstance(output, int) else 0
            if not 0 <= place < len(got):
                raise UserError(f"the model returns {len(got)} things: choose output= from 0 to {len(got) - 1}")
            return got[place], {}
        if output is not None and hasattr(got, "dtype"):
            raise UserError(f"the model returns one array, so there is no output {output!r} to choose: leave it out")
        return got, {}

    return ask


def _order(ask: Callable, x: np.ndarray) -> list[str]:
    """The layers in the model's own order; JAX sorts the dictionaries that it returns."""
    import jax

    names: list[str] = []

    def named(one: Any) -> Any:
        y, acts = ask(one)
        if not hasattr(y, "dtype") and not isinstance(y, int | float):
            said = "not an array; a function that makes a model takes no argument"
            raise UserError(f"the model gave a {type(y).__name__}, {said}")
        names.extend(acts)
        return y

    try:
        jax.eval_shape(named, x)
    except UserError:
        raise
    except Exception as error:
        raise UserError(_why_not(error, x)) from error
    return names


def _why_not(error: Exception, x: np.ndarray) -> str:
    """What a model raised, and what is known to cause it."""
    from jax.errors import ConcretizationTypeError

    said = str(error).partition("\n")[0]
    if isinstance(error, ConcretizationTypeError):
        return f"the model looks at values of its input (an 'if', an index), which JAX cannot trace: {said}"
    if "Tracer" in f"{type(error).__name__} {said}":
        return (
            "the model is not made of JAX operations, so it cannot be asked here: give the PyTorch nn.Module itself,"
            " or arrays of what it answers (y_hat)"
        )
    if isinstance(error, TypeError | ValueError | IndexError):
        return f"the model cannot take one example of shape {x.shape}, without a batch axis: {said}"
    return f"the model raised {type(error).__name__}: {said}"


def _answers(ask: Callable, x: np.ndarray, kept: Sequence[str], batch: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    import jax

    @jax.jit
    def many(rows: Any) -> tuple[Any, dict[str, Any]]:
        y, acts = jax.vmap(ask)(rows)
        return y, {name: acts[name] for name in kept}

    outputs, layers = [], {name: [] for name in kept}
    for start in range(0, len(x), batch):
        y, acts = jax.device_get(many(x[start : start + batch]))
        outputs.append(as_array(y, "outputs"))
        for name in kept:
            flat = as_array(acts[name], name).reshape(len(y), -1)
            layers[name].append(projected(flat) if flat.shape[1] > WIDE else flat)
    return np.concatenate(outputs), {name: np.concatenate(layers.pop(name)) for name in kept}


def _inputs(encode: Callable | None, x: np.ndarray, batch: int) -> np.ndarray:
    import jax

    if encode is None:
        return x
    many = jax.jit(jax.vmap(encode))
    return np.concatenate([np.asarray(many(x[i : i + batch])) for i in range(0, len(x), batch)])


def _numeric(sample: Sample) -> np.ndarray | None:
    """The factors as numbers (examples, factors), or none if one is not."""
    if any(f.numbers is None for f in sample.factors):
        return None
    return np.stack([np.asarray(f.numbers) for f in sample.factors], axis=1).astype(np.float32)


def _with_geometry(
    found: Evidence, ask: Callable, encode: Callable | None, values: np.ndarray | None, kept: Sequence[str]
) -> Evidence:
    """The metric of every layer by exact derivatives, at the first example of each combination."""
    from dataclasses import replace

    import jax

    if values is None or len(found.combinations) > _POINTS:
        return found
    points = values[np.unique(found.of, return_index=True)[1]]

    def layers(z: Any) -> dict[str, Any]:
        y, acts = ask(z)
        first = {"input": encode(z) if encode is not None else z}
        return {name: a.reshape(-1) for name, a in {**first, **{n: acts[n] for n in kept}, "output": y}.items()}

    def metric(z: Any) -> dict[str, Any]:
        return {name: j.T @ j for name, j in jax.jacfwd(layers)(z).items()}

    with jax.default_matmul_precision("highest"):
        try:
            exact = jax.device_get(jax.jit(lambda z: jax.lax.map(metric, z, batch_size=16))(points))
        except (TypeError, ValueError, NotImplementedError):  # a code of whole numbers, or a call out of JAX
            return found
    return replace(found, geometry={name: np.asarray(g, float) for name, g in exact.items()})
