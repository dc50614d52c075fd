"""A decoder over tokens as work to be timed: a population of it, and the same network in plain PyTorch."""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc
from recombine.bench._students import Clock
from recombine.models.decoder import TokenDecoder
from recombine.tasks.tokens import example

VOCABULARY = 32
RATE = 1e-3


class Noise:
    """Random rows of tokens in which every next token counts: data that cost nothing, and as many as are asked for."""

    def __init__(self, tokens: int):
        self.tokens = tokens

    def __call__(self, row: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        ids = (jax.random.bits(key, (self.tokens + 1,), jnp.uint8) + row[0]) % VOCABULARY
        return example(ids, np.ones(self.tokens + 1, bool))


@cache
def task(tokens: int) -> rc.Task:
    return rc.Task("noise", np.arange(2)[:, None], Noise(tokens))


def make(width: int, depth: int, heads: int, key: jax.Array) -> TokenDecoder:
    return TokenDecoder(VOCABULARY, width=width, depth=depth, heads=heads, key=key)


def train(members: int, *, compute: Any, sizes: dict[str, int], batch: int, steps: int, repeats: int) -> list[float]:
    """Seconds of `repeats` stretches of `steps` updates of the whole population, after one that compiles."""
    tokens, clock = sizes["tokens"], Clock()
    recipe = rc.Recipe(steps * (repeats + 1), batch, loss=rc.masked_cross_entropy, compute=compute, chunks=repeats + 1)
    network = partial(make, sizes["width"], sizes["depth"], sizes["heads"])
    split = rc.Split(task(tokens).combinations, np.array([True, False]))
    keys = rc.member_keys(0, range(members))
    rc.population(task(tokens), split, network, keys, recipe, dials={"learning_rate": RATE}, monitor=clock)
    return [later - sooner for sooner, later in zip(clock.times, clock.times[1:], strict=False)]


def time_split(*, compute: Any, sizes: dict[str, int], batch: int, repeats: int) -> dict[str, float]:
    """Seconds of parts of one network's update, each compiled alone: the loss, its gradient, attention in all layers.

    Parts overlap, and what the compiler joins in a whole update is apart here: they say where to look.
    """
    import equinox as eqx

    model = jax.tree.map(
        lambda a: a.astype(compute), make(sizes["width"], sizes["depth"], sizes["heads"], jax.random.key(0))
    )
    x, y = jax.vmap(task(sizes["tokens"]).sample, (None, 0))(jnp.zeros(1, jnp.int32), _keys(batch))
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def loss(params: Any) -> jax.Array:
        return rc.masked_cross_entropy(eqx.combine(params, static).many(x).astype(jnp.float32), y)

    def attention(layers: Any, h: jax.Array) -> jax.Array:
        wave = jnp.ones((sizes["tokens"], 1, sizes["width"] // sizes["heads"] // 2), h.dtype)
        each = [layer.attend(h, sizes["tokens"], (wave, wave)).astype(jnp.float32).sum() for layer in layers]
        return jnp.stack(each).sum()

    h = model.read(x)
    parts: dict[str, tuple[Any, tuple]] = {"loss": (loss, (params,)), "gradient": (jax.grad(loss), (params,))}
    parts["attention"] = (jax.grad(attention, argnums=(0, 1)), (params.layers, h))
    return {name: round(_fastest(jax.jit(f), given, repeats), 5) for name, (f, given) in parts.items()}


def _keys(batch: int) -> jax.Array:
    return jax.random.split(jax.random.key(1), batch)


def _fastest(work: Any, given: tuple, repeats: int) -> float:
    jax.block_until_ready(work(*given))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(work(*given))
        times.append(time.perf_counter() - start)
    return min(times)
