"""Does a decoder that is handed x and y apart draw a bump at a pair that it never saw?

Fig. 1b,c and Fig. 10: the network fits every bump outside the hole, and puts those inside it in the wrong place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.HoleSettings):
    depths: tuple[int, ...] = (3,)
    """depths of the decoder; a claim must hold at every one of them"""
    width: int = 16
    """channels of the decoder"""
    steps: int = 800
    """updates of each network"""
    learning_rate: float = 3e-3
    """AdamW's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.depths or len(set(self.depths)) != len(self.depths):
            raise rc.UserError(f"depths must be one or more different numbers, got {self.depths}")
        for depth in self.depths:
            _hole.check_depth(depth)


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, steps=40, depths=(2,))
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "learning_rate": 1e-3, "cosine": False}
GPU = Settings(seeds=8, block=8, depths=(2, 4, 6, 8, 10), steps=3125, **FULL)
PAPER = Settings(seeds=10, depths=tuple(range(2, 11)), steps=3125, **FULL)


@dataclass(frozen=True)
class Cell:
    """The networks of one depth and one block of seeds."""

    settings: Settings
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, depth, members) for depth in settings.depths for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings, task = cell.settings, _hole.grid(cell.settings)
    return _hole.train(
        settings,
        task,
        _hole.decoder(settings, cell.depth),
        splits=[_hole.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": "donut", "depth": cell.depth, "seed": seed} for seed in cell.members],
        watch=watch,
    )[1]


controls = _hole.controls


def at_worst_depth(table: pd.DataFrame, effect: Callable[[pd.DataFrame], pd.Series]) -> pd.Series:
    """An effect of each network, and of each seed the smallest over depths; lost if one of its networks is."""
    rows = table[table.condition == "donut"]
    return _show.at_worst(rows, effect)


FITS = rc.Check(
    "every network places at least 95 % of the training bumps within one pixel",
    lambda t: t[t.condition == "donut"]["accuracy1_donut"].min(),
    at_least=0.95,
)
NOT_COMPOSING = ("blind", *_show.MEMORISERS)

CLAIMS = (
    rc.Claim(
        "fails in the hole",
        "A decoder given perfectly disentangled codes fits the donut and fails in the held-out centre.",
        "Fig. 1b; section 3.1; Fig. 10 for every depth",
        effect=lambda t: at_worst_depth(t, lambda rows: rows.accuracy0_donut - rows.accuracy0_interior),
        margin=0.5,
        unit="exact accuracy, donut minus interior of the hole",
        preconditions=(FITS,),
        controls=_show.peak_controls("accuracy0_interior", NOT_COMPOSING, at_most=0.1),
    ),
    rc.Claim(
        "error sits in the hole",
        "The error is confined to the held-out square: it is at least ten times that of the training region.",
        "Fig. 1b,c",
        effect=lambda t: at_worst_depth(t, lambda rows: (rows.mse_hole / rows.mse_donut).apply(log10)),
        margin=1.0,
        unit="log10 of MSE in the hole over MSE on the donut",
        preconditions=(FITS,),
        controls=_show.ERROR_CONTROLS,
    ),
    rc.Claim(
        "exact placement is lost",
        "Over the whole hole, its rim included, most bumps are not placed exactly.",
        "Fig. 10 (samples)",
        effect=lambda t: at_worst_depth(t, lambda rows: rows.accuracy0_donut - rows.accuracy0_hole),
        margin=0.5,
        unit="exact accuracy, donut minus whole hole",
        preconditions=(FITS,),
        controls=_show.peak_controls("accuracy0_hole", NOT_COMPOSING, at_most=0.1),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    columns = {f"depth {d}": table[(table.condition == "donut") & (table.depth == d)] for d in settings.depths}
    return _show.figure(settings, table, columns)
