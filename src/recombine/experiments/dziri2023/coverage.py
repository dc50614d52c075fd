"""Does width help decoders with chains of functions where most pairs are covered, and less where half are not?

A synthesis note concludes that scale leads to composition "mainly when the task space is coverable". Decoders of two
widths answer chains at once, in worlds where an eighth or a half of the pairs of functions is never adjacent in
training. Scale is said to help by what it adds to held-out chains of two functions: those held out singly, and those
with a withheld pair, in equal parts. Where fewer pairs are withheld training has more rows as well, except in a variant
with equally many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.tokens import shared, worlds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(worlds.Worlds):
    narrow: int = 16
    """numbers of a token in narrow decoders"""
    withheld: tuple[float, float] = (0.125, 0.5)
    """the smaller and the larger share of pairs of functions that are never adjacent in training"""
    held_out: float = 0.1
    """share of the rows whose pairs are all trained on that is held out singly"""
    equal_rows: bool = False
    """whether a seed trains on equally many rows at both shares: as many as where more pairs are withheld"""

    def __post_init__(self) -> None:
        super().__post_init__()
        shared.check_heads(self.narrow, self.head)
        if self.narrow >= self.width:
            raise rc.UserError(f"narrow decoders must be narrower than {self.width}, got {self.narrow}")
        if not 0 < self.withheld[0] < self.withheld[1] < 1:
            raise rc.UserError(f"withheld must be two rising shares between 0 and 1, got {self.withheld}")


QUICK = Settings(seeds=2, symbols=4, functions=4, narrow=4, width=8, head=4, depth=1, steps=20, batch=16)
LAPTOP = Settings(seed=5, seeds=8, block=8, held_out=0.3, steps=2000, learning_rate=8e-3)
_SIZES = {"symbols": 12, "functions": 12, "narrow": 32, "width": 128, "depth": 4, "head": 32, "batch": 512}
_TRAINING = {"steps": 10_000, "learning_rate": 1e-3, "precision": "bfloat16"}
GPU = Settings(seed=4, seeds=8, block=8, held_out=0.2, **_SIZES, **_TRAINING)  # pyrefly: ignore
PAPER = replace(GPU, symbols=16, functions=16, width=256, precision="float32", steps=100_000)
VARIANTS = (
    rc.Variant("half the steps", "the length of training is ours", steps=lambda s: s.steps // 2),
    rc.Variant("a quarter against three quarters", "which shares are withheld is ours", withheld=(0.25, 0.75)),
    rc.Variant("equally many rows", "fewer withheld pairs leave more rows to train on", equal_rows=True),
)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"width": width} for width in (settings.narrow, settings.width)])


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.splits.chains import of_world

    settings = cell.settings
    task = worlds.family(settings, max(cell.members) + 1)
    make = shared.maker(len(task.sample.vocabulary), cell.width, settings.depth, settings.head)  # pyrefly: ignore
    who = [
        {"condition": f"{share:g} withheld, width {cell.width}", "withheld": share, "width": cell.width, "seed": seed}
        for share in settings.withheld
        for seed in cell.members
    ]
    known = [world(settings, task, w["seed"], w["withheld"]) for w in who]
    seeds = [w["seed"] for w in who]
    chosen = [of_world(task.combinations, seed, each.train) for seed, each in zip(seeds, known, strict=True)]
    label = f"width-{cell.width}"
    trained = shared.fit(settings, task, make, seeds=seeds, chosen=chosen, monitor=monitor, label=label)
    found = []
    for i, (w, each) in enumerate(zip(who, known, strict=True)):
        scores, record = worlds.measured(settings, task, trained[i].model, each)
        monitor.recorded(f"{label}-{w['withheld']}-{w['seed']}", record)
        scores |= success(scores) | {"rows": float(each.train.sum())}
        found.append(scores | shared.sizes(make, record.x.shape[1]) | {"depth": settings.depth})
    return rc.rows(trained, who, found)


def world(settings: Settings, task: rc.Task, seed: int, share: float) -> worlds.World:
    """A seed's world where a share of the pairs is withheld, with fewer training rows if both shares have as many."""
    known = worlds.world(settings, task, seed, share)
    if not settings.equal_rows:
        return known
    fewest = min(int(worlds.world(settings, task, seed, each).train.sum()) for each in settings.withheld)
    train = thinned(known, fewest, rc.rng(settings.seed, "equal rows", str(share), seed))
    return known._replace(train=train, groups=known.groups | {"trained": train})


