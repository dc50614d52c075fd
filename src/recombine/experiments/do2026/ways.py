"""The ways to train that are compared: the usual one, and with one thing changed at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import recombine as rc

DEFAULT, COSINE, SCALED, PIXELS = "as always", "cosine", "variance x", "some pixels"


class Way(NamedTuple):
    """A way to train: the optimiser, the variance of the initial weights times this, and the share of pixels seen."""

    optimiser: Callable[..., Any]
    scale: float
    share: float


def ways(settings: Any) -> dict[str, Way]:
    """As in the other experiments, and with one thing changed at a time."""
    found = {DEFAULT: Way(rc.unit_adam, 1.0, 1.0), COSINE: Way(falling, 1.0, 1.0)}
    found |= {f"{SCALED} {scale:g}": Way(rc.unit_adam, scale, 1.0) for scale in settings.scales}
    return found | {PIXELS: Way(rc.unit_adam, 1.0, settings.share)}


def falling(dials, steps: int):
    """`unit_adam` whose learning rate falls to zero along a cosine."""
    import optax

    return optax.chain(rc.unit_adam(dials, steps), optax.scale_by_schedule(optax.cosine_decay_schedule(1.0, steps)))


@dataclass(frozen=True)
class Glimpse:
    """The `sample` of a picture of which other pixels are seen each time: a share of them, none of them twice."""

    whole: Any
    share: float

    def __call__(self, z, key):
        import jax

        x, y = self.whole(z, key)
        seen = jax.random.choice(key, len(x), (max(1, round(self.share * len(x))),), replace=False)
        return x[seen], y[seen]
