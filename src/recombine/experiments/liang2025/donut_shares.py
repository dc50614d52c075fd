"""What stripes and a share of the donut's bumps do: the claims of `amounts` that name such a share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures

if TYPE_CHECKING:
    import pandas as pd

LEARNT = {"loss": {"at_most": 0.005}, "accuracy1_trained": {"at_least": 0.95}}
"""What networks that have learnt stripes and bumps read; an empty answer to a stripe has a loss of 0.06 and more."""


def donut(table: pd.DataFrame) -> int:
    """How many bumps the donut has: there are two stripes per value, and a fixed answer is right once in the hole."""
    side = rc.by_seed(table, "images", bumps=0).iloc[0] / 2
    return round(side**2 - 1 / rc.control(table, "blind", "accuracy0_hole"))


def with_share(table: pd.DataFrame, percent: int) -> list[int]:
    """The number of bumps that is this share of the donut, if the table has one."""
    every, whole = sorted(rc.networks(table)["bumps"].unique()), donut(table)
    return [number for number in every if round(100 * number / whole) == percent]


def of_share(effect: Callable[..., Callable], percent: int):
    """An effect or fit of the networks with this share of the donut; nothing where the table has no such share."""

    def found(table: pd.DataFrame) -> pd.Series | pd.DataFrame:
        import pandas as pd

        some = with_share(table, percent)
        return effect(bumps=some)(table) if some else pd.DataFrame()

    return found


def enough(percent: int, source: str, *, ours: bool = False) -> rc.Claim:
    """The claim that stripes and this share of the donut's bumps suffice."""
    return rc.Claim(
        f"{percent} % of the donut's bumps are enough{' (ours)' if ours else ''}",
        f"With {percent} % of the donut's bumps, bumps and not crosses are in place throughout the hole.",
        source,
        effect=of_share(partial(rc.value, "bumps1_hole"), percent),
        above=0.8,
        unit=f"share of the hole where a bump, not a cross, is within 1 pixel, {percent} % of the donut",
        fits=tuple(of_share(partial(rc.fitted, column, **bound), percent) for column, bound in LEARNT.items()),
        controls=figures.peak_controls("bumps1_hole", figures.NO_BUMPS, at_most=0.5),
    )
