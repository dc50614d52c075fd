"""What does a decoder draw in the hole: the truth, or the sum of what it remembers of x and of y?

Fig. 1d,e and Fig. 8: a network that fails in the hole superposes memories that share one factor, so that its answers
are alike when x OR y agree; one that composes draws answers that are alike when x AND y agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, Cell, learnt, train_conditions
from recombine.experiments.liang2025.stripes import Settings as StripeSettings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(StripeSettings):
    steps: int = 800
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
GPU = Settings(seeds=8, block=8, steps=3125, learning_rate=1e-3, **FULL)
PAPER = Settings(seeds=20, steps=12500, learning_rate=1e-3, cosine=False, **FULL)


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings = cell.settings
    trained, rows = train_conditions(cell, (DONUT, STRIPES), watch)
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=_seeds.test_key(settings))
    return [
        row | kinship(settings, _hole.bright(settings, a), row["seed"]) for row, a in zip(rows, answers, strict=True)
    ]


def kinship(settings: StripeSettings, answer: rc.Record, seed: int) -> dict:
    """Of the answers in the interior: correlations with sums of memories, and which kernel their likeness follows."""
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    sums = rc.memory_superposition(answer, region.train)
    score = rc.superposition_score(answer.where(inside), sums[inside], np.random.default_rng(seed))
    likeness = rc.cosine_matrix(answer.y_hat[inside], answer.y_hat[region.train])
    cells, known, soft = answer.z[inside], answer.z[region.train], rc.near(settings.sigma)
    kernel = rc.cosine_matrix(answer.y_hat, answer.y_hat)
    return {
        **score._asdict(),
        "schmidt_rank": float(rc.effective_rank(rc.schmidt_values(kernel, answer.z))),
        "pf": rc.pf_coefficient(kernel, answer.z),
        "or_agreement": rc.agreement(likeness, rc.or_kernel(cells, known, soft)),
        "and_agreement": rc.agreement(likeness, rc.and_kernel(cells, known, soft)),
        "sums": sums[_hole.probes(inside)],
    }


def controls(settings: Settings) -> list[dict]:
    """The same measures on a perfect solver, one fixed answer, and a memoriser that superposes in the hole alone."""
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    truth = _hole.bright(settings, rc.truth(task, z, key=_seeds.test_key(settings)))
    region = rc.square(z, settings.low, settings.high)
    sums = rc.memory_superposition(truth, region.train)
    memoriser = truth.answering(np.where(region.train[:, None, None], truth.y, sums))
    fixed = rc.blind(truth, int(_hole.probes(rc.interior(region, settings.rim))[1]))
    systems = {"perfect": truth, "superposition": memoriser, "blind": fixed}
    return [
        {
            "condition": f"control: {name}",
            "seed": 0,
            "samples": s.y_hat[_hole.probes(rc.interior(region, settings.rim))],
        }
        | kinship(settings, s, 0)
        for name, s in systems.items()
    ]


def gap(table: pd.DataFrame, condition: str, first: str, second: str) -> pd.Series:
    return rc.by_seed(table, first, condition=condition) - rc.by_seed(table, second, condition=condition)


def reads(system: str, first: str, second: str, at_least: float) -> rc.Check:
    says = f"{first} exceeds {second} by {at_least:g} for the control {system}"
    return rc.Check(says, lambda t: float(gap(t, f"control: {system}", first, second).iloc[0]), at_least)


SUM_CONTROLS = (
    reads("superposition", "r_sum", "r_shuffled", 0.1),
    rc.Check(
        "one fixed answer is no more like its own sum than like another's",
        lambda t: 0.05 - float(gap(t, "control: blind", "r_sum", "r_shuffled").abs().iloc[0]),
        at_least=0.0,
    ),
)
TRUTH_CONTROLS = (reads("superposition", "r_sum", "r_truth", 0.3), reads("perfect", "r_truth", "r_sum", 0.3))

RANKS = (
    rc.Check(
        "the truth's kernel factorises", lambda t: 1.1 - _show.control("perfect", "schmidt_rank", t), at_least=0.0
    ),
    rc.Check(
        "a superposing memoriser's does not",
        lambda t: _show.control("superposition", "schmidt_rank", t),
        at_least=1.3,
    ),
)

CLAIMS = (
    rc.Claim(
        "the failure is a superposition",
        "What the failing network draws in the hole is the sum of its memories that share x and those that share y.",
        "Fig. 1d; section 3.2",
        effect=lambda t: gap(t, DONUT, "r_sum", "r_shuffled"),
        margin=0.1,
        unit="correlation with its own sum of memories, minus with another cell's",
        preconditions=(learnt(DONUT),),
        controls=SUM_CONTROLS,
    ),
    rc.Claim(
        "it is not the truth",
        "The failing network's answers resemble sums of memories and not the bump that was asked for.",
        "Fig. 1d",
        effect=lambda t: gap(t, DONUT, "r_sum", "r_truth"),
        margin=0.3,
        unit="correlation with the sum of memories, minus with the truth",
        preconditions=(learnt(DONUT),),
        controls=TRUTH_CONTROLS,
    ),
    rc.Claim(
        "composing is the opposite",
        "A network trained with stripes draws the truth in the hole and not a sum of memories.",
        "section 4.2 (by contrast)",
        effect=lambda t: gap(t, STRIPES, "r_truth", "r_sum"),
        margin=0.3,
        unit="correlation with the truth, minus with the sum of memories",
        preconditions=(learnt(STRIPES),),
        controls=TRUTH_CONTROLS,
    ),
    rc.Claim(
        "the failing kernel is OR-like",
        "Answers in the hole are like training answers that share x or y, more so in the failing network.",
        "Fig. 1e; Fig. 8",
        effect=lambda t: (
            rc.by_seed(t, "or_agreement", condition=DONUT) - rc.by_seed(t, "or_agreement", condition=STRIPES)
        ),
        margin=0.1,
        unit="agreement of answers' cosines with the soft OR kernel, donut minus stripes",
        preconditions=(learnt(DONUT), learnt(STRIPES)),
        controls=(
            rc.Check(
                "the superposing control agrees more with OR than the perfect solver, by 0.1",
                lambda t: (
                    _show.control("superposition", "or_agreement", t) - _show.control("perfect", "or_agreement", t)
                ),
                at_least=0.1,
            ),
        ),
    ),
    rc.Claim(
        "the failing kernel factorises less",
        "As a sum of products of one-part kernels, the kernel of the failing network needs more terms.",
        "eq. 1, 30 and 31 (Schmidt decomposition)",
        effect=lambda t: (
            rc.by_seed(t, "schmidt_rank", condition=DONUT) - rc.by_seed(t, "schmidt_rank", condition=STRIPES)
        ),
        margin=0.1,
        unit="effective Schmidt rank of the answers' cosines, donut minus stripes",
        preconditions=(learnt(DONUT), learnt(STRIPES)),
        controls=RANKS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each condition an answer from the hole, its sum of memories and the truth; below, the correlations."""
    plots = rc.plots
    truth = table[table.condition == "control: perfect"].iloc[0]["samples"]
    figure, axes = plots.panels(rows=3, columns=4, side=2.2)
    for row, condition in enumerate((DONUT, STRIPES)):
        rows = table[table.condition == condition].sort_values("seed")
        pictures = {
            "answer": rows.iloc[0]["samples"][1],
            "sum of its memories": rows.iloc[0]["sums"][1],
            "truth": truth[1],
        }
        for column, (title, picture) in enumerate(pictures.items()):
            top = max(float(picture.max()), 1e-3)
            plots.picture(axes[row, column], picture / top, title=title, mark=plots.brightest(truth[1]))
        axes[row, 0].set_ylabel(condition)
        groups = {"own\nsum": "r_sum", "another's": "r_shuffled", "truth": "r_truth"}
        colour = plots.GOOD if condition == STRIPES else plots.BAD
        plots.dots(axes[row, 3], {n: rows[c].to_numpy() for n, c in groups.items()}, colour=colour, low=-0.6)
        axes[row, 3].set_title("correlation of answers with")
        kernels = {"OR": rows["or_agreement"].to_numpy(), "AND": rows["and_agreement"].to_numpy()}
        plots.dots(axes[2, row], kernels, colour=colour, low=-0.6)
        axes[2, row].set_title(f"kernel agreement,\n{condition}")
    ranks = {c: table[table.condition == c]["schmidt_rank"].to_numpy() for c in (DONUT, STRIPES)}
    plots.dots(axes[2, 2], ranks)
    axes[2, 2].set(title="effective Schmidt rank\nof the kernel", ylim=(0.9, 1.1 * max(map(np.nanmax, ranks.values()))))
    axes[2, 3].axis("off")
    return figure
