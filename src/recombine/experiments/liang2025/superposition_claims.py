"""What `superposition` claims, of what is drawn in the hole and of how alike answers are."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, learnt

RATE = "donut, plain numbers"


def exceeds(system: str, first: str, second: str, *, at_least: float = -np.inf, at_most: float = np.inf) -> rc.Check:
    says = f"{first} minus {second} of the control {system}"
    return rc.Check(says, lambda t: rc.control(t, system, first) - rc.control(t, system, second), at_least, at_most)


def own_sum(column: str) -> tuple[rc.Check, ...]:
    """A superposition is like its own sum, and one fixed answer like no sum more than another."""
    return (
        exceeds("superposition", column, f"{column}_shuffled", at_least=0.1),
        exceeds("blind", column, f"{column}_shuffled", at_least=-0.05, at_most=0.05),
    )


TRUTH_CONTROLS = (
    exceeds("superposition", "r_sum", "r_truth", at_least=0.3),
    exceeds("perfect", "r_truth", "r_sum", at_least=0.3),
)
OR_CONTROLS = (
    exceeds("superposition", "or_agreement", "and_agreement", at_least=0.1),
    exceeds("perfect", "and_agreement", "or_agreement", at_least=0.1),
)
PLAIN = (rc.fitted("accuracy1_donut", at_least=0.8, condition=RATE),)
OR_MINUS_AND = figures.minus("or_agreement", "and_agreement", condition=DONUT)
AGREEMENT = "agreement of answers' cosines with the soft OR kernel, minus with the soft AND kernel"

STATED = (
    rc.Claim(
        "the failure is a sum of the answers to one factor",
        "What the failing network draws in the hole is the sum of its answers to x and to y, with the code of the other"
        " averaged out.",
        "Fig. 1d; section 3.3",
        effect=figures.minus("r_code", "r_code_shuffled", condition=DONUT),
        above=0.1,
        unit="correlation with its own sum, minus with another cell's",
        fits=learnt(DONUT),
        controls=own_sum("r_code"),
    ),
    rc.Claim(
        "the failure is a sum of memories (ours)",
        "What the failing network draws in the hole is the mean of its answers that share x plus that of those that"
        " share y.",
        "ours, of Fig. 1d",
        effect=figures.minus("r_sum", "r_sum_shuffled", condition=DONUT),
        above=0.1,
        unit="correlation with its own sum of memories, minus with another cell's",
        fits=learnt(DONUT),
        controls=own_sum("r_sum"),
    ),
    rc.Claim(
        "with plain numbers the failure is a sum of the answers to one factor too",
        "A failing network that is given plain numbers draws the sum of its answers to x and to y, with the other"
        " averaged out.",
        "section 3.3: the same pattern for rate codes",
        effect=figures.minus("r_code", "r_code_shuffled", condition=RATE),
        above=0.1,
        unit="correlation with its own sum, minus with another cell's",
        fits=PLAIN,
        controls=own_sum("r_code"),
    ),
    rc.Claim(
        "with plain numbers the failure is a sum of memories too (ours)",
        "A failing network that is given plain numbers draws sums of its answers that share x and that share y.",
        "ours, of section 3.3",
        effect=figures.minus("r_sum", "r_sum_shuffled", condition=RATE),
        above=0.1,
        unit="correlation with its own sum of memories, minus with another cell's",
        fits=PLAIN,
        controls=own_sum("r_sum"),
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
        " to pairs that share x AND y. This describes the kernel; the next claim asks whether it is learnt.",
        "Fig. 1e; Fig. 8; section 3.3",
        effect=OR_MINUS_AND,
        above=0.1,
        unit=AGREEMENT,
        fits=learnt(DONUT),
        controls=OR_CONTROLS,
    ),
    rc.Claim(
        "training makes the kernel more OR-like (ours)",
        "The kernel of the failing network is more OR-like than that of a network at its initial weights, whose answers"
        " are alike when codes overlap.",
        "ours: what an untrained network has, training did not teach",
        effect=lambda t: OR_MINUS_AND(t) - exceeds("untrained", "or_agreement", "and_agreement").value(t),
        above=0.1,
        unit=f"{AGREEMENT}, trained minus untrained",
        fits=learnt(DONUT),
        controls=OR_CONTROLS,
    ),
    rc.Claim(
        "pixel overlap follows the binary OR kernel",
        "Which pixels an answer in the hole shares with an answer outside it follows the binary kernel of x OR y.",
        "Fig. 1e; pixels above half of a picture's own maximum, for faint answers miss the paper's 0.7",
        effect=rc.value("overlap_or", condition=DONUT),
        above=0.1,
        unit="agreement of pixel overlap with the binary OR kernel",
        fits=learnt(DONUT),
        controls=(
            rc.reads("superposition", "overlap_or", at_least=0.1),
            rc.reads("perfect", "overlap_or", at_most=0.05),
        ),
    ),
    rc.Claim(
        "bump codes give a clearer OR pattern than plain numbers",
        "The kernel of a failing network follows the OR pattern more closely with bump codes than with plain numbers.",
        "E.1, Fig. 8",
        effect=rc.difference("or_agreement", DONUT, RATE),
        above=0.1,
        unit="agreement of answers' cosines with the soft OR kernel, bump code minus plain numbers",
        fits=(*learnt(DONUT), *PLAIN),
        controls=OR_CONTROLS,
    ),
)
