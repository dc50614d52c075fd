"""Does a cheap measure, taken outside the hole alone, tell whether a network will compose inside it?

Ours. Networks that differ in code, depth, architecture, penalty and training data are measured on the donut alone
(which some of them saw only in part); each measure is then correlated with how many bumps they draw, in place, in the
interior of the hole. Only networks that learnt what they were shown count: a measure that finds the untrained ones
would be no discovery. The interior was chosen after the seeds of 0 were seen, and bumps in place of peaks after those
of 1 at laptop; the tiers have other ones.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import donut, shared
from recombine.experiments.liang2025.encodings import CODES, POPULATION
from recombine.experiments.liang2025.families import BUMPS, DONUT, STRIPES, Family, families, penalised, training_set
from recombine.experiments.liang2025.rendering import ABLATIONS

if TYPE_CHECKING:
    import pandas as pd

UNITS = 1024
CHANCE = "a random number (control)"
LEARNT = 0.9
"""the share of its training bumps that a network must place within one pixel to count"""
MARGIN = 0.5
OUTCOME = "bumps0_interior"
"""bumps drawn in place, and not crosses, which have their peak in the right place too"""
MEANING = donut.MEANING | {
    "volume_spread": "unevenness of the last hidden layer's volume element",
    "probe": "R2 of a probe from one half of the donut to the other",
    "or_like": "OR-like minus AND-like likeness of hidden activations",
    "placed": "share placed within 1 px on the donut",
}


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    size: int = 12
    """side of the picture in pixels, a multiple of 4"""
    high: int = 8
    """last coordinate of the hole"""
    rim: int = 1
    """cells of the hole this near to its edge are not its interior"""
    codes: tuple[str, ...] = ("one-hot", "local bump", "positional")
    """codes of x and y for the convolutional decoders"""
    depths: tuple[int, ...] = (2, 4)
    """further depths, for the local bump code"""
    bumps: int = 12
    """bumps that join the stripes"""
    ablations: tuple[str, ...] = ("none", "variance")
    """penalties of the rendering networks"""
    steps: int = 1000
    """updates of each network"""
    longer: int = 1
    """how many times as many per-pixel and rendering networks have, which learn slowly on large pictures"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for depth in self.depths:
            shared.check_depth(depth)
        for names, known in ((self.codes, CODES), (self.ablations, ABLATIONS)):
            if not names or len(set(names)) < len(names) or not set(names) <= set(known):
                raise rc.UserError(f"choose different ones among {', '.join(known)}; got {names}")
        if self.depth in self.depths or len(set(self.depths)) < len(self.depths):
            raise rc.UserError(f"depths must be others than {self.depth}, and different, got {self.depths}")
        self.need_positive("longer")
        if not 0 < self.bumps <= self.outside - 2 * self.size:
            raise rc.UserError(f"bumps must be between 1 and {self.outside - 2 * self.size} here, got {self.bumps}")


QUICK = Settings(
    seeds=2, size=8, low=2, high=5, width=4, depth=2, depths=(), codes=("local bump",), bumps=4, steps=20, batch=8
)
_PENALTIES = ("none", "variance", "both")
LAPTOP = Settings(
    seed=2, codes=("one-hot", "local bump"), depths=(), bumps=32, ablations=_PENALTIES, batch=16, dark=True
)
_SIZES = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "depth": 4, "depths": (2, 8)}
_TRAINING = {"bumps": 50, "steps": 3150, "longer": 4, "learning_rate": 1e-3}
_CODES = ("one-hot", "local bump", "wide bump", "positional")
GPU = Settings(seed=2, seeds=8, block=8, codes=_CODES, ablations=tuple(ABLATIONS), **_SIZES, **_TRAINING)  # pyrefly: ignore
PAPER = replace(GPU, seeds=20, block=10, codes=tuple(POPULATION), depths=(2, 3, 6, 8, 10), steps=12_500)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"family": i} for i in range(len(families(settings)))])


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax.numpy as jnp

    settings, family = cell.settings, families(cell.settings)[cell.family]
    encode = CODES[family.code](settings)
    task = shared.grid(settings, encode)
    data, life = shared.data_and_train_keys(settings, cell.members)
    ways = [(shown, penalty) for shown in family.shown for penalty in family.ablations]
    who = [
        {"condition": family.name, "shown": shown, "penalty": penalty, "seed": seed}
        for shown, penalty in ways
        for seed in cell.members
    ]
    trained, rows = shared.train(
        replace(settings, steps=settings.steps * settings.longer) if family.slow else settings,
        task,
        family.make(settings, 2 * encode.size),
        splits=[training_set(settings, shown, task, key) for shown, _ in ways for key in data],
        keys=jnp.concatenate([life] * len(ways)),
        who=who,
        monitor=monitor,
        **penalised(family, who),
    )
    found = zip(rows, on_donut(settings, family, task, trained.model), strict=True)
    return [row | named(settings, row) | rc.nan_if_diverged(cheap, row["diverged_at"]) for row, cheap in found]


def named(settings: Settings, row: dict) -> dict:
    """The way in which a network was trained, and a random number as a control."""
    way = f"{row['condition']} {row['shown']} {row['penalty']}"
    return {"way": way, "chance": rc.rng(settings.seed, "chance", way, row["seed"]).uniform()}


def on_donut(settings: Settings, family: Family, task: rc.Task, models) -> list[dict]:
    """The cheap measures of each network of a population."""
    import jax

    from recombine.experiments.liang2025 import unit_model

    z, key = task.combinations[rc.whole(task.combinations)], rc.key(settings.seed, "test")
    x, _ = task.sample(jax.numpy.asarray(z[0]), key)
    some = unit_model.some(models, family.layer, UNITS, x, rc.key(settings.seed, "units"))
    answers = rc.records(some, task, z, key=key, keep=["units"])

    def measured(answer: rc.Record) -> dict:
        if not np.isfinite(answer.acts["units"]).all():  # it diverged
            return dict.fromkeys(donut.EXPECTED, np.nan)
        return donut.seen(settings, shared.as_intensity(settings, answer), answer.acts["units"])

    return [measured(answer) for answer in answers]


