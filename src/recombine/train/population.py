"""Turns a task, a split and a way to make a model into trained networks: a pure function of its keys.

The whole training run is compiled, in chunks of steps; `population` maps it over seeds and over every number that
leaves shapes alone (learning rate, penalty weight, which combinations are trained on).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from inspect import signature
from time import perf_counter
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Model, Split, Task
from recombine.keys import check_seed
from recombine.models.network import answer_shapes, example_shapes, member_shapes, squared_error
from recombine.train.checkpoint import fingerprint, restored, saved
from recombine.train.monitor import Monitor, Progress
from recombine.train.optimizers import adamw, adamw_cosine, muon, unit_adam
from recombine.train.placement import fewer, members_per_batch, run_in_batches
from recombine.train.program import LARGE, Given, Program, Recipe, State, advancing

POINTS_PER_CHUNK = 50


def member_keys(seed: int, members: Sequence[int]) -> jax.Array:
    """One independent key for each member's number, whoever its neighbours are."""
    numbers = np.asarray(members)
    if numbers.ndim != 1:
        raise TypeError(f"member_keys needs the number of each member: member_keys({seed}, range({members}))")
    if not len(numbers):
        raise ValueError(f"there are no members: member_keys({seed}, range(8)) makes the keys of eight")
    if not np.issubdtype(numbers.dtype, np.integer) or numbers.min() < 0:
        raise TypeError(f"the numbers of members are whole, from 0 on; got {members}")
    return jax.vmap(partial(jax.random.fold_in, jax.random.key(check_seed(seed))))(jnp.asarray(members))


DIALS: Mapping[str, Any] = {"learning_rate": 1e-3, "weight_decay": 1e-2}


@dataclass(frozen=True, eq=False)
class Run:
    """Trained networks, stacked along the first axis of every parameter, and how they got there.

    `losses` holds one row per member: the training loss averaged over equal stretches of steps.
    `diverged_at` is the first step whose loss was not a number, or -1. With `Recipe.until`, `reached` holds the
    networks at the first step whose loss was that low, `reached_at`, or at the end where it is -1; for several losses
    both have an axis for them, after that of the members.
    """

    model: Any
    losses: np.ndarray
    diverged_at: np.ndarray
    reached: Any = None
    reached_at: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.diverged_at)

    def __getitem__(self, i: int) -> Run:
        model, reached = jax.tree.map(lambda a: a[i] if eqx.is_array(a) else a, (self.model, self.reached))
        at = None if self.reached_at is None else self.reached_at[i]
        return Run(model, self.losses[i], self.diverged_at[i], reached, at)


@eqx.filter_jit
def _initialize(make: Callable[[jax.Array], Model], keys: jax.Array) -> Any:
    return eqx.filter_vmap(make)(keys)


@partial(jax.jit, static_argnames=("program",))
def _begin(params: Any, given: Given, *, program: Program) -> State:
    return jax.vmap(program.start)(params, given)


def fit(task: Task, split: Split, make: Callable[[jax.Array], Model], key: jax.Array, recipe: Recipe, **more) -> Run:
    """Train one network; `population` with one member, unstacked."""
    if not _is_key(key) or key.ndim:
        raise TypeError("fit takes one random key, jax.random.key(0); population takes one per network")
    return population(task, split, make, key[None], recipe, **more)[0]


