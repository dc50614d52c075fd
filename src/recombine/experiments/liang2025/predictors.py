"""Does a cheap measure, taken outside the hole alone, tell whether a network will compose inside it?

Ours. Networks that differ in code, depth, architecture, penalty and training data are looked at on the donut alone
(which some of them saw only in part); each measure is then correlated with how many bumps they place in the hole. Only
networks that learnt what they were shown count: a measure that finds the untrained ones would be no discovery.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _donut, _hole
from recombine.experiments.liang2025.encodings import CODES
from recombine.experiments.liang2025.rendering import ABLATIONS

if TYPE_CHECKING:
    import pandas as pd

UNITS = 1024
CHANCE = "a random number (control)"
LEARNT = 0.9


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.SmallSettings):
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
    steps: int = 400
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for depth in self.depths:
            _hole.check_depth(depth)
        for names, known in ((self.codes, CODES), (self.ablations, ABLATIONS)):
            if not names or len(set(names)) < len(names) or not set(names) <= set(known):
                raise rc.UserError(f"choose different ones among {', '.join(known)}; got {names}")
        if self.depth in self.depths or len(set(self.depths)) < len(self.depths):
            raise rc.UserError(f"depths must be others than {self.depth}, and different, got {self.depths}")
        if not 0 < self.bumps <= self.outside - 2 * self.size:
            raise rc.UserError(f"bumps must be between 1 and {self.outside - 2 * self.size} here, got {self.bumps}")


QUICK = Settings(
    seeds=2, size=8, low=2, high=5, width=4, depth=2, depths=(), codes=("local bump",), bumps=4, steps=20, batch=8
)
LAPTOP = Settings(batch=16)
GPU = Settings(
    seeds=8,
    block=8,
    size=28,
    low=6,
    high=22,
    rim=4,
    width=64,
    depth=4,
    depths=(2, 8),
    codes=("one-hot", "local bump", "wide bump", "positional"),
    bumps=50,
    ablations=tuple(ABLATIONS),
    steps=2000,
    learning_rate=1e-3,
    precision="bfloat16",
)
PAPER = replace(GPU, seeds=20, block=10, codes=tuple(CODES), depths=(2, 3, 6, 8, 10), steps=12_500)

DONUT, STRIPES, BUMPS = "donut", "stripes", "bumps"


@dataclass(frozen=True)
class Family:
    """Networks of one shape, which train in one population: how they are told, made, and what each is shown."""

    name: str
    code: str
    make: Callable[[Settings, int], Callable]
    layer: str
    shown: tuple[str, ...] = (DONUT, STRIPES, BUMPS)
    ablations: tuple[str, ...] = ("none",)


@dataclass(frozen=True)
class Cell:
    """The networks of one family for one block of seeds."""

    settings: Settings
    family: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, i, m) for i in range(len(families(settings))) for m in _seeds.blocks(settings)]


def families(settings: Settings) -> list[Family]:
    """Every code at one depth, one code at every depth, a fully connected, a per-pixel and a rendering network."""
    pairs = [(code, settings.depth) for code in settings.codes] + [("local bump", d) for d in settings.depths]
    convolutional = [Family(f"CNN {d}, {code}", code, partial(cnn, d), f"layer{d}") for code, d in pairs]
    return [
        *convolutional,
        Family("MLP", "local bump", mlp, "layer1"),
        Family("per-pixel", "local bump", pixels, "layer1", shown=(DONUT, BUMPS)),
        Family("rendering", "one-hot", rendering, "layer2", shown=(DONUT,), ablations=settings.ablations),
    ]


def cnn(depth: int, settings: Settings, inputs: int):
    return lambda key: rc.CNNDecoder(inputs, settings.size, width=settings.width, depth=depth, key=key)


def mlp(settings: Settings, inputs: int):
    return lambda key: rc.MLPDecoder(inputs, settings.size, width=8 * settings.width, depth=2, key=key)


def pixels(settings: Settings, inputs: int):
    return lambda key: rc.PixelMLP(inputs, settings.size, width=2 * settings.width, depth=2, key=key)


def rendering(settings: Settings, inputs: int):
    return lambda key: rc.Rendering(inputs // 2, channels=8, key=key)


def training_set(settings: Settings, shown: str, task: rc.Task, key) -> rc.Split:
    """Every bump of the donut; all stripes and some bumps; or as many bumps without stripes."""
    region, whole = _hole.hole(settings, task), rc.whole(task.combinations)
    donut, stripes = region.train & whole, int((~whole).sum())
    if shown == STRIPES:
        return rc.narrow(region, rc.draw(donut, settings.bumps, key) | ~whole)
    return rc.narrow(region, donut if shown == DONUT else rc.draw(donut, settings.bumps + stripes, key))


def run(cell: Cell, watch) -> list[dict]:
    import jax.numpy as jnp

    family, settings = families(cell.settings)[cell.family], cell.settings
    encode = CODES[family.code](settings)
    task = _hole.grid(settings, encode)
    data, life = _hole.data_and_life(settings, cell.members)
    ways = [(shown, penalty) for shown in family.shown for penalty in family.ablations]
    who = [
        {"condition": family.name, "shown": shown, "penalty": penalty, "seed": seed}
        for shown, penalty in ways
        for seed in cell.members
    ]
    trained, rows = _hole.train(
        settings,
        task,
        family.make(settings, 2 * encode.size),
        splits=[training_set(settings, shown, task, key) for shown, _ in ways for key in data],
        keys=jnp.concatenate([life] * len(ways)),
        who=who,
        watch=watch,
        **penalised(family, who),
    )
    return [row | look for row, look in zip(rows, looks(settings, family, task, trained, rows), strict=True)]


def penalised(family: Family, who: list[dict]) -> dict:
    """The rendering network's penalties, at the paper's weights, entropy setting in late; nothing for the others."""
    if family.make is not rendering:
        return {}
    on = np.array([ABLATIONS[person["penalty"]] for person in who])
    dials = {"entropy": 0.1 * on[:, 0], "variance": 0.01 * on[:, 1], "weight_decay": 1e-4}
    return {"penalty": rc.weighted(rc.Ramp(0.2, 0.4)), "dials": dials}


def looks(settings: Settings, family: Family, task: rc.Task, trained, rows: list[dict]) -> list[dict]:
    """The cheap measures of each network, a random number as a control, and the norm of its weights."""
    import equinox as eqx
    import jax

    from recombine.experiments.liang2025 import _units

    z = task.combinations[rc.whole(task.combinations)]
    key = _seeds.test_key(settings)
    x, _ = task.sample(jax.numpy.asarray(z[0]), key)
    models = _units.some(trained.model, family.layer, UNITS, x, key)
    leaves = [np.asarray(a) for a in jax.tree.leaves(eqx.filter(trained.model, eqx.is_inexact_array))]
    norms = np.log10(sum((a.reshape(len(a), -1) ** 2).sum(axis=1) for a in leaves)) / 2
    answers = rc.records(models, task, z, key=key, keep=["units"])
    found = []
    for row, answer, norm in zip(rows, answers, norms, strict=True):
        name = f"{row['condition']} {row['shown']} {row['penalty']}"
        chance = np.random.default_rng([row["seed"], zlib.crc32(name.encode())]).uniform()
        cheap = _donut.seen(settings, _hole.bright(settings, answer), answer.acts["units"]) | {"norm": float(norm)}
        found.append({"way": name, "chance": chance} | _seeds.unless_lost(cheap, row["diverged_at"]))
    return found


def learnt(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["accuracy1_trained"] >= LEARNT) & (table["diverged_at"] < 0)]


def correlations(table: pd.DataFrame, column: str) -> pd.Series:
    """For each seed, the rank correlation of a column with placement in the hole, over all ways to train."""
    rows = learnt(table)[["seed", column, "accuracy1_hole"]].dropna()

    def of(seed: int) -> float:
        some = rows[rows.seed == seed]
        return rc.rank_correlation(some[column], some["accuracy1_hole"]) if len(some) > 2 else float("nan")

    seeds = table["seed"].drop_duplicates().sort_values()
    return seeds.map(of).set_axis(seeds)


def over_networks(table: pd.DataFrame, column: str, draws: int = 1000) -> tuple[float, float, float]:
    """The correlation over all networks at once, with the 95 % interval of a bootstrap over ways to train."""
    return rc.grouped_correlation(learnt(table), "way", column, "accuracy1_hole", draws=draws)


CONTROLS = (
    rc.Check(
        "exact placement goes with placement within a pixel",
        lambda t: correlations(t, "accuracy0_hole").mean(),
        at_least=0.7,
    ),
    rc.Check("a random number predicts nothing", lambda t: 0.3 - abs(correlations(t, "chance").mean()), at_least=0.0),
)
ENOUGH = (
    rc.Check(
        "there are networks that compose and networks that do not, at least a fifth of each",
        lambda t: min((learnt(t).accuracy1_hole > 0.8).mean(), (learnt(t).accuracy1_hole < 0.5).mean()),
        at_least=0.2,
    ),
    rc.Check(
        "at least eight ways to train are left in every seed",
        lambda t: learnt(t).groupby("seed").size().min(),
        at_least=8,
    ),
)
CLAIMS = tuple(
    rc.Claim(
        f"{'more' if sign > 0 else 'less'}: {_donut.MEANING[column]}",
        f"Over these ways to train, networks that compose have {'more' if sign > 0 else 'less'} of this on the donut.",
        "ours; the direction was stated before any run",
        effect=lambda t, column=column, sign=sign: sign * correlations(t, column),
        margin=0.5,
        unit="rank correlation with placement in the hole, positive in the stated direction",
        preconditions=ENOUGH,
        controls=CONTROLS,
    )
    for column, sign in _donut.EXPECTED.items()
)


def figure(settings: Settings, table: pd.DataFrame):
    """The measures ranked by how well they predict, and the best of them against placement in the hole."""
    from matplotlib.figure import Figure

    found = {column: correlations(table, column).to_numpy() for column in (*_donut.EXPECTED, "chance")}
    ranked = sorted(found, key=lambda column: abs(np.nan_to_num(np.mean(found[column]))))
    picture = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = picture.subplots(1, 2, width_ratios=(1.5, 1))
    for place, column in enumerate(ranked):
        sign = _donut.EXPECTED.get(column, 0)
        colour = rc.plots.GOOD if min(sign * bound for bound in rc.interval(found[column])) > 0.5 else rc.plots.NEUTRAL
        left.plot(found[column], np.full(len(found[column]), place), "o", color=colour, alpha=0.35, markersize=4)
        left.plot(over_networks(table, column)[1:], [place - 0.25] * 2, color=colour, linewidth=1, alpha=0.7)
        left.plot(rc.interval(found[column]), [place, place], color=colour, linewidth=2.5)
    signs = {+1: "(expected right)", -1: "(expected left)"}
    names = [f"{_donut.MEANING[c]} {signs[_donut.EXPECTED[c]]}" if c in _donut.MEANING else CHANCE for c in ranked]
    left.set_yticks(range(len(ranked)), names)
    left.axvline(0, color="black", linewidth=0.6)
    for margin in (-0.5, 0.5):
        left.axvline(margin, color="black", linewidth=0.6, linestyle="dotted")
    left.set(xlim=(-1.05, 1.05), xlabel="rank correlation with placement in the hole; a dot is a seed")
    left.set_title("intervals: thick over seeds, thin over ways to train")
    rows, best = learnt(table), next(c for c in reversed(ranked) if c in _donut.EXPECTED)
    for shown, marker in ((DONUT, "o"), (STRIPES, "s"), (BUMPS, "x")):
        some = rows[rows.shown == shown]
        right.plot(some[best], some["accuracy1_hole"], marker, label=f"shown {shown}", alpha=0.6, markersize=4)
    right.set(xlabel=_donut.MEANING[best], ylabel="placed within 1 pixel in the hole")
    right.legend(fontsize=7, frameon=False)
    picture.suptitle(f"{len(rows)} networks that learnt what they were shown", fontsize=10)
    return picture
