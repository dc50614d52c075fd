"""How many bumps must join the stripes before a decoder draws bumps, and what does it draw without any?

Fig. 4a,b and Fig. 7: all stripes and n bumps of the donut, from none to many. With stripes alone the network answers a
pair with a cross, the sum of the two stripes; bumps teach it to keep the crossing only. How an absent factor is coded
is our reconstruction (see `stripes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.SmallSettings):
    bumps: tuple[int, ...] = (0, 8, 64)
    """numbers of bumps that join the stripes: none, a few, and so on upwards"""
    steps: int = 600
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.bumps) < 3 or list(self.bumps) != sorted(set(self.bumps)) or self.bumps[0] != 0:
            raise rc.UserError(f"bumps must be 0 and at least two rising numbers, got {self.bumps}")
        if self.bumps[-1] > self.outside:
            raise rc.UserError(f"the donut has {self.outside} bumps, fewer than {self.bumps[-1]}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=(0, 2, 8), steps=40)
LAPTOP = Settings(batch=16)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "learning_rate": 1e-3}
GPU = Settings(seeds=8, block=8, bumps=(0, 10, 25, 50, 100, 200), steps=3125, precision="bfloat16", **FULL)
PAPER = Settings(seeds=20, block=5, bumps=(0, 5, 10, 25, 50, 100, 200, 495), steps=12_500, cosine=False, **FULL)


@dataclass(frozen=True)
class Cell:
    """The networks of every number of bumps for one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


def condition(bumps: int) -> str:
    return f"stripes + {bumps}"


def training_sets(settings: Settings, key) -> dict[str, rc.Split]:
    """All stripes, and each number of bumps from the donut."""
    task = _hole.grid(settings)
    stripes = ~rc.whole(task.combinations)
    region, donut = _hole.hole(settings, task), _hole.donut(settings, task).train
    return {condition(n): rc.narrow(region, rc.draw(donut, n, key) | stripes) for n in settings.bumps}


def run(cell: Cell, watch) -> list[dict]:
    settings, task = cell.settings, _hole.grid(cell.settings)
    trained, rows = _hole.train_conditions(
        settings,
        task,
        _hole.decoder(settings, settings.depth),
        members=cell.members,
        sets=lambda key: training_sets(settings, key),
        watch=watch,
    )
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=_seeds.test_key(settings))
    numbers = {condition(n): n for n in settings.bumps}
    return [
        row
        | {"bumps": numbers[row["condition"]]}
        | _seeds.unless_lost(likeness(settings, _hole.bright(settings, answer)), row["diverged_at"])
        for row, answer in zip(rows, answers, strict=True)
    ]


def likeness(settings: Settings, answer: rc.Record) -> dict[str, float]:
    """Correlation of the answers in the interior with the bump that was asked for and with the cross of its stripes."""
    inside = answer.where(rc.interior(rc.square(answer.z, settings.low, settings.high), settings.rim))
    return {
        "r_truth": float(np.mean(rc.pearson(inside.y_hat, inside.y))),
        "r_cross": float(np.mean(rc.pearson(inside.y_hat, crosses(settings, inside.z)))),
    }


def crosses(settings: Settings, z: np.ndarray) -> np.ndarray:
    """The sum of the vertical stripe at x and the horizontal stripe at y, for each pair."""
    across, along = (
        np.exp(-((np.arange(settings.size) - v[:, None]) ** 2) / (2 * settings.sigma**2)) for v in z.astype(float).T
    )
    return across[:, None, :] + along[:, :, None]


def controls(settings: Settings) -> list[dict]:
    """The measures on a perfect solver, on one that draws crosses, and on memorisers."""
    task = _hole.grid(settings)
    z = task.combinations[rc.whole(task.combinations)]
    truth = _hole.bright(settings, rc.truth(task, z, key=_seeds.test_key(settings)))
    seen = {"perfect": truth, "crosses": truth.answering(crosses(settings, z))}
    rows = {row["condition"]: row for row in _hole.controls(settings)}
    for name, system in seen.items():
        row = rows.setdefault(f"control: {name}", {"condition": f"control: {name}", "seed": 0})
        row |= likeness(settings, system)
    return list(rows.values())


