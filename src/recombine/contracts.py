"""Checks for tasks, encodings, splits, models and measures of your own: what ours keep, as functions.

Each returns nothing, or raises an AssertionError that says what is wrong and how to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Record, Split, Task
from recombine.encodings.tasks import TaskContext, TaskEncoding
from recombine.measures.controls import nearest_memory
from recombine.models.network import Network, answer_shapes, kind
from recombine.tasks.modules import masks

MOST = 64
"""How many combinations of a large task are sampled."""
_MEMBERS, _EXAMPLES = 2, 3
_JAX_ONLY = "write it in jax.numpy, without `if` or `float()` on what it is given"


def check_task(task: Task) -> None:
    """A sample is a pair (x, y), finite, of one shape, a function of z and key alone, and y depends on z."""
    _require(isinstance(task, Task), f"a task is a recombine.Task, got a {type(task).__name__}")
    _require(np.issubdtype(task.combinations.dtype, np.integer), f"{task.name}: combinations must be integers")
    rows = np.unique(np.linspace(0, len(task.combinations) - 1, MOST).astype(int))
    z, keys = jnp.asarray(task.combinations[rows]), jax.random.split(jax.random.key(0), len(rows))
    _check_pure(task, z[0], keys[0])
    sample = jax.jit(jax.vmap(task.sample))
    for name, values in zip("xy", sample(z, keys), strict=True):
        _require(_finite(values), f"{task.name}: {name} has a NaN or an infinity; look at its formula for odd values")
    y = np.asarray(sample(z, jnp.broadcast_to(keys[0], keys.shape))[1])
    _require(
        len(y) == 1 or bool(np.any(y != y[0])),
        f"{task.name}: y is the same for all combinations; sample(z, key) must compute it from z",
    )


def _check_pure(task: Task, z: jax.Array, key: jax.Array) -> None:
    """Two traces of a sample must be the same program: what NumPy draws would differ between them."""
    with _explained(f"{task.name}: sample(z, key) must be traceable by JAX: {_JAX_ONLY}"):
        first, second = (jax.make_jaxpr(partial(task.sample))(z, key) for _ in range(2))  # a new partial each: no cache
        pair = jax.eval_shape(task.sample, z, key)
    _require(
        isinstance(pair, tuple) and len(pair) == 2 and all(hasattr(a, "shape") for a in pair),
        f"{task.name}: sample(z, key) must return two arrays (x, y) for one combination, got {kind(pair)}",
    )
    _require(
        str(first) == str(second) and all(map(np.array_equal, first.consts, second.consts)),
        f"{task.name}: two calls of sample with one key differ; draw with jax.random and the key, not with NumPy",
    )


def check_encoding(encode: Callable[[Any], jax.Array], size: int = 8) -> None:
    """Finite vectors of one length that tell `size` values apart and are zero where the part is absent.

    The encoding of a task is asked about masks over `size` modules; it has no absent part.
    """
    told: Iterator[Any] = (jnp.asarray(v) for v in range(size))
    whole = isinstance(encode, TaskEncoding)
    if whole:
        told = (_context(mask, encode.shots) for mask in masks(size, 2))
    codes = [np.asarray(encode(one)) for one in told]
    _require(
        len({code.shape for code in codes}) == 1 and codes[0].ndim == 1,
        f"an encoding gives one vector, as long for every value; got shapes {sorted({c.shape for c in codes})}",
    )
    _require(_finite(np.stack(codes)), "an encoding must be finite for every value")
    _require(
        len(np.unique(np.stack(codes).round(5), axis=0)) == len(codes),
        "an encoding must tell all values apart: two of them have the same code",
    )
    absent = whole or not np.any(np.asarray(encode(jnp.asarray(ABSENT))))
    _require(absent, "the code of an absent part must be zero: use jnp.where(v == recombine.ABSENT, 0.0, code)")


def _context(mask: np.ndarray, shots: int) -> TaskContext:
    """A task in which each active module counts .7, with examples whose answers are its constituents."""
    z = jnp.asarray(0.7 * mask, jnp.float32)
    return TaskContext(jnp.asarray(0), z, jnp.ones((shots, 1)), jnp.broadcast_to(z, (shots, len(z))))


def check_split(split: Split) -> None:
    """Something is trained on, something is held out, and larger sets of parts are covered no better than smaller."""
    _require(isinstance(split, Split), f"a split is a recombine.Split, got a {type(split).__name__}")
    trained, every = int(split.train.sum()), len(split.train)
    _require(trained > 0, "this split trains on nothing: let some combinations have train = True")
    _require(trained < every, f"this split holds out nothing: all {every} combinations are trained on")
    _require(
        0 <= split.coverage(2) <= split.coverage(1) <= 1,
        "pairs of part values are covered more than single ones; does `absent` name the value of a missing part?",
    )


def check_model(model: Any, x: Any) -> None:
    """model(x) -> (y, activations by name) for one example x, trainable in a population.

    Give a network (an eqx.Module) or a function of a key that makes one, and whole numbers for a network that reads
    ids. Gradients are taken at random weights, so that those which start at zero must have one as well.
    """
    made = model if isinstance(model, eqx.Module) else _made(model)
    shape = jax.ShapeDtypeStruct(np.shape(x), jnp.float32)
    _check_answer(made, shape)
    _check_parameters(made)
    _check_half_precision(made, shape)
    _check_gradients(made, np.asarray(x))
    _check_batches(made, np.asarray(x))
    if made is not model:
        _check_initial(model)


def _examples(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Several examples like x: with noise, unless they are ids, which noise would make unknown."""
    return (x + rng.normal(size=(_EXAMPLES, *x.shape)) * (x.dtype.kind != "i")).astype(np.float32)