def thinned(known: worlds.World, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many training rows: all chains of one function, and longer ones at random that hold all trained pairs."""
    from recombine.splits import chains, coverage

    nodes = coverage.neighbours(known.rows[:, 2:])
    single, every = chains.lengths(known.rows) == 1, coverage.covered(nodes, known.train)
    for _ in range(1000):
        longer = rng.permutation(np.flatnonzero(known.train & ~single))[: count - int(single.sum())]
        train = single | np.isin(np.arange(len(known.rows)), longer)
        if coverage.covered(nodes, train) == every:
            return train
    raise rc.UserError(f"{count} training rows cannot hold all pairs of functions: withhold more of them")


def success(scores: dict[str, float]) -> dict[str, float]:
    """Exact answers to held-out chains of two functions: those held out singly and those of a withheld pair alike."""
    return {"exact_held": (scores["exact_row_2"] + scores["exact_pair_2"]) / 2}


def controls(settings: Settings) -> list[dict]:
    """Perfect, a rememberer and voters in one world; and a decoder at its initial weights."""
    task, share = worlds.family(settings, 1), settings.withheld[1]
    model = shared.untrained(settings, shared.decoder(settings, task))
    scores, _ = worlds.measured(settings, task, model, worlds.world(settings, task, 0, share))
    return [*worlds.known_systems(settings, share), {"system": "untrained", "seed": 0} | scores | success(scores)]


def gain(table: pd.DataFrame, share: float) -> pd.Series:
    """By seed, how much better wide decoders answer held-out chains of two than narrow ones."""
    found = rc.networks(table)["width"]
    return rc.difference("exact_held", found.max(), found.min(), by="width", withheld=share)(table)


def more_where_covered(table: pd.DataFrame) -> pd.Series:
    """By seed, the gain of width where few pairs are withheld minus where many are."""
    shares = rc.networks(table)["withheld"]
    return gain(table, shares.min()) - gain(table, shares.max())


CLAIMS = (
    rc.Claim(
        "width helps chains where pairs are covered, more than where half are withheld (ours)",
        "From narrow to wide decoders, held-out chains of two functions gain more where an eighth of the pairs is"
        " withheld than where half are.",
        "ours, after a synthesis note: 'mainly when the task space is coverable'; stated before any run",
        effect=more_where_covered,
        above=0.05,
        unit="gain of width in exact answers to held-out chains of two, an eighth withheld minus a half",
        preconditions=(worlds.enough("row_2", "pair_2"),),
        controls=worlds.CONTROLS,
        fits=(worlds.fits(),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers to held-out chains of two against the share of pairs of functions that training covers.

    Left: all pairs of the chain were trained on. Right: its pair was withheld. A faint line is one seed, with a network
    at each share; a thick one with dots is the mean. Dotted is the voter, the best answer without looking at x: the
    commonest training answer among chains with the same last function, or the same last two.
    """
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.4)
    titles = {"row_2": "held out singly", "pair_2": "with a withheld pair"}
    for place, (group, title) in zip(axes[0], titles.items(), strict=True):
        for width, colour in zip(sorted(rows["width"].unique()), (plots.BAD, plots.GOOD), strict=False):
            mine = rows[rows["width"] == width]
            for _, one in mine.groupby("seed"):
                place.plot(one["coverage_pairs"], one[f"exact_{group}"], color=colour, alpha=0.25, linewidth=0.8)
            means = mine.groupby("coverage_pairs")[[f"exact_{group}", f"voter_{group}"]].mean()
            place.plot(means.index, means[f"exact_{group}"], "o-", color=colour, ms=5, label=f"width {width:g}")
        place.plot(means.index, means[f"voter_{group}"], ":", color="black", label="best voter")
        place.set(title=title, xlabel="share of pairs of functions that training covers", ylim=(-0.03, 1.05))
        place.set_ylabel("exact answers, chains of two")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
