"""What every layer of a decoder makes of the grid of x and y, measured where the network runs.

The release takes finite differences between cells; so does this. The activations of one wide layer would fill a small
machine, so that only what is measured leaves the device.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc
from recombine.experiments.liang2025.shared import HoleSettings, as_intensity
from recombine.experiments.liang2025.shared import truth as truth_of
from recombine.measures.probe import held_out_r2_of_products

MEASURES = ("additive", "factorisation", "probe", "hole_depth", "roughness")


class Surface(NamedTuple):
    """A layer over the grid: g_xx, g_xy / g_xx and what is left of g_yy; the products of all cells; V_x, V_y, V."""

    metric: jax.Array
    products: jax.Array
    energies: jax.Array


def surface(acts: jax.Array) -> Surface:
    """Metric, products and energies of activations [x, y, units...]."""
    flat = acts.reshape(*acts.shape[:2], -1)
    along_x, along_y = (jnp.asarray(jnp.gradient(flat, axis=axis)) for axis in (0, 1))
    own = jnp.sum(along_x**2, axis=-1)
    shared = jnp.sum(along_x * along_y, axis=-1) / jnp.where(own > 0, own, 1)
    rest = jnp.sum((along_y - shared[..., None] * along_x) ** 2, axis=-1)
    centred = flat - flat.mean(axis=(0, 1))
    of_x, of_y = centred.mean(axis=1), centred.mean(axis=0)
    energies = jnp.stack([jnp.sum(a**2) / len(a) for a in (of_x, of_y)] + [jnp.sum(centred**2) / own.size])
    rows = centred.reshape(own.size, -1)
    return Surface(jnp.stack([own, shared, rest], axis=-1), rows @ rows.T, energies)


@partial(jax.jit, static_argnames=("static", "size"))
def _surfaces(params: Any, x: jax.Array, *, static: Any, size: int) -> dict[str, Surface]:
    y, acts = jax.lax.map(eqx.combine(params, static), x, batch_size=128)
    return {name: surface(a.reshape(size, size, -1)) for name, a in {**acts, "output": y}.items()}


def of_network(settings: HoleSettings, task: rc.Task, network: Any, layers: int) -> dict[str, np.ndarray]:
    """Each measure as one number per layer, from the first hidden layer to the picture."""
    z = jnp.asarray(task.combinations[rc.whole(task.combinations)])  # in the order of the grid, x first
    x, _ = jax.vmap(task.sample, in_axes=(0, None))(z, rc.key(settings.seed, "test"))
    params, static = eqx.partition(network, eqx.is_array)
    with jax.default_matmul_precision("highest"):
        found = jax.device_get(_surfaces(params, x, static=static, size=settings.size))
    return measured(settings, [found[name] for name in (*(f"layer{i}" for i in range(layers)), "output")])


def of_answers(settings: HoleSettings, answer: rc.Record) -> dict[str, np.ndarray]:
    """The same measures of the pictures alone, for systems whose answer is known."""
    with jax.default_matmul_precision("highest"):
        found = jax.device_get(jax.jit(surface)(jnp.asarray(rc.on_grid(answer, answer.y_hat))))
    return measured(settings, [found])


def known(settings: HoleSettings) -> list[dict]:
    """The measures on the truth, on noise, on sums of one code per part, and on two memorisers."""
    truth = as_intensity(settings, truth_of(settings))
    trained, (x, y) = rc.square(truth.z, settings.low, settings.high).train, truth.z.T
    noise = rc.rng(settings.seed, "noise").normal(size=truth.y.shape)
    sums = rc.superposition(truth, trained).y_hat
    systems = {
        "perfect": truth,
        "noise": truth.answering(noise),
        "additive": truth.answering(noise[x] + noise[settings.size + y]),
        "nearest memory": rc.nearest_memory(truth, trained),
        "superposition": truth.answering(np.where(trained[:, None, None], truth.y, sums)),
    }
    return rc.control_rows(lambda system: of_answers(settings, system), systems)


def measured(settings: HoleSettings, layers: list[Surface]) -> dict[str, np.ndarray]:
    found = [on_layer(settings, layer) for layer in layers]
    return {name: np.array([one[name] for one in found]) for name in MEASURES}


def on_layer(settings: HoleSettings, layer: Surface) -> dict[str, float]:
    """Additive share, factorisation, held-out probe, volume in the hole, and how uneven the volume is."""
    z = np.stack(np.meshgrid(*[np.arange(settings.size)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    outside = rc.square(z, settings.low, settings.high).train
    on_donut, g = outside.reshape(settings.size, settings.size), as_metric(np.asarray(layer.metric, float))
    v_x, v_y, total = (float(v) for v in layer.energies)
    return {
        "additive": (v_x + v_y) / total if total > 0 else float("nan"),
        "factorisation": rc.factorisation(g),
        "probe": held_out_r2_of_products(np.asarray(layer.products, float), z.astype(float), outside),
        "hole_depth": rc.hole_depth(rc.log_volume(g), ~on_donut, on_donut),
        "roughness": roughness(rc.log_volume(g)),
    }


def as_metric(gram: np.ndarray) -> np.ndarray:
    """g (x, y, 2, 2) in double precision, whose determinant survives tangents that are nearly parallel."""
    own, shared, rest = np.moveaxis(gram, -1, 0)
    g = np.stack([own, shared * own, shared * own, shared**2 * own + rest], axis=-1)
    return g.reshape(*own.shape, 2, 2)


def roughness(log_volumes: np.ndarray) -> float:
    """The standard deviation over cells of log10 dv, without those so near to the border that a bump is cut."""
    margin = min(3, len(log_volumes) // 4)
    return float(np.std(log_volumes[margin:-margin, margin:-margin]))