def population(
    task: Task,
    split: Split | list[Split],
    make: Callable[[jax.Array], Model],
    keys: jax.Array,
    recipe: Recipe,
    *,
    dials: Mapping[str, Any] = DIALS,
    start: Any = None,
    monitor: Monitor | None = None,
    label: str = "fit",
) -> Run:
    """Train one network for every key, all in one compiled program.

    `split` is shared, or a list with one split per member; a dial is a number, or an array with one number per member.
    `start` holds networks stacked as a run's are, one a key, to go on from in place of those that `make` gives.
    Member i does exactly what `fit(keys[i])` does: its neighbours cannot reach it, even when they diverge.
    """
    monitor = monitor or Monitor()
    given, params, program = _prepare(task, split, make, keys, recipe=recipe, dials=dials, start=start)
    mark = cache(partial(fingerprint, given, recipe, params))  # reads every weight: only where something is kept
    kept = monitor.resume(label)

    def begin() -> tuple[State, list[np.ndarray], int]:
        state = _begin(params, given, program=program)
        return restored(kept, state) if kept and str(kept["mark"]) == mark() else (state, [], 0)

    state, losses, done = begin()
    combinations = jnp.asarray(task.combinations)
    at_once = members_per_batch(program, params, given, combinations)
    advance = _advancing(params)
    while done < recipe.steps:
        length, began = min(recipe.chunk, recipe.steps - done), perf_counter()
        try:
            work = partial(advance, program=program, length=length, at_once=at_once)
            state, curve = run_in_batches(work, state, given, (combinations, jnp.asarray(done)), at_once)
            losses.append(_thin(np.asarray(curve)))
        except jax.errors.JaxRuntimeError as error:
            at_once = fewer(at_once, len(keys), error)
            state, losses, done = begin()
            continue
        done += length
        size = sum(a.nbytes for a in jax.tree.leaves(state))
        loss = float(np.mean(losses[-1][:, -1]))
        progress = Progress(done, recipe.steps, len(keys), loss, size, began, perf_counter())
        monitor.chunk(label, progress, partial(saved, state, losses, done, mark))
    model = eqx.combine(state.params, program.static)
    monitor.trained(label, model)
    curves, lost = np.concatenate(losses, axis=1), _diverged_at(state, recipe.steps)
    return Run(model, curves, lost, *_reached(state, program))


def _reached(state: State, program: Program) -> tuple[Any, np.ndarray | None]:
    """The networks kept on the way, those of the end where none was; nothing if none was to be kept."""
    at = state.reached_at
    if at is None:
        return None, None

    def either(kept: jax.Array, last: jax.Array) -> jax.Array:  # kept (members, [K,] ...), last (members, ...)
        there = (at >= 0).reshape(at.shape + (1,) * (last.ndim - 1))
        return jnp.where(there, kept, last if at.ndim == 1 else last[:, None])

    return eqx.combine(jax.tree.map(either, state.reached, state.params), program.static), np.asarray(at)


def footprint(task: Task, split: Split, make: Callable[[jax.Array], Model], keys: jax.Array, recipe: Recipe) -> int:
    """Bytes that training one network for every key side by side takes at its peak, as the compiler plans them."""
    given, params, program = _prepare(task, split, make, keys, recipe=recipe, dials=DIALS)
    state = jax.eval_shape(partial(_begin, program=program), params, given)
    work = state, given, jnp.asarray(task.combinations), jnp.asarray(0)
    lowered = _advancing(params).lower(*work, program=program, length=recipe.chunk, at_once=len(keys))
    plan = lowered.compile().memory_analysis()
    sizes = plan.argument_size_in_bytes + plan.output_size_in_bytes + plan.temp_size_in_bytes
    return sizes - plan.alias_size_in_bytes


def _advancing(params: Any) -> Any:
    return advancing(any(a[0].size >= LARGE for a in jax.tree.leaves(params)))


def _diverged_at(state: State, steps: int) -> np.ndarray:
    """The marks made on the way, and one for members whose very last update left numbers that are none."""
    marked, sound = np.asarray(state.diverged_at), np.asarray(_finite(state.params), bool)
    return np.where((marked < 0) & ~sound, steps, marked)


@jax.jit
def _finite(params: Any) -> jax.Array:
    """(members,) whether all weights of each are numbers; asked on the device, since they are many."""
    sound = [jnp.isfinite(a).reshape(len(a), -1).all(axis=1) for a in jax.tree.leaves(params)]
    return jnp.stack(sound).all(axis=0)


def _prepare(task, split, make, keys, *, recipe, dials, start=None) -> tuple[Given, Any, Program]:
    x, y = example_shapes(task)
    if not isinstance(recipe, Recipe):
        raise TypeError(f"a recipe is a recombine.Recipe(steps=...), got {recipe!r}")
    _check_keys(keys)
    splits = split if isinstance(split, list) else [split] * len(keys)
    if not all(isinstance(s, Split) for s in splits):
        raise TypeError("a split is a recombine.Split: recombine.Split(task.combinations, mask)")
    if any(not np.array_equal(s.combinations, task.combinations) for s in {id(s): s for s in splits}.values()):
        raise ValueError(f"a split of {task.name} must be made from its own combinations")
    if len(splits) != len(keys):
        raise ValueError(f"{len(splits)} splits for {len(keys)} keys")
    rows, counts = zip(*map(_training_rows, splits), strict=True)
    each = _each_dial(dials, recipe, len(keys))
    _, lives = split_keys(keys)
    params, static = eqx.partition(initial_models(make, keys) if start is None else start, eqx.is_inexact_array)
    if any(len(a) != len(keys) for a in jax.tree.leaves(params)):
        raise ValueError(f"one network to start from for each of {len(keys)} keys was expected")
    given = Given(lives, jnp.asarray(np.stack(rows)), jnp.asarray(counts), each)
    _check_answer(task, x, y, eqx.combine(params, static), recipe)
    return given, params, Program(task.sample, static, recipe)


