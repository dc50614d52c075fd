"""Networks for tests: their parameters come from NumPy, because compiling their own random draws takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.fixture(scope="session")
def filled() -> Callable[..., Any]:
    """filled(make, *members): the network that `make` shapes, or a population of them, with normal parameters."""

    def fill(make: Callable[[jax.Array], Any], *members: int) -> Any:
        random = np.random.default_rng(0)
        shapes = eqx.filter_eval_shape(make, jax.random.key(0))
        return jax.tree.map(lambda s: jnp.asarray(random.normal(0, 0.5, (*members, *s.shape)), s.dtype), shapes)

    return fill
