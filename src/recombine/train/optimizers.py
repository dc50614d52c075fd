"""Turns a member's dials and the number of steps into an optimiser: (dials, steps) -> GradientTransformation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax


def adamw(dials: Mapping[str, jax.Array], steps: int, *, moments: Any = None) -> optax.GradientTransformation:
    """AdamW at a constant learning rate; `moments` is what the first moments are kept in, if not float32."""
    return optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"], mu_dtype=moments)


def adamw_cosine(dials: Mapping[str, jax.Array], steps: int) -> optax.GradientTransformation:
    """AdamW whose learning rate falls to zero along a cosine."""
    # The dial may be traced, one value a member; the schedule only multiplies by it.
    schedule = optax.cosine_decay_schedule(1.0, steps)
    return optax.chain(
        optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"]),
        optax.scale_by_schedule(schedule),
    )


def adamw_stopping(dials: Mapping[str, jax.Array], steps: int) -> optax.GradientTransformation:
    """AdamW at a constant rate for the first `stop` steps, a dial, and no update after: members of unequal lengths."""
    return optax.chain(
        adamw(dials, steps), optax.scale_by_schedule(lambda count: jnp.where(count < dials["stop"], 1.0, 0.0))
    )


def unit_adam(dials: Mapping[str, jax.Array], steps: int) -> optax.GradientTransformation:
    """Adam on the gradient of all weights divided by its length, as Kumar, Clune, Lehman, Stanley (2025) train.

    A weight that is zero stays zero: what was pruned does not grow back.
    """
    # Their division by the length alone makes a zero gradient no number at all.
    each = optax.chain(_living(), optax.normalize_by_update_norm(eps=1e-12), optax.adam(dials["learning_rate"]))
    return optax.flatten(each)  # one long vector: a deep network's many small matrices would be many small kernels


def muon(dials: Mapping[str, jax.Array], steps: int, *, newton: int = 5) -> optax.GradientTransformation:
    """Muon with so many Newton-Schulz steps, on every matrix; a weight that is zero stays zero."""
    axes = optax.contrib.MuonDimensionNumbers(reduction_axis=1, output_axis=2)  # the first counts the matrices
    each = optax.contrib.muon(
        dials["learning_rate"],
        ns_steps=newton,
        muon_weight_dimension_numbers=lambda stacks: jax.tree.map(lambda _: axes, stacks),
    )
    return optax.chain(_living(), _by_shape(each), _living())


def _by_shape(inner: optax.GradientTransformation) -> optax.GradientTransformation:
    """An optimiser of stacks (matrices, rows, columns) for the matrices of one shape: fewer and larger products."""

    def stacks(tree: Any) -> dict[str, jax.Array]:
        leaves = jax.tree.leaves(tree)
        shapes = sorted({leaf.shape for leaf in leaves})
        return {str(shape): jnp.stack([leaf for leaf in leaves if leaf.shape == shape]) for shape in shapes}

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        found, state = inner.update(stacks(updates), state, None if params is None else stacks(params))
        each = {name: iter(stack) for name, stack in found.items()}  # pyrefly: ignore
        return jax.tree.map(lambda leaf: next(each[str(leaf.shape)]), updates), state

    return optax.GradientTransformation(lambda params: inner.init(stacks(params)), update)


def _living() -> optax.GradientTransformation:
    """Nothing for weights that are exactly zero."""

    def living(updates: Any, params: Any) -> Any:
        return jax.tree.map(lambda u, p: jnp.where(p == 0, 0.0, u), updates, params)

    return optax.stateless(living)
