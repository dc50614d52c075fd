"""What the experiments of this paper share: the hole, the networks of one population, and what is measured on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.liang2025.crosses import bumps_placed, crosses
from recombine.experiments.seeds import Seeded


@dataclass(frozen=True, kw_only=True)
class HoleSettings(Seeded):
    """Bumps on a square grid, a square hole in it, and a convolutional decoder."""

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
    """pictures per step"""
    steps: int = 1500
    """updates of each network"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""
    cosine: bool = False
    """let the learning rate fall to zero along a cosine"""
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
        self.need_positive("width", "batch", "steps")
        self.need_rates("learning_rate", "sigma")


@dataclass(frozen=True, kw_only=True)
class SmallSettings(HoleSettings):
    """The same, at a size that two cores train in a minute or two."""

    depth: int = 3
    """ReLU blocks of the decoder"""
    width: int = 16
    """channels of the decoder"""
    steps: int = 500
    """updates of each network"""
    learning_rate: float = 3e-3
    """AdamW's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_depth(self.depth)

    @property
    def outside(self) -> int:
        """How many bumps the donut has."""
        return self.size**2 - (self.high - self.low + 1) ** 2


def check_depth(depth: int) -> None:
    if depth < 2:
        raise rc.UserError(f"the decoder doubles its map twice, so its depth must be at least 2, got {depth}")


@cache
def grid(settings: HoleSettings, encode: rc.Encoding | None = None) -> rc.Task:
    """Bumps and stripes, encoded by local bumps unless otherwise; one object for equal settings, to compile once."""
    encode = encode or rc.local_bump(settings.size, settings.sigma)
    return rc.stripes(rc.bumps(settings.size, encode, sigma=settings.sigma, dark=settings.dark))


def hole(settings: HoleSettings, task: rc.Task) -> rc.Split:
    return rc.square(task.combinations, settings.low, settings.high)


def donut(settings: HoleSettings, task: rc.Task) -> rc.Split:
    """Every bump outside the hole, and no stripes."""
    return rc.narrow(hole(settings, task), rc.whole(task.combinations))


def decoder(settings: HoleSettings, depth: int, encode: rc.Encoding | None = None):
    """How the paper's default network is made, for codes of this encoding."""
    inputs = 2 * (encode.size if encode else settings.size)
    return lambda key: rc.CNNDecoder(inputs, settings.size, width=settings.width, depth=depth, key=key)


def train(
    settings: HoleSettings, task: rc.Task, make, *, splits, keys, who, monitor, label="fit", penalty=None, dials=None
) -> tuple[Any, list[dict]]:
    """One network per split, key and name, in one population; the run and its rows."""
    import jax.numpy as jnp

    optimiser = rc.adamw_cosine if settings.cosine else rc.adamw
    compute = getattr(jnp, settings.precision)
    recipe = rc.Recipe(settings.steps, settings.batch, optimiser, penalty=penalty, compute=compute)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay} | (dials or {})
    run = rc.population(task, list(splits), make, keys, recipe, dials=dials, monitor=monitor, label=label)
    return run, networks(settings, task, run, splits=splits, who=who, monitor=monitor)


def train_conditions(
    settings: HoleSettings,
    task: rc.Task,
    make,
    *,
    members: Sequence[int],
    sets: Sequence[Mapping[str, rc.Split]],
    monitor,
) -> tuple[Any, list[dict]]:
    """The networks of several conditions in one population; `sets` has each member's training set by condition.

    Every condition of a seed starts from the same weights, so that effects can be taken seed by seed.
    """
    import jax.numpy as jnp

    _, life = data_and_train_keys(settings, members)
    names = list(sets[0])
    return train(
        settings,
        task,
        make,
        splits=[one[name] for name in names for one in sets],
        keys=jnp.concatenate([life] * len(names)),
        who=[{"condition": name, "seed": seed} for name in names for seed in members],
        monitor=monitor,
    )


def data_and_train_keys(settings: Seeded, members: Sequence[int]):
    """For each seed, the key that draws its training set, and the key of its weights and batches."""
    import jax

    return jax.vmap(jax.random.split, out_axes=1)(rc.member_keys(settings.seed, members))


def networks(settings: HoleSettings, task: rc.Task, run, *, splits: Sequence[rc.Split], who, monitor) -> list[dict]:
    """One row per network: who it is, what it was trained on, and what it does over the whole grid."""
    bumps = rc.whole(task.combinations)
    answers = rc.records(run.model, task, task.combinations[bumps], key=rc.key(settings.seed, "test"))
    for one, answer in zip(who, answers, strict=True):
        monitor.recorded("-".join(str(v) for v in one.values()), answer)
    meta = [one | {"images": int(split.train.sum())} for one, split in zip(who, splits, strict=True)]
    found = [measures(settings, answer, s.train[bumps]) for answer, s in zip(answers, splits, strict=True)]
    return rc.rows(run, meta, found)


