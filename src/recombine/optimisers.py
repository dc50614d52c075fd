"""Turns a member's dials and the number of steps into an optimiser: (dials, steps) -> GradientTransformation."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import optax


def adamw(dials: Mapping[str, jax.Array], steps: int) -> optax.GradientTransformation:
    """AdamW at a constant learning rate."""
    return optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"])


def adamw_cosine(dials: Mapping[str, jax.Array], steps: int) -> optax.GradientTransformation:
    """AdamW whose learning rate falls to zero along a cosine."""
    # The dial may be traced, one value a member; the schedule only multiplies by it.
    schedule = optax.cosine_decay_schedule(1.0, steps)
    return optax.chain(
        optax.adamw(dials["learning_rate"], weight_decay=dials["weight_decay"]),
        optax.scale_by_schedule(schedule),
    )
