"""What the experiments of this paper share: the hole, the networks of one population, and what is measured on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments._seeds import Seeded, test_key, unless_lost


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
    """pictures a step"""
    steps: int = 1500
    """updates of each network"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""
    cosine: bool = True
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
    """Bumps and stripes, told by local codes unless otherwise; one object for equal settings, to compile once."""
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
    settings: HoleSettings, task: rc.Task, make, *, splits, keys, who, watch, label="fit", penalty=None, dials=None
) -> tuple[Any, list[dict]]:
    """One network for each split, key and name, in one population; the run and its rows."""
    import jax.numpy as jnp

    optimiser = rc.adamw_cosine if settings.cosine else rc.adamw
    compute = getattr(jnp, settings.precision)
    recipe = rc.Recipe(settings.steps, settings.batch, optimiser, penalty=penalty, compute=compute)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay} | (dials or {})
    run = rc.population(task, list(splits), make, keys, recipe, dials=dials, watch=watch, label=label)
    return run, networks(settings, task, run, splits=splits, who=who, watch=watch)


def train_conditions(
    settings: HoleSettings, task: rc.Task, make, *, members: Sequence[int], sets: Callable[[Any], dict], watch
) -> tuple[Any, list[dict]]:
    """The networks of several conditions in one population; `sets(key)` gives a seed's training set by condition.

    Every condition of a seed starts from the same weights, so that effects can be taken seed by seed.
    """
    import jax.numpy as jnp

    data, life = data_and_life(settings, members)
    drawn = [sets(key) for key in data]
    names = list(drawn[0])
    return train(
        settings,
        task,
        make,
        splits=[one[name] for name in names for one in drawn],
        keys=jnp.concatenate([life] * len(names)),
        who=[{"condition": name, "seed": seed} for name in names for seed in members],
        watch=watch,
    )


def data_and_life(settings: Seeded, members: Sequence[int]):
    """Of each seed the key that draws its training set, and the key of its weights and batches."""
    import jax

    return jax.vmap(jax.random.split, out_axes=1)(rc.member_keys(settings.seed, members))


def networks(settings: HoleSettings, task: rc.Task, run, *, splits: Sequence[rc.Split], who, watch) -> list[dict]:
    """A row a network: who it is, what it was trained on, and what it does over the whole grid.

    A network that diverged has no measures: a lost seed is neither right nor wrong.
    """
    whole = rc.whole(task.combinations)
    answers = rc.records(run.model, task, task.combinations[whole], key=test_key(settings))
    rows = []
    for i, (person, answer, split) in enumerate(zip(who, answers, splits, strict=True)):
        watch.recorded("-".join(str(v) for v in person.values()), answer)
        seen = unless_lost(measures(settings, answer, split.train[whole]), run.diverged_at[i])
        facts = {"images": int(split.train.sum()), "loss": float(run.losses[i, -1])}
        rows.append(person | facts | {"diverged_at": int(run.diverged_at[i])} | seen)
    return rows


def controls(settings: HoleSettings) -> list[dict]:
    """The same measures on systems built to compose (a perfect solver) and built not to (two memorisers)."""
    task = grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    known = hole(settings, task).train[rc.whole(task.combinations)]
    inside = rc.interior(rc.square(z, settings.low, settings.high), settings.rim)
    perfect = rc.truth(task, z, key=test_key(settings))
    systems = {
        "perfect": perfect,
        "blind": rc.blind(perfect, int(probes(inside)[1])),
        "nearest memory": rc.nearest_memory(perfect, known),
        "superposition": bright(settings, rc.superposition(bright(settings, perfect), known)),
    }
    return [
        {"condition": f"control: {name}", "seed": 0, **measures(settings, system, known)}
        for name, system in systems.items()
    ]


def bright(settings: HoleSettings, answer: rc.Record) -> rc.Record:
    """Pictures as intensities, whatever their polarity; the same step again turns them back."""
    y, y_hat = (rc.intensity(a, dark=settings.dark) for a in (answer.y, answer.y_hat))
    return rc.Record(answer.z, answer.x, y, y_hat)


def measures(settings: HoleSettings, answer: rc.Record, trained: np.ndarray) -> dict:
    """Error and peak accuracy on the donut, the cells trained on, the hole, and its interior."""
    answer = bright(settings, answer)
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    places = {"donut": region.train, "trained": trained, "hole": region.held_out, "interior": inside}
    row: dict = {
        "error_map": rc.error_map(answer),
        "peak_map": rc.peak_map(answer),
        "samples": answer.y_hat[probes(inside)],
    }
    for name, place in places.items():
        part = answer.where(place)
        row[f"mse_{name}"] = rc.mse(part) if len(part) else float("nan")
        for tolerance in (0, 1):
            row[f"accuracy{tolerance}_{name}"] = rc.peak_accuracy(part, tolerance) if len(part) else float("nan")
    return row


def probes(inside: np.ndarray) -> np.ndarray:
    """Three interior cells whose pictures are kept: first, middle and last."""
    rows = np.flatnonzero(inside)
    return rows[[0, len(rows) // 2, -1]]
