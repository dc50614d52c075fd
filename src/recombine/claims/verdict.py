"""What a verdict is, how many seeds it needs, and the interval it is read off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import special

MIN_SEEDS = 5
"""Below this nothing is decided: four equal coin tosses happen by chance once in sixteen, five once in thirty-two."""

MAX_LOST = 0.1
"""The share of seeds that may have diverged before a verdict on the rest would be a verdict on survivors."""

MIN_FIT = 0.5
"""The share of seeds whose networks must have learnt what they were shown, for a sentence about such networks."""

CONFIDENCE = 0.95
UNFIT = "learnt what they were shown"


@dataclass(frozen=True)
class Part:
    """One column of an effect: its mean over seeds, the bounds of that mean, and the verdict on it alone."""

    name: str
    effect: float
    low: float
    high: float
    seeds: int
    lost: int
    unfit: int
    verdict: str
    how: str
    fragile: int = 0


@dataclass(frozen=True)
class Verdict:
    """What the runs say about a claim; numbers are those of the least favourable part, of which most have one only.

    `lost` seeds diverged; those of `unfit` seeds did not learn what they were shown. `how` says in which way a claim
    fails; `fragile` how many single seeds decide it: without one of them it would be undecided. `variants` has the
    word for each protocol variant that was run.
    """

    claim: str
    says: str
    source: str
    verdict: str
    effect: float
    low: float
    high: float
    above: float | None
    below: float | None
    unit: str
    seeds: int
    lost: int
    unfit: int
    how: str
    why: str
    evidence: bool
    repeats: str = "seeds"
    over: str = ""
    parts: tuple[Part, ...] = ()
    fragile: int = 0
    variants: Mapping[str, str] = field(default_factory=dict)
    agree: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    """by picture, rival or depth, where there are several: holds, fails, undecided or mixed"""
    because: Mapping[str, str] = field(default_factory=dict)
    """by group that no interval can decide, why"""

    @property
    def bounds(self) -> str:
        """What was asked for, as "> 0.5", "< 0.02" or "0.8 .. 1.2"."""
        if self.above is not None and self.below is not None:
            return f"{self.above:.3g} .. {self.below:.3g}"
        return f"> {self.above:.3g}" if self.above is not None else f"< {self.below:.3g}"


def interval(effects: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval for the mean effect (calibrated for few seeds, where the bootstrap is too narrow)."""
    effects = np.asarray(effects, float)
    if effects.ndim != 1 or len(effects) < 2 or not 0 < confidence < 1:
        got = f"shape {effects.shape} and confidence {confidence}"
        raise ValueError(f"an interval needs two effects or more in a row, and a confidence between 0 and 1; got {got}")
    half = half_width(float(np.std(effects, ddof=1)), len(effects), confidence)
    return float(np.mean(effects) - half), float(np.mean(effects) + half)


def half_interval(numbers: np.ndarray) -> float:
    """Half of the 95 % interval of a mean, for a figure's bars; 0 where fewer than two numbers are there."""
    sound = np.asarray(numbers, float)
    sound = sound[np.isfinite(sound)]
    return half_width(float(np.std(sound, ddof=1)), len(sound)) if len(sound) > 1 else 0.0


def half_width(spread: float, seeds: int, confidence: float = CONFIDENCE) -> float:
    return float(special.stdtrit(seeds - 1, (1 + confidence) / 2) * spread / np.sqrt(seeds))
