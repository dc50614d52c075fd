"""Are a task's constituents linearly decodable inside a student that generalises, and lost in one that does not?

Decodability, hyperteacher: ridge probes are fitted to activations on training tasks and scored on held-out ones, layer
by layer, constituent by constituent and task by task. All students are given the constituents themselves, so what a
deep layer lacks was lost on the way. The disconnected support isolates one module: it is trained on alone, and held
out with others. Rivals of the deepest layer are the task encoding itself and the first hidden layer. The teacher's
effective weights, which are sums of constituents, are decoded as well: a column without a claim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import decoding_figure, evaluation, figures, shared, students

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
LAPTOP = Settings(seed=2, seeds=10, block=10, tasks=64, steps=1000)
GPU = Settings(**students.LARGE | {"seeds": 8, "block": 8, "counts": (32, 128, 522), "narrow": 32, "n_eval": 4096})
PAPER = replace(GPU, counts=(14, 35, 70, 174, 348, 522), **students.LONG)
VARIANTS = students.VARIANTS
DISCONNECTED, KEPT = "disconnected", 512
"""A kind of support; and the held-out tasks whose numbers a row has one by one."""
DRAWS, UNTRAINED = 4, 1000
"""How many untrained students are measured with a disconnected support, and the number of the first."""


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
    return drawn | {DISCONNECTED: rc.supports.disconnected}


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
        by_task=KEPT,
        monitor=monitor,
        label=f"width-{cell.width}",
    )
    return [row | {"count": counts.get(row["kind"])} | extra(settings, row) for row in rows]


def extra(settings: students.StudentSettings, row: dict) -> dict[str, float]:
    """R^2 of the effective weights decoded from the deepest layer; a random number; a correlation of shuffled tasks."""
    rng = rc.rng(settings.seed, "chance", row.get("condition", "untrained"), row["seed"])
    shuffled = np.nan
    if "task_r2" in row and np.isfinite(row["task_r2"]).all():
        from recombine.measures.similarity import rank_correlation

        shuffled = rank_correlation(row["task_probe"], rng.permutation(row["task_r2"]))
    return {"weights_deepest": row["weights_unseen"][-1], "chance": rng.uniform(), "task_shuffled": shuffled}


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments for students of both widths; probes of constituents themselves, and of noise."""
    task = shared.family(settings, 1)
    support, make = shared.random_support(settings, task, 0), shared.student(settings, task)
    small = [students.with_changes(settings, width=width) for width in (settings.narrow, settings.width)]
    rows = [shared.untrained(s, task, shared.student(s, task), support, width=s.width) for s in small]
    untrained = [row | extra(settings, row) for row in rows]
    read = evaluation.known_probes(settings, task, make, sides=(support, ~support), name="probe controls")
    probes = rc.control_rows(lambda r2: {"probe_deepest": r2}, read)
    return [*shared.known(settings, task, support), *probes, *untrained, *isolating(settings)]


def isolating(settings: Settings) -> list[dict]:
    """Wide students at their initial weights with a disconnected support; each has a teacher and tasks of its own."""
    found = []
    for draw in range(DRAWS):
        one = replace(settings, seed=UNTRAINED + draw)
        task = shared.family(one, 1)
        support = rc.supports.disconnected(shared.masks(task), one.held_out, shared.support_key(one, 0))
        row = shared.untrained(one, task, shared.student(one, task), support, width=one.width)
        found.append(row | {"system": figures.ISOLATED, "seed": draw})
    return found


def correlates(column: str, **bounds: float) -> rc.Check:
    """The check of a column's rank correlation with R^2 on held-out tasks over all conditions, averaged over seeds."""
    correlation = figures.explains(column, None)
    return rc.Check(f"rank correlation of {column} with r2_unseen", lambda t: correlation(t).mean(), **bounds)


def most(table: pd.DataFrame) -> dict:
    """Wide students that were trained on the most random masks."""
    return {"width": rc.networks(table)["width"].max(), "count": rc.networks(table)["count"].max()}


def fewest(table: pd.DataFrame) -> dict:
    """Wide students that were trained on the fewest masks."""
    return most(table) | {"count": rc.networks(table)["count"].min()}


