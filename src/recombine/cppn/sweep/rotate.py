"""Turns a picture network into another that draws the same picture with entangled units: a control for unit scores."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.cppn.network import CPPN, LINEAR


def rotated(model: CPPN, key: jax.Array) -> CPPN:
    """The linear units of each layer times a random orthogonal matrix Q, and the weights that read them times Q^T.

    What bends, and so the function, stays as it is; every linear unit becomes a mixture of all of its layer.
    """
    linear = np.repeat([name in LINEAR for name, _ in model.mix], [count for _, count in model.mix])
    weights = [np.array(w, float) for w in model.weights]
    turns = jax.random.orthogonal(key, max(int(linear.sum()), 1), (len(weights) - 1,))
    for i, turn in enumerate(np.asarray(turns, float) if linear.any() else []):
        weights[i][:, linear] = weights[i][:, linear] @ turn
        weights[i + 1][linear] = turn.T @ weights[i + 1][linear]
    return eqx.tree_at(lambda m: m.weights, model, tuple(jnp.asarray(w, jnp.float32) for w in weights))