def controls(settings: Settings) -> list[dict]:
    """The measures on one network of each family at its initial weights."""

    def untrained(family: Family) -> dict:
        encode = CODES[family.code](settings)
        task = shared.grid(settings, encode)
        born = rc.initial_models(family.make(settings, 2 * encode.size), rc.key(settings.seed, "untrained")[None])
        z = task.combinations[rc.whole(task.combinations)]
        (answer,) = rc.records(born, task, z, key=rc.key(settings.seed, "test"))
        known = rc.square(z, settings.low, settings.high).train
        row = {"system": "untrained", "condition": family.name, "seed": 0}
        return row | shared.measures(settings, answer, known) | on_donut(settings, family, task, born)[0]

    return [untrained(family) for family in families(settings)]


def learnt(table: pd.DataFrame) -> pd.DataFrame:
    rows = rc.networks(table)
    return rows[(rows["accuracy1_trained"] >= LEARNT) & (rows["diverged_at"] < 0)]


def correlation(column: str):
    """By seed, the rank correlation of a column with the bumps drawn in the interior, over all ways to train."""
    return rc.correlation_by_seed(column, OUTCOME, learnt)


def over_networks(table: pd.DataFrame, column: str, draws: int = 1000) -> tuple[float, float, float]:
    """The correlation over all networks at once, with the 95 % interval of a bootstrap over ways to train."""
    return rc.grouped_correlation(learnt(table), "way", column, OUTCOME, draws=draws)


CONTROLS = (
    rc.Check(
        "the correlation with the error in the interior",
        lambda t: correlation("mse_interior")(t).mean(),
        at_most=-0.5,
    ),
    rc.Check("the correlation of a random number", lambda t: correlation("chance")(t).mean(), -0.3, 0.3),
)
ENOUGH = (
    rc.Check("the share of networks that compose", lambda t: (learnt(t)[OUTCOME] > 0.8).mean(), at_least=0.2),
    rc.Check("the share of networks that do not", lambda t: (learnt(t)[OUTCOME] < 0.5).mean(), at_least=0.2),
    rc.Check("the ways to train left in each seed", lambda t: learnt(t).groupby("seed").size().min(), at_least=8),
)


def claim(column: str, sign: int) -> rc.Claim:
    more, bounds = ("higher", {"above": MARGIN}) if sign > 0 else ("lower", {"below": -MARGIN})
    return rc.Claim(
        f"composing is predicted by a {more} {MEANING[column]}",
        f"Over these ways to train, the more bumps a network draws in the interior, the {more} its {MEANING[column]},"
        f" by a rank correlation of size {MARGIN} at least.",
        "ours; the direction was stated before any run, the outcome and its margin before the seeds that judge it",
        effect=correlation(column),
        unit="rank correlation with bumps in place in the interior",
        preconditions=ENOUGH,
        controls=CONTROLS,
        **bounds,  # pyrefly: ignore
    )


CLAIMS = tuple(claim(column, sign) for column, sign in donut.EXPECTED.items())


def figure(settings: Settings, table: pd.DataFrame):
    """The measures ranked by how well they predict, and the best of them against the bumps drawn in the interior."""
    from matplotlib.figure import Figure

    found = {column: correlation(column)(table).to_numpy() for column in (*donut.EXPECTED, "chance")}
    ranked = sorted(found, key=lambda column: abs(np.nan_to_num(np.mean(found[column]))))
    picture = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = picture.subplots(1, 2, width_ratios=(1.5, 1))
    for place, column in enumerate(ranked):
        sign = donut.EXPECTED.get(column, 0)
        shown = min(sign * bound for bound in rc.interval(found[column])) > MARGIN
        colour = rc.plots.GOOD if shown else rc.plots.NEUTRAL
        left.plot(found[column], np.full(len(found[column]), place), "o", color=colour, alpha=0.35, markersize=4)
        left.plot(over_networks(table, column)[1:], [place - 0.25] * 2, color=colour, linewidth=1, alpha=0.7)
        left.plot(rc.interval(found[column]), [place, place], color=colour, linewidth=2.5)
    signs = {+1: "(expected right)", -1: "(expected left)"}
    names = [f"{MEANING[c]} {signs[donut.EXPECTED[c]]}" if c in MEANING else CHANCE for c in ranked]
    left.set_yticks(range(len(ranked)), names)
    left.axvline(0, color="black", linewidth=0.6)
    for margin in (-MARGIN, MARGIN):
        left.axvline(margin, color="black", linewidth=0.6, linestyle="dotted")
    left.set(xlim=(-1.05, 1.05), xlabel="rank correlation with bumps in the interior")
    left.set_title("one dot per seed; intervals: thick over seeds, thin over ways to train", fontsize=8)
    rows, best = learnt(table), next(c for c in reversed(ranked) if c in donut.EXPECTED)
    for shown, marker in ((DONUT, "o"), (STRIPES, "s"), (BUMPS, "x")):
        some = rows[rows["shown"] == shown]
        right.plot(some[best], some[OUTCOME], marker, label=f"shown {shown}", alpha=0.6, markersize=4)
    right.set(title="the best predictor", xlabel=textwrap.fill(MEANING[best], 34), ylabel="bumps in the interior")
    right.legend(fontsize=7, frameon=False)
    picture.suptitle(f"{len(rows)} networks that learnt what they were shown", fontsize=10)
    return picture