def _check_batches(model: Any, x: np.ndarray) -> None:
    """Where a network has a `many` or `batch_error` of its own, training uses it: it must say what model(x) says."""
    own = [name for name in ("many", "batch_error") if _has_own(model, name)]
    if not own:
        return
    rng = np.random.default_rng(0)
    xs = _examples(x, rng)
    numbers, fixed = eqx.partition(_filled(model, rng), eqx.is_inexact_array)

    def both(numbers: Any) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
        made = eqx.combine(numbers, fixed)
        y = jax.vmap(made)(xs)[0]
        said = {"many": made.many(xs), "batch_error": made.batch_error(xs, jnp.ones_like(y))}
        return said, {"many": y, "batch_error": jnp.mean((y - 1.0) ** 2)}

    said, plain = jax.jit(jax.vmap(both))(numbers)
    for name in own:
        close = np.allclose(said[name], plain[name], rtol=1e-3, atol=1e-4)
        _require(close, f"{name} of this network differs from what model(x) answers to the examples of a batch")


def _has_own(model: Any, name: str) -> bool:
    return isinstance(model, Network) and getattr(type(model), name) is not getattr(Network, name)


def _made(make: Callable[[jax.Array], Any]) -> Any:
    """The shapes of a network, made twice to see that both would share one compiled program."""
    with _explained("a model is an eqx.Module, or a function that takes a random key and makes one"):
        first, second = (eqx.filter_eval_shape(make, jax.random.key(0)) for _ in range(2))
    fixed = [eqx.partition(m, _is_array)[1] for m in (first, second)]
    with _explained("the static fields of a network must be hashable: use tuples, not lists or arrays"):
        same = hash(fixed[0]) == hash(fixed[1]) and fixed[0] == fixed[1]
    _require(
        same,
        "two networks of one kind differ in their static fields, so each would be compiled anew: keep functions and "
        "other objects there that compare equal (no fresh lambda for each network)",
    )
    return first


def _check_answer(model: Any, x: jax.ShapeDtypeStruct) -> None:
    try:
        _, acts = answer_shapes(model, x)
    except (TypeError, ValueError) as error:
        raise AssertionError(str(error)) from error
    _require(
        bool(acts) and all(isinstance(name, str) for name in acts),
        f'activations are a dict of arrays with at least one name, {{"layer0": h}}; got {acts}',
    )
    odd = [name for name, a in acts.items() if not hasattr(a, "shape")]
    _require(not odd, f"the activations {odd} are not arrays")


def _check_parameters(model: Any) -> None:
    """Anything but plain float32 would change its type in training, and have the program compiled twice."""
    trained = [a for a in jax.tree.leaves(model) if _is_array(a) and jnp.issubdtype(a.dtype, jnp.inexact)]
    _require(bool(trained), "this network has no parameters to train: weights are jax arrays in its fields")
    odd = [a for a in trained if a.dtype != jnp.float32 or getattr(a, "weak_type", False)]
    _require(
        not odd,
        f"parameters are float32; {len(odd)} are not, or are Python numbers: write jnp.asarray(0.25, jnp.float32)",
    )


def _check_initial(make: Callable[[jax.Array], Any]) -> None:
    numbers = jax.jit(jax.vmap(lambda key: eqx.filter(make(key), _is_inexact)))(jax.random.split(jax.random.key(0)))
    leaves = [np.asarray(a) for a in jax.tree.leaves(numbers)]
    _require(all(map(_finite, leaves)), "an initial weight is not finite: look at what the maker divides by")
    _require(
        any(np.any(a[0] != a[1]) for a in leaves),
        "two keys give the same initial weights: draw them with the key, or all networks of a population are one",
    )


