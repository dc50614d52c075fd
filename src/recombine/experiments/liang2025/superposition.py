"""What does a decoder draw in the hole: the truth, or the sum of what it remembers of x and of y?

Fig. 1d,e and Fig. 8: a network that fails in the hole adds what it draws for x alone and for y alone, so that its
answers are alike when x OR y agree; one that composes draws answers that are alike when x AND y agree. The failing
network is given bump codes, and another one plain numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import likeness, shared, stripes, superposition_claims, targets
from recombine.experiments.liang2025.stripes import DONUT, STRIPES
from recombine.experiments.liang2025.superposition_claims import PERFECT_RATE, RATE

if TYPE_CHECKING:
    import pandas as pd

BUMP_CODE, RATE_CODE = "local bump", "rate"
INITIAL = ("or_agreement", "and_agreement", "overlap_or_released")
"""What each network's own initial weights read, too."""


@dataclass(frozen=True, kw_only=True)
class Settings(stripes.Settings):
    steps: int = 1200
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings(seed=1, seeds=10, block=10, batch=16, dark=True, bumps=32)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
AS_RELEASED = {"steps": 12_600, "learning_rate": 1e-3, "seed": 2}
GPU = Settings(seeds=16, block=8, **AS_RELEASED, **FULL)
PAPER = Settings(seeds=20, block=10, **AS_RELEASED, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"code": code} for code in (BUMP_CODE, RATE_CODE)])


def encoding(settings: Settings, code: str) -> rc.Encoding:
    """Local bumps, or one plain number without a flag."""
    return rc.rate(flag=False) if code == RATE_CODE else rc.local_bump(settings.size, settings.sigma)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, encode = cell.settings, encoding(cell.settings, cell.code)
    task = shared.grid(settings, encode)
    if cell.code == RATE_CODE:
        sets = [{RATE: shared.donut(settings, task)}] * len(cell.members)
        make = shared.decoder(settings, settings.depth, encode)
        trained, rows = shared.train_conditions(settings, task, make, members=cell.members, sets=sets, monitor=monitor)
    else:
        trained, rows = stripes.train(cell, (DONUT, STRIPES), monitor)
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=rc.key(settings.seed, "test"))
    alone = [one_factor(settings, encode, trained[i].model) for i in range(len(rows))]
    rows = [row | measured(settings, row, answers[i], alone[i]) for i, row in enumerate(rows)]
    return shared.with_initial(rows, before_training(cell, task, encode), INITIAL)


def before_training(cell: rc.Cell, task: rc.Task, encode: rc.Encoding) -> dict[int, dict]:
    """By seed, which kernel the answers follow at its initial weights."""
    settings, z = cell.settings, task.combinations[rc.whole(task.combinations)]
    _, life = shared.data_and_train_keys(settings, cell.members)
    born = rc.initial_models(shared.decoder(settings, settings.depth, encode), life)
    answers = rc.records(born, task, z, key=rc.key(settings.seed, "test"))
    region = rc.square(z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    found = [likeness.kernels(settings, shared.as_intensity(settings, a), inside, region.train) for a in answers]
    return dict(zip(cell.members, found, strict=True))


def one_factor(settings: Settings, encode: rc.Encoding, network) -> np.ndarray:
    """The pictures for each x with the mean code of y on the donut, and for each y with that of x (2, values, ...)."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    codes = jax.vmap(encode)(jnp.arange(settings.size, dtype=jnp.float32))
    z = np.stack(np.meshgrid(*[np.arange(settings.size)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    known = z[rc.square(z, settings.low, settings.high).train]
    means = [jnp.broadcast_to(codes[known[:, part]].mean(axis=0), codes.shape) for part in (0, 1)]
    asked = jnp.stack([jnp.concatenate([codes, means[1]], axis=1), jnp.concatenate([means[0], codes], axis=1)])
    pictures = eqx.filter_jit(lambda model, x: jax.vmap(jax.vmap(lambda one: model(one)[0]))(x))(network, asked)
    return np.asarray(1.0 - pictures if settings.dark else pictures)


def between(settings: Settings, known: np.ndarray) -> np.ndarray:
    """What a perfect renderer draws for one plain number with the other averaged: a bump at the mean of the other."""
    places, middle = np.arange(settings.size), known.mean(axis=0)
    one = np.stack([places, np.full(settings.size, middle[1])], axis=1)
    other = np.stack([np.full(settings.size, middle[0]), places], axis=1)
    return np.stack([targets.joined(settings, z)[0] for z in (one, other)])


def measured(settings: Settings, row: dict, answer: rc.Record, alone: np.ndarray) -> dict:
    """The scores of a network, or NaN if it diverged; its matrices are kept for the first seed alone."""
    if row["diverged_at"] >= 0:
        answer, alone = answer.answering(answer.y), np.zeros_like(alone)
    found = likeness.scores(settings, shared.as_intensity(settings, answer), alone, row["seed"])
    matrices = found["matrices"] if row["seed"] == 0 else None
    return rc.nan_if_diverged(found, row["diverged_at"]) | {"matrices": matrices}


def controls(settings: Settings) -> list[dict]:
    """The same measures on perfect solvers, a memoriser that superposes in the hole, one fixed answer, no training."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    region = rc.square(truth.z, settings.low, settings.high)
    shown = shared.example_cells(rc.interior(region, settings.rim))
    by_factor = likeness.memories(truth, region.train)
    sums = by_factor[0][truth.z[:, 0]] + by_factor[1][truth.z[:, 1]]
    systems = {
        "perfect": (truth, by_factor),
        "superposition": (truth.answering(np.where(region.train[:, None, None], truth.y, sums)), by_factor),
        "blind": (rc.blind(truth, int(shown[1])), np.broadcast_to(truth.y[shown[1]], by_factor.shape)),
        PERFECT_RATE: (truth, between(settings, truth.z[region.train])),
    }
    for code in (BUMP_CODE, RATE_CODE):
        encode = encoding(settings, code)
        born = shared.initial_models(settings, shared.decoder(settings, settings.depth, encode))
        answer = shared.as_intensity(settings, shared.untrained(settings, settings.depth, encode))
        name = "untrained" if code == BUMP_CODE else "untrained, plain numbers"
        systems[name] = (answer, one_factor(settings, encode, born))
    return rc.control_rows(
        lambda system: {"samples": system[0].y_hat[shown], **likeness.scores(settings, *system, seed=0)}, systems
    )


CLAIMS = superposition_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """For each network an answer from the hole, its sums and the truth; its three matrices; the numbers judged."""
    return likeness.figure(settings, table, {DONUT: rc.plots.BAD, RATE: rc.plots.BAD, STRIPES: rc.plots.GOOD})
