"""What does a decoder draw in the hole: the truth, or the sum of what it remembers of x and of y?

Fig. 1d,e and Fig. 8: a network that fails in the hole adds what it draws for x alone and for y alone, so that its
answers are alike when x OR y agree; one that composes draws answers that are alike when x AND y agree. The failing
network is given bump codes, and another one plain numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, likeness, shared, stripes
from recombine.experiments.liang2025.stripes import DONUT, STRIPES, learnt

if TYPE_CHECKING:
    import pandas as pd

RATE = "donut, plain numbers"
BUMP_CODE, RATE_CODE = "local bump", "rate"


@dataclass(frozen=True, kw_only=True)
class Settings(stripes.Settings):
    steps: int = 800
    """updates of each network"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings(dark=True)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
GPU = Settings(seeds=12, block=12, steps=3125, learning_rate=1e-3, cosine=False, **FULL)
PAPER = Settings(seeds=20, block=10, steps=12500, learning_rate=1e-3, cosine=False, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"code": code} for code in (BUMP_CODE, RATE_CODE)])


def encoding(settings: Settings, code: str) -> rc.Encoding:
    """Local bumps, or one plain number without a flag."""
    return rc.rate(flag=False) if code == RATE_CODE else rc.local_bump(settings.size, settings.sigma)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, encode = cell.settings, encoding(cell.settings, cell.code)
    task = shared.grid(settings, encode)
    if cell.code == RATE_CODE:
        sets = [{RATE: shared.donut(settings, task)}] * len(cell.members)
        make = shared.decoder(settings, settings.depth, encode)
        trained, rows = shared.train_conditions(settings, task, make, members=cell.members, sets=sets, monitor=monitor)
    else:
        trained, rows = stripes.train(cell, (DONUT, STRIPES), monitor)
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=rc.key(settings.seed, "test"))
    alone = [one_factor(settings, encode, trained[i].model) for i in range(len(rows))]
    return [row | measured(settings, row, answers[i], alone[i]) for i, row in enumerate(rows)]


def one_factor(settings: Settings, encode: rc.Encoding, network) -> np.ndarray:
    """The pictures for each x with the mean code of y on the donut, and for each y with that of x (2, values, ...)."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    codes = jax.vmap(encode)(jnp.arange(settings.size, dtype=jnp.float32))
    z = np.stack(np.meshgrid(*[np.arange(settings.size)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    known = z[rc.square(z, settings.low, settings.high).train]
    means = [jnp.broadcast_to(codes[known[:, part]].mean(axis=0), codes.shape) for part in (0, 1)]
    asked = jnp.stack([jnp.concatenate([codes, means[1]], axis=1), jnp.concatenate([means[0], codes], axis=1)])
    pictures = eqx.filter_jit(lambda model, x: jax.vmap(jax.vmap(lambda one: model(one)[0]))(x))(network, asked)
    return np.asarray(1.0 - pictures if settings.dark else pictures)


def measured(settings: Settings, row: dict, answer: rc.Record, alone: np.ndarray) -> dict:
    """The scores of a network, or NaN if it diverged; its matrices are kept for the first seed alone."""
    if row["diverged_at"] >= 0:
        answer, alone = answer.answering(answer.y), np.zeros_like(alone)
    found = likeness.scores(settings, shared.as_intensity(settings, answer), alone, row["seed"])
    matrices = found["matrices"] if row["seed"] == 0 else None
    return rc.nan_if_diverged(found, row["diverged_at"]) | {"matrices": matrices}


def controls(settings: Settings) -> list[dict]:
    """The same measures on a perfect solver, a memoriser that superposes in the hole, one fixed answer, no training."""
    truth = shared.as_intensity(settings, shared.truth(settings))
    region = rc.square(truth.z, settings.low, settings.high)
    shown = shared.example_cells(rc.interior(region, settings.rim))
    by_factor = likeness.memories(truth, region.train)
    sums = by_factor[0][truth.z[:, 0]] + by_factor[1][truth.z[:, 1]]
    systems = {
        "perfect": (truth, by_factor),
        "superposition": (truth.answering(np.where(region.train[:, None, None], truth.y, sums)), by_factor),
        "blind": (rc.blind(truth, int(shown[1])), np.broadcast_to(truth.y[shown[1]], by_factor.shape)),
    }
    for code in (BUMP_CODE, RATE_CODE):
        encode = encoding(settings, code)
        born = shared.initial_models(settings, shared.decoder(settings, settings.depth, encode))
        answer = shared.as_intensity(settings, shared.untrained(settings, settings.depth, encode))
        name = "untrained" if code == BUMP_CODE else "untrained, plain numbers"
        systems[name] = (answer, one_factor(settings, encode, born))
    return rc.control_rows(
        lambda system: {"samples": system[0].y_hat[shown], **likeness.scores(settings, *system, seed=0)}, systems
    )


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

CLAIMS = (
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


def figure(settings: Settings, table: pd.DataFrame):
    """For each network an answer from the hole, its sums and the truth; its three matrices; the numbers judged."""
    return likeness.figure(table, {DONUT: rc.plots.BAD, RATE: rc.plots.BAD, STRIPES: rc.plots.GOOD})
