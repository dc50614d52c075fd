"""What the experiments of this paper share: the hole, the networks of one population, and what is measured on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import recombine as rc


@dataclass(frozen=True, kw_only=True)
class HoleSettings:
    """Bumps on a square grid, a square hole in it, and a convolutional decoder."""

    seeds: int = 6
    """networks trained for each condition"""
    seed: int = 0
    """the number from which every random draw is derived"""
    block: int = 8
    """seeds trained together in one piece of work"""
    size: int = 16
    """side of the picture in pixels, a multiple of 4"""
    low: int = 3
    """first coordinate of the hole"""
    high: int = 12
    """last coordinate of the hole"""
    rim: int = 3
    """cells of the hole this near to its edge are not its interior"""
    sigma: float = 1.0
    """width of a bump in pixels"""
    dark: bool = False
    """dark bumps on white, as the paper draws them"""
    width: int = 32
    """channels of the decoder"""
    batch: int = 32
    """pictures a step"""
    steps: int = 1500
    """updates of each network"""
    learning_rate: float = 1e-3
    """AdamW's learning rate, falling to zero along a cosine"""
    weight_decay: float = 1e-2
    """AdamW's weight decay"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""

    def __post_init__(self) -> None:
        if self.size % 4 or self.size < 8:
            raise rc.UserError(f"size must be a multiple of 4 and at least 8, got {self.size}")
        if not 0 < self.low <= self.high < self.size - 1:
            raise rc.UserError(f"the hole {self.low}..{self.high} must lie inside 1..{self.size - 2}")
        if self.low + self.rim > self.high - self.rim:
            raise rc.UserError(f"a rim of {self.rim} leaves no interior in the hole {self.low}..{self.high}")
        for name in ("seeds", "block", "width", "batch", "steps"):
            if getattr(self, name) < 1:
                raise rc.UserError(f"{name} must be at least 1, got {getattr(self, name)}")


def blocks(settings: HoleSettings) -> list[tuple[int, ...]]:
    """The seeds, cut into the blocks that are trained together."""
    seeds = range(settings.seeds)
    return [tuple(seeds[i : i + settings.block]) for i in range(0, settings.seeds, settings.block)]


def grid(settings: HoleSettings) -> rc.Task:
    """Bumps and stripes told by local codes."""
    encode = rc.local_bump(settings.size, settings.sigma)
    return rc.stripes(rc.bumps(settings.size, encode, sigma=settings.sigma, dark=settings.dark))


def hole(settings: HoleSettings, task: rc.Task) -> rc.Split:
    return rc.square(task.combinations, settings.low, settings.high)


def train(settings: HoleSettings, depth: int, splits: Sequence[rc.Split], keys, watch):
    """One network for each split and key, in one population."""
    import jax.numpy as jnp

    recipe = rc.Recipe(
        settings.steps, settings.batch, rc.adamw_cosine, compute=getattr(jnp, settings.precision)
    )
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}

    def make(key):
        return rc.CNNDecoder(2 * settings.size, settings.size, width=settings.width, depth=depth, key=key)

    return rc.population(grid(settings), list(splits), make, keys, recipe, dials=dials, watch=watch)


def looks(settings: HoleSettings, run, splits: Sequence[rc.Split], key) -> list[dict]:
    """What each network of a population does on the whole grid, as the measures of a row."""
    task, region = grid(settings), hole(settings, grid(settings))
    whole = rc.whole(task.combinations)
    answers = rc.records(run.model, task, task.combinations[whole], key=key)
    rows = []
    for answer, split, losses, diverged_at in zip(answers, splits, run.losses, run.diverged_at, strict=True):
        areas = places(settings, region, whole) | {"trained": (split.train & whole)[whole]}
        outcome = measures(settings, answer, areas)
        outcome |= {"images": int(split.train.sum()), "loss": float(losses[-1]), "diverged_at": int(diverged_at)}
        rows.append(outcome)
    return rows


def controls(settings: HoleSettings, key) -> list[dict]:
    """The measures on systems built to compose (perfect) and built not to (superposition, nearest memory)."""
    task = grid(settings)
    whole, region = rc.whole(task.combinations), hole(settings, task)
    areas, donut = places(settings, region, whole), region.train[whole]
    truth = rc.records(_truth(settings), task, task.combinations[whole], key=key)[0]
    truth = truth.answering(truth.y)
    bright = truth.answering(rc.intensity(truth.y, dark=settings.dark))
    systems = {
        "perfect": rc.perfect(bright),
        "superposition": rc.superposition(bright, donut),
        "nearest memory": rc.nearest_memory(bright, donut),
    }
    return [{"control": name, **measures(settings, system, areas)} for name, system in systems.items()]


def places(settings: HoleSettings, region: rc.Split, whole: np.ndarray) -> dict[str, np.ndarray]:
    """The parts of the grid on which everything is measured."""
    return {
        "donut": region.train[whole],
        "hole": region.held_out[whole],
        "interior": rc.interior(region, settings.rim)[whole],
    }
