"""Turns a loss and the weights it was brought to into how flat it is there, and how noise in the weights shows.

"Compositionality Emerges in a Narrow Depth-Connectivity Regime" (2026, arXiv 2606.19941) names three mechanisms that
would lead training to compositional networks: volume, flatness and noise (figure 7). Its formulas could not be read;
these are the usual ones. Every weight w_i has a scale s_i in which it is moved: 0 for a weight that is not there, 1 for
the others, or |w_i| for moves relative to a weight's own size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

_AT_ONCE = 16  # draws computed together


def there(params: Any) -> Any:
    """The scale 1 of weights that are not 0."""
    return jax.tree.map(lambda w: (w != 0).astype(w.dtype), params)


def relative(params: Any) -> Any:
    """The scale |w| of every weight."""
    return jax.tree.map(jnp.abs, params)


def hessian_trace(
    loss: Callable[[Any], jax.Array], params: Any, scale: Any, key: jax.Array, *, probes: int = 32
) -> tuple[jax.Array, jax.Array]:
    """sum_i s_i^2 d^2 loss / d w_i^2 and its standard error: the mean of v H v over v = s times random signs.

    Hutchinson (1990). Exact for a Hessian without entries off its diagonal.
    """

    def one(key: jax.Array) -> jax.Array:
        v = jax.tree.map(lambda s, r: s * r, scale, _drawn(jax.random.rademacher, params, key))
        _, along = jax.jvp(jax.grad(loss), (params,), (v,))
        return sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(v), jax.tree.leaves(along), strict=True))  # pyrefly: ignore

    found = jax.lax.map(one, jax.random.split(key, probes), batch_size=_AT_ONCE)
    return found.mean(), found.std(ddof=1) / jnp.sqrt(probes)


def noise_sensitivity(
    function: Callable[[Any], jax.Array], params: Any, scale: Any, key: jax.Array, *, sigma: float, draws: int = 32
) -> jax.Array:
    """E mean (f(w + sigma s e) - f(w))^2 / sigma^2 with e normal: of a linear map f = A w, sum_ij (A_ij s_j)^2 / n.

    As sigma goes to 0 it becomes half the trace of the Hessian of the mean squared error, where that error is 0.
    """
    still = function(params)

    def one(key: jax.Array) -> jax.Array:
        noise = _drawn(jax.random.normal, params, key)
        moved = jax.tree.map(lambda w, s, e: w + sigma * s * e, params, scale, noise)
        return jnp.mean((function(moved) - still) ** 2)

    return jax.lax.map(one, jax.random.split(key, draws), batch_size=_AT_ONCE).mean() / sigma**2


def _drawn(draw: Callable[..., jax.Array], params: Any, key: jax.Array) -> Any:
    """Random numbers in the shape of the weights."""
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(tree, [draw(k, w.shape, w.dtype) for k, w in zip(keys, leaves, strict=True)])