def cut_off(table: pd.DataFrame) -> float:
    """How much worse held-out tasks with the isolated module are answered than those of the most random masks."""
    whole = rc.by_seed(table, "r2_unseen", **most(table))
    return float((whole - rc.by_seed(table, "r2_rarest", kind=DISCONNECTED)).mean())


def over_untrained(table: pd.DataFrame) -> pd.Series:
    """By seed, how much better wide students of the most masks are decoded than an untrained one."""
    mine = most(table)
    kept = rc.value("probe_deepest", **mine)
    return figures.over_untrained(kept, width=mine["width"])(table)


def falls(rows: pd.DataFrame) -> pd.Series:
    """By seed, the fall of the rarest module's R^2 from first to deepest layer, less the mean fall of the others."""
    rarest, mean = ((rows[f"{of}_first"] - rows[f"{of}_deepest"]).astype(float) for of in ("rarest", "probe"))
    modules = rows["constituents_first"].map(len)
    return ((rarest - mean) * modules / (modules - 1)).set_axis(rows["seed"].to_numpy())


def lost_alone(table: pd.DataFrame) -> pd.Series:
    """By seed, how much further the isolated module falls behind the others with depth than in untrained students."""
    untrained = falls(table[table["system"] == figures.ISOLATED])
    return falls(rc.pick(table, kind=DISCONNECTED)) - untrained.mean()


PROBES = (rc.reads("code", "probe_deepest", at_least=0.95), rc.reads("noise", "probe_deepest", at_most=0.05))
CONTROLS = (*PROBES, correlates("pooled_unseen", at_least=0.8), correlates("chance", at_least=-0.5, at_most=0.5))
SHUFFLED = rc.Check(
    "rank correlation of decodability with R2 over shuffled tasks, mean of all students",
    lambda t: rc.networks(t)["task_shuffled"].mean(),
    at_least=-0.1,
    at_most=0.1,
)
SOURCE, NOTE = "decodability, hyperteacher", "as a reading note of the paper has it"
claim = partial(rc.Claim, controls=PROBES)
ALONG = figures.goes_along(
    "over supports and widths",
    f"{SOURCE} (an R2 above 0.95, {NOTE})",
    least=0.3,
    controls=CONTROLS + figures.R2_CONTROLS,
)
CLAIMS = (
    *ALONG,
    figures.whichever_floor(ALONG[0]),
    claim(
        "constituents are decoded better from wide students of most masks than from untrained ones",
        "With most masks and many units, constituents of held-out tasks are decoded from the deepest hidden layer"
        " better than in an untrained student of that shape, by an R2 of more than 0.05. The paper's level is 0.95.",
        f"{SOURCE} (0.95, {NOTE}); the comparison is ours",
        effect=over_untrained,
        above=0.05,
        unit="R2 of constituents decoded from the deepest hidden layer, trained minus untrained",
        fits=(lambda t: figures.fits(**most(t))(t),),
    ),
    claim(
        "training loses the isolated module of a disconnected support with depth, though given",
        "From the first hidden layer to the deepest, the decoded R2 of a module that no training mask joins to another"
        " falls behind that of the other modules by more than 0.5 more than in untrained students.",
        f"{SOURCE}; untrained students were set against it after a look at the gpu table, in which it falls",
        effect=lost_alone,
        above=0.5,
        unit="fall of decoded R2 from first to deepest layer, isolated minus other modules, trained minus untrained",
        preconditions=(
            rc.Check(
                "least R2 of the isolated module decoded from the first hidden layer",
                lambda t: rc.by_seed(t, "rarest_first", kind=DISCONNECTED).min(),
                at_least=0.95,
            ),
            rc.Check("R2 lost on held-out tasks with the isolated module, against random masks", cut_off, at_least=0.1),
        ),
        fits=(figures.fits(kind=DISCONNECTED),),
    ),
    claim(
        "task by task, what is decoded worse is answered worse in students of few masks",
        "Among the held-out tasks of one student of the fewest masks, those whose constituents are decoded better are"
        " answered better, by a rank correlation above 0.2.",
        "decodability task by task, as the released code can compute it; the margin is ours",
        effect=lambda t: rc.by_seed(t, "task_correlation", **fewest(t)),
        above=0.2,
        unit="rank correlation over held-out tasks within a student",
        controls=(*PROBES, SHUFFLED),
        fits=(lambda t: figures.fits(**fewest(t))(t),),
    ),
)


figure = decoding_figure.figure
