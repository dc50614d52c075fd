"""A verdict on a model: its four words, the bounds that the rules share, and what counts as solved and as failed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.diagnosis.behaviour import Behaviour
from recombine.measures.gap import Interval

COMPOSES, MEMORIZES, PARTLY, CANNOT_TELL = "composes", "memorizes", "partly", "cannot tell"
SOLVED, FAILED = 0.25, 0.75
"""G below the first is composition, above the second memory, if its interval keeps to that side of one half."""
MANY, NOTICED = 5.0, 0.01
"""An error on new combinations so many times that on seen ones is said, if it is so much of a memory's extra error."""
FEWEST = 5
"""New combinations that a verdict needs, and each side of a comparison between them."""
FITTED = 0.5
"""The least fit on seen combinations."""
ROOM, LEAST_ROOM = 0.05, 1e-6
"""How much worse than on seen combinations a memory must be on new ones, as a share of the targets' variance."""
ALWAYS, ALWAYS_NEARLY = 0.95, 0.85
"""A factor is kept if it is read off so many answers, from chance (0) to the truth (1); to within a bin: nearly."""


@dataclass(frozen=True)
class Ruling:
    """A verdict, the rule that gave it, why in one sentence, and what else must be known to read it rightly."""

    verdict: str
    rule: str
    why: str
    caveats: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()  # those that it composes, where it does so partly


def solves(g: Interval) -> bool:
    """Is G small, and its interval below one half?"""
    return g.value < SOLVED and g.high < 0.5


def fails(g: Interval) -> bool:
    """Is G large, and its interval above one half?"""
    return g.value > FAILED and g.low > 0.5


def verdict_on(b: Behaviour, rows: np.ndarray, level: float) -> str | None:
    """Whether the model composes or memorizes these combinations, where that can be told."""
    if rows.sum() < FEWEST or b.room(rows) < ROOM:
        return None
    g = b.gap(rows, level=level)
    return COMPOSES if solves(g) else MEMORIZES if fails(g) else None
