"""What does a decoder draw in the hole: the truth, or the sum of what it remembers of x and of y?

Fig. 1d,e and Fig. 8: a network that fails in the hole superposes memories that share one factor, so that its answers
are alike when x OR y agree; one that composes draws answers that are alike when x AND y agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, learnt, train
from recombine.experiments.liang2025.stripes import Settings as StripeSettings
from recombine.measures.pf import pf_coefficient

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


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = cell.settings
    trained, rows = train(cell, (DONUT, STRIPES), monitor)
    task = shared.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=rc.key(settings.seed, "test"))
    return [row | measured(settings, row, answer) for row, answer in zip(rows, answers, strict=True)]


def measured(settings: Settings, row: dict, answer: rc.Record) -> dict:
    """Kinship, or NaN for a network that diverged, whose answers have none."""
    finite = answer if row["diverged_at"] < 0 else answer.answering(answer.y)
    return rc.nan_if_diverged(
        superposition_scores(settings, shared.as_intensity(settings, finite), row["seed"]), row["diverged_at"]
    )


def superposition_scores(settings: Settings, answer: rc.Record, seed: int) -> dict:
    """Of the answers in the interior: correlations with sums of memories, and which kernel their likeness follows."""
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    sums = rc.memory_superposition(answer, region.train)
    score = rc.superposition_score(answer.where(inside), sums[inside], rc.rng(settings.seed, "shuffled sums", seed))
    likeness = rc.cosine_matrix(answer.y_hat[inside], answer.y_hat[region.train])
    cells, known, soft = answer.z[inside], answer.z[region.train], rc.near(settings.sigma)
    kernel = rc.cosine_matrix(answer.y_hat, answer.y_hat)
    return {
        "r_sum": score.r_sum,
        "r_shuffled": score.r_shuffled,
        "r_truth": score.r_truth,
        "schmidt_rank": float(rc.effective_rank(rc.schmidt_values(kernel, answer.z))),
        "pf": pf_coefficient(kernel, answer.z),
        "or_agreement": rc.agreement(likeness, rc.or_kernel(cells, known, soft)),
        "and_agreement": rc.agreement(likeness, rc.and_kernel(cells, known, soft)),
        "sums": sums[shared.example_cells(inside)],
    }


def controls(settings: Settings) -> list[dict]:
    """The same measures on a perfect solver, a memoriser that superposes in the hole, one fixed answer, no training."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    region = rc.square(truth.z, settings.low, settings.high)
    shown = shared.example_cells(rc.interior(region, settings.rim))
    sums = rc.memory_superposition(truth, region.train)
    systems = {
        "perfect": truth,
        "superposition": truth.answering(np.where(region.train[:, None, None], truth.y, sums)),
        "blind": rc.blind(truth, int(shown[1])),
        "untrained": shared.as_intensity(settings, shared.untrained(settings, settings.depth)),
    }
    return rc.control_rows(
        lambda system: {"samples": system.y_hat[shown], **superposition_scores(settings, system, 0)}, systems
    )


def exceeds(system: str, first: str, second: str, *, at_least: float = -np.inf, at_most: float = np.inf) -> rc.Check:
    says = f"{first} minus {second} of the control {system}"
    return rc.Check(says, lambda t: rc.control(t, system, first) - rc.control(t, system, second), at_least, at_most)


SUM_CONTROLS = (
    exceeds("superposition", "r_sum", "r_shuffled", at_least=0.1),
    exceeds("blind", "r_sum", "r_shuffled", at_least=-0.05, at_most=0.05),
)
TRUTH_CONTROLS = (
    exceeds("superposition", "r_sum", "r_truth", at_least=0.3),
    exceeds("perfect", "r_truth", "r_sum", at_least=0.3),
)
OR_CONTROLS = (
    exceeds("superposition", "or_agreement", "and_agreement", at_least=0.1),
    exceeds("perfect", "and_agreement", "or_agreement", at_least=0.1),
)
RANK_CONTROLS = (
    rc.reads("perfect", "schmidt_rank", at_most=1.1),
    rc.reads("superposition", "schmidt_rank", at_least=1.3),
)

