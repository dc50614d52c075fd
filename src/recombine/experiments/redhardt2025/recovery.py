"""If a student answers rightly, can the constituents be recovered from what it was told?

Theorem 4.1 (known second-hand): a model that is right with probability 1 - d allows a decoder that recovers the
constituents from the encoding with probability 1 - sqrt(d). `theory/recovery.py` has the statement, with the premise
that our proof of it needs. Students of few and of many masks are asked many inputs in the encodings of held-out tasks;
the decoder knows the teacher, and compares. It chooses among tasks that are far apart, as the premise asks, or among
all. Beside students stand made-up models: wrong anywhere, or where it hurts most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, made_up_models, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithPrecision):
    counts: tuple[int, ...] = (16, 69)
    """numbers of training masks"""
    steps: int = 2400
    """updates of each student"""
    inputs: int = 64
    """inputs that the decoder asks in each encoding"""
    pool: int = 128
    """held-out tasks that are asked, at most"""
    candidates: int = 12
    """those of them that are far apart, among which the decoder of the theorem chooses"""
    tolerance: float = 0.2
    """answers that are off by less, in standard deviations of all answers, are right; set by whether
    students of two other seeds meet the premise"""
    wrong: tuple[float, ...] = (0.01, 0.03, 0.08, 0.2, 0.3)
    """shares of wrong answers of made-up models"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("inputs", "pool", "candidates")
        self.need_rates("tolerance")
        students.check_counts(self, self.counts)
        if not self.wrong or not all(0 < share < 1 for share in self.wrong):
            raise rc.UserError(f"shares of wrong answers lie between 0 and 1, got {self.wrong}")


QUICK = Settings(**students.QUICK | {"counts": (3, 7), "inputs": 16})
LAPTOP = Settings(tasks=64, seed=2, seeds=6, block=6)
GPU = Settings(**students.LARGE | {"counts": (32, 128, 522), "candidates": 24})
PAPER = replace(GPU, **students.LONG)
VARIANTS = (rc.Variant("tolerance 0.3", "which answers count as right is our choice", tolerance=0.3),)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def questions(settings: Settings, task: rc.Task, seed: int, held_out: np.ndarray) -> tuple[np.ndarray, ...]:
    """One task for each of some held-out masks, z; inputs x that all share; and the teacher's answers."""
    import jax
    import jax.numpy as jnp

    rng, teacher = rc.rng(settings.seed, "recovery", seed), rc.teacher_of(task)
    rows = rng.permutation(np.flatnonzero(held_out))[: settings.pool]
    masks = shared.masks(task)[rows]
    z = np.where(masks > 0, rng.integers(5, 11, masks.shape) / 10, 0.0).astype(np.float32)
    x = rng.uniform(-1, 1, (settings.inputs, settings.size)).astype(np.float32)
    y = jax.jit(jax.vmap(teacher.teach, (None, 0, None)))(seed, jnp.asarray(z), jnp.asarray(x))
    return z, x, np.asarray(y)


@cache
def _answering():
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    @eqx.filter_jit
    def answer(model, z, x):
        def one(code):
            return model(jnp.concatenate([jnp.broadcast_to(code, (len(x), len(code))), x], axis=1))[0]

        return jax.lax.map(one, z)

    return answer


def run(cell: rc.Cell, monitor) -> list[dict]:
    import equinox as eqx
    import jax

    settings = cell.settings
    task = shared.family(students.with_changes(settings, students.WithPrecision), max(cell.members) + 1)
    who = [{"condition": f"{n} masks", "count": n, "seed": s} for n in settings.counts for s in cell.members]
    supports = [shared.counted_support(settings, task, w["count"], w["seed"]) for w in who]
    seeds, make = [w["seed"] for w in who], shared.student(settings, task)
    sides = [shared.of_teachers(task, seeds, part) for part in (supports, [~some for some in supports])]
    run = shared.fit(
        settings, task, make, batch=settings.tasks, seeds=seeds, chosen=sides[0], monitor=monitor, label="students"
    )
    found = []
    for i, (w, support, *pair) in enumerate(
        zip(who, supports, *shared.evaluated(settings, task, make, run.model, sides), strict=True)
    ):
        monitor.recorded(f"{w['count']}-{w['seed']}", pair[1])
        z, x, y = questions(settings, task, w["seed"], ~support)
        model = jax.tree.map(lambda a, i=i: a[i] if eqx.is_array(a) else a, run.model)
        y_hat = np.nan_to_num(np.asarray(_answering()(model, z, x)))
        found.append(
            shared.answered(settings, task, (w["seed"], support), *pair) | made_up_models.asked(settings, y, y_hat)
        )
    return rc.rows(run, who, found)


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, beside the most masks; and made-up models of every seed's teacher."""
    small = students.with_changes(settings, students.WithPrecision)
    task, rows = shared.family(small, settings.seeds), []
    for seed in range(settings.seeds):
        support = shared.counted_support(settings, task, settings.counts[-1], seed)
        _, _, y = questions(settings, task, seed, ~support)
        rows += made_up_models.rows(settings, seed, y)
    first = shared.family(small, 1)
    support = shared.counted_support(settings, first, settings.counts[-1], 0)
    untrained = shared.untrained(small, first, shared.student(small, first), support)
    return [*shared.known(small, first, support), untrained, *rows]


