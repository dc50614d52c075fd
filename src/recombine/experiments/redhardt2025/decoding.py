"""Are a task's constituents linearly decodable inside a student that generalises, and lost in one that does not?

Decodability, hyperteacher: ridge probes are fitted to activations on training tasks and scored on held-out ones, layer
by layer. All students are given the constituents themselves, so what a deep layer lacks was lost on the way. A module
that was never trained on cannot be decoded either; such probes score far below zero, and are plotted as -1.

The paper's disconnected support leaves one module rare as well. Beside it stands one of ours that parts the modules
into two halves, all of them common, and as many masks at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared, students

if TYPE_CHECKING:
    import pandas as pd

    from recombine.splits.modules import Support


@dataclass(frozen=True, kw_only=True)
class Settings(students.StudentSettings):
    counts: tuple[int, ...] = (8, 16, 69)
    """numbers of training masks, the fewest for wide students alone"""
    narrow: int = 16
    """units of a narrow student's hidden layer"""
    steps: int = 900
    """updates of each student"""
    n_eval: int = 4096
    """tasks on which a student is evaluated, of each kind; many, as a probe must meet a rare module several times"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("narrow")
        students.check_counts(self, self.counts)
        if self.narrow >= self.width:
            raise rc.UserError(f"narrow students must be narrower than {self.width}, got {self.narrow}")


QUICK = Settings(**students.QUICK | {"counts": (3, 7), "narrow": 4})
LAPTOP = Settings()
GPU = Settings(**students.LARGE | {"counts": (32, 128, 522), "narrow": 32, "n_eval": 8192})
PAPER = replace(GPU, counts=(14, 35, 70, 174, 348, 522), **students.LONG)
PARTED, AS_MANY = "two halves", "as many at random"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"width": width} for width in (settings.narrow, settings.width)])


def some(count: int, masks: np.ndarray, held_out: float, key) -> np.ndarray:
    """This many masks, at random."""
    return rc.supports.random(masks, shared.holding_out(masks, count), key)


def kinds(settings: Settings, width: int) -> dict[str, Support]:
    """What students of this width are trained on."""
    drawn = {f"{count} masks": partial(some, count) for count in settings.counts}
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


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = students.with_changes(cell.settings, width=cell.width)
    task = shared.family(settings, max(cell.members) + 1)
    shown = kinds(cell.settings, cell.width)
    counts = {f"{count} masks": count for count in cell.settings.counts}
    who = [
        {"condition": f"{kind}, width {cell.width}", "kind": kind, "width": cell.width, "seed": seed}
        for kind in shown
        for seed in cell.members
    ]

    def support(kind: str, seed: int) -> np.ndarray:
        return shown[kind](shared.masks(task), settings.held_out, shared.support_key(settings, seed))

    rows = shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=who,
        supports=[support(w["kind"], w["seed"]) for w in who],
        monitor=monitor,
        label=f"width-{cell.width}",
    )
    return [row | {"count": counts.get(row["kind"])} | decoded(settings, row) for row in rows]


def decoded(settings: students.StudentSettings, row: dict) -> dict[str, float]:
    """R^2 of probes of the task encoding, of the first and of the deepest hidden layer; and a random number."""
    code, first = row["probes_unseen"][:2]
    chance = rc.rng(settings.seed, "chance", row.get("condition", "untrained"), row["seed"]).uniform()
    return {"probe_code": code, "probe_first": first, "probe_deepest": shared.deepest(row), "chance": chance}


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments for students of both widths; probes of constituents themselves, and of noise."""
    import jax
    import jax.numpy as jnp

    task, half = shared.family(settings, 1), settings.n_eval // 2
    support = shared.random_support(settings, task, 0)
    rng = rc.rng(settings.seed, "probe controls")
    rows = [rng.choice(np.flatnonzero(side), n) for side, n in ((support, half), (~support, settings.n_eval))]
    picked = jnp.asarray(task.combinations[np.concatenate(rows)])
    keys = jax.random.split(rc.key(settings.seed, "probe controls"), len(picked))
    z = np.asarray(jax.jit(jax.vmap(rc.teacher_of(task).draw))(picked, keys))
    systems = {"code": z, "noise": rng.normal(size=(len(z), settings.width))}
    probed = rc.control_rows(
        lambda a: {"probe_deepest": rc.decodability(a[:half], z[:half], a[half:], z[half:])}, systems
    )
    small = [students.with_changes(settings, width=width) for width in (settings.narrow, settings.width)]
    untrained = [shared.untrained(s, task, shared.student(s, task), support, width=s.width) for s in small]
    untrained = [row | decoded(settings, row) for row in untrained]
    return [*shared.known(settings, task, support), *probed, *untrained]


def first_asked(table: pd.DataFrame) -> pd.DataFrame:
    """The conditions for which the correlation was stated; those of ours came later, and would change it."""
    rows = rc.networks(table)
    return rows[~rows["kind"].isin((PARTED, AS_MANY))]


