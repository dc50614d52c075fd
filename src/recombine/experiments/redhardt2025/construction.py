"""How many neurons does a network need to compose, if it is built rather than trained?

Theorem 3.1: O(1 / sqrt(error) + modules) neurons are enough. Networks are written down from a teacher's weights, a
teacher for every seed, and asked many tasks; beside them stand students of several sizes, trained on most of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd

AT = 16
"""Pieces at which different numbers of modules are compared."""


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    numbers: tuple[int, ...] = (4, 8, 16, 32, 64)
    """numbers of modules to build for"""
    pieces: tuple[int, ...] = (4, 8, 16, 32)
    """straight pieces that stand for a square, and so a built network's ReLUs for each; 16 is among them"""
    points: int = 10_000
    """tasks asked of a built network, one input each"""
    modules: int = 8
    """modules of the teachers for which built and trained networks are compared"""
    also: tuple[int, ...] = (16,)
    """larger numbers of modules to train for"""
    width: int = 176
    """units of the widest students' hidden layers; the laptop's have as many in all as the coarsest built network"""
    narrower: tuple[int, ...] = (22, 66)
    """widths of the other students"""
    steps: int = 650
    """updates of each student"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("points")
        for name in ("numbers", "pieces"):
            values = getattr(self, name)
            if len(values) < 2 or list(values) != sorted(set(values)) or values[0] < 1:
                raise rc.UserError(f"{name} must be two or more rising numbers, got {values}")
        if AT not in self.pieces or self.modules not in self.numbers:
            raise rc.UserError(f"pieces must include {AT}, and numbers {self.modules}")
        if self.hot > self.numbers[0]:
            raise rc.UserError(f"a task cannot have {self.hot} of {self.numbers[0]} modules")
        if min(self.also, default=self.modules + 1) <= self.modules:
            raise rc.UserError(f"students are also trained for more than {self.modules} modules, got {self.also}")
        if not all(0 < width < self.width for width in self.narrower):
            raise rc.UserError(f"narrower students have fewer than {self.width} units, got {self.narrower}")


QUICK = Settings(
    **_students.QUICK | {"numbers": (4, 6), "pieces": (4, 16), "points": 200, "also": (), "narrower": (4,)}
)
LAPTOP = Settings()
GPU = Settings(
    seeds=5,
    numbers=(4, 8, 16, 32, 64, 128),
    points=20_000,
    also=(),
    width=520,
    narrower=(65, 260),
    steps=10_000,
    learning_rate=1e-3,
    precision="bfloat16",
    **_students.FULL,
)
PAPER = replace(GPU, seeds=10, also=(32,), steps=300_000, learning_rate=3e-4, cosine=False)


@dataclass(frozen=True)
class Cell:
    """Networks built, and students trained where asked, for one number of modules and one block of seeds."""

    settings: Settings
    modules: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    numbers = sorted({*settings.numbers, *settings.also})
    return [Cell(settings, modules, members) for modules in numbers for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings, rows = cell.settings, []
    if cell.modules in settings.numbers:
        rows += [row for seed in cell.members for row in built(settings, cell.modules, seed, watch)]
    if cell.modules in (settings.modules, *settings.also):
        widths = (*settings.narrower, settings.width)
        rows += [row for width in widths for row in trained(settings, cell, width, watch)]
    return rows


def teacher(settings: Settings, modules: int, seed: int):
    """The teacher of a seed, the same that students learn from, as the construction takes it."""
    taught = replace(rc.teacher_of(_students.family(settings, 1)), modules=modules, teachers=seed + 1)
    layer = taught.weights.layers[0][-modules:].astype(float)
    return rc.Hyperteacher(layer[:, :-1], layer[:, -1], taught.weights.read_out[-1].astype(float), settings.hot)


def questions(settings: Settings, modules: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of up to `hot` modules, all equally likely, times .5, .6, .., 1; inputs uniform on [-1, 1]."""
    rng = np.random.default_rng([settings.seed, modules, seed, 2**31 - 6])
    sizes = np.arange(1, settings.hot + 1)
    odds = np.array([comb(modules, int(size)) for size in sizes], float)
    active = rng.choice(sizes, settings.points, p=odds / odds.sum())
    order = rng.permuted(np.tile(np.arange(modules), (settings.points, 1)), axis=1)
    z = (order < active[:, None]) * rng.integers(5, 11, order.shape) / 10
    return z, rng.uniform(-1, 1, (settings.points, settings.size))


