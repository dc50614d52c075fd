"""Do stripes, each showing one factor alone, teach a decoder to draw bumps at pairs that it never saw?

Fig. 4a,b,d and Fig. 7: every vertical and horizontal stripe and a few bumps from the donut, against as many bumps
without stripes. How an absent factor is coded is our reconstruction: the released code has no stripes; here its half
of the input is zero. A cross, the sum of two stripes, is brightest at the right place; so answers count as bumps if
they are in place and more like the bump than like the cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    bumps: int = 16
    """bumps from the donut that join the stripes"""
    steps: int = 600
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.bumps <= self.outside - 2 * self.size:
            raise rc.UserError(f"bumps must be between 0 and {self.outside - 2 * self.size} here, got {self.bumps}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depth=2, bumps=4, steps=40)
LAPTOP = Settings(dark=True)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "bumps": 50}
AS_RELEASED = {"learning_rate": 1e-3, "seed": 1}
GPU = Settings(seeds=8, block=8, steps=3125, **AS_RELEASED, **FULL)
PAPER = Settings(seeds=20, steps=3150, **AS_RELEASED, **FULL)

DONUT, STRIPES, BUMPS = "whole donut", "stripes + bumps", "bumps only"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def training_sets(settings: Settings, key) -> dict[str, rc.Split]:
    """What one seed is trained on in each condition; the two small sets are equally large."""
    import jax

    region = shared.hole(settings, shared.grid(settings))
    whole = rc.whole(region.combinations)
    few, many = jax.random.split(key)
    some = rc.sample(region.train & whole, settings.bumps, few)
    more = rc.sample(region.train & whole, settings.bumps + int((~whole).sum()), many)
    kept = {DONUT: whole, STRIPES: some | ~whole, BUMPS: more}
    return {name: rc.narrow(region, rows) for name, rows in kept.items()}


def train(cell: rc.Cell, names: Sequence[str], monitor):
    """The networks of some conditions in one population, and their rows."""
    settings = cell.settings
    data, _ = shared.data_and_train_keys(settings, cell.members)
    sets = [training_sets(settings, key) for key in data]
    return shared.train_conditions(
        settings,
        shared.grid(settings),
        shared.decoder(settings, settings.depth),
        members=cell.members,
        sets=[{name: one[name] for name in names} for one in sets],
        monitor=monitor,
    )


def run(cell: rc.Cell, monitor) -> list[dict]:
    return train(cell, (DONUT, STRIPES, BUMPS), monitor)[1]


def controls(settings: Settings) -> list[dict]:
    return [*shared.controls(settings), shared.untrained_row(settings, settings.depth)]


EQUAL_DATA = rc.Check(
    "difference in the number of pictures of the two small training sets",
    lambda t: rc.difference("images", STRIPES, BUMPS)(t).abs().max(),
    at_most=0.0,
)


def learnt(*conditions: str):
    """A network that has not learnt what it was shown says nothing about what it was not."""
    return (rc.fitted("accuracy1_trained", at_least=0.95, condition=conditions),)


CLAIMS = (
    rc.Claim(
        "stripes make the decoder compose",
        "Trained on stripes and a few bumps, the decoder draws bumps, and not crosses, in the hole, where it saw none.",
        "Fig. 4b; section 4.2",
        effect=rc.value("bumps1_hole", condition=STRIPES),
        above=0.8,
        unit="share of the hole where a bump, not a cross, is within 1 pixel",
        fits=learnt(STRIPES),
        controls=figures.peak_controls("bumps1_hole", figures.NO_BUMPS, at_most=0.5),
    ),
    rc.Claim(
        "stripes beat equally many bumps",
        "Stripes do what the same number of bumps does not.",
        "Fig. 4b,c",
        effect=rc.difference("bumps0_interior", STRIPES, BUMPS),
        above=0.5,
        unit="share of the interior with a bump exactly in place, stripes minus bumps only",
        preconditions=(EQUAL_DATA,),
        fits=learnt(STRIPES, BUMPS),
        controls=figures.peak_controls("bumps0_interior", figures.NO_BUMPS, at_most=0.1),
    ),
    rc.Claim(
        "stripes and a few bumps beat all bumps",
        "All stripes and a few bumps compose where every bump of the donut, several times as many pictures, does not.",
        "Fig. 1b and Fig. 4b",
        effect=rc.difference("bumps0_interior", STRIPES, DONUT),
        above=0.5,
        unit="share of the interior with a bump exactly in place, stripes minus donut",
        fits=learnt(STRIPES, DONUT),
        controls=figures.peak_controls("bumps0_interior", figures.NO_BUMPS, at_most=0.1),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """One column per training set: maps of misplacement and error, three answers in the hole, what is judged."""
    columns = {name: rc.pick(table, condition=name) for name in (DONUT, BUMPS, STRIPES)}
    dots = (figures.EXACT, figures.WITHIN_ONE, figures.BUMPS)
    return figures.figure(settings, table, columns, good=[STRIPES], dots=dots)