def _check_half_precision(model: Any, x: jax.ShapeDtypeStruct) -> None:
    half = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, jnp.bfloat16) if _is_inexact(a) else a, model)
    y, acts = eqx.filter_eval_shape(half, jax.ShapeDtypeStruct(x.shape, jnp.bfloat16))
    wide = [name for name, a in {"y": y, **acts}.items() if a.dtype != jnp.bfloat16]
    _require(
        not wide,
        f"in half precision {wide} come out wider: cast constants to x.dtype, so that nothing is promoted to float32",
    )


def _check_gradients(model: Any, x: np.ndarray) -> None:
    """Two networks on three examples: batched answers, and a finite gradient in every parameter."""
    rng = np.random.default_rng(0)
    xs = _examples(x, rng)
    one, _ = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct(x.shape, jnp.float32))
    numbers, fixed = eqx.partition(_filled(model, rng), eqx.is_inexact_array)

    def loss(numbers: Any) -> tuple[jax.Array, jax.Array]:
        y = jax.vmap(eqx.combine(numbers, fixed))(xs)[0]
        return jnp.mean((y - 1.0) ** 2), y

    slopes, y = jax.jit(jax.vmap(jax.grad(loss, has_aux=True)))(numbers)
    _require(
        y.shape == (_MEMBERS, _EXAMPLES, *one.shape) and _finite(y),
        f"{_EXAMPLES} examples at once give {y.shape[1:]}, not finite numbers of shape {(_EXAMPLES, *one.shape)}",
    )
    for path, slope in jax.tree_util.tree_leaves_with_path(slopes):
        name = jax.tree_util.keystr(path)
        _require(_finite(slope), f"the gradient of {name} is not finite; guard roots, logarithms and divisions at 0")
        _require(
            bool(np.any(np.asarray(slope))),
            f"{name} has no gradient: it does not reach y. Use it, or make it a NumPy array or a static field",
        )


def _filled(model: Any, rng: np.random.Generator) -> Any:
    """A population of two with normal parameters: to compile a network's own random numbers takes seconds."""

    def fill(leaf: Any) -> Any:
        if _is_inexact(leaf):
            return jnp.asarray(rng.normal(0, 0.5, (_MEMBERS, *leaf.shape)), leaf.dtype)
        return jnp.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree.map(fill, model)


def check_measure(measure: Callable[[Record], Any], higher_is_better: bool) -> None:
    """One finite number per record, the same each time, that ranks a perfect system above a memoriser.

    Both answer 16 held-out combinations of an 8 x 8 grid of bumps; the memoriser gives the nearest training answer.
    """
    perfect, memory = _systems()
    before = [a.copy() for a in (memory.z, memory.x, memory.y, memory.y_hat)]
    found = [float(measure(record)) for record in (perfect, memory, memory)]
    name = getattr(measure, "__name__", "the measure")
    _require(all(map(isfinite, found)), f"{name} must give finite numbers, got {found[:2]}")
    same = all(map(np.array_equal, before, (memory.z, memory.x, memory.y, memory.y_hat)))
    _require(same, f"{name} changes the record that it reads: copy an array before you write to it")
    _require(found[1] == found[2], f"{name} gives another number when asked again: pass it a seeded generator")
    better = found[0] > found[1] if higher_is_better else found[0] < found[1]
    _require(
        better,
        f"{name} reads {found[0]:.4g} on a perfect system and {found[1]:.4g} on a memoriser, where "
        f"{'higher' if higher_is_better else 'lower'} should be better",
    )


def _systems() -> tuple[Record, Record]:
    """The hole 2..5 of a grid of bumps, answered by the truth and by the nearest memory."""
    z = np.stack(np.divmod(np.arange(64), 8), axis=1)
    along = np.exp(-((np.arange(8)[:, None] - np.arange(8)) ** 2) / 2)
    pictures = along[z[:, 1], :, None] * along[z[:, 0], None, :]
    perfect = Record(z, np.concatenate([along[z[:, 0]], along[z[:, 1]]], axis=1), pictures, pictures)
    hole = np.all((z >= 2) & (z <= 5), axis=1)
    return perfect.where(hole), nearest_memory(perfect, ~hole).where(hole)


def _require(kept: bool, sentence: str) -> None:
    if not kept:
        raise AssertionError(sentence)


@contextmanager
def _explained(sentence: str) -> Iterator[None]:
    """Puts a plain sentence before whatever a framework says."""
    try:
        yield
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise AssertionError(f"{sentence} ({str(error).splitlines()[0] if str(error) else type(error)})") from error


def _finite(values: Any) -> bool:
    return bool(np.all(np.isfinite(np.asarray(values, float))))


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | jax.ShapeDtypeStruct)


def _is_inexact(leaf: Any) -> bool:
    return _is_array(leaf) and jnp.issubdtype(leaf.dtype, jnp.inexact)