CORRELATION = rc.correlation_by_seed("probe_deepest", "r2_unseen", among=first_asked)


def correlates(column: str, **bounds: float) -> rc.Check:
    """The check of a column's rank correlation with R^2 on held-out tasks over all conditions, averaged over seeds."""
    correlation = rc.correlation_by_seed(column, "r2_unseen")
    return rc.Check(f"rank correlation of {column} with r2_unseen", lambda t: correlation(t).mean(), **bounds)


def composing(table: pd.DataFrame) -> dict:
    """The students that should compose: wide ones with the most random masks."""
    return {"width": rc.networks(table)["width"].max(), "count": rc.networks(table)["count"].max()}


def spread(table: pd.DataFrame) -> float:
    """How far the best and the worst student of a seed are apart on held-out tasks, where they are least."""
    by = rc.networks(table).groupby("seed")["r2_unseen"]
    return float((by.max() - by.min()).min())


PROBES = (rc.reads("code", "probe_deepest", at_least=0.95), rc.reads("noise", "probe_deepest", at_most=0.05))
CONTROLS = (*PROBES, correlates("pooled_unseen", at_least=0.8), correlates("chance", at_least=-0.5, at_most=0.5))
claim = partial(rc.Claim, controls=PROBES)
CLAIMS = (
    claim(
        "constituents are better decodable where students generalise",
        "The better constituents can be decoded from the deepest hidden layer, the better held-out tasks are answered.",
        "decodability, hyperteacher (an R2 above 0.95, by a reading note; here a rank correlation)",
        effect=CORRELATION,
        above=0.7,
        unit="rank correlation of the two R2, over conditions",
        preconditions=(rc.Check("least range of R2 on held-out tasks within a seed", spread, at_least=0.3),),
        controls=CONTROLS + figures.R2_CONTROLS,
    ),
    claim(
        "composing students keep the constituents",
        "With most masks and many units, constituents of held-out tasks can be decoded from the deepest hidden layer.",
        "decodability, hyperteacher",
        effect=lambda t: rc.by_seed(t, "probe_deepest", **composing(t)),
        above=0.8,
        unit="R2 of constituents decoded from the deepest hidden layer",
        fits=(lambda t: figures.fits(**composing(t))(t),),
    ),
    claim(
        "students of a disconnected support lose constituents with depth",
        "Where no mask links a module to the others, constituents (the mean over all modules) are decoded worse from"
        " the deepest hidden layer than from the first, by more than 0.3.",
        "decodability, hyperteacher (ours: the paper speaks of one module, this is the mean over all)",
        effect=lambda t: (
            rc.by_seed(t, "probe_first", kind="disconnected") - rc.by_seed(t, "probe_deepest", kind="disconnected")
        ),
        above=0.3,
        unit="mean R2 of decoded constituents, first hidden layer minus deepest, disconnected support",
        preconditions=(
            rc.Check(
                "R2 of constituents decoded from the task encoding, disconnected support",
                lambda t: rc.by_seed(t, "probe_code", kind="disconnected").min(),
                at_least=0.95,
            ),
        ),
        fits=(figures.fits(kind="disconnected"),),
    ),
    claim(
        "two unlinked halves lower decodability, though no module is rare",
        "Where no mask links two halves of the modules, the constituents of held-out tasks (all across halves) are"
        " decoded worse from the deepest hidden layer than after as many masks at random (held-out tasks of any kind).",
        "ours; stated before any run",
        effect=rc.difference("probe_deepest", AS_MANY, PARTED, by="kind"),
        above=0.1,
        unit="R2 of constituents decoded from the deepest hidden layer, as many masks at random minus two halves",
        fits=(figures.fits(kind=[PARTED, AS_MANY]),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 of probes of each layer in every condition, and of the deepest against R^2 on held-out tasks."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = picture.subplots(1, 2)
    rows = rc.networks(table)
    best_first = rows.groupby("condition")["r2_unseen"].mean().sort_values(ascending=False).index
    for place, condition in enumerate(best_first):
        mine = rows[rows["condition"] == condition]
        figures.by_layer(left, mine, f"C{place}", condition)
        x = mine["probe_deepest"].clip(lower=-1)
        right.plot(x, mine["r2_unseen"], "o", color=f"C{place}", alpha=0.7, markersize=4)
    left.set_ylabel("R2 of decoded constituents, held-out tasks")
    left.set_xticks(range(settings.depth + 1))
    figures.legend(picture, loc="outside lower center", ncols=5)
    whole, low, high = rc.grouped_correlation(rows, "condition", "probe_deepest", "r2_unseen")
    right.set(xlabel="R2 of constituents decoded from the deepest hidden layer", ylabel="R2 on held-out tasks")
    right.set_title(
        f"one dot per student; rank correlation {CORRELATION(table).mean():.2f} within a seed\n"
        f"(the paper's conditions), {whole:.2f} [{low:.2f}, {high:.2f}] over all"
    )
    return picture