def controls(settings: HoleSettings) -> list[dict]:
    """The same measures on a system that composes (a perfect solver) and on four that do not.

    Crosses, the sum of two stripes, have their peak in the right place.
    """
    perfect = truth(settings)
    region = rc.square(perfect.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    systems = {
        "perfect": perfect,
        "blind": rc.blind(perfect, int(example_cells(inside)[1])),
        "nearest memory": rc.nearest_memory(perfect, region.train),
        "superposition": as_intensity(settings, rc.superposition(as_intensity(settings, perfect), region.train)),
        "crosses": as_intensity(settings, as_intensity(settings, perfect).answering(crosses(settings, perfect.z))),
    }
    return rc.control_rows(lambda system: measures(settings, system, region.train), systems)


def truth(settings: HoleSettings) -> rc.Record:
    """The right answer to every pair (x, y)."""
    task = grid(settings)
    return rc.truth(task, task.combinations[rc.whole(task.combinations)], key=rc.key(settings.seed, "test"))


def initial_models(settings: HoleSettings, make):
    """One network at its initial weights."""
    return starts(make, rc.key(settings.seed, "untrained")[None])[0]


def starts(make, keys) -> list:
    """The networks that training with these keys starts from, one by one."""
    import equinox as eqx
    import jax

    stacked = rc.initial_models(make, keys)
    return [jax.tree.map(lambda a, i=i: a[i] if eqx.is_array(a) else a, stacked) for i in range(len(keys))]


def with_initial(rows: Sequence[dict], before: Mapping[int, Mapping[str, Any]], names: Sequence[str]) -> list[dict]:
    """Rows, each with what the network of its seed read before training, in columns that begin with "initial_"."""
    return [row | {f"initial_{name}": before[row["seed"]][name] for name in names} for row in rows]


def untrained(settings: HoleSettings, depth: int, encode: rc.Encoding | None = None) -> rc.Record:
    """The answers of a decoder at its initial weights to every pair (x, y)."""
    task = grid(settings, encode)
    z = task.combinations[rc.whole(task.combinations)]
    return rc.record(
        initial_models(settings, decoder(settings, depth, encode)), task, z, key=rc.key(settings.seed, "test")
    )


def untrained_row(settings: HoleSettings, depth: int, encode: rc.Encoding | None = None) -> dict:
    """The measures of a decoder at its initial weights."""
    answer = untrained(settings, depth, encode)
    known = rc.square(answer.z, settings.low, settings.high).train
    return {"system": "untrained", "seed": 0, **measures(settings, answer, known)}


def as_intensity(settings: HoleSettings, answer: rc.Record) -> rc.Record:
    """Pictures as intensities, whatever their polarity; the same step again turns them back."""
    from recombine.tasks.bumps import intensity

    y, y_hat = (intensity(a, dark=settings.dark) for a in (answer.y, answer.y_hat))
    return rc.Record(answer.z, answer.x, y, y_hat)


def measures(settings: HoleSettings, answer: rc.Record, trained: np.ndarray) -> dict:
    """Error and peak accuracy (exact, and within one pixel) on the donut, the cells trained on, the hole, its interior.

    The interior has the cells of the hole that are farther from its edge than `rim`. `nmse` is the error over that of a
    blank picture, and `bumps` the share of answers that are in place and are bumps, not crosses.
    """
    answer = as_intensity(settings, answer)
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    donut, seen, held_out, interior = map(answer.where, (region.train, trained, region.held_out, inside))
    return {
        "error_map": rc.error_map(answer),
        "peak_map": rc.peak_map(answer),
        "samples": answer.y_hat[example_cells(inside)],
        "mse_donut": rc.mse(donut),
        "mse_trained": rc.mse(seen) if len(seen) else float("nan"),
        "nmse_trained": rc.nmse(seen) if len(seen) else float("nan"),
        "mse_hole": rc.mse(held_out),
        "mse_interior": rc.mse(interior),
        "accuracy0_donut": rc.peak_accuracy(donut, 0),
        "accuracy1_donut": rc.peak_accuracy(donut, 1),
        "accuracy0_trained": rc.peak_accuracy(seen, 0) if len(seen) else float("nan"),
        "accuracy1_trained": rc.peak_accuracy(seen, 1) if len(seen) else float("nan"),
        "accuracy0_hole": rc.peak_accuracy(held_out, 0),
        "accuracy1_hole": rc.peak_accuracy(held_out, 1),
        "accuracy0_interior": rc.peak_accuracy(interior, 0),
        "accuracy1_interior": rc.peak_accuracy(interior, 1),
        "bumps1_hole": bumps_placed(settings, held_out, 1),
        "bumps0_interior": bumps_placed(settings, interior, 0),
    }


def example_cells(inside: np.ndarray) -> np.ndarray:
    """Three interior cells whose pictures are kept: first, middle and last."""
    rows = np.flatnonzero(inside)
    return rows[[0, len(rows) // 2, -1]]
