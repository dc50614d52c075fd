"""Does a wider decoder place more bumps in the interior of the hole?

A study of one's own: recombine run examples/my_study.py --tier quick, then recombine verdicts examples/my_study.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax

import recombine as rc


@dataclass(frozen=True)
class Settings:
    seeds: int = 5
    """networks for each width"""
    widths: tuple[int, ...] = (4, 16)
    """a narrow and a wide decoder"""
    steps: int = 500
    """updates of each network"""


QUICK = Settings(seeds=2, widths=(2, 3), steps=20)
LAPTOP = GPU = PAPER = Settings()


@dataclass(frozen=True)
class Cell:  # a piece of work small enough to lose; the fields must tell cells apart
    settings: Settings
    width: int
    members: tuple[int, ...]


def cells(settings):
    return [Cell(settings, width, tuple(range(settings.seeds))) for width in settings.widths]


def run(cell, watch):  # rows of the table, one a network; `watch` carries progress and checkpoints
    task = rc.bumps(16, rc.local_bump(16))
    split = rc.square(task.combinations, 3, 12)
    inside = rc.interior(split, 3)

    def make(key):
        return rc.CNNDecoder(32, 16, width=cell.width, depth=3, key=key)

    keys = rc.member_keys(0, cell.members)
    recipe = rc.Recipe(cell.settings.steps, optimiser=rc.adamw_cosine)
    trained = rc.population(task, split, make, keys, recipe, dials={"learning_rate": 3e-3}, watch=watch)
    records = rc.records(trained.model, task, task.combinations, key=jax.random.key(1))
    return [
        {
            "condition": "narrow" if cell.width == min(cell.settings.widths) else "wide",
            "seed": seed,
            "interior": rc.peak_accuracy(record.where(inside)),
            "donut": rc.peak_accuracy(record.where(split.train), 1),
        }
        for seed, record in zip(cell.members, records, strict=True)
    ]


CLAIMS = (
    rc.Claim(
        "wider composes more",
        "A wider decoder places more bumps exactly in the interior of the hole.",
        "our own question",
        effect=lambda t: rc.by_seed(t, "interior", condition="wide") - rc.by_seed(t, "interior", condition="narrow"),
        margin=0.1,
        unit="exact accuracy in the interior, wide minus narrow",
        preconditions=(rc.Check("all networks fit the donut", lambda t: t["donut"].min(), at_least=0.95),),
    ),
)


def figure(settings, table):
    figure, axes = rc.plots.panels(1, 2)
    for column, place in enumerate(("donut", "interior")):
        groups = {name: table[table.condition == name][place].to_numpy() for name in ("narrow", "wide")}
        rc.plots.dots(axes[0, column], groups)
        axes[0, column].set_title(place)
    return figure