MADE_UP = (made_up_models.ANYWHERE, made_up_models.HURTS)


def models(table: pd.DataFrame, *systems: str, premise: bool) -> pd.DataFrame:
    """Students and made-up models, or those of some systems, that meet the premise, or that do not."""
    rows = rc.pick(table, system=systems or ["network", *MADE_UP])
    return rows[(rows["premise"] > 0) == premise]


def kept(table: pd.DataFrame, *systems: str) -> pd.Series:
    """By seed, the share of models that meet the premise and let as many tasks be recovered as promised."""
    rows = models(table, *systems, premise=True)
    return (rows["excess"] > -1e-9).astype(float).groupby(rows["seed"]).mean()


def worst(table: pd.DataFrame) -> pd.Series:
    """By seed, the least that the share recovered is above the promise, of models wrong where tasks are alike."""
    return models(table, made_up_models.HURTS, premise=False).groupby("seed")["excess"].min()


def most(table: pd.DataFrame) -> dict[str, Any]:
    return {"count": rc.networks(table)["count"].max()}


THEOREM = "theorem 4.1 (by a reading note; its premise is that of our proof, of which this is a check)"


def promise(who: str, least: int, wrong: float, *systems: str) -> rc.Claim:
    """The claim that models of some systems keep the theorem's promise, if so many meet its premise and one errs."""
    return figures.claim(
        f"{who} that meet the premise of theorem 4.1 let as many tasks be recovered as it promises",
        "Where a model is wrong on a share d of the answers, and any two tasks differ on more than 2 sqrt(d) of the"
        " inputs, at least a share 1 - sqrt(d) of the tasks is recovered.",
        THEOREM,
        effect=lambda t: kept(t, *systems),
        above=0.99,
        unit="share of models that meet the premise and keep the promise",
        preconditions=(
            rc.Check(f"{who} that meet the premise", lambda t: len(models(t, *systems, premise=True)), at_least=least),
            rc.Check(
                "largest share of wrong answers among them",
                lambda t: models(t, *systems, premise=True)["wrong"].max(),
                at_least=wrong,
            ),
        ),
    )


CLAIMS = (
    promise("trained students", 5, 0.001, "network"),
    promise("made-up models", 10, 0.01, *MADE_UP),
    figures.claim(
        "without the premise of theorem 4.1 fewer tasks than it promises can be recovered",
        "Where some tasks are too much alike, a model that is wrong on these alone lets fewer than 1 - sqrt(d) be"
        " recovered, by a share of more than 0.02.",
        "ours: the theorem needs a premise on how far tasks are apart",
        effect=worst,
        below=-0.02,
        unit="share of tasks recovered minus 1 - sqrt(d), the least of these models",
    ),
    figures.claim(
        "held-out tasks are recovered from the answers of students of most masks",
        "From the answers of students of most masks, more than 0.95 of the held-out tasks can be told from all the"
        " others, also from those that resemble them.",
        "ours, after theorem 4.1, which recovers tasks from their encoding (by a reading note)",
        effect=lambda t: rc.by_seed(t, "recovered_all", **most(t)),
        above=0.95,
        unit="share of held-out tasks recovered, chosen among all",
        fits=(lambda t: figures.fits(**most(t))(t),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The share of tasks recovered against the share of wrong answers, with what the theorem promises.

    Students are the large markers, on top of the made-up models. The axis is logarithmic from 0.001 on.
    """
    picture, axes = rc.plots.panels(rows=1, columns=1, side=4.6)
    place = axes[0, 0]
    looks = {name: ("o", f"C{3 + i}", 3.5, 2) for i, name in enumerate(MADE_UP)}
    groups = {name: rc.pick(table, system=name) for name in MADE_UP}
    for i, (name, some) in enumerate(rc.networks(table).groupby("condition", sort=False)):
        groups[str(name)], looks[str(name)] = some, ("Ds^vP"[i % 5], f"C{i % 3}", 8.5 - 1.5 * (i % 3), 4 + i)
    for name, (mark, colour, size, order) in looks.items():
        some = groups[name].dropna(subset=["wrong"])
        for met, fill in ((True, colour), (False, "none")):
            mine = some[(some["premise"] > 0) == met]
            how = {"markeredgecolor": "black" if met and order > 2 else colour, "markeredgewidth": 0.8}
            how |= {"markerfacecolor": fill, "markersize": size, "zorder": order}
            place.plot(mine["wrong"], mine["recovered"], mark, **how)
        label = f"student, {name}" if order > 2 else f"made up, {name}"
        place.plot([], [], mark, color=colour, markersize=size, label=label)
    d = np.concatenate([[0.0], np.geomspace(1e-4, 1, 200)])
    place.plot(d, 1 - np.sqrt(d), "--", color=rc.plots.BAD, linewidth=0.9, label="promised: 1 - sqrt(d)")
    place.set_xscale("symlog", linthresh=1e-3, linscale=0.4)
    ticks = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1)
    place.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    place.minorticks_off()
    place.set(xlabel="share d of wrong answers", ylabel="share of tasks recovered", xlim=(-1e-4, 1.1))
    place.set_title("filled: the premise is met")
    figures.legend(place, loc="lower left")
    return picture
