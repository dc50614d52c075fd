"""Which units of networks carry one value of a composition: the share of their gradient's energy that lies along it."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

PURE = 0.9
"""Share of a unit's gradient energy along one value from which on it is pure."""
_AT_ONCE = 16  # networks whose gradients are held together


class Looked(NamedTuple):
    """By network: its answers (points, 1), and the share of its living units that are pure."""

    y_hat: np.ndarray
    pure: np.ndarray


def looked(models: Any, x: np.ndarray, z: np.ndarray) -> Looked:
    """What stacked networks, or one for all, do at their points x (networks, points, inputs); z has parts and steps."""
    import jax.numpy as jnp

    y_hat, pure = _program()(models, jnp.asarray(x), jnp.asarray(z))
    return Looked(np.asarray(y_hat), np.asarray(pure))


@cache
def _program() -> Any:
    """`looked`, compiled."""
    import equinox as eqx
    import jax

    def every(models, x, z):
        arrays, static = eqx.partition(models, eqx.is_array)

        def one(given):
            mine, x, z = given
            model = eqx.combine(mine, static)
            living, energy, along = jax.vmap(lambda point: at_point(model, point, z))(x)
            total = energy.mean(axis=0)
            pure = along.mean(axis=0).max(axis=-1) >= PURE * total
            there = living.any(axis=0) & (total > 0)
            return jax.vmap(model)(x)[0], (pure & there).sum() / there.sum()

        return jax.lax.map(one, (arrays, x, z), batch_size=_AT_ONCE)

    return eqx.filter_jit(every)


def at_point(model: Any, x: Any, z: Any) -> tuple[Any, Any, Any]:
    """For the units of all layers at one point: is it on; |grad|^2; and that along each value of the composition.

    Along a part is within the plane of its two numbers; along a later value, in the direction of its gradient. Steps
    that the target does not have are none of its values. Inputs of parts that it does not have are always 0, so that
    no slope in them shows in any answer: training leaves their weights as they were, and they do not count.
    """
    import jax
    import jax.numpy as jnp

    from recombine.tasks.sums import values

    def units(x):
        return jnp.concatenate(list(model(x)[1].values()))

    there = jnp.repeat(jnp.arange(len(x) // 2) < z[0], 2)
    slopes = jax.jacfwd(units)(x) * there  # (units, inputs)
    pairs = (slopes**2).reshape(len(slopes), -1, 2).sum(axis=2)
    later = jax.jacfwd(lambda x: values(x, z[0])[0][-2:])(x)
    lengths = jnp.linalg.norm(later, axis=1, keepdims=True)
    along = (slopes @ (later / jnp.maximum(lengths, 1e-6)).T) ** 2 * (jnp.arange(2) + 2 <= z[1])
    return units(x) > 0, (slopes**2).sum(axis=1), jnp.concatenate([pairs, along], axis=1)
