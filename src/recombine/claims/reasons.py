"""Why a claim fails or stays undecided, in words."""

from __future__ import annotations

from bisect import bisect_left
from math import isfinite

import numpy as np

from recombine.claims.verdict import CONFIDENCE, MAX_LOST, MIN_FIT, MIN_SEEDS, UNFIT, half_width
from recombine.core import Claim

FARTHER = "larger than asked"


def way_of_failing(bounds: tuple[float, float], claim: Claim) -> str:
    """In which way an effect fails whose interval lies wholly outside: set against the effect of nothing, `null`."""
    (low, high), (above, below), null = bounds, claim.bounds, claim.null
    if above < null < below:  # it was to be small
        return FARTHER
    if low <= null <= high:
        return "no effect"
    upwards = above >= null  # on which side of nothing it was to lie
    if (high < null) if upwards else (low > null):
        return "reversed"
    farther = low > below if upwards else high < above
    return FARTHER if farther else "smaller than asked"


def too_few(seeds: int, lost: int, unfit: int) -> str:
    """Why these numbers are too few to judge, or nothing."""
    if lost > MAX_LOST * (seeds + unfit + lost):
        return f"{lost} of {seeds + unfit + lost} seeds diverged or give no number"
    if unfit and seeds < MIN_FIT * (seeds + unfit):
        return f"only {seeds} of {seeds + unfit} seeds {UNFIT}"
    if seeds < MIN_SEEDS:
        return f"{seeds} seeds are too few: a verdict needs {MIN_SEEDS}"
    return ""


def unseen(seeds: int) -> str:
    """How frequent an outcome of another kind could be without one among these seeds, at the same confidence."""
    share = 1 - (1 - CONFIDENCE) ** (1 / seeds)
    return f"an outcome unlike all of these {seeds} could still come in up to {share:.0%} of seeds"


def more_seeds(effects: np.ndarray, claim: Claim, parts: int) -> str:
    """How many seeds would probably decide, if mean and spread stay as they are.

    Outside of the bounds the interval is the wider one, since one of several columns may lie there by chance.
    """
    mean, spread = float(np.mean(effects)), float(np.std(effects, ddof=1))
    above, below = claim.bounds
    several = parts > 1 and not above < mean < below
    confidence = surest(parts) if several else CONFIDENCE
    distance = min(abs(mean - bound) for bound in claim.bounds if isfinite(bound))
    choices = range(len(effects) + 1, 1_001)
    first = bisect_left(choices, True, key=lambda n: half_width(spread, n, confidence) < distance)
    widened = several and half_width(spread, len(effects)) < distance
    said = f"the interval{f', widened as one of {parts},' if widened else ''} straddles the margin"
    if first == len(choices):
        return f"{said}, and no affordable number of seeds would decide"
    return f"{said}; about {choices[first]} seeds would probably decide"


def surest(parts: int) -> float:
    """The confidence at which one of so many columns must lie outside the bounds, so that none does by chance."""
    return 1 - (1 - CONFIDENCE) / parts
