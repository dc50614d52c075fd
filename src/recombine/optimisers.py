"""Turns a member's dials and the number of steps into an optimiser: (dials, steps) -> GradientTransformation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
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