def _each_dial(dials: Mapping[str, Any], recipe: Recipe, members: int) -> dict[str, jax.Array]:
    """Every dial as one number per member."""
    if not isinstance(dials, Mapping):
        raise TypeError(f'dials are numbers by name, {{"learning_rate": 1e-3}}; got {dials!r}')
    unknown = set(dials) - set(DIALS)
    ours = getattr(recipe.optimiser, "func", recipe.optimiser) in (adamw, adamw_cosine, muon, unit_adam)
    if unknown and recipe.penalty is None and ours:
        raise ValueError(f"no dial is called {sorted(unknown)[0]!r}; there are {', '.join(DIALS)}")
    for name, value in dials.items():
        found = np.asarray(value)
        if found.dtype.kind in "OSU" or found.shape not in ((), (1,), (members,)) or np.isnan(found).any():
            raise ValueError(f"the dial {name!r} is a number, or one for each of {members} networks; got {value!r}")
        if name in DIALS and found.min() < 0:
            raise ValueError(f"the dial {name!r} must not be negative, got {value!r}")
    return {name: jnp.broadcast_to(jnp.asarray(v, jnp.float32), (members,)) for name, v in {**DIALS, **dials}.items()}


def _check_keys(keys: jax.Array) -> None:
    if not _is_key(keys) or keys.ndim != 1 or not len(keys):
        raise TypeError("keys are random keys, one per network: recombine.member_keys(seed, range(8))")


def _is_key(key: Any) -> bool:
    return isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)


def _check_answer(task: Task, x: Any, y: Any, models: Any, recipe: Recipe) -> None:
    """Refuse networks that cannot take the task's x, or whose answers do not have the shape of its y."""
    y_hat, _ = answer_shapes(member_shapes(models), x)
    if recipe.loss is squared_error and y_hat.shape != y.shape:
        raise ValueError(f"the network answers with shape {y_hat.shape} where the y of {task.name} has shape {y.shape}")
    if recipe.loss is not squared_error:
        batches = [
            jax.ShapeDtypeStruct((recipe.batch, *a.shape), kind) for a, kind in ((y_hat, jnp.float32), (y, y.dtype))
        ]
        if (found := jax.eval_shape(recipe.loss, *batches)).shape:
            raise ValueError(f"the loss of a batch is one number, this one has shape {found.shape}: take its mean")


def initial_models(make: Callable[[jax.Array], Model], keys: jax.Array) -> Any:
    """The networks, stacked, that a population of these keys starts from."""
    _check_keys(keys)
    _check_make(make)
    return _initialize(make, split_keys(keys)[0])


def _check_make(make: Callable[[jax.Array], Model]) -> None:
    wanted = "make takes a random key and gives one network: lambda key: MLPDecoder(inputs, size, key=key)"
    if isinstance(make, eqx.Module) or not callable(make):
        raise TypeError(f"{wanted}; got a {type(make).__name__}")
    try:
        signature(make).bind(None)
    except TypeError as error:
        raise TypeError(f"{wanted}; this one cannot be called so: {error}") from error


def split_keys(keys: jax.Array) -> jax.Array:
    """For each key one for its network's first weights, and one for all that comes after."""
    return jax.vmap(partial(jax.random.split, num=2), out_axes=1)(keys)


def _training_rows(split: Split) -> tuple[np.ndarray, int]:
    """The training combinations first, then the others, which the count keeps out of reach."""
    count = int(split.train.sum())
    if not count:
        raise ValueError("a split without training combinations cannot be trained on")
    return np.argsort(~split.train, kind="stable"), count


def _thin(curve: np.ndarray) -> np.ndarray:
    """Average each member's losses over at most POINTS_PER_CHUNK stretches."""
    parts = np.array_split(curve, min(POINTS_PER_CHUNK, curve.shape[1]), axis=1)
    return np.stack([p.mean(axis=1) for p in parts], axis=1)
