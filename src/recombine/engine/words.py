"""A verdict in words: the one word and the one number that every command and caption shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recombine.claims import Verdict

NONE = "not evidence"
"""The word for what a quick run says: its networks are too small and too few to decide anything."""
WORDS = ("holds", "fails", "undecided", NONE)
"""All words, in the order in which they are always listed."""
QUICK = "quick tier: not evidence"
"""The mark on the figures and captions of quick runs."""


def short(v: Verdict) -> str:
    """The verdict in one word, or that it is none."""
    return v.verdict if v.evidence else NONE


def numbers(v: Verdict) -> str:
    """Effect and interval, and how it fails."""
    if v.seeds < 2:
        return "no number" if v.seeds == 0 else f"{v.effect:.2f} [-]"
    return spanned((v.effect, v.low, v.high), (v.above, v.below)) + (f" ({v.how})" if v.how and v.evidence else "")


def spanned(found: tuple[float, float, float], bounds: tuple[float | None, float | None]) -> str:
    """Effect and interval, with so many digits that one sees on which side of the bounds they lie.

    >>> spanned((0.115, 0.048, 0.183), (0.05, None))
    '0.115 [0.048, 0.183]'
    """
    digits, there = 2, [bound for bound in bounds if bound is not None]
    while digits < 4 and any(round(end, digits) == round(bound, digits) for end in found[1:] for bound in there):
        digits += 1
    effect, low, high = (f"{number:.{digits}f}" for number in found)
    return f"{effect} [{low}, {high}]"


def counted(v: Verdict) -> str:
    """How many seeds, or what else an effect has one number of, and how many of all did not fit or were lost."""
    said = f"{v.seeds} {v.repeats if v.seeds != 1 else v.repeats.removesuffix('s')}"
    said += f" of {v.seeds + v.unfit} that fitted" if v.unfit else ""
    return said + (f", {v.lost} lost" if v.lost else "")


def in_numbers(v: Verdict) -> str:
    """Effect and interval, the margin, how many seeds, and what was measured."""
    return f"{numbers(v)}{_where(v)}, margin {v.bounds}, {counted(v)}: {v.unit}"


def _where(v: Verdict) -> str:
    """Of which group and score the numbers of a claim on several are: the least favourable."""
    of = [p.name for p in v.parts if (p.effect, p.low) == (v.effect, v.low)] if len(v.parts) > 1 else []
    return f" ({of[0]})" if of and v.seeds > 1 else ""


def tally(words: Iterable[str]) -> str:
    """How often each word occurs, as "3 holds, 1 fails", always in one order."""
    found = Counter(words)
    return ", ".join(f"{found[word]} {word}" for word in (*WORDS, *(w for w in found if w not in WORDS)) if found[word])
