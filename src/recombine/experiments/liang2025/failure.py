"""Does a decoder that is handed x and y apart draw a bump at a pair that it never saw?

Fig. 1b,c and Fig. 10: the network fits every bump outside the hole, and puts those inside it in the wrong place.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.HoleSettings):
    depths: tuple[int, ...] = (3,)
    """depths of the decoder, each judged as if on its own; claims speak of the shallowest"""


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, steps=40, depths=(2,))
LAPTOP = Settings()
GPU = Settings(
    seeds=8, size=28, low=6, high=22, rim=4, dark=True, width=64, depths=(4, 2, 6, 8, 10), steps=3125, cosine=False
)
PAPER = Settings(
    seeds=10, size=28, low=6, high=22, rim=4, dark=True, width=64, depths=(4, 2, 3, 5, 6, 7, 8, 9, 10),
    steps=3125, cosine=False,
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The networks of one depth and one block of seeds."""

    settings: Settings
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, depth, members) for depth in settings.depths for members in _hole.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    keys = rc.member_keys(cell.settings.seed, cell.members)
    task = _hole.grid(cell.settings)
    donut = rc.narrow(_hole.hole(cell.settings, task), rc.whole(task.combinations))
    splits = [donut] * len(keys)
    trained = _hole.train(cell.settings, cell.depth, splits, keys, watch)
    rows = _hole.networks(cell.settings, trained, splits, _hole.test_key(cell.settings))
    return [
        {"condition": "donut", "depth": cell.depth, "seed": seed, **row}
        for seed, row in zip(cell.members, rows, strict=True)
    ]


def controls(settings: Settings) -> list[dict]:
    return [{"depth": settings.depths[0], **row} for row in _hole.controls(settings)]


def of_donut(table: pd.DataFrame, column: str) -> pd.Series:
    """One number a seed, from the networks of the first depth."""
    return rc.by_seed(table, column, condition="donut", depth=int(table["depth"].iloc[0]))


def log_ratio(table: pd.DataFrame) -> pd.Series:
    """log10 of the error in the hole over the error outside it."""
    return (of_donut(table, "mse_hole") / of_donut(table, "mse_donut")).apply(log10)


FITS = rc.Check(
    "every network places at least 95 % of the training bumps within one pixel",
    lambda t: of_donut(t, "accuracy1_donut").min(),
    at_least=0.95,
)

CLAIMS = (
    rc.Claim(
        "fails in the hole",
        "A decoder given perfectly disentangled codes fits the donut and fails in the held-out centre.",
        "Fig. 1b; section 3.1",
        effect=lambda t: of_donut(t, "accuracy1_donut") - of_donut(t, "accuracy1_interior"),
        margin=0.5,
        unit="accuracy within 1 pixel, donut minus interior of the hole",
        preconditions=(FITS,),
        controls=_show.peak_controls("accuracy1_interior", _show.MEMORISERS, at_most=0.1),
    ),
    rc.Claim(
        "error sits in the hole",
        "The error is confined to the held-out square: it is at least ten times that of the training region.",
        "Fig. 1b,c",
        effect=log_ratio,
        margin=1.0,
        unit="log10 of MSE in the hole over MSE on the donut",
        preconditions=(FITS,),
        controls=_show.ERROR_CONTROLS,
    ),
    rc.Claim(
        "not even exact near the rim",
        "Over the whole hole, rim included, exact placement is lost as well.",
        "Fig. 10 (samples)",
        effect=lambda t: of_donut(t, "accuracy0_donut") - of_donut(t, "accuracy0_hole"),
        margin=0.5,
        unit="exact accuracy, donut minus whole hole",
        preconditions=(FITS,),
        controls=_show.peak_controls("accuracy0_hole", _show.MEMORISERS, at_most=0.1),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    columns = {f"depth {d}": table[(table.condition == "donut") & (table.depth == d)] for d in settings.depths}
    return _show.figure(settings, table, columns)
