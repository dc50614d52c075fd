"""Turns a model and its activations into a price that training pays beside the loss: (model, acts) -> scalar.

The two penalties of Liang et al. (2025), section 4.1, on tables u, v, lambda with the axes (factor, token, mode, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import jax
import jax.numpy as jnp

Penalty = Callable[[Any, dict[str, jax.Array]], jax.Array]
_LEAST, _NOTHING = 1e-8, 1e-16  # the smallest p; the sum of squares below which a token counts as empty


class Factorised(Protocol):
    """A model that stores, for each factor and token, modes u lambda v^T."""

    @property
    def u(self) -> jax.Array: ...

    @property
    def v(self) -> jax.Array: ...

    @property
    def lambdas(self) -> jax.Array: ...


def entropy(model: Factorised, acts: dict[str, jax.Array]) -> jax.Array:
    """sum_f sum_t H_t, H_t = -sum_n p_n ln p_n, p_n = lambda_n^2 / sum_m lambda_m^2: least with one mode per token."""
    squares = model.lambdas**2
    total = jnp.maximum(jnp.sum(squares, axis=-1, keepdims=True), _NOTHING)
    p = jnp.maximum(squares / total, _LEAST)
    return -jnp.sum(p * jnp.log(p))


def variance(model: Factorised, acts: dict[str, jax.Array]) -> jax.Array:
    """sum_f sum_{t,n} [Var_i u_{t,n,i} + Var_i v_{t,n,i}], unbiased, on the stored vectors: least for constant ones.

    A mode is cheapest when only one of its sides still varies, which makes it a band across the picture.
    """
    return jnp.sum(jnp.var(model.u, axis=-1, ddof=1) + jnp.var(model.v, axis=-1, ddof=1))


def always(progress: jax.Array) -> jax.Array:
    """A price in full force from the first step to the last."""
    return jnp.ones_like(progress)


@dataclass(frozen=True)
class Ramp:
    """A price that is 0 until `start`, then rises in a line to 1 at `full`; both are shares of the training run.

    The entropy price needs one: from the start, it leaves a token with one mode before that has found its place.
    """

    start: float
    full: float

    def __post_init__(self) -> None:
        numbers = isinstance(self.start, Real) and isinstance(self.full, Real)
        if not numbers or not 0 <= self.start < self.full:
            raise ValueError(f"a ramp rises from its start to a later point, got {self.start!r} and {self.full!r}")

    def __call__(self, progress: jax.Array) -> jax.Array:
        return jnp.clip((progress - self.start) / (self.full - self.start), 0.0, 1.0)


@dataclass(frozen=True)
class Term:
    """dial * when(progress) * penalty(model, acts), where the dial is the weight, by its name."""

    dial: str
    penalty: Penalty
    when: Callable[[jax.Array], jax.Array] = always

    def __post_init__(self) -> None:
        if not callable(self.when):
            raise TypeError(f"a ramp is a function of progress, such as recombine.Ramp(0.2, 0.5); got {self.when!r}")


@dataclass(frozen=True)
class Weighted:
    """The sum of its terms at one point of training: (model, acts, dials, progress in [0, 1]) -> scalar."""

    terms: tuple[Term, ...]

    def __call__(self, model: Any, acts: dict[str, jax.Array], dials: Mapping[str, Any], progress: Any) -> jax.Array:
        if missing := [term.dial for term in self.terms if term.dial not in dials]:
            raise ValueError(f"the penalty needs dials for its weights; {', '.join(missing)} is missing")
        progress = jnp.asarray(progress, jnp.float32)
        prices = [dials[term.dial] * term.when(progress) * term.penalty(model, acts) for term in self.terms]
        return jnp.sum(jnp.stack(prices))


def weighted(ramp: Callable[[jax.Array], jax.Array] = always) -> Weighted:
    """dials["entropy"] * ramp(progress) * entropy + dials["variance"] * variance."""
    return Weighted((Term("entropy", entropy, ramp), Term("variance", variance)))