def built(settings: Settings, modules: int, seed: int, watch) -> list[dict]:
    """Networks built for one teacher, from coarse to fine."""
    it, (z, x) = teacher(settings, modules, seed), questions(settings, modules, seed)
    y, rows = it(z, x), []
    for pieces in settings.pieces:
        network = rc.construct(it, pieces)
        answer = rc.Record(z, x, y[:, None], network(z, x)[:, None])
        if pieces == AT:
            watch.recorded(f"built-{modules}-{seed}", answer)
        who = {"condition": "built", "modules": modules, "pieces": pieces, "seed": seed}
        size = {"hidden": network.hidden, "neurons": network.neurons, "bound": rc.error_bound(it, pieces)}
        rows.append(who | size | errors(answer))
    return rows


def errors(answer: rc.Record) -> dict[str, float]:
    """The largest |y_hat - y|, and the root mean square as a share of the standard deviation of y."""
    return {
        "error": float(np.abs(answer.y_hat - answer.y).max()),
        "missed": float(np.sqrt(1 - rc.r2_pooled(answer))),
    }


def trained(settings: Settings, cell: Cell, width: int, watch) -> list[dict]:
    """Students of one width, asked unseen tasks."""
    mine = _students.with_changes(settings, modules=cell.modules, width=width)
    task = _students.family(mine, max(cell.members) + 1)
    hidden = settings.depth * width
    who = [
        {"condition": "trained", "modules": cell.modules, "width": width, "hidden": hidden, "seed": seed}
        for seed in cell.members
    ]
    supports = [
        rc.supports.random(_students.masks(task), settings.held_out, _students.support_key(settings, seed))
        for seed in cell.members
    ]
    make, label = _students.student(mine, task), f"{cell.modules}-modules-{width}-wide"
    rows = _students.train(mine, task, make, who=who, supports=supports, watch=watch, label=label)
    inputs = cell.modules + settings.size
    return [row | {"neurons": inputs + hidden, "missed": float((1 - row["pooled_unseen"]) ** 0.5)} for row in rows]


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments; networks built from modules in a wrong order; and the teacher as students hear it."""
    import jax
    import jax.numpy as jnp

    it, (z, x) = teacher(settings, settings.modules, 0), questions(settings, settings.modules, 0)
    y, said = it(z, x), rc.teacher_of(_students.family(settings, 1))
    heard = jax.jit(jax.vmap(said.teach, (None, 0, 0)))(0, jnp.asarray(z, jnp.float32), jnp.asarray(x, jnp.float32))
    wrong = replace(it, modules=np.roll(it.modules, 1, axis=0))
    mixed_up = [
        {"condition": "control: modules mixed up", "modules": settings.modules, "pieces": n, "seed": 0}
        | errors(rc.Record(z, x, y[:, None], rc.construct(wrong, n)(z, x)[:, None]))
        for n in settings.pieces
    ]
    exact = {"condition": "control: the teacher", "seed": 0, "error": float(np.abs(np.asarray(heard) - y).max())}
    return [*_students.controls(settings), *mixed_up, exact]


def exponents(table: pd.DataFrame, condition: str = "built") -> pd.Series:
    """By seed, the slope of the logarithm of the largest error over that of the pieces, averaged over the modules."""
    rows = table[table["condition"] == condition]
    logs = rows.assign(pieces=np.log(rows["pieces"]), error=np.log(rows["error"]))
    slopes = logs.groupby(["seed", "modules"])[["pieces", "error"]].apply(
        lambda some: np.polyfit(some["pieces"], some["error"], 1)[0]
    )
    return slopes.groupby("seed").mean()


def growth(table: pd.DataFrame) -> pd.Series:
    """By seed, log10 of how much larger the error with most modules is than with fewest, at as many pieces."""
    numbers = table.loc[table["condition"] == "built", "modules"]
    error = {
        modules: rc.by_seed(table, "error", condition="built", pieces=AT, modules=modules)
        for modules in (numbers.min(), numbers.max())
    }
    return (error[numbers.max()] / error[numbers.min()]).map(np.log10)


def excess(table: pd.DataFrame) -> pd.Series:
    """By seed, log10 of how much larger the root mean square error of a built network is than that of a student."""
    built, student = (rc.by_seed(table, "missed", **which) for which in matched(table))
    return (built / student).map(np.log10)


def matched(table: pd.DataFrame) -> tuple[dict, dict]:
    """A built network and a student for as many modules that are nearest in size, as what picks their rows."""
    students = _show.trained(table)
    students = students[students["modules"] == students["modules"].min()]
    networks = table[(table["condition"] == "built") & (table["modules"] == students["modules"].min())]
    pairs = [(b, t) for b in networks["hidden"].unique() for t in students["hidden"].unique()]
    pair = min(pairs, key=lambda sizes: abs(np.log(sizes[0] / sizes[1])))
    here = {"modules": students["modules"].min()}
    return here | {"condition": "built", "hidden": pair[0]}, here | {"condition": "trained", "hidden": pair[1]}


def alike(table: pd.DataFrame) -> float:
    """The smaller number of hidden neurons of the two as a share of the larger."""
    sizes = [which["hidden"] for which in matched(table)]
    return min(sizes) / max(sizes)


CONTROLS = (
    rc.Check(
        "a network built from modules in a wrong order comes no closer",
        lambda t: exponents(t, "control: modules mixed up").iloc[0],
        at_least=-0.5,
    ),
    rc.Check(
        "the teacher as students hear it errs by less than 0.0001",
        lambda t: 1e-4 - rc.by_seed(t, "error", condition="control: the teacher").iloc[0],
        at_least=0.0,
    ),
)
CLAIMS = (
    rc.Claim(
        "the error falls with the square of the pieces",
        "A built network's largest error falls as the number of its neurons to the power -2.",
        "theorem 3.1",
        effect=lambda t: 0.5 - (exponents(t) + 2).abs(),
        margin=0.0,
        unit="0.5 minus how far the exponent is from -2",
        controls=CONTROLS,
    ),
    rc.Claim(
        "modules cost inputs alone",
        "With as many hidden neurons, the largest error with most modules is less than twice that with fewest.",
        "theorem 3.1",
        effect=lambda t: np.log10(2) - growth(t),
        margin=0.0,
        unit="log10 of 2, minus log10 of the ratio of errors",
        preconditions=(
            rc.Check(
                "networks of as many pieces have as many hidden neurons, whatever the modules",
                lambda t: -t[t["condition"] == "built"].groupby("pieces")["hidden"].nunique().max(),
                at_least=-1,
            ),
        ),
        controls=CONTROLS,
    ),
    rc.Claim(
        "a trained student of as many neurons errs less",
        "At the size of the largest student, it errs less on unseen tasks than a network built of as many neurons.",
        "ours; stated before any run",
        effect=excess,
        margin=0.0,
        unit="log10 of the root mean square error, built minus trained",
        preconditions=(
            rc.Check("their numbers of hidden neurons differ by at most a tenth", alike, at_least=0.9),
            rc.Check(
                "the student's R2 on tasks it was shown is at least 0.9",
                lambda t: rc.by_seed(t, "r2_seen", **matched(t)[1]).min(),
                at_least=0.9,
            ),
        ),
        controls=CONTROLS + _show.R2_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The largest error against hidden neurons and against modules; built and trained networks side by side."""
    plots = rc.plots
    picture, axes = plots.panels(rows=1, columns=3, side=3.2)
    rows = table[table["condition"] == "built"]
    for place, modules in enumerate(settings.numbers):
        mine = {f"{modules} modules": rows[rows["modules"] == modules]}
        _show.lines(axes[0, 0], mine, "hidden", "error", [f"C{place}"])
    sizes = np.sort(rows["hidden"].unique())
    reference = 1.6 * rows.loc[rows["hidden"] == sizes[0], "error"].max() * (sizes / sizes[0]) ** -2.0
    axes[0, 0].plot(sizes, reference, "--", color="black", linewidth=0.8, label="power -2")
    plots.decades(axes[0, 0], xlabel="hidden neurons, built", ylabel="largest error")
    for place, pieces in enumerate(settings.pieces):
        mine = {f"{pieces} pieces": rows[rows["pieces"] == pieces]}
        _show.lines(axes[0, 1], mine, "modules", "error", [f"C{place}"])
    plots.decades(axes[0, 1], xlabel="modules", ylabel="largest error")
    axes[0, 1].set_xticks(settings.numbers, settings.numbers)
    kinds = {
        "built": rows[rows["modules"] == settings.modules],
        "trained": _show.trained(table)[_show.trained(table)["modules"] == settings.modules],
    }
    _show.lines(axes[0, 2], kinds, "hidden", "missed", [plots.NEUTRAL, plots.GOOD])
    plots.decades(axes[0, 2], xlabel="hidden neurons", ylabel="RMS error / spread of answers")
    axes[0, 2].set_title(f"{settings.modules} modules")
    for place in axes[0]:
        place.legend(fontsize=6.5, frameon=False)
    return picture