CLAIMS = (
    rc.Claim(
        "the failure is a superposition of memories",
        "What the failing network draws in the hole is the sum of its memories that share x and those that share y.",
        "Fig. 1d; section 3.3 (our stand-in: means of the network's own answers, for those of its inputs)",
        effect=figures.minus("r_sum", "r_shuffled", condition=DONUT),
        above=0.1,
        unit="correlation with its own sum of memories, minus with another cell's",
        fits=learnt(DONUT),
        controls=SUM_CONTROLS,
    ),
    rc.Claim(
        "the failing network does not draw the truth",
        "The failing network's answers resemble sums of memories and not the bump that was asked for.",
        "Fig. 1d",
        effect=figures.minus("r_sum", "r_truth", condition=DONUT),
        above=0.3,
        unit="correlation with the sum of memories, minus with the truth",
        fits=learnt(DONUT),
        controls=TRUTH_CONTROLS,
    ),
    rc.Claim(
        "the composing network draws the truth",
        "A network trained with stripes draws the truth in the hole and not a sum of memories.",
        "section 4.2 (by contrast)",
        effect=figures.minus("r_truth", "r_sum", condition=STRIPES),
        above=0.3,
        unit="correlation with the truth, minus with the sum of memories",
        fits=learnt(STRIPES),
        controls=TRUTH_CONTROLS,
    ),
    rc.Claim(
        "the failing kernel is OR-like",
        "The failing network's answers in the hole are like its answers to training pairs that share x OR y, more than"
        " to pairs that share x AND y.",
        "Fig. 1e; Fig. 8; section 3.3",
        effect=figures.minus("or_agreement", "and_agreement", condition=DONUT),
        above=0.1,
        unit="agreement of answers' cosines with the soft OR kernel, minus with the soft AND kernel",
        fits=learnt(DONUT),
        controls=OR_CONTROLS,
    ),
    rc.Claim(
        "the failing kernel factorises less",
        "As a sum of products of one-part kernels, the kernel of the failing network needs more terms.",
        "eq. 1, 30 and 31 (Schmidt decomposition)",
        effect=rc.difference("schmidt_rank", DONUT, STRIPES),
        above=0.1,
        unit="effective Schmidt rank of the answers' cosines, donut minus stripes",
        fits=learnt(DONUT, STRIPES),
        controls=RANK_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """For each condition an answer from the hole, its sum of memories and the truth; beside and below, the numbers."""
    plots = rc.plots
    truth = rc.pick(table, system="perfect").iloc[0]["samples"][1]
    figure, axes = plots.panels(rows=3, columns=4, side=2.2)
    for row, condition in enumerate((DONUT, STRIPES)):
        rows, colour = rc.pick(table, condition=condition).sort_values("seed"), _colour(condition)
        first = rows.iloc[0]
        pictures = {"answer": first["samples"][1], "sum of its memories": first["sums"][1], "truth": truth}
        for column, (title, picture) in enumerate(pictures.items()):
            top = max(float(picture.max()), 1e-3)
            plots.picture(axes[row, column], picture / top, title=title, mark=plots.brightest(truth))
        axes[row, 0].set_ylabel(condition)
        groups = {"own\nsum": "r_sum", "another's": "r_shuffled", "truth": "r_truth"}
        plots.dots(axes[row, 3], {n: rows[c].to_numpy() for n, c in groups.items()}, colour=colour, low=-0.6)
        axes[row, 3].set_title("correlation of answers with")
        kernels = {"OR": rows["or_agreement"].to_numpy(), "AND": rows["and_agreement"].to_numpy()}
        plots.dots(axes[2, row], kernels, colour=colour, low=-0.6)
        axes[2, row].set_title(f"kernel agreement,\n{condition}")
    ranks = {c: rc.pick(table, condition=c)["schmidt_rank"].to_numpy() for c in (DONUT, STRIPES)}
    plots.dots(axes[2, 2], ranks)
    top = np.nanmax([2.0, *np.concatenate(list(ranks.values()))])
    axes[2, 2].set(title="effective Schmidt rank\nof the kernel", ylim=(0.9, 1.1 * top))
    axes[2, 3].axis("off")
    return figure


def _colour(condition: str) -> str:
    return rc.plots.GOOD if condition == STRIPES else rc.plots.BAD
