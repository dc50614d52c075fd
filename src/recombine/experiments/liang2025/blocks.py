"""Which factors of a layer can be taken apart, and does mixing them destroy that?

A.2 and A.3: a layer is factorised if some invertible map gives each factor units of its own; partly, if blocks of
factors stay apart. Decoders draw bumps of several grades of brightness, with a hole in (x, y) held out at every grade,
or at the brightest alone. Known codes are mixed reversibly and irreversibly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import blocks_claims, shared, targets
from recombine.experiments.liang2025.blocks_claims import EVERY, IRREVERSIBLE, REVERSIBLE, TOP
from recombine.measures.additive import generally_factorised

if TYPE_CHECKING:
    import pandas as pd

PAIRINGS = {"xy | grade": ((0, 1), (2,)), "x grade | y": ((0, 2), (1,)), "y grade | x": ((1, 2), (0,))}
UNITS = 512


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    grades: int = 3
    """grades of brightness"""
    steps: int = 1000
    """updates of each network"""
    mixings: int = 8
    """random mixings of a known code"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("mixings")
        if self.grades < 2:
            raise rc.UserError(f"grades must be at least 2, got {self.grades}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, steps=20, mixings=2)
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "learning_rate": 1e-3}
GPU = Settings(seed=1, seeds=8, block=8, steps=3125, **FULL)
PAPER = Settings(seed=1, seeds=20, block=10, steps=12_500, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


@cache
def grid(settings: Settings) -> rc.Task:
    """One object for equal settings, to compile once."""
    from recombine.tasks.conjunctions import graded_bumps

    code = rc.local_bump(settings.size, settings.sigma)
    return graded_bumps(settings.size, settings.grades, code, sigma=settings.sigma)


def training_sets(settings: Settings) -> dict[str, rc.Split]:
    z = grid(settings).combinations
    inside = rc.square(z[:, :2], settings.low, settings.high).held_out
    return {EVERY: rc.Split(z, ~inside), TOP: rc.Split(z, ~(inside & (z[:, 2] == settings.grades - 1)))}


def decoder(settings: Settings):
    inputs = 2 * settings.size + settings.grades
    return lambda key: rc.CNNDecoder(inputs, settings.size, width=settings.width, depth=settings.depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax.numpy as jnp

    settings, task, sets = cell.settings, grid(cell.settings), training_sets(cell.settings)
    who = [{"condition": name, "seed": seed} for name in sets for seed in cell.members]
    recipe = rc.Recipe(settings.steps, settings.batch, rc.adamw_cosine if settings.cosine else rc.adamw)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    keys = jnp.concatenate([rc.member_keys(settings.seed, cell.members)] * len(sets))
    splits = [split for split in sets.values() for _ in cell.members]
    trained = rc.population(task, splits, decoder(settings), keys, recipe, dials=dials, monitor=monitor)
    answers = recorded(settings, trained.model)
    for one, answer in zip(who, answers, strict=True):
        monitor.recorded("-".join(map(str, one.values())), rc.Record(answer.z, answer.x, answer.y, answer.y_hat))
    return rc.rows(trained, who, [measures(settings, answer) for answer in answers])


def recorded(settings: Settings, models) -> list[rc.Record]:
    """The answers to every combination, with some units of the last hidden layer."""
    from recombine.experiments.liang2025 import unit_model

    task, key = grid(settings), rc.key(settings.seed, "test")
    x, _ = task.sample(task.combinations[0], key)
    some = unit_model.some(models, f"layer{settings.depth}", UNITS, x, rc.key(settings.seed, "units"))
    return rc.records(some, task, task.combinations, key=key, keep=["units"])


def ignoring_grade(answer: rc.Record) -> rc.Record:
    """The truth at the same place and one grade below, where there is one: what a system would draw that ignores it."""
    return answer.answering(answer.y[np.arange(len(answer)) - (answer.z[:, 2] > 0)])


def grade_gain(answer: rc.Record, where: np.ndarray) -> float:
    """log10 of the error of ignoring the grade over that of the answers; -1 and less where nothing is drawn."""
    return float(np.log10(rc.mse(ignoring_grade(answer).where(where)) / max(rc.mse(answer.where(where)), 1e-12)))


def measures(settings: Settings, answer: rc.Record) -> dict:
    """Placement at the top grade on the donut and in the interior of the hole; what the last hidden layer keeps apart.

    Without units, it is the pictures that are taken apart.
    """
    place = answer.z[:, :2]
    inside = rc.interior(rc.square(place, settings.low, settings.high), settings.rim)
    outside = rc.square(place, settings.low, settings.high).train
    top = answer.z[:, 2] == settings.grades - 1
    at = rc.Record(place, answer.x, answer.y, answer.y_hat)
    units = answer.acts.get("units", answer.y_hat.reshape(len(answer), -1)).astype(float)
    layer = rc.on_grid(answer, units) if np.isfinite(units).all() else np.zeros((2, 2, 2, 1))
    return {
        "accuracy0_donut": rc.peak_accuracy(at.where(outside & top), 0),
        "accuracy0_interior": rc.peak_accuracy(at.where(inside & top), 0),
        "grade_gain": grade_gain(answer, inside & top),
        "not_one_product": targets.not_one_product(answer),
        **{f"share {name}": rc.additive_share(layer, pairing) for name, pairing in PAIRINGS.items()},
        "factorised": float(generally_factorised(layer, factors=3)),
        "samples": at.y_hat[np.flatnonzero(inside & top)[0]],
    }


def controls(settings: Settings) -> list[dict]:
    """Systems whose answer is known, one that ignores the grade among them; untrained networks; mixed codes."""
    task = grid(settings)
    truth = rc.truth(task, task.combinations, key=rc.key(settings.seed, "test"))
    (untrained,) = recorded(settings, rc.initial_models(decoder(settings), rc.key(settings.seed, "untrained")[None]))
    noise = rc.rng(settings.seed, "noise").normal(size=(settings.size, settings.size * settings.grades, 64))
    x, y, grade = truth.z.T
    apart = {"units": noise[0][grade * settings.size + x] + noise[1][y]}
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, len(truth) // 2),
        "grade-blind": ignoring_grade(truth),
        "(x, grade) apart from y": rc.Record(truth.z, truth.x, truth.y, truth.y, apart),
        "untrained": untrained,
    }
    known = rc.control_rows(lambda system: measures(settings, system), systems)
    return known + [row for seed in range(settings.mixings) for row in targets.mixed_codes(settings, seed)]


CLAIMS = blocks_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """An answer at the top grade in the hole, placement, what blocks explain, and what mixing leaves."""
    plots = rc.plots
    figure, axes = plots.panels(rows=2, columns=4, side=2.2)
    for row, (condition, colour) in zip(axes, ((EVERY, plots.BAD), (TOP, plots.GOOD)), strict=True):
        rows = rc.pick(table, condition=condition).sort_values("seed")
        plots.picture(row[0], rows.iloc[0]["samples"], title=f"{condition}:\nan answer inside it")
        columns = {"donut": "accuracy0_donut", "interior": "accuracy0_interior", "log10\ngain": "grade_gain"}
        plots.dots(row[1], {name: rows[c].to_numpy() for name, c in columns.items()}, colour=colour, low=-1.2)
        row[1].set_title("placed exactly; gain over\nignoring the grade")
        shares = {name.replace(" | ", "\n| "): rows[f"share {name}"].to_numpy() for name in PAIRINGS}
        plots.dots(row[2], shares, colour=colour)
        row[2].set_title("share of the last hidden\nlayer that blocks explain")
        row[2].tick_params(axis="x", labelsize=6)
    targets.draw_mixed(axes[:, 3], table, ("separate", *REVERSIBLE, *IRREVERSIBLE))
    return figure
