"""Does a wider decoder place more bumps in the interior of the hole?

A study of one's own: recombine run examples/my_study.py --tier quick --out mine. Without a command,
python examples/my_study.py does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import recombine as rc


@dataclass(frozen=True)
class Settings:
    seeds: int = 5
    """networks per width"""
    widths: tuple[int, ...] = (4, 16)
    """a narrow and a wide decoder"""
    steps: int = 500
    """updates of each network"""


QUICK = Settings(seeds=2, widths=(2, 3), steps=20)
LAPTOP = GPU = PAPER = Settings()


def data():  # the task and which pairs are trained on; a function, so that reading this file does not wait for JAX
    task = rc.bumps(16, rc.local_bump(16))
    return task, rc.square(task.combinations, 3, 12)


def cells(settings):  # pieces of work small enough to lose: one per width
    names = {min(settings.widths): "narrow", max(settings.widths): "wide"}
    return rc.cells(settings, [{"width": width, "condition": name} for width, name in names.items()])


def make(width):
    return lambda key: rc.CNNDecoder(32, 16, width=width, depth=3, key=key)


def measures(record):
    _, split = data()
    donut, interior = record.where(split.train), record.where(rc.interior(split, 3))
    return {"donut": rc.peak_accuracy(donut, 1), "interior": rc.peak_accuracy(interior)}


def run(cell, monitor):  # one row per network; `monitor` carries progress and checkpoints
    (task, split), keys = data(), rc.member_keys(0, cell.members)
    recipe = rc.Recipe(cell.settings.steps, optimiser=rc.adamw_cosine)
    trained = rc.population(task, split, make(cell.width), keys, recipe, dials={"learning_rate": 3e-3}, monitor=monitor)
    records = rc.records(trained.model, task, task.combinations, key=rc.key(0, "test"))
    meta = [{"condition": cell.condition, "seed": seed} for seed in cell.members]
    return rc.rows(trained, meta, [measures(record) for record in records])


CLAIMS = (
    rc.Claim(
        "a wider decoder composes more",
        "A wider decoder places more bumps exactly in the interior of the hole.",
        "our own question",
        effect=rc.difference("interior", "wide", "narrow"),
        above=0.1,
        unit="exact accuracy in the interior, wide minus narrow",
        fits=(rc.fitted("donut", at_least=0.95),),
    ),
)


def figure(settings, table):
    figure, axes = rc.plots.panels(1, 2)
    for axis, place in zip(axes[0], ("donut", "interior"), strict=True):
        rc.plots.dots(axis, {name: rc.pick(table, condition=name)[place].to_numpy() for name in ("narrow", "wide")})
        axis.set_title(place)
    return figure


if __name__ == "__main__":
    import sys

    from recombine.cli import main

    sys.exit(main(["run", __file__, *(sys.argv[1:] or ["--tier", "quick", "--out", "mine"])]))
