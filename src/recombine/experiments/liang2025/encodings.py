"""Does the failure in the hole depend on how x and y are encoded: one-hot, bumps, sines, or plain numbers?

Fig. 1b,c: the same decoder on the same donut, with every code. The positional code is our reconstruction (the release
has a call and no definition). Rate codes carry a second number that says that the part is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures, shared

if TYPE_CHECKING:
    import pandas as pd

POPULATION: dict[str, Callable[[shared.HoleSettings], rc.Encoding]] = {
    "one-hot": lambda s: rc.one_hot(s.size),
    "local bump": lambda s: rc.local_bump(s.size, s.sigma),
    "wide bump": lambda s: rc.local_bump(s.size, s.sigma, multiplier=9),
    "padded bump": lambda s: rc.padded_bump(s.size, s.sigma),
    "positional": lambda s: rc.positional(s.size),
}
RATE: dict[str, Callable[[shared.HoleSettings], rc.Encoding]] = {
    "rate": lambda _: rc.rate(),
    "scaled rate": lambda s: rc.scaled_rate(s.size),
}
CODES = POPULATION | RATE


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    pass


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, steps=20)
LAPTOP = Settings(batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "learning_rate": 1e-3}
GPU = Settings(seeds=8, block=8, steps=3125, precision="bfloat16", **FULL)
PAPER = Settings(seeds=20, block=10, steps=12_500, cosine=False, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"code": code} for code in CODES])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, encode = cell.settings, CODES[cell.code](cell.settings)
    task = shared.grid(settings, encode)
    return shared.train(
        settings,
        task,
        shared.decoder(settings, settings.depth, encode),
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": cell.code, "seed": seed} for seed in cell.members],
        monitor=monitor,
    )[1]


def controls(settings: Settings) -> list[dict]:
    untrained = [
        shared.untrained_row(settings, settings.depth, encode(settings)) | {"condition": code}
        for code, encode in CODES.items()
    ]
    return [*shared.controls(settings), *untrained]


def fits(codes: Iterable[str], share: float):
    """A network must place that share of its training bumps within one pixel."""
    return (rc.each({code: rc.fitted("accuracy1_donut", at_least=share, condition=code) for code in codes}),)


CLAIMS = (
    rc.Claim(
        "the decoder fails for every population code",
        "Whichever population code tells x and y apart, the decoder fits the donut and fails in the hole.",
        "Fig. 1b; section 3.2",
        effect=rc.each({c: figures.minus("accuracy0_donut", "accuracy0_interior", condition=c) for c in POPULATION}),
        above=0.5,
        unit="exact accuracy, donut minus interior",
        fits=fits(POPULATION, 0.95),
        controls=figures.peak_controls("accuracy0_interior", figures.NOT_COMPOSING, at_most=0.1),
        over="codes",
    ),
    rc.Claim(
        "the decoder fails for plain numbers",
        "Encoded as plain numbers, x and y give an error in the hole of at least three times that on the donut.",
        "Fig. 1c",
        effect=rc.each({code: figures.log_over("mse_hole", "mse_donut", condition=code) for code in RATE}),
        above=log10(3),
        unit="log10 of MSE in the hole over MSE on the donut",
        # These codes train slowly: the paper's own networks stop at ten times the error of the others.
        fits=fits(RATE, 0.8),
        controls=figures.ERROR_CONTROLS,
        over="codes",
    ),
    rc.Claim(
        "wider codes err a little less (the release)",
        "A bump code of nine times the variance has a smaller error in the hole than the narrow one.",
        "released notebooks: width multipliers 1 to 11",
        effect=rc.log_ratio("mse_hole", "local bump", "wide bump"),
        above=0.0,
        unit="log10 of the error in the hole, narrow over wide code",
        fits=(rc.fitted("accuracy1_donut", at_least=0.95, condition=("local bump", "wide bump")),),
        controls=figures.ERROR_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """One column per code: maps of misplacement and error, three answers in the hole, what is judged."""
    columns = {code: rc.pick(table, condition=code) for code in CODES}
    dots = (figures.EXACT, figures.WITHIN_ONE, figures.ERROR_RATIO, figures.HOLE_ERROR)
    return figures.figure(settings, table, columns, dots=dots)
