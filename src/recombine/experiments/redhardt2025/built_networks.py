"""Networks that are built from a teacher's weights, and what they are evaluated on."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared
from recombine.theory.construction import Hyperteacher, construct, error_bound
from recombine.theory.memorising import memorise, stored_neurons

if TYPE_CHECKING:
    import pandas as pd

    from recombine.experiments.redhardt2025.construction import Settings

AT = 16
"""Pieces at which different numbers of modules are compared."""
MOST_STORED = 20_000
"""Hidden neurons of the largest memorizing network that is built; larger ones are only counted."""


def teacher(settings: Settings, modules: int, seed: int):
    """The teacher of a seed, the same that students learn from, as the construction takes it."""
    taught = replace(rc.teacher_of(shared.family(settings, 1)), modules=modules, teachers=seed + 1)
    layer = taught.weights.layers[0][-modules:].astype(float)
    return Hyperteacher(layer[:, :-1], layer[:, -1], taught.weights.read_out[-1].astype(float), settings.max_active)


def questions(settings: Settings, modules: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of up to `max_active` modules, all equally likely, times .5, .6, .., 1; inputs uniform on [-1, 1]."""
    rng = rc.rng(settings.seed, "questions", modules, seed)
    sizes = np.arange(1, settings.max_active + 1)
    odds = np.array([comb(modules, int(size)) for size in sizes], float)
    active = rng.choice(sizes, settings.points, p=odds / odds.sum())
    order = rng.permuted(np.tile(np.arange(modules), (settings.points, 1)), axis=1)
    z = (order < active[:, None]) * rng.integers(5, 11, order.shape) / 10
    return z, rng.uniform(-1, 1, (settings.points, settings.size))


def built(settings: Settings, modules: int, seed: int, monitor) -> list[dict]:
    """Networks built for one teacher, from coarse to fine."""
    it, (z, x) = teacher(settings, modules, seed), questions(settings, modules, seed)
    y, rows = it(z, x), []
    for pieces in settings.pieces:
        network = construct(it, pieces)
        answer = rc.Record(z, x, y[:, None], network(z, x)[:, None])
        if pieces == AT:
            monitor.recorded(f"built-{modules}-{seed}", answer)
        who = {"system": "network", "condition": "built", "modules": modules, "pieces": pieces, "seed": seed}
        size = {"hidden": network.hidden, "neurons": network.neurons, "bound": error_bound(it, pieces)}
        rows.append(who | size | errors(answer))
    return rows


def memorizing(settings: Settings, modules: int, seed: int) -> dict:
    """A network that stores combinations at full strength, and its size if it stored all of them.

    Where these are few enough to be built, also its errors: it stores a part and is asked for the rest as well.
    """
    from recombine.tasks.modules import masks

    it = teacher(settings, modules, seed)
    hidden = stored_neurons(modules, settings.max_active, settings.size)
    who = {"system": "network", "condition": "memorizing", "modules": modules, "seed": seed}
    row = who | {"hidden": hidden, "neurons": hidden + modules + settings.size}
    if hidden > MOST_STORED:
        return row
    every, rng = masks(modules, settings.max_active), rc.rng(settings.seed, "memorizing", modules, seed)
    chosen = rng.uniform(size=len(every)) < 1 - settings.held_out
    chosen[:2] = True, False  # a part is never empty
    network, found = memorise(it, every[chosen]), {}
    for name, part in (("stored", every[chosen]), ("others", every[~chosen])):
        z = part[rng.integers(len(part), size=min(settings.points, 1000))].astype(float)
        x = rng.uniform(-1, 1, (len(z), settings.size))
        record = rc.Record(z, x, it(z, x)[:, None], network(z, x)[:, None])
        found |= {f"error_{name}": errors(record)["error"], f"r2_{name}": rc.r2_pooled(record)}
    return row | found


def errors(answer: rc.Record) -> dict[str, float]:
    """The largest |y_hat - y|, and the root mean square as a share of the standard deviation of y."""
    return {
        "error": float(np.abs(answer.y_hat - answer.y).max()),
        "missed": float(np.sqrt(1 - rc.r2_pooled(answer))),
    }


def matched(table: pd.DataFrame) -> list[tuple[int, int]]:
    """Hidden neurons of each built network and of a student within a tenth of its size, for as many modules."""
    here = {"modules": rc.pick(table, condition="trained")["modules"].min()}
    built, trained = (sorted(rc.pick(table, condition=c, **here)["hidden"].unique()) for c in ("built", "trained"))
    pairs = [(b, min(trained, key=lambda t: abs(np.log(b / t)))) for b in built]
    return [(int(b), int(t)) for b, t in pairs if min(b, t) / max(b, t) >= 0.9]


def at_sizes(table: pd.DataFrame, effect) -> pd.DataFrame:
    """An effect of (a built network, a student) of one size, as what picks their rows; one column per size."""
    import pandas as pd

    here = {"modules": rc.pick(table, condition="trained")["modules"].min()}
    return pd.DataFrame(
        {
            f"{b} neurons": effect(
                {"condition": "built", "hidden": b, **here}, {"condition": "trained", "hidden": t, **here}
            )
            for b, t in matched(table)
        }
    )


def excess(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and size, log10 of the root mean square error of a built network over that of a student."""

    def ratio(built: dict, student: dict) -> pd.Series:
        return np.log10(rc.by_seed(table, "missed", **built) / rc.by_seed(table, "missed", **student))  # pyrefly: ignore

    return at_sizes(table, ratio)


def crossing(table: pd.DataFrame) -> pd.Series:
    """By seed, log2 of how many modules it takes until storing needs more neurons than building with a student's error.

    The built network has as many neurons as interpolation between built ones says, on logarithms, for the error of the
    widest student; beyond them the slope of the last two goes on. A built network needs no more for more modules.
    """
    import pandas as pd

    students, found = widest(table), {}
    for seed, error in rc.by_seed(students, "missed").items():
        mine = rc.pick(table, condition="built", seed=seed, modules=students["modules"].min())
        stored = rc.pick(table, condition="memorizing", seed=seed)
        neurons = along(*_logs(mine, "missed", "hidden"), float(np.log2(error)))
        found[seed] = along(*_logs(stored, "hidden", "modules"), neurons)
    return pd.Series(found).rename_axis("seed")


def widest(table: pd.DataFrame) -> pd.DataFrame:
    """The widest students."""
    students = rc.pick(table, condition="trained")
    if students.empty:
        raise ValueError("the table has no trained student")
    return students[students["hidden"] == students["hidden"].max()]


def widest_fit(table: pd.DataFrame) -> pd.Series:
    """By seed, whether the widest students have learnt what they were trained on."""
    return figures.fits()(widest(table))


def _logs(rows: pd.DataFrame, x: str, y: str) -> tuple[np.ndarray, np.ndarray]:
    return np.log2(rows[x].to_numpy(float)), np.log2(rows[y].to_numpy(float))


def along(x: np.ndarray, y: np.ndarray, at: float) -> float:
    """y at a place on the line through points (x, y), whose first and last pieces go on beyond them."""
    if len(x) < 2:
        return float("nan")
    order = np.argsort(x)
    x, y = x[order], y[order]
    left = int(np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2))
    slope = (y[left + 1] - y[left]) / (x[left + 1] - x[left])
    return float(y[left] + slope * (at - x[left]))
