"""The claims on subtasks of function calling, and which of their questions a table cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.abdelaziz2024.training import GRANULAR, PARAPHRASED, UMBRELLA, WITHOUT
from recombine.table import Effect

if TYPE_CHECKING:
    import pandas as pd

FLOOR = 0.02
"""The least share of exact calls, at the best arm, at which arms are compared."""
LEARNT = 0.9
"""The share of new items of the trained kind that decoders answer which have learnt full calls."""
WORDS = {
    UMBRELLA: "full calls alone",
    GRANULAR: "seven subtasks",
    WITHOUT: "four subtasks",
    PARAPHRASED: "full calls and paraphrases",
}
LABELS = {"iid": "as trained", "names": "new names", "nesting": "deeper nesting"}


def compared(arm: str, other: str, effects: Mapping[str, Effect]) -> Effect:
    """A column per question; none where a tier does not train one of the two arms."""

    def columns(table: pd.DataFrame) -> pd.DataFrame:
        trained = {arm, other} <= set(rc.networks(table)["condition"])
        return rc.each(effects if trained else {})(table)

    return columns


def ahead(arm: str, other: str, *questions: str) -> Effect:
    """By seed and question, how many more calls one arm gets right than another."""
    return compared(arm, other, {LABELS[q]: rc.difference(f"exact_{q}", arm, other) for q in questions})


def alike(arm: str, other: str, *questions: str) -> Effect:
    """By seed, 1 if both arms answer new items of the trained kind equally well to 0.02, and nine tenths of them."""

    def both(table: pd.DataFrame) -> pd.Series:
        one, two = (rc.by_seed(table, "exact_iid", condition=name) for name in (arm, other))
        good = (abs(one - two) <= 0.02) & (np.minimum(one, two) >= LEARNT)
        return good.astype(float).where(one.notna() & two.notna())

    return compared(arm, other, {LABELS[q]: both for q in questions})


def learnt(arm: str, other: str, question: str) -> Effect:
    """By seed, 1 if the second arm answers nine tenths of new items of the trained kind; the first is not asked."""
    return compared(arm, other, {LABELS[question]: rc.fitted("exact_iid", at_least=LEARNT, condition=other)})


def open_questions(arm: str, other: str, above: float) -> Callable[[pd.DataFrame], dict[str, tuple[str, str]]]:
    """The questions of which neither of two arms answers enough to be compared, or the second nearly everything."""

    def left_open(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        whys = {label: _open(rc.networks(table), f"exact_{q}", arm, other, above) for q, label in LABELS.items()}
        return {label: ("undecided", why) for label, why in whys.items() if why}

    return left_open


def _open(rows: pd.DataFrame, answers: str, arm: str, other: str, above: float) -> str:
    """Why no difference of two arms can be told from these answers, or nothing."""
    if rows[rows["condition"].isin((arm, other))].groupby("condition")[answers].mean().max() < FLOOR:
        return f"neither arm answers {FLOOR:.0%}: there is nothing to compare"
    most = rows[(rows["condition"] == other) & (rows["exact_iid"] >= LEARNT)][answers].mean()
    return f"{WORDS[other]} answer {most:.1%} where they learnt: no room" if most > 1 - above else ""


def spread(table: pd.DataFrame) -> float:
    """By how much the tokens that bear loss differ between arms, as a share of the least."""
    tokens = rc.networks(table)["loss_tokens"]
    return float(tokens.max() / tokens.min() - 1)


EQUAL = (rc.Check("difference of arms in tokens that bear loss, as a share", spread, at_most=0.02),)
CONTROLS = (
    *(rc.reads("perfect", f"exact_{kind}", at_least=1.0) for kind in ("iid", "names", "nesting")),
    *(rc.reads("copier", f"exact_{kind}", at_most=0.2) for kind in ("names", "nesting")),
    rc.reads("untrained", "exact_iid", at_most=0.05),
    rc.reads("perfect", "unlisted_names", at_most=0.0),
)
claim = partial(rc.Claim, preconditions=EQUAL, controls=CONTROLS)
STATED = (
    claim(
        "seven subtasks beat full calls alone (the note)",
        "Trained on seven subtasks and then on a few full calls, decoders call functions with new names, and calls"
        " nested more deeply, rightly more often than decoders that fit equally well after as many tokens of full"
        " calls.",
        "a synthesis note: granular subtasks 'generalizes better than umbrella datasets'; not compared in the paper",
        effect=ahead(GRANULAR, UMBRELLA, "names", "nesting"),
        above=0.05,
        unit="share of exact calls, seven subtasks minus full calls alone",
        fits=(alike(GRANULAR, UMBRELLA, "names", "nesting"),),
        unsettled=open_questions(GRANULAR, UMBRELLA, 0.05),
        over="questions",
    ),
    claim(
        "seven subtasks are more than augmentation (ours)",
        "Trained on seven subtasks and then on a few full calls, decoders call functions with new names rightly more"
        " often than decoders that fit equally well after full calls whose requests are also paraphrased.",
        "ours; stated before any run",
        effect=ahead(GRANULAR, PARAPHRASED, "names"),
        above=0.03,
        unit="share of exact calls with new names, seven subtasks minus full calls and paraphrases",
        fits=(alike(GRANULAR, PARAPHRASED, "names"),),
        unsettled=open_questions(GRANULAR, PARAPHRASED, 0.03),
    ),
    claim(
        "subtasks without nested, chained or parallel calls help with deeper nesting (ours)",
        "After four subtasks in which no call is nested, chained or beside another, and the same few full calls, calls"
        " nested more deeply are right more often than after full calls alone.",
        "ours; margin stated before any run; that only full calls must be learnt was decided after a look: the four"
        " subtasks' own shortfall is part of the answer",
        effect=ahead(WITHOUT, UMBRELLA, "nesting"),
        above=0.03,
        unit="share of exact calls nested three deep, four subtasks minus full calls alone",
        fits=(learnt(WITHOUT, UMBRELLA, "nesting"),),
        unsettled=open_questions(WITHOUT, UMBRELLA, 0.03),
    ),
)
