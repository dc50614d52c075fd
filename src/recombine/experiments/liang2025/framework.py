"""Does the complexity that appendix A gives a target tell what a decoder makes of it at pairs it never saw?

A.1: R* is the number of products of a function of x and one of y that add up to a picture. Decoders are shown all
stripes and a few pairs of targets of known R*. The paper implies that few products are easier to compose; it trains no
such targets. A.4 and A.5: two readings of a kernel, on failing and composing networks and on kernels of known form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import framework_claims, shared, targets
from recombine.experiments.liang2025.framework_claims import BRIGHT_ALONE, DARK_ALONE, DONUT

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    pairs: int = 16
    """pairs from the donut that join the stripes"""
    steps: int = 800
    """updates of each network"""
    kernel_sizes: tuple[int, ...] = (8, 10, 12, 14, 16, 20)
    """sides of the grids on which the two definitions of a factorised kernel are compared"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.pairs <= self.outside:
            raise rc.UserError(f"pairs must be between 1 and {self.outside} here, got {self.pairs}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, pairs=4, steps=20, kernel_sizes=(4, 5))
LAPTOP = Settings(seed=1, seeds=10, block=10, batch=16, pairs=32)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "pairs": 50, "learning_rate": 1e-3}
AS_RELEASED = {"seed": 1, "steps": 3150}
GPU = Settings(seeds=8, block=8, **AS_RELEASED, **FULL)
PAPER = Settings(seeds=20, block=10, **AS_RELEASED, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


@cache
def grid(settings: Settings) -> rc.Task:
    """Every kind of target; one object for equal settings, to compile once."""
    from recombine.tasks.conjunctions import conjunctions

    return conjunctions(settings.size, rc.local_bump(settings.size, settings.sigma), sigma=settings.sigma)


def training_sets(settings: Settings, key) -> dict[str, rc.Split]:
    """Stripes and pairs of each kind; stripes alone of both polarities; the whole donut of the dark bump."""
    from recombine.tasks.conjunctions import KINDS

    z = grid(settings).combinations
    alone = (z[:, 1:] == rc.ABSENT).any(axis=1)
    outside = ~((z[:, 1:] >= settings.low) & (z[:, 1:] <= settings.high)).all(axis=1) & ~alone
    of = {kind: z[:, 0] == i for i, kind in enumerate(KINDS)}
    kept = {kind: of[kind] & alone | rc.sample(of[kind] & outside, settings.pairs, key) for kind in KINDS}
    kept |= {BRIGHT_ALONE: of["bright"] & alone, DARK_ALONE: of["dark"] & alone, DONUT: of["dark"] & outside}
    return {name: rc.Split(z, rows) for name, rows in kept.items()}


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax.numpy as jnp

    settings, task = cell.settings, grid(cell.settings)
    data, life = shared.data_and_train_keys(settings, cell.members)
    sets = [training_sets(settings, key) for key in data]
    who = [{"condition": name, "seed": seed} for name in sets[0] for seed in cell.members]
    splits = [one[name] for name in sets[0] for one in sets]
    recipe = rc.Recipe(settings.steps, settings.batch, rc.adamw_cosine if settings.cosine else rc.adamw)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    keys, make = jnp.concatenate([life] * len(sets[0])), shared.decoder(settings, settings.depth)
    trained = rc.population(task, splits, make, keys, recipe, dials=dials, monitor=monitor)
    answers = [recorded(settings, trained[i].model, one["condition"]) for i, one in enumerate(who)]
    for one, answer in zip(who, answers, strict=True):
        monitor.recorded(f"{one['condition']}-{one['seed']}", answer)
    judged = zip(answers, splits, who, strict=True)
    return rc.rows(trained, who, [measures(settings, a, split, one["condition"]) for a, split, one in judged])


def kind_of(condition: str) -> str:
    """The target that a condition is about: the first word of its name."""
    return condition.split(",", maxsplit=1)[0]


def of_kind(settings: Settings, condition: str) -> np.ndarray:
    """Which combinations are of that target."""
    from recombine.tasks.conjunctions import KINDS

    return grid(settings).combinations[:, 0] == KINDS.index(kind_of(condition))


def recorded(settings: Settings, network, condition: str) -> rc.Record:
    task = grid(settings)
    asked = task.combinations[of_kind(settings, condition)]
    return rc.record(network, task, asked, key=rc.key(settings.seed, "test"))


def measures(settings: Settings, answer: rc.Record, split: rc.Split, condition: str) -> dict:
    """What a system makes of a target: where it errs, what its answers are like, and for dark bumps its kernel."""
    seen, kernel = split.train[of_kind(settings, condition)], condition in ("dark", DONUT)
    return targets.scores(settings, answer, seen, kind_of(condition), kernel=kernel)


def controls(settings: Settings) -> list[dict]:
    """The targets themselves, the mean picture of each, kernels of known form, and networks at their first weights."""
    task, key = grid(settings), rc.key(settings.seed, "test")
    born = shared.initial_models(settings, shared.decoder(settings, settings.depth))
    rows = []
    for condition, split in training_sets(settings, rc.key(settings.seed, "control split")).items():
        which = of_kind(settings, condition)
        truth = rc.truth(task, task.combinations[which], key=key)
        mean = np.broadcast_to(truth.y[split.train[which]].mean(axis=0), truth.y.shape)
        systems = {"perfect": truth, "mean picture": truth.answering(mean)}
        systems |= {"untrained": recorded(settings, born, condition)}
        found = rc.control_rows(lambda a, s=split, c=condition: measures(settings, a, s, c), systems)
        rows += [row | {"condition": condition} for row in found]
    return rows + [row for size in settings.kernel_sizes for row in targets.known_kernels(size, settings.sigma)]


CLAIMS = framework_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """For each target what is drawn in the hole, its ranks and errors; below, kernels."""
    return targets.figure(table, (BRIGHT_ALONE, DARK_ALONE, DONUT))
