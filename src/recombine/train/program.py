"""What the compiler makes of a run: one batch, one update, for one member; and the loop over steps and members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import inf, isnan
from numbers import Real
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from recombine.models.network import network, squared_error
from recombine.train.optimizers import adamw


class Penalty(Protocol):
    """What is added to the loss, given the model, a batch's activations, the dials and how far training is (0 to 1)."""

    def __call__(
        self, model: Any, acts: dict[str, jax.Array], dials: Mapping[str, jax.Array], progress: jax.Array, /
    ) -> jax.Array: ...


@dataclass(frozen=True)
class Recipe:
    """How to train: everything that shapes the compiled program. Numbers that do not are dials.

    With `until`, a copy of each network is kept from the first step whose loss is that low, or one copy for each of
    several losses: networks that learn at different speeds can then be compared where they fit equally well.
    """

    steps: int
    batch: int = 32
    optimiser: Callable[[Mapping[str, jax.Array], int], optax.GradientTransformation] = adamw
    loss: Callable[[jax.Array, jax.Array], jax.Array] = squared_error
    penalty: Penalty | None = None
    compute: Any = jnp.float32
    chunks: int = 20
    until: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        counts = self.steps, self.batch, self.chunks
        if not all(isinstance(n, int | np.integer) and n >= 1 for n in counts):
            raise ValueError(f"steps, batch and chunks are whole numbers of at least 1, got {counts}")
        if not callable(self.optimiser):
            raise TypeError(f"optimiser makes one of (dials, steps), as recombine.adamw does; got {self.optimiser!r}")
        if not callable(self.loss):
            raise TypeError(f"loss is a function of (y_hat, y) that gives a number, got {self.loss!r}")
        if self.penalty is not None and not callable(self.penalty):
            raise TypeError(f"penalty is a function, such as recombine.weighted(); got {self.penalty!r}")
        levels = self.until if isinstance(self.until, tuple) else (inf if self.until is None else self.until,)
        if not levels or not all(isinstance(level, Real) and not isnan(level) for level in levels):
            raise ValueError(f"until is a loss, or a tuple of losses; got {self.until!r}")

    @property
    def chunk(self) -> int:
        """Steps between two looks from outside: a divisor of all steps where there is one near, to compile once."""
        wanted = max(1, self.steps // self.chunks)
        even = max(k for k in range(1, wanted + 1) if self.steps % k == 0)
        return even if 2 * even >= wanted else wanted


class State(eqx.Module):
    """What changes from step to step, for one member."""

    params: Any
    optimiser: Any
    diverged_at: jax.Array
    reached: Any = None
    reached_at: jax.Array | None = None


class Given(eqx.Module):
    """What stays as it is, for one member.

    `rows` (combinations,) are row numbers, the `count` training combinations first. `dials` are scalars.
    """

    key: jax.Array
    rows: jax.Array
    count: jax.Array
    dials: dict[str, jax.Array]


@dataclass(frozen=True)
class Program:
    """The part of a run that the compiler bakes in; equal programs are compiled once a process."""

    sample: Callable[..., Any]
    static: Any
    recipe: Recipe

    def objective(self, params: Any, given: Given, x: jax.Array, y: jax.Array, progress: jax.Array) -> jax.Array:
        """Mean loss over a batch plus the penalty; computed at `recipe.compute`, summed in float32."""
        model = eqx.combine(_cast(params, self.recipe.compute), self.static)
        x = _cast(x, self.recipe.compute)
        if self.recipe.penalty is None and self.recipe.loss is squared_error:
            return network(model).batch_error(x, y)
        if self.recipe.penalty is None:
            return self.recipe.loss(network(model).many(x).astype(jnp.float32), y)
        y_hat, acts = jax.vmap(model)(x)
        loss = self.recipe.loss(y_hat.astype(jnp.float32), y)
        return loss + self.recipe.penalty(eqx.combine(params, self.static), acts, given.dials, progress)

    def lowered(self, params: Any) -> Any:
        """The parameters at the precision they are computed with; None where they are used as they are."""
        as_they_are = self.recipe.compute == jnp.float32 or self.recipe.penalty is not None
        return None if as_they_are else _cast(params, self.recipe.compute)

    def step(
        self, given: Given, combinations: jax.Array, carried: tuple[State, Any], index: jax.Array
    ) -> tuple[tuple[State, Any], jax.Array]:
        """One batch, drawn uniformly from the training combinations, and one update.

        The body of the scan over steps: (state, lowered parameters) and the step's number to the same after the step,
        and the step's loss. Shapes are one member's; `advance` maps over members. B is the batch, G the number of
        combinations, A the entries of one.

        Random numbers depend on the member's key and the step's number alone, so that a run may stop at any step and
        go on later. Parameters and optimiser state are float32. At a lower `recipe.compute`, the objective reads the
        lowered copy, and its gradients are raised to float32 for the update. The loss returned is that of the
        parameters before the update.
        """
        state, low = carried  # low is None where parameters are used as they are
        choose, draw = jax.random.split(jax.random.fold_in(given.key, index))
        # (B,) row numbers, with replacement, among the first `count`: the training ones.
        rows = given.rows[jax.random.randint(choose, (self.recipe.batch,), 0, given.count)]
        # combinations (G, A) -> (B, A), a key for each -> x (B, *input), y (B, *target)
        x, y = jax.vmap(self.sample)(combinations[rows], jax.random.split(draw, self.recipe.batch))
        progress = index / self.recipe.steps  # () from 0 to below 1
        used = state.params if low is None else low
        loss, grads = jax.value_and_grad(self.objective)(used, given, x, y, progress)  # (), tree as `used`
        grads = _cast(grads, jnp.float32)
        optimiser = self.recipe.optimiser(given.dials, self.recipe.steps)
        # Weight decay reads the float32 parameters, not the lowered copy.
        updates, optimiser_state = optimiser.update(grads, state.optimiser, state.params)
        bad = (state.diverged_at < 0) & ~jnp.isfinite(loss)  # () the first loss not finite
        diverged_at = jnp.where(bad, index, state.diverged_at)
        params = optax.apply_updates(state.params, updates)
        # Lowered here and carried: the update writes both, where lowering at the next step would read all again.
        reached = self.reached(state, loss, index)
        return (State(params, optimiser_state, diverged_at, *reached), self.lowered(params)), loss

    def reached(self, state: State, loss: jax.Array, index: jax.Array) -> tuple[Any, jax.Array | None]:
        """The network whose loss is the first to be low enough, and its step; the last one kept until then.

        Where several losses are asked for, (K,), copies have a first axis of as many.
        """
        if self.recipe.until is None or state.reached_at is None:
            return None, None
        now = (state.reached_at < 0) & (loss <= jnp.asarray(self.recipe.until))  # () or (K,)

        def copied(new: jax.Array, old: jax.Array) -> jax.Array:
            return jnp.where(now.reshape(now.shape + (1,) * new.ndim), new, old)

        kept = jax.tree.map(copied, state.params, state.reached)
        return kept, jnp.where(now, index, state.reached_at)

    def start(self, params: Any, given: Given) -> State:
        optimiser = self.recipe.optimiser(given.dials, self.recipe.steps)
        if not isinstance(optimiser, optax.GradientTransformation):
            raise TypeError(
                f"the optimiser of a recipe makes an optax transformation of (dials, steps), got {optimiser!r}"
            )
        never = jnp.full((), -1, jnp.int32)
        if self.recipe.until is None:
            return State(params, optimiser.init(params), never)
        shape = jnp.shape(jnp.asarray(self.recipe.until))  # () or (K,)
        kept = jax.tree.map(lambda a: jnp.zeros(shape + a.shape, a.dtype), params)
        return State(params, optimiser.init(params), never, kept, jnp.full(shape, -1, jnp.int32))


def _cast(tree: Any, dtype: Any) -> Any:
    return jax.tree.map(lambda a: a.astype(dtype) if eqx.is_inexact_array(a) else a, tree)


def advance(
    state: State,
    given: Given,
    combinations: jax.Array,
    first: jax.Array,
    *,
    program: Program,
    length: int,
    at_once: int,
):
    """Train every member for `length` steps from step `first` on."""

    def member(both: tuple[State, Given]) -> tuple[State, jax.Array]:
        state, given = both
        body = partial(program.step, given, combinations)
        (state, _), losses = jax.lax.scan(body, (state, program.lowered(state.params)), first + jnp.arange(length))
        return state, losses

    if at_once == len(given.count):
        return jax.vmap(member)((state, given))
    return jax.lax.map(member, (state, given), batch_size=at_once)


LARGE = 2**20  # numbers in a matrix from which on the vendor's products beat the compiler's own on a GPU


@cache
def advancing(large: bool) -> Callable[..., Any]:
    """`advance`, compiled for parameters among which there are large matrices, or none."""
    options = {"xla_gpu_enable_triton_gemm": False} if large and jax.default_backend() == "gpu" else None
    static = ("program", "length", "at_once")
    return jax.jit(advance, static_argnames=static, donate_argnames=("state",), compiler_options=options)
