"""Are a task's constituents linearly readable inside a student that generalises, and lost in one that does not?

Decodability, hyperteacher: ridge probes are fitted to activations on seen tasks and read on unseen ones, layer by
layer. All students are told the constituents themselves, so what a deep layer lacks was lost on the way. A module that
was never trained on cannot be read either; such probes score far below zero and count as -1.

The paper's disconnected support leaves one module rare as well. Beside it stands one of ours that parts the modules
into two halves, all of them common, and as many masks at random.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd

    from recombine.supports import Support


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    counts: tuple[int, ...] = (8, 16, 69)
    """numbers of training masks, the fewest for wide students alone"""
    narrow: int = 16
    """units of a narrow student's hidden layer"""
    steps: int = 900
    """updates of each student"""
    asked: int = 4096
    """tasks asked of a student afterwards, of each kind; many, since a probe must meet a rare module several times"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("narrow")
        _students.check_counts(self, self.counts)
        if self.narrow >= self.width:
            raise rc.UserError(f"narrow students must be narrower than {self.width}, got {self.narrow}")


QUICK = Settings(**_students.QUICK | {"counts": (3, 7), "narrow": 4})
LAPTOP = Settings()
GPU = Settings(
    seeds=5,
    counts=(32, 128, 522),
    narrow=32,
    width=1024,
    steps=10_000,
    learning_rate=1e-3,
    precision="bfloat16",
    **_students.FULL | {"asked": 8192},
)
PAPER = replace(GPU, seeds=10, counts=(14, 35, 70, 174, 348, 522), steps=300_000, learning_rate=3e-4, cosine=False)


PARTED, AS_MANY = "two halves", "as many at random"


@dataclass(frozen=True)
class Cell:
    """The students of one width for one block of seeds."""

    settings: Settings
    width: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    widths = (settings.narrow, settings.width)
    return [Cell(settings, width, members) for width in widths for members in _seeds.blocks(settings)]


def named(count: int) -> str:
    return f"{count} masks"


def some(count: int, masks: np.ndarray, held_out: float, key) -> np.ndarray:
    """This many masks, at random."""
    return rc.supports.random(masks, _students.holding_out(masks, count), key)


def kinds(settings: Settings, width: int) -> dict[str, Support]:
    """What students of this width are shown."""
    drawn = {named(count): partial(some, count) for count in settings.counts}
    if width == settings.narrow:
        return {name: drawn[name] for name in list(drawn)[1:]}
    return drawn | {
        "disconnected": rc.supports.disconnected,
        "non-compositional": rc.supports.non_compositional,
        PARTED: rc.supports.parted,
        AS_MANY: as_many,
    }


def as_many(masks: np.ndarray, held_out: float, key) -> np.ndarray:
    """Random masks, as many as lie within two halves of the modules."""
    return some(int(rc.supports.parted(masks, held_out, key).sum()), masks, held_out, key)


def run(cell: Cell, watch) -> list[dict]:
    settings = _students.with_changes(cell.settings, width=cell.width)
    task = _students.family(settings, max(cell.members) + 1)
    shown = kinds(cell.settings, cell.width)
    counts = {named(count): count for count in cell.settings.counts}
    who = [
        {"condition": f"{kind}, width {cell.width}", "kind": kind, "width": cell.width, "seed": seed}
        for kind in shown
        for seed in cell.members
    ]

    def support(kind: str, seed: int) -> np.ndarray:
        return shown[kind](_students.masks(task), settings.held_out, _students.support_key(settings, seed))

    rows = _students.train(
        settings,
        task,
        _students.student(settings, task),
        who=who,
        supports=[support(w["kind"], w["seed"]) for w in who],
        watch=watch,
        label=f"width-{cell.width}",
    )
    return [row | {"count": counts.get(row["kind"])} | read_off(row) for row in rows]


def read_off(row: dict) -> dict[str, float]:
    """What probes read on unseen tasks off the code, the first and the deepest hidden layer; and a random number."""
    code, first, deepest = np.maximum(np.asarray(row["probes_unseen"])[[0, 1, -1]], -1.0).tolist()
    chance = np.random.default_rng([row["seed"], zlib.crc32(row["condition"].encode())]).uniform()
    return {"probe_code": code, "probe_first": first, "probe_deepest": deepest, "chance": chance}


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments; and probes of the code itself, and of as many units that say nothing of the task."""
    import jax
    import jax.numpy as jnp

    task = _students.family(settings, 1)
    train = rc.supports.random(_students.masks(task), settings.held_out, _students.support_key(settings, 0))
    rng = np.random.default_rng([settings.seed, 2**31 - 7])
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(side), n) for side, n in ((train, settings.asked // 2), (~train, settings.asked))]
    )
    keys = jax.random.split(_seeds.test_key(settings), len(rows))
    z = np.asarray(jax.jit(jax.vmap(rc.teacher_of(task).draw))(jnp.asarray(task.combinations[rows]), keys))
    half = settings.asked // 2
    return _students.controls(settings) + [
        {
            "condition": f"control: {name}",
            "seed": 0,
            "probe_deepest": rc.decodability(a[:half], z[:half], a[half:], z[half:]),
        }
        for name, a in {"code": z, "noise": rng.normal(size=(len(z), settings.width))}.items()
    ]


def probe(table: pd.DataFrame, name: str) -> float:
    """What a probe reads off a made-up layer."""
    return float(rc.by_seed(table, "probe_deepest", condition=f"control: {name}").iloc[0])


def correlations(table: pd.DataFrame, column: str) -> pd.Series:
    """For each seed, the rank correlation of a column with R^2 on unseen tasks, over all conditions."""
    rows = _show.trained(table)[["seed", column, "r2_unseen"]].dropna()

    def of(seed: int) -> float:
        mine = rows[rows["seed"] == seed]
        return rc.rank_correlation(mine[column], mine["r2_unseen"]) if len(mine) > 2 else float("nan")

    seeds = _show.trained(table)["seed"].drop_duplicates().sort_values()
    return seeds.map(of).set_axis(seeds)


def first_asked(table: pd.DataFrame) -> pd.DataFrame:
    """The conditions for which the correlation was stated; those of ours came later, and would change it."""
    return table[~table["kind"].isin((PARTED, AS_MANY))]


def over_students(table: pd.DataFrame, column: str, draws: int = 1000) -> tuple[float, float, float]:
    """The correlation over all students at once, with the 95 % interval of a bootstrap over conditions."""
    return rc.grouped_correlation(_show.trained(table), "condition", column, "r2_unseen", draws=draws)


def most(table: pd.DataFrame) -> dict:
    """The condition that should compose: wide students with the most random masks."""
    return {"width": table["width"].max(), "count": table["count"].max()}


def spread(table: pd.DataFrame) -> float:
    """How far the best and the worst student of a seed are apart on unseen tasks, in the seed where they are least."""
    by = _show.trained(table).groupby("seed")["r2_unseen"]
    return float((by.max() - by.min()).min())


PROBES = (
    rc.Check("constituents are read off themselves", lambda t: probe(t, "code"), at_least=0.95),
    rc.Check("nothing is read off noise", lambda t: 0.05 - probe(t, "noise"), at_least=0.0),
)
CONTROLS = (
    *PROBES,
    rc.Check("R2 counted otherwise goes with R2", lambda t: correlations(t, "pooled_unseen").mean(), at_least=0.8),
    rc.Check("a random number tells nothing", lambda t: 0.5 - abs(correlations(t, "chance").mean()), at_least=0.0),
)
CLAIMS = (
    rc.Claim(
        "what can be read off goes with generalising",
        "The better the constituents can be read off the deepest hidden layer, the better unseen tasks are answered.",
        "decodability, hyperteacher (a correlation above 0.95)",
        effect=lambda t: correlations(first_asked(t), "probe_deepest"),
        margin=0.7,
        unit="rank correlation of the two R2, over conditions",
        preconditions=(
            rc.Check("in every seed some generalise and some do not: R2 differ by 0.3 or more", spread, at_least=0.3),
        ),
        controls=CONTROLS + _show.R2_CONTROLS,
    ),
    rc.Claim(
        "composing students keep the constituents",
        "With most masks and many units, the constituents of unseen tasks can be read off the deepest hidden layer.",
        "decodability, hyperteacher",
        effect=lambda t: rc.by_seed(t, "probe_deepest", **most(t)),
        margin=0.8,
        unit="R2 of constituents read off the deepest hidden layer",
        preconditions=(
            rc.Check(
                "with most masks and many units: R2 on tasks it was shown is at least 0.9",
                lambda t: rc.by_seed(t, "r2_seen", **most(t)).min(),
                at_least=0.9,
            ),
        ),
        controls=PROBES,
    ),
    rc.Claim(
        "failing ones lose them though told",
        "Where no mask links a module to the others, its presence is read off the first hidden layer but not the last.",
        "decodability, hyperteacher",
        effect=lambda t: (
            rc.by_seed(t, "probe_first", kind="disconnected") - rc.by_seed(t, "probe_deepest", kind="disconnected")
        ),
        margin=0.3,
        unit="R2 of constituents read off, first hidden layer minus deepest, disconnected support",
        preconditions=(
            rc.Check(
                "they can be read off the code: R2 is at least 0.95",
                lambda t: rc.by_seed(t, "probe_code", kind="disconnected").min(),
                at_least=0.95,
            ),
            _show.fitted(0.9, kind="disconnected"),
        ),
        controls=PROBES,
    ),
    rc.Claim(
        "a cut is enough, though no module is rare",
        "Where no mask links two halves of the modules, less of the constituents of unseen tasks (all across halves)"
        " can be read off the deepest hidden layer than after as many masks at random (unseen tasks of any kind).",
        "ours; stated before any run",
        effect=lambda t: rc.by_seed(t, "probe_deepest", kind=AS_MANY) - rc.by_seed(t, "probe_deepest", kind=PARTED),
        margin=0.1,
        unit="R2 of constituents read off the deepest hidden layer, as many masks at random minus two halves",
        preconditions=(_show.fitted(0.9, kind=[PARTED, AS_MANY]),),
        controls=PROBES,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """What is read off each layer in every condition, and the deepest layer's against R^2 on unseen tasks."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.5, 3.9), layout="constrained")
    left, right = picture.subplots(1, 2)
    rows = _show.trained(table)
    best_first = rows.groupby("condition")["r2_unseen"].mean().sort_values(ascending=False).index
    for place, condition in enumerate(best_first):
        mine = rows[rows["condition"] == condition]
        _show.by_layer(left, mine, f"C{place}", condition)
        right.plot(mine["probe_deepest"], mine["r2_unseen"], "o", color=f"C{place}", alpha=0.7, markersize=4)
    left.set_ylabel("R2 of constituents read off, unseen tasks")
    left.set_xticks(range(settings.depth + 1))
    left.legend(fontsize=6, frameon=False, loc="lower left", ncols=2)
    whole, low, high = over_students(table, "probe_deepest")
    seeds = correlations(first_asked(table), "probe_deepest").mean()
    right.set(xlabel="R2 of constituents read off the deepest hidden layer", ylabel="R2 on unseen tasks")
    right.set_title(
        f"a dot is a student; rank correlation {seeds:.2f} within a seed\n"
        f"(the paper's conditions), {whole:.2f} [{low:.2f}, {high:.2f}] over all"
    )
    return picture
