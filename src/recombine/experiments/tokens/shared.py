"""Decoders over tokens: their settings, how they are made, trained and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.seeds import Seeded


@dataclass(frozen=True, kw_only=True)
class Decoders(Seeded):
    """A decoder over tokens, and how it is trained."""

    width: int = 32
    """numbers of a token"""
    depth: int = 3
    """layers of a decoder"""
    head: int = 8
    """numbers of an attention head"""
    steps: int = 2000
    """updates of each network"""
    batch: int = 128
    """rows per update"""
    learning_rate: float = 4e-3
    """AdamW's learning rate, which falls to zero along a cosine"""
    weight_decay: float = 1e-2
    """AdamW's weight decay"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""

    def __post_init__(self) -> None:
        self.need_positive("width", "depth", "head", "steps", "batch")
        self.need_rates("learning_rate")
        check_heads(self.width, self.head)


def check_heads(width: int, head: int) -> None:
    if width % head or head % 2:
        raise rc.UserError(f"width must be a multiple of head, and head even; got width {width} and head {head}")


@cache
def maker(vocabulary: int, width: int, depth: int, head: int, **more: Any) -> Callable:
    """One function for equal sizes, so that it is compiled once; `more` are the decoder's other settings."""
    from recombine.models.decoder import TokenDecoder

    return lambda key: TokenDecoder(vocabulary, width=width, depth=depth, heads=width // head, key=key, **more)


def decoder(settings: Decoders, task: rc.Task, **more: Any) -> Callable:
    """How a decoder of the settings' size is made for a task."""
    vocabulary = len(task.sample.vocabulary)  # pyrefly: ignore
    return maker(vocabulary, settings.width, settings.depth, settings.head, **more)


def fit(
    settings: Decoders,
    task: rc.Task,
    make: Callable,
    *,
    seeds: Sequence[int],
    chosen: Sequence[np.ndarray],
    monitor,
    label: str,
    **recipe: Any,
):
    """One decoder per set of training rows, in one population; decoders of a seed start alike."""
    import jax.numpy as jnp

    return rc.population(
        task,
        [rc.Split(task.combinations, rows) for rows in chosen],
        make,
        rc.member_keys(settings.seed, seeds),
        rc.Recipe(
            settings.steps,
            settings.batch,
            rc.adamw_cosine,
            loss=rc.masked_cross_entropy,
            compute=getattr(jnp, settings.precision),
            **recipe,
        ),
        dials={"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        monitor=monitor,
        label=label,
    )


def untrained(settings: Decoders, make: Callable):
    """One decoder at its initial weights."""
    import equinox as eqx
    import jax

    born = rc.initial_models(make, rc.key(settings.seed, "untrained")[None])
    return jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, born)


def sizes(make: Callable, tokens: int, repeats: int = 1) -> dict[str, float]:
    """Trained numbers of a network, those beside the embedding, and multiplications and additions per token.

    The last is 2 for each weight and use, and 4 W T for the scores and sums of a layer's attention.
    """
    import jax

    shapes = jax.eval_shape(make, jax.random.key(0))
    every = sum(a.size for a in jax.tree.leaves(shapes))
    layers = sum(a.size for a in jax.tree.leaves(shapes.layers))
    width, ends = shapes.embed.shape[1], 2 * shapes.embed.size
    work = repeats * (2 * layers + len(shapes.layers) * 4 * width * tokens) + ends
    return {"parameters": float(every), "layer_parameters": float(layers), "flops_token": float(work)}


def share(right: np.ndarray, mask: np.ndarray) -> float:
    """The mean over the rows of a group, NaN if there are none."""
    return float(right[mask].mean()) if mask.any() else float("nan")
