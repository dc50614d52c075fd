"""Does computing in half the precision change what students of this paper do, also where they fail?

Ours. Students are trained once in float32 (whose products a GPU rounds to TF32) and once in bfloat16 with first moments
in bfloat16, as the other `gpu` tiers are: with random masks, with few of them, and with a disconnected support, whose
outcomes vary most. The two precisions of a seed share their teacher, initial weights and data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared, students

if TYPE_CHECKING:
    import pandas as pd

EXACT, HALF = "float32", "bfloat16"
RANDOM, FEW, DISCONNECTED = "random", "few", "disconnected"
KINDS = (RANDOM, FEW, DISCONNECTED)


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithHeldOut):
    few: int = 12
    """training masks where they are few"""
    others: int = 8
    """seeds of the supports that are not disconnected, whose outcomes vary less"""
    tasks: int = 64
    """tasks per step"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("others")
        whole = students.total(self.modules, self.max_active)
        students.check_counts(self, (self.few, round((1 - self.held_out) * whole)))


QUICK = Settings(**students.QUICK | {"few": 4})
LAPTOP = Settings(seed=2, seeds=24, block=24, steps=700, others=6)
_LARGE: dict[str, Any] = {name: value for name, value in students.LARGE.items() if name != "precision"}
GPU = Settings(**_LARGE | {"seeds": 24, "block": 8, "steps": 3000, "few": 32, "tasks": 128})
PAPER = replace(GPU, others=24, **students.LONG | {"seeds": 24})


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"precision": name} for name in (HALF, EXACT)])


def supports(settings: Settings, task: rc.Task, seed: int) -> dict[str, np.ndarray]:
    """The training masks of a seed, by kind."""
    masks, key = shared.masks(task), shared.support_key(settings, seed)
    return {
        RANDOM: shared.random_support(settings, task, seed),
        FEW: shared.counted_support(settings, task, settings.few, seed),
        DISCONNECTED: rc.supports.disconnected(masks, settings.held_out, key),
    }


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = students.with_changes(cell.settings, precision=cell.precision)
    task = shared.family(settings, max(cell.members) + 1)
    who = [
        {"condition": f"{kind}, {cell.precision}", "kind": kind, "precision": cell.precision, "seed": seed}
        for kind in KINDS
        for seed in cell.members
        if kind == DISCONNECTED or seed < cell.settings.others
    ]
    return shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=who,
        supports=[supports(cell.settings, task, w["seed"])[w["kind"]] for w in who],
        monitor=monitor,
        label=cell.precision,
    )


controls = shared.controls


def floored(table: pd.DataFrame) -> pd.DataFrame:
    """The table with each decoded constituent counted as 0 where its R^2 is lower: one at -3 would decide a mean."""
    rows = rc.networks(table)
    return rows.assign(probe_deepest=figures.floored(rows, "probe_deepest", figures.FLOOR))


def moved(column: str, kinds: Sequence[str]):
    """By seed, a column in half the precision minus that in float32, one column per kind of support."""
    return rc.each({kind: rc.difference(column, HALF, EXACT, by="precision", kind=kind) for kind in kinds})


def alike(where: str, kinds: Sequence[str]) -> list[rc.Claim]:
    """The claims that both precisions answer alike, and are decoded alike, with some kinds of support."""
    claim = partial(
        figures.claim,
        source="ours; differences of this size would turn few verdicts: some margins elsewhere are as small",
        fits=(rc.each({kind: figures.fits(kind=kind) for kind in kinds}),),
        over="supports",
    )
    return [
        claim(
            f"bfloat16 answers held-out combinations as float32 does {where}",
            f"Computed in bfloat16, R2 on held-out tasks is that of float32 on average, within 0.02, {where}.",
            effect=moved("r2_unseen", kinds),
            above=-0.02,
            below=0.02,
            unit="R2 on held-out tasks, bfloat16 minus float32",
        ),
        claim(
            f"constituents are decoded in bfloat16 as in float32 {where}",
            "Computed in bfloat16, R2 of constituents decoded from the deepest layer, each counted as 0 where lower, is"
            f" that of float32 on average, within 0.05, {where}.",
            effect=lambda t: moved("probe_deepest", kinds)(floored(t)),
            above=-0.05,
            below=0.05,
            unit="R2 of constituents decoded from the deepest layer, bfloat16 minus float32",
        ),
    ]


CLAIMS = (
    *alike("with random masks, also with few of them", (RANDOM, FEW)),
    *alike("with a disconnected support, where students fail", (DISCONNECTED,)),
    figures.claim(
        "bfloat16 answers held-out combinations with the isolated module as float32 does",
        "Computed in bfloat16, R2 on held-out tasks that hold the isolated module of a disconnected support is that of"
        " float32 on average, within 0.02.",
        "ours; stated after a look at the gpu table: these tasks are what fails there",
        effect=rc.difference("r2_rarest", HALF, EXACT, by="precision", kind=DISCONNECTED),
        above=-0.02,
        below=0.02,
        unit="R2 on held-out tasks with the isolated module, bfloat16 minus float32",
        fits=(figures.fits(kind=DISCONNECTED),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out tasks and of decoded constituents in both precisions, one dot per seed and support."""
    picture, axes = rc.plots.panels(rows=1, columns=2, side=3.4)
    rows = floored(table)
    for place, column, name in (
        (axes[0, 0], "r2_unseen", "R2 on held-out tasks"),
        (axes[0, 1], "probe_deepest", "R2 of constituents (0 where lower)"),
    ):
        for colour, kind in enumerate(KINDS):
            both = rows[rows["kind"] == kind].pivot_table(index="seed", columns="precision", values=column)
            if {EXACT, HALF} <= set(both):
                place.plot(both[EXACT], both[HALF], "o", color=f"C{colour}", alpha=0.7, markersize=4, label=kind)
        place.axline((0.5, 0.5), slope=1, color=rc.plots.BAD, linestyle=":", linewidth=0.9)
        place.set(xlabel=f"{name}, {EXACT}", ylabel=f"{name}, {HALF}")
    figures.legend(axes[0, 0])
    return picture
