"""What `amounts` claims, of what stripes and more or fewer bumps teach a decoder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.liang2025.crosses import KINDS, way

if TYPE_CHECKING:
    import pandas as pd

NONE, FEW, MOST = 0, 1, -1
LEARNT = {"loss": {"at_most": 0.005}, "accuracy1_trained": {"at_least": 0.95}}


def numbers(table: pd.DataFrame, *places: int) -> list[int]:
    """Numbers of bumps that join the stripes, by their place among those in the table."""
    every = sorted(rc.networks(table)["bumps"].unique())
    if len(every) == 1 and set(places) != {NONE}:
        raise IndexError("it has stripes alone")
    return [every[place] for place in places]


def at(column: str, place: int):
    """The effect of a claim: a column of the networks with the place-th number of bumps, by seed."""
    return lambda t: rc.by_seed(t, column, bumps=numbers(t, place))


def crossed(table: pd.DataFrame, place: int) -> pd.Series:
    """How much more like the cross than like the bump the answers are, by seed."""
    return at("r_cross", place)(table) - at("r_truth", place)(table)


def with_share(table: pd.DataFrame, percent: int) -> list[int]:
    """The number of bumps that is this share of the donut, if the table has one.

    The donut has as many bumps as the nearest memory answers without error.
    """
    donut = np.count_nonzero(rc.pick(table, system="nearest memory").iloc[0]["error_map"] == 0)
    every = sorted(rc.networks(table)["bumps"].unique())
    return [number for number in every if round(100 * number / donut) == percent]


def of_share(effect: Callable[..., Callable], percent: int):
    """An effect or fit of the networks with this share of the donut; nothing where the table has no such share."""

    def found(table: pd.DataFrame) -> pd.Series | pd.DataFrame:
        import pandas as pd

        some = with_share(table, percent)
        return effect(bumps=some)(table) if some else pd.DataFrame()

    return found


def enough(percent: int, name: str, source: str) -> rc.Claim:
    """The claim that stripes and this share of the donut's bumps suffice."""
    return rc.Claim(
        name,
        f"With {percent} % of the donut's bumps, bumps and not crosses are in place throughout the hole.",
        source,
        effect=of_share(partial(rc.value, "bumps1_hole"), percent),
        above=0.8,
        unit=f"share of the hole where a bump, not a cross, is within 1 pixel, {percent} % of the donut",
        fits=tuple(of_share(partial(rc.fitted, column, **bound), percent) for column, bound in LEARNT.items()),
        controls=figures.peak_controls("bumps1_hole", figures.NO_BUMPS, at_most=0.5),
    )


def fitted(column: str, *places: int, **bounds: float):
    """Whether the networks with these numbers of bumps have learnt what they were shown, by seed."""
    return lambda t: rc.fitted(column, bumps=numbers(t, *places), **bounds)(t)


def learnt(*places: int) -> tuple:
    """The last training loss is at most 0.005, where an empty answer to a stripe errs by 0.06 and more.

    A network that was shown bumps also places at least 95 % of them within one pixel.
    """
    shown = {"loss": places, "accuracy1_trained": [place for place in places if place != NONE]}
    return tuple(fitted(column, *shown[column], **bound) for column, bound in LEARNT.items() if shown[column])


PLACING = figures.peak_controls("accuracy1_hole", figures.NOT_COMPOSING, at_most=0.5)
STATED = (
    rc.Claim(
        "stripes alone find the place",
        "Trained on stripes alone, the network is brightest where the two stripes that it is asked for cross.",
        "Fig. 4b (no bumps)",
        effect=at("accuracy1_hole", NONE),
        above=0.8,
        unit="accuracy within 1 pixel, whole hole, no bumps",
        fits=learnt(NONE),
        controls=PLACING,
    ),
    rc.Claim(
        "stripes alone draw a cross",
        "What a network trained on stripes alone draws in the hole is the sum of the two stripes rather than a bump.",
        "Fig. 4b (no bumps)",
        effect=lambda t: crossed(t, NONE),
        above=0.05,
        unit="correlation with the cross minus with the bump, no bumps",
        fits=learnt(NONE),
        controls=KINDS,
    ),
    enough(10, "10 % of the donut's bumps are enough", "Fig. 4e,f (50 bumps of 495); Fig. 7b"),
    enough(2, "2 % of the donut's bumps are enough (ours)", "ours: the fewest bumps tried; after Fig. 7b"),
    rc.Claim(
        "bumps turn crosses into bumps",
        "From no bumps to the most, the answers in the hole move from the cross towards the bump, by a tenth of the way"
        " from one to the other at least.",
        "Fig. 4b; Fig. 7b; as a share of the way, since the correlation with the bump alone is near its ceiling",
        effect=lambda t: (crossed(t, NONE) - crossed(t, MOST)) / way(t),
        above=0.1,
        unit="share of the way from cross to bump, most bumps against none",
        fits=learnt(NONE, MOST),
        controls=KINDS,
    ),
    rc.Claim(
        "more bumps make less error",
        "From the fewest bumps to the most, the error in the hole falls at least threefold.",
        "Fig. 7b",
        effect=lambda t: np.log10(at("mse_hole", FEW)(t) / at("mse_hole", MOST)(t)),
        above=log10(3),
        unit="log10 of the error in the hole, fewest over most bumps",
        fits=learnt(FEW, MOST),
        controls=figures.ERROR_CONTROLS,
    ),
)
