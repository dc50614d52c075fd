"""How many bumps must join the stripes before a decoder draws bumps, and what does it draw without any?

Fig. 4a,b and Fig. 7: all stripes and n bumps of the donut, from none to many. With stripes alone the network answers a
pair with a cross, the sum of the two stripes; bumps teach it to keep the crossing only. Neither the paper nor its
release says how long these networks are trained or how an absent factor is coded. Primary is the network that Fig. 15
names, of four blocks, trained as the released decoders of that kind: 50 passes over 2,000 pictures, 3,150 steps at a
constant rate. `VARIANTS` has the other lengths of the release, as looks along the same training.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, Literal

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared
from recombine.experiments.liang2025.crosses import KINDS, crosses, likeness, way
from recombine.experiments.liang2025.donut_shares import LEARNT, enough

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    dark: bool = True
    """dark bumps on white, as the paper draws them"""
    bumps: tuple[int, ...] = (0, 8, 64)
    """numbers of bumps that join the stripes: none, a few, and so on upwards"""
    steps: int = 600
    """updates of each network"""
    absent: Literal["zeros", "margin"] = "zeros"
    """how the code of an absent factor is written: no active unit, or a bump in a margin beside the picture"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bumps or list(self.bumps) != sorted(set(self.bumps)) or self.bumps[0] != 0:
            raise rc.UserError(f"bumps must be 0 and then rising numbers, got {self.bumps}")
        if self.bumps[-1] > self.outside:
            raise rc.UserError(f"the donut has {self.outside} bumps, fewer than {self.bumps[-1]}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, bumps=(0, 2, 8), steps=40)
LAPTOP = Settings(seed=2, seeds=10, batch=16, bumps=(0, 3, 16, 64))
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "learning_rate": 1e-3, "seed": 1}
GPU = Settings(seeds=12, block=12, bumps=(0, 10, 200), steps=3150, **FULL)
PAPER = Settings(seeds=20, block=5, bumps=(0, 5, 10, 25, 50, 100, 200, 495), steps=3150, **FULL)
FEWER = {"seeds": lambda s: min(s.seeds, 6), "bumps": lambda s: (0, s.bumps[1], s.bumps[-1])}
"""A variant has no more networks than it needs."""
ALONE = FEWER | {"bumps": (0,)}
"""Only claims on stripes alone are judged."""


def looks(steps: int, why: str) -> rc.Variant:
    """The same training, looked at after so many steps."""
    return rc.Variant(f"{steps} steps", why, steps=steps, **ALONE)


VARIANTS = (
    rc.Variant(
        "bright on black",
        "The release draws dark bumps on white for its decoders and bright ones on black for its other networks.",
        dark=False,
        **FEWER,
    ),
    rc.Variant(
        "width 32", "The paper names no width here; this one lies between those of our tiers.", width=32, **ALONE
    ),
    looks(100, "Fifty passes over the 56 stripes alone are 100 updates."),
    looks(400, "The released scripts that count data train for at most 400 updates."),
    looks(1260, "The released script that is named for stripes trains for 1,260 updates, on bumps."),
    looks(12_500, "The released script of the superposition trains for 12,500 updates."),
    rc.Variant("cosine", "Ours: the learning rate falls to zero, so that training settles.", cosine=True, **ALONE),
    rc.Variant(
        "absent factor in the margin",
        "The release has no stripes, but a padded code in whose margin an absent factor could lie.",
        absent="margin",
        **FEWER,
    ),
)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def condition(bumps: int) -> str:
    return f"stripes + {bumps}"


def encoding(settings: Settings) -> rc.Encoding:
    """Local bumps; where a factor is absent, no unit is active, or those of a margin that no picture shows."""
    if settings.absent == "zeros":
        return rc.local_bump(settings.size, settings.sigma)
    from recombine.encodings.position import in_margin

    return rc.padded_bump(settings.size, settings.sigma, absent=in_margin)


def training_sets(settings: Settings, key) -> dict[str, rc.Split]:
    """All stripes, and each number of bumps from the donut."""
    task = shared.grid(settings, encoding(settings))
    stripes = ~rc.whole(task.combinations)
    region, donut = shared.hole(settings, task), shared.donut(settings, task).train
    return {condition(n): rc.narrow(region, rc.sample(donut, n, key) | stripes) for n in settings.bumps}


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, encode = cell.settings, encoding(cell.settings)
    task, (data, _) = shared.grid(settings, encode), shared.data_and_train_keys(settings, cell.members)
    trained, rows = shared.train_conditions(
        settings,
        task,
        shared.decoder(settings, settings.depth, encode),
        members=cell.members,
        sets=[training_sets(settings, key) for key in data],
        monitor=monitor,
    )
    z = task.combinations[rc.whole(task.combinations)]
    answers = rc.records(trained.model, task, z, key=rc.key(settings.seed, "test"))
    numbers = {condition(n): n for n in settings.bumps}
    return [
        row
        | {"bumps": numbers[row["condition"]]}
        | rc.nan_if_diverged(likeness(settings, shared.as_intensity(settings, answer)), row["diverged_at"])
        for row, answer in zip(rows, answers, strict=True)
    ]


def controls(settings: Settings) -> list[dict]:
    """The measures on a perfect solver, on one that draws crosses, on memorisers, and before training."""
    depth, encode, truth = settings.depth, encoding(settings), shared.as_intensity(settings, shared.truth(settings))
    rows = [*shared.controls(settings), shared.untrained_row(settings, depth, encode)]
    seen = {
        "perfect": truth,
        "untrained": shared.as_intensity(settings, shared.untrained(settings, depth, encode)),
        "crosses": truth.answering(crosses(settings, truth.z)),
    }
    found = {name: likeness(settings, system) for name, system in seen.items()}
    return [row | found.get(row["system"], {}) for row in rows]  # pyrefly: ignore


NONE, FEW, MOST = 0, 1, -1


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
CLAIMS = (
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
    enough(10, "Fig. 4e,f (50 bumps of 495); Fig. 7b"),
    enough(2, "ours: the fewest bumps tried; after Fig. 7b", ours=True),
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

LIKENESS = figures.Dots("correlation of answers\nin the interior with", {"cross": "r_cross", "bump": "r_truth"}, None)


def figure(settings: Settings, table: pd.DataFrame):
    """One column per number of bumps: maps of misplacement and error, three answers in the hole, what is judged."""
    columns = {
        f"stripes + {n} bumps\n({n / settings.outside:.0%} of the donut)": rc.pick(table, bumps=n)
        for n in settings.bumps
    }
    dots = (figures.WITHIN_ONE, figures.BUMPS, LIKENESS, figures.HOLE_ERROR)
    return figures.figure(settings, table, columns, good=list(columns)[1:], dots=dots)
