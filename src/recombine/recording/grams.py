"""Turns a model and a grid of examples into the shape of every layer, without keeping the activations of wide ones.

What depends on activations only through their inner products can be measured on as many coordinates as there are
examples: finite differences and their metric, factorisation, additive shares and linear probes.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Model, Task
from recombine.recording.jacobians import OUTPUT


def layer_coordinates(model: Model, task: Task, combinations: np.ndarray, *, key: jax.Array) -> dict[str, np.ndarray]:
    """For each layer one row per example, at most as long as there are examples, with the layer's own distances.

    A layer with more units than examples is replaced by the root of its Gram matrix, which is a rotation of it.
    Layers are the model's activations in its own order and its answer as "output", less their mean.
    """
    z = jnp.asarray(combinations)
    x, _ = jax.vmap(task.sample)(z, jax.random.split(key, len(z)))
    with jax.default_matmul_precision("highest"):
        found = jax.device_get(_grams(model, x))
    order = [*eqx.filter_eval_shape(lambda m, one: list(m(one)[1]), model, x[0]), OUTPUT]
    return {name: root(found[name]) if found[name].shape[1] == len(z) else found[name] for name in order}


@eqx.filter_jit
def _grams(model: Model, x: jax.Array) -> dict[str, Any]:
    y, acts = jax.vmap(model)(x)
    layers = {name: a.reshape(len(a), -1) for name, a in {**acts, OUTPUT: y}.items()}
    centred = {name: a - a.mean(axis=0) for name, a in layers.items()}
    return {name: a @ a.T if a.shape[1] >= len(a) else a for name, a in centred.items()}


def root(gram: np.ndarray) -> np.ndarray:
    """Rows R with R R^T = gram, for a matrix of inner products.

    >>> bool(np.allclose(root(np.array([[4.0, 0.0], [0.0, 0.0]])) ** 2, [[0, 4], [0, 0]]))
    True
    """
    values, vectors = np.linalg.eigh(np.asarray(gram, float))
    return vectors * np.sqrt(np.maximum(values, 0))
