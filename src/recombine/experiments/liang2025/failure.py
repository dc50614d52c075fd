"""Does a decoder that is given x and y in separate codes draw a bump at a pair that it never saw?

Fig. 1b and Fig. 10: the network fits every bump outside the hole, and puts those inside it in the wrong place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures, shared

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.HoleSettings):
    depths: tuple[int, ...] = (3,)
    """depths of the decoder; a claim must hold at every one of them"""
    width: int = 16
    """channels of the decoder"""
    steps: int = 1200
    """updates of each network"""
    learning_rate: float = 3e-3
    """AdamW's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.depths or len(set(self.depths)) != len(self.depths):
            raise rc.UserError(f"depths must be one or more different numbers, got {self.depths}")
        for depth in self.depths:
            shared.check_depth(depth)


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, steps=40, depths=(2,))
LAPTOP = Settings(dark=True)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "learning_rate": 1e-3, "seed": 1}
GPU = Settings(seeds=20, block=10, depths=(2, 4, 8), steps=3150, **FULL)
PAPER = Settings(seeds=20, block=10, depths=tuple(range(2, 11)), steps=3150, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"depth": depth} for depth in settings.depths])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, shared.grid(cell.settings)
    return shared.train(
        settings,
        task,
        shared.decoder(settings, cell.depth),
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": "donut", "depth": cell.depth, "seed": seed} for seed in cell.members],
        monitor=monitor,
    )[1]


def controls(settings: Settings) -> list[dict]:
    untrained = [shared.untrained_row(settings, depth) | {"depth": depth} for depth in settings.depths]
    return [*shared.controls(settings), *untrained]


FITS = (rc.each_of("depth", rc.fitted("accuracy1_donut", at_least=0.95)),)

CLAIMS = (
    rc.Claim(
        "the decoder fails in the hole",
        "At every depth, a decoder given perfectly disentangled codes fits the donut and fails in the held-out centre.",
        "Fig. 1b; section 3.2; Fig. 10 for every depth",
        effect=rc.each_of("depth", figures.minus("accuracy0_donut", "accuracy0_interior")),
        above=0.5,
        unit="exact accuracy, donut minus interior of the hole",
        fits=FITS,
        controls=figures.peak_controls("accuracy0_interior", figures.NOT_COMPOSING, at_most=0.1),
        over="depths",
    ),
    rc.Claim(
        "the error sits in the hole",
        "The error is confined to the held-out square: it is at least ten times that of the training region.",
        "Fig. 1b",
        effect=rc.each_of("depth", figures.log_over("mse_hole", "mse_donut")),
        above=1.0,
        unit="log10 of MSE in the hole over MSE on the donut",
        fits=FITS,
        controls=figures.ERROR_CONTROLS,
        over="depths",
    ),
    rc.Claim(
        "exact placement is lost in the whole hole",
        "Over the whole hole, its rim included, most bumps are not placed exactly.",
        "Fig. 10 (samples)",
        effect=rc.each_of("depth", figures.minus("accuracy0_donut", "accuracy0_hole")),
        above=0.5,
        unit="exact accuracy, donut minus whole hole",
        fits=FITS,
        controls=figures.peak_controls("accuracy0_hole", figures.NOT_COMPOSING, at_most=0.1),
        over="depths",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """One column per depth: maps of misplacement and error, three answers in the hole, what is judged."""
    columns = {f"depth {depth}": rc.pick(table, depth=depth) for depth in settings.depths}
    dots = (figures.EXACT, figures.WITHIN_ONE, figures.ERROR_RATIO)
    return figures.figure(settings, table, columns, dots=dots)
