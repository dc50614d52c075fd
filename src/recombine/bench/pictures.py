"""Network-iterations a second of training picture networks: kernel and plain program on a GPU, populations on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc
from recombine.bench import device, spread
from recombine.bench._students import Clock
from recombine.bench.sweep import MIX
from recombine.cppn.network import CPPN, kind_of, parse_mix
from recombine.kernels import cppn_loss, cppn_tiles

AUTHORS = 2_490
"""Iterations a second of the authors' released loop on one H200: one network of this mix, 256 x 256 pixels."""
SKETCH = 4_790
"""Network-iterations a second there of a plain vmapped program with 128 such networks, in float32."""
GPU_SIZE, GPU_NETWORKS = 256, (1, 128)


class Plain(CPPN):
    """The network without its kernel: every product in float32."""

    def squared_error(self, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.mean((self(x)[0] - y) ** 2)


class Bits16(CPPN):
    """The network in its kernel, factors rounded to 16 bits."""

    precision, interpret = cppn_tiles.X3, False

    def squared_error(self, x: jax.Array, y: jax.Array) -> jax.Array:
        kind = kind_of(self.mix)._replace(precision=self.precision, interpret=self.interpret)
        return cppn_loss.squared_error(list(self.weights), x, y, kind)


class Bits11(Bits16):
    """To 11 bits, JAX's default for plain programs on such a GPU."""

    precision = jax.lax.DotAlgorithmPreset.TF32_TF32_F32


class Bits24(Bits16):
    """Not rounded: all 24 bits of float32."""

    precision = cppn_tiles.X6


KERNELS = {"kernel, 16 bits": Bits16, "kernel, 11 bits": Bits11, "kernel, 24 bits": Bits24}
ROWS = KERNELS | {"plain, float32": Plain}


def measure(*, members: int = 8, size: int = 32, iterations: int | None = None, repeats: int = 3) -> dict:
    """On a CPU these options; on a GPU the sizes above. `iterations` (of all networks together) make one stretch."""
    told = {"device": device(), "network": MIX}
    if jax.default_backend() == "cpu":
        return told | against_separate(members, size, iterations or 160, repeats)
    task = target(GPU_SIZE)
    rows = [
        {"networks": networks, "products": name}
        | beside_authors(make, task, networks, iterations or stretch(networks), repeats)
        for networks in GPU_NETWORKS
        for name, make in ROWS.items()
    ]
    away = {name: gradients_away(make, task) for name, make in KERNELS.items()}
    return told | {"size": GPU_SIZE, "authors": AUTHORS, "sketch": SKETCH, "gradients_away": away, "rows": rows}


def stretch(networks: int) -> int:
    """Iterations of all networks together that take about a second, and 160 updates at least."""
    return 1280 * max(2, networks // 8)


def target(size: int) -> rc.Task:
    """A picture that a network of this mix draws, but none of those that are trained."""
    depth, mix = parse_mix(MIX)
    return rc.picture(rc.render(CPPN(mix, depth, key=jax.random.key(1)), size))


def train(
    make: Callable[..., CPPN], task: rc.Task, members: range, steps: int, repeats: int
) -> tuple[list[float], np.ndarray]:
    """Seconds of `repeats` stretches of `steps` updates, after one that compiles, and the losses on the way."""
    depth, mix = parse_mix(MIX)
    clock = Clock()
    run = rc.population(
        task,
        rc.Split(task.combinations, np.ones(1, bool)),
        partial(_initialize, make, mix, depth),
        rc.member_keys(0, members),
        rc.Recipe(steps * (repeats + 1), 1, rc.unit_adam, chunks=repeats + 1),
        dials={"learning_rate": 3e-3},
        monitor=clock,
    )
    return [later - sooner for sooner, later in zip(clock.times, clock.times[1:], strict=False)], run.losses


def _initialize(make: Callable[..., CPPN], mix: tuple, depth: int, key: jax.Array) -> CPPN:
    return make(mix, depth, key=key)


def against_separate(members: int, size: int, iterations: int, repeats: int) -> dict:
    """One population against as many separate runs of the same program; above 1 the population is faster."""
    task, steps = target(size), max(1, iterations // members)
    together, losses = train(CPPN, task, range(members), steps, repeats)
    alone = [train(CPPN, task, range(i, i + 1), steps, repeats) for i in range(members)]
    apart = [sum(times) for times in zip(*(times for times, _ in alone), strict=True)]
    away = np.abs(losses - np.concatenate([found for _, found in alone])).max(axis=0)
    return {
        "members": members,
        "size": size,
        "net_iterations_per_second": spread([members * steps / t for t in together]),
        "seconds": {"population": spread(together), "separate": spread(apart)},
        "ratio_separate": round(median(apart) / median(together), 2),
        "losses_away": {"first": float(away[0]), "last": float(away[-1])},
    }


def beside_authors(make: Callable[..., CPPN], task: rc.Task, networks: int, iterations: int, repeats: int) -> dict:
    """Speed beside the authors' loop and the sketch, which are not measured here, and the loss that is reached."""
    steps = max(1, iterations // networks)
    times, losses = train(make, task, range(networks), steps, repeats)
    rates = [networks * steps / t for t in times]
    return {
        "net_iterations_per_second": {name: round(rate) for name, rate in spread(rates).items()},
        "ratio_to_authors": round(median(rates) / AUTHORS, 2),
        "ratio_to_sketch": round(median(rates) / SKETCH, 2),
        "last_loss": float(losses[:, -1].mean()),
    }


def gradients_away(make: Callable[..., CPPN], task: rc.Task, networks: int = 4) -> dict[str, float]:
    """How far the gradients of new networks lie from the plain ones; each matrix relative to its largest number.

    The largest is that of a pixel at a kink of the colours, which rounding may put on either side.
    """
    depth, mix = parse_mix(MIX)
    x, y = task.sample(jnp.zeros(1, int), jax.random.key(0))

    def slopes(make: Callable[..., CPPN], key: jax.Array) -> tuple[jax.Array, ...]:
        return jax.grad(lambda model: model.squared_error(x, y))(make(mix, depth, key=key)).weights

    keys = rc.member_keys(0, range(networks))
    found, plain = (map(np.asarray, jax.jit(jax.vmap(partial(slopes, way)))(keys)) for way in (make, Plain))
    away = [np.abs(a - b).max(axis=(1, 2)) / np.abs(b).max(axis=(1, 2)) for a, b in zip(found, plain, strict=True)]
    return {"median": float(np.median(away)), "largest": float(np.max(away))}