def of(table: pd.DataFrame, column: str, place: int) -> pd.Series:
    """A column by seed, of the network with the place-th number of bumps."""
    numbers = sorted(table["bumps"].dropna().unique())
    return rc.by_seed(table, column, bumps=numbers[place])


NONE, FEW, MOST = 0, 1, -1
STRIPES_LEARNT = rc.Check(
    "every network's last training loss is at most 0.005 (an empty answer to a stripe errs by 0.06 and more)",
    lambda t: 0.005 - t["loss"].max(),
    at_least=0.0,
)
BUMPS_LEARNT = rc.Check(
    "every network that was shown bumps places at least 95 % of them within one pixel",
    lambda t: t["accuracy1_trained"][t["loss"].notna()].min(),
    at_least=0.95,
)
PLACING = _show.peak_controls("accuracy1_hole", ("blind", *_show.MEMORISERS), at_most=0.5)
KINDS = (
    rc.Check(
        "crosses read as crosses and a perfect solver as the truth, by 0.1 each",
        lambda t: min(
            _show.control("crosses", "r_cross", t) - _show.control("crosses", "r_truth", t),
            _show.control("perfect", "r_truth", t) - _show.control("perfect", "r_cross", t),
        ),
        at_least=0.1,
    ),
)


def claim(name: str, says: str, source: str, *, effect, margin: float, unit: str, controls) -> rc.Claim:
    return rc.Claim(
        name, says, source, effect, margin, unit, preconditions=(STRIPES_LEARNT, BUMPS_LEARNT), controls=controls
    )


CLAIMS = (
    claim(
        "stripes alone find the place",
        "Trained on stripes alone, the network is brightest where the two stripes that it is asked for cross.",
        "Fig. 4b (no bumps)",
        effect=lambda t: of(t, "accuracy1_hole", NONE),
        margin=0.8,
        unit="accuracy within 1 pixel, whole hole, no bumps",
        controls=PLACING,
    ),
    claim(
        "and draw a cross",
        "What it draws there is the sum of the two stripes rather than a bump.",
        "Fig. 4b (no bumps)",
        effect=lambda t: of(t, "r_cross", NONE) - of(t, "r_truth", NONE),
        margin=0.0,
        unit="correlation with the cross minus with the bump, no bumps",
        controls=KINDS,
    ),
    claim(
        "a few bumps are enough",
        "The smallest number of bumps tried already puts bumps in the right place throughout the hole.",
        "Fig. 4b; Fig. 7b",
        effect=lambda t: of(t, "accuracy1_hole", FEW),
        margin=0.8,
        unit="accuracy within 1 pixel, whole hole, fewest bumps",
        controls=PLACING,
    ),
    claim(
        "bumps turn crosses into bumps",
        "With more bumps the answers in the hole come to look like bumps.",
        "Fig. 4b; Fig. 7b",
        effect=lambda t: of(t, "r_truth", MOST) - of(t, "r_truth", NONE),
        margin=0.1,
        unit="correlation with the bump, most bumps minus none",
        controls=KINDS,
    ),
    claim(
        "more bumps, less error",
        "From the fewest bumps to the most, the error in the hole falls at least threefold.",
        "Fig. 7b",
        effect=lambda t: (of(t, "mse_hole", FEW) / of(t, "mse_hole", MOST)).apply(log10),
        margin=log10(3),
        unit="log10 of the error in the hole, fewest over most bumps",
        controls=_show.ERROR_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    columns = {
        f"stripes + {n} bumps\n({n / settings.outside:.0%} of the donut)": table[table.bumps == n]
        for n in settings.bumps
    }
    return _show.figure(settings, table, columns, good=list(columns))
