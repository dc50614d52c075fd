"""What `efficiency` claims, by each ruler: with which power of the side the number of pictures needed grows."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import pictures_needed as needed
from recombine.experiments.liang2025.pictures_needed import BUMPS, OUTSIDE, PRIMARY, RULERS, STRIPES

if TYPE_CHECKING:
    import pandas as pd

MEMORISER, COMPOSER = "memoriser", "composer"


def power(kind: str, ruler: str = PRIMARY, system: str = "network"):
    """The exponent of the pictures needed over the side, by seed."""
    return lambda t: needed.exponents(rc.pick(t, condition=kind, system=system), ruler)


def on_largest(kind: str):
    """log10 of the pictures needed on the largest grid, by seed."""
    return lambda t: np.log10(needed.thresholds(rc.pick(t, condition=kind), PRIMARY).iloc[:, -1])


def reads(system: str, kind: str, low: float, high: float, ruler: str) -> rc.Check:
    """A control must read the exponent that is known of it, from numbers none of which is a bound."""

    def value(table: pd.DataFrame) -> float:
        bound = needed.censored(rc.pick(table, condition=kind, system=system), ruler).to_numpy().any()
        return float("nan") if bound else float(power(kind, ruler, system)(table).iloc[0])

    return rc.Check(f"the exponent of the control {system} by the ruler {ruler}", value, low, high)


def at_least(rows: pd.DataFrame, ruler: str) -> float:
    """The least exponent of all seeds, if its bounds are lower ones, on the largest side alone; else nothing."""
    bounds = rows.pivot(index="seed", columns="side", values=f"beyond_{ruler}").to_numpy()
    lower = not bounds[:, :-1].any() and (bounds[:, -1] >= 0).all()
    return float(needed.exponents(rows, ruler).min()) if lower else -np.inf


def beyond(ruler: str, *kinds: str, largest: bool = False):
    """No verdict where more than a tenth of the numbers needed lie beyond the sizes tried: they are bounds."""

    def found(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        each = [needed.censored(rc.pick(table, condition=kind), ruler) for kind in kinds]
        if kinds == (BUMPS,) and at_least(rc.pick(table, condition=BUMPS), ruler) > CUBIC[1]:
            return {}  # the true exponents are larger still
        bounds = np.concatenate([one.to_numpy()[:, -1 if largest else 0 :].ravel() for one in each])
        why = f"{bounds.sum()} of {bounds.size} numbers needed lie beyond the sizes tried"
        return {"": ("undecided", why)} if bounds.mean() > MAX_BOUNDS else {}

    return found


MAX_BOUNDS = 0.1
SOURCE = "Fig. 4c; section 4.2; the ruler is our reading; at laptop of an MLP, at gpu and paper of the released CNN"
JUDGED = (PRIMARY, *(ruler for ruler, (_, off) in RULERS.items() if off > 0.5 and ruler != PRIMARY))
"""By the nearest pixel most numbers needed lie beyond the sizes tried: those rulers are columns, and no claims."""


def claim(name: str, says: str, ruler: str = PRIMARY, **judged) -> rc.Claim:
    # A memoriser of bumps needs about N^2 of them, a composer about N stripes, by every ruler.
    known = (reads(MEMORISER, BUMPS, 1.5, 2.5, ruler), reads(COMPOSER, STRIPES, 0.5, 1.5, ruler))
    return rc.Claim(name, says, SOURCE, controls=known, **judged)


def said(ruler: str) -> str:
    region, off = RULERS[ruler]
    return f"{region}, {'nearest pixel' if off == 0.5 else f'within {off:g} px'}"


CUBIC = (2.5, 3.5)
"""Exponents of which the third is the nearest whole power."""


def cubic(ruler: str) -> rc.Claim:
    return claim(
        f"bumps alone need about N^3 pictures ({said(ruler)})",
        "The whole power of the side that is nearest to the growth of the number of bumps needed is the third. "
        f"(Asked: {said(ruler)}.)",
        ruler,
        effect=power(BUMPS, ruler),
        above=CUBIC[0],
        below=CUBIC[1],
        unit="exponent of the bumps needed over the side",
        unsettled=beyond(ruler, BUMPS),
    )


STATED = (
    *(cubic(ruler) for ruler in JUDGED),
    claim(
        "stripes alone need about N pictures",
        "The whole power of the side that is nearest to the growth of the number of stripes needed is the first. "
        f"(Asked: {said(PRIMARY)}.)",
        effect=power(STRIPES),
        above=0.5,
        below=1.5,
        unit="exponent of the stripes needed over the side",
        unsettled=beyond(PRIMARY, STRIPES),
    ),
    claim(
        "bumps needed grow with a larger power of N than stripes",
        "The number of bumps needed grows with a power of the side that is larger by a half at least. "
        f"(Asked: {said(PRIMARY)}.)",
        effect=lambda t: power(BUMPS)(t) - power(STRIPES)(t),
        above=0.5,
        unit="exponent of bumps minus exponent of stripes",
        unsettled=beyond(PRIMARY, BUMPS, STRIPES),
    ),
    claim(
        "fewer stripes than bumps are needed on the largest grid",
        f"On the largest grid more than four times as many bumps as stripes are needed. (Asked: {said(PRIMARY)}.)",
        effect=lambda t: on_largest(BUMPS)(t) - on_largest(STRIPES)(t),
        above=log10(4),
        unit="log10 of bumps needed over stripes needed, largest side",
        # That more bumps than were tried are needed only strengthens it.
        unsettled=beyond(PRIMARY, STRIPES, largest=True),
    ),
    claim(
        "bumps outside the box never suffice in it",
        "With the box held out, the largest set of bumps leaves its goal in the box unmet, on every grid.",
        effect=rc.each_of("side", rc.value("most_box_1", condition=OUTSIDE)),
        below=needed.GOAL,
        unit="share of the box placed within 1 pixel, most bumps, box held out",
        fits=(rc.each_of("side", rc.fitted("most_outside_1", at_least=needed.GOAL, condition=OUTSIDE)),),
        null=1.0,
        over="sides",
    ),
)
