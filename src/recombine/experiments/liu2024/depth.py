"""Does depth at a fixed number of weights help to compose, or only to fit?

MobileLLM reports that deep and thin language models beat balanced ones of the same size; a synthesis note adds: by
composing. Petty et al. find that deeper ones compose better, and that the gain fades fast. Here decoders of several
depths and equally many weights beside the embedding learn chains of functions: deep ones are thin (MobileLLM), or have
smaller inner networks (Petty et al.). At laptop size each depth has a learning rate of its own, chosen by its fit to
trained rows on other seeds; larger tiers scale these rates, and variants double and halve them. `ood` is the mean over
chains with a pair of functions that was withheld, `iid` over chains held out singly. The margins of the first and third
claim were proposed after a calibration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.claims.verdict import half_interval
from recombine.experiments.liu2024 import depth_claims
from recombine.experiments.liu2024.trades import FLAT, LOOPED, THIN, inner_units
from recombine.experiments.tokens import shared, worlds

if TYPE_CHECKING:
    import pandas as pd

MANY = 200
"""Rows of a length from which on its share of right answers is known well enough."""


@dataclass(frozen=True, kw_only=True)
class Settings(worlds.Worlds):
    depths: tuple[int, ...] = (1, 2, 4, 8)
    """numbers of layers"""
    widths: tuple[int, ...] = (56, 40, 24, 16)
    """numbers of a token at each depth, where deep is thin"""
    flat: int = 0
    """numbers of a token at every depth, where deep has smaller inner networks instead; 0: no such networks"""
    looped: int = 0
    """how often a single layer is passed in turn, for depth without further weights; 0: no such networks"""
    rates: tuple[float, ...] = (8e-3, 8e-3, 8e-3, 4e-3)
    """AdamW's learning rate at each depth"""
    weights: int = 36_864
    """trained numbers of all layers together"""
    withheld: float = 0.25
    """share of the ordered pairs of functions that are never adjacent in training"""
    equal_loss: float = 0.05
    """training loss at which networks are also compared"""
    steps: int = 3000
    """updates of each network"""

    def __post_init__(self) -> None:
        if (self.width, self.depth) != (shared.Decoders.width, shared.Decoders.depth):
            raise rc.UserError("width and depth are not read here: set widths, depths and weights")
        if self.learning_rate not in (shared.Decoders.learning_rate, *self.rates):
            raise rc.UserError("learning_rate is not read here: set rates, one for each depth")
        super().__post_init__()
        if not len(self.depths) == len(self.widths) == len(self.rates) or list(self.depths) != sorted(set(self.depths)):
            raise rc.UserError(f"rising depths have a width and a rate each, got {self.depths}, {self.widths}")
        if not {1, 2, 4} <= set(self.depths):
            raise rc.UserError(f"depths must have 1, 2 and 4 among them, got {self.depths}")
        for depth, width in zip(self.depths, self.widths, strict=True):
            shared.check_heads(width, self.head)
            inner_units(self.weights, depth, width)
        if self.flat:
            shared.check_heads(self.flat, self.head)
            inner_units(self.weights, max(self.depths), self.flat)


QUICK = Settings(
    seeds=2, symbols=4, functions=4, depths=(1, 2, 4), widths=(12, 8, 4), rates=(4e-3,) * 3, weights=1200, head=4,
    steps=20, batch=16,
)  # fmt: skip
LAPTOP = Settings(seed=4, steps=2000)
_SIZES = {"symbols": 6, "functions": 6, "longest": 5, "weights": 1_500_000, "head": 32, "batch": 512}
_DEPTHS = {"depths": (1, 2, 4, 8, 12), "widths": (352, 256, 192, 128, 96), "flat": 160}
# As many weights as 40 laptop networks: their rates by depth (8, 8, 8, 4)e-3 over 8, the deepest a quarter less again.
_RATES = (1e-3, 1e-3, 1e-3, 5e-4, 3.75e-4)
_TRAINING = {"steps": 5_000, "rates": _RATES, "precision": "bfloat16"}
GPU = Settings(seed=3, seeds=8, block=8, **_SIZES, **_DEPTHS, **_TRAINING)  # pyrefly: ignore
_LARGE = {"weights": 6_000_000, "widths": (704, 512, 352, 256, 192), "flat": 288, "looped": 4, "steps": 50_000}
PAPER = replace(GPU, seeds=10, block=10, **_LARGE)  # pyrefly: ignore
_THIN = {"flat": 0, "looped": 0}
VARIANTS = (
    rc.Variant("twice the rates", "the best rate is not known", rates=lambda s: tuple(2 * r for r in s.rates), **_THIN),
    rc.Variant("half the rates", "the best rate is not known", rates=lambda s: tuple(r / 2 for r in s.rates), **_THIN),
    rc.Variant("half the steps", "the length of training is ours", steps=lambda s: s.steps // 2, **_THIN),
)


def points(settings: Settings) -> list[dict]:
    """Every trade and depth: where deep is thin, where it has small inner networks, and one layer in a loop."""
    found = [{"trade": THIN, "layers": depth} for depth in settings.depths]
    found += [{"trade": FLAT, "layers": depth} for depth in settings.depths if settings.flat]
    return found + [{"trade": LOOPED, "layers": settings.looped}] * bool(settings.looped)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, points(settings))


def decoder(settings: Settings, task: rc.Task, trade: str, layers: int):
    """How a decoder of this depth and of the settings' number of weights is made."""
    depth = 1 if trade == LOOPED else layers
    width = settings.flat if trade == FLAT else settings.widths[settings.depths.index(depth)]
    inner = inner_units(settings.weights, depth, width)
    vocabulary = len(task.sample.vocabulary)  # pyrefly: ignore
    return shared.maker(vocabulary, width, depth, settings.head, inner=inner, repeats=layers // depth)


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.splits.chains import of_world

    settings, name = cell.settings, f"{cell.trade}, {cell.layers} layers"
    task = worlds.family(settings, max(cell.members) + 1)
    make = decoder(settings, task, cell.trade, cell.layers)
    rate = settings.rates[settings.depths.index(1 if cell.trade == LOOPED else cell.layers)]
    who = [{"condition": name, "trade": cell.trade, "layers": cell.layers, "seed": seed} for seed in cell.members]
    known = [worlds.world(settings, task, seed, settings.withheld) for seed in cell.members]
    trained = shared.fit(
        replace(settings, learning_rate=rate),
        task,
        make,
        seeds=cell.members,
        chosen=[of_world(task.combinations, seed, w.train) for seed, w in zip(cell.members, known, strict=True)],
        monitor=monitor,
        label=name.replace(", ", "-"),
        until=settings.equal_loss,
    )
    found = []
    for i, (seed, each) in enumerate(zip(cell.members, known, strict=True)):
        scores, record = worlds.measured(settings, task, trained[i].model, each)
        monitor.recorded(f"{name}-{seed}", record)
        early, _ = worlds.measured(settings, task, trained[i].reached, each)
        reached = {"reached": float(np.asarray(trained[i].reached_at) >= 0), "ood_reached": averaged(early)["ood"]}
        sizes = shared.sizes(make, record.x.shape[1], cell.layers if cell.trade == LOOPED else 1)
        found.append(scores | averaged(scores) | reached | sizes)
    return rc.rows(trained, who, found)


def averaged(scores: Mapping[str, Any]) -> dict[str, float]:
    """Exact answers, and the best voter's, over all lengths: of withheld pairs (ood), and held out singly (iid).

    Lengths count alike from MANY rows on, and a length of fewer rows by its share of them: 23 rows are no fourth part.
    """

    def mean(kind: str, group: str) -> float:
        lengths = [name.removeprefix(f"n_{group}_") for name in scores if name.startswith(f"n_{group}_")]
        values = np.array([scores[f"{kind}_{group}_{d}"] for d in lengths])
        weights = np.minimum([scores[f"n_{group}_{d}"] for d in lengths], MANY) * np.isfinite(values)
        return float(np.nansum(values * weights) / weights.sum()) if weights.any() else float("nan")

    names = {"ood": ("exact", "pair"), "iid": ("exact", "row"), "voter_ood": ("voter", "pair")}
    return {name: mean(*which) for name, which in (names | {"voter_iid": ("voter", "row")}).items()}


def controls(settings: Settings) -> list[dict]:
    """Perfect, a rememberer and voters in one world; and a network of two layers at its initial weights."""
    task = worlds.family(settings, 1)
    known = worlds.world(settings, task, 0, settings.withheld)
    born = shared.untrained(settings, decoder(settings, task, THIN, 2))
    scores, _ = worlds.measured(settings, task, born, known)
    rows = [*worlds.known_systems(settings, settings.withheld), {"system": "untrained", "seed": 0, **scores}]
    return [row | averaged(row) for row in rows]


CLAIMS = depth_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers against depth at a fixed number of weights; large dots are means with 95 % intervals.

    Left: chains with a pair of functions that was withheld. Middle: chains held out singly, whose pairs were all
    trained on. Right: chains with a withheld pair, answered by each network as it was when it first had the training
    loss of the title, or at the end if it never had. Dotted is the voter, the best answer without looking at x. Where
    the middle panel reaches 1, depth has nothing left to gain there.
    """
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=3, side=3.2)
    colours = {THIN: plots.GOOD, FLAT: plots.NEUTRAL, LOOPED: plots.BAD}
    words = {THIN: "deep ones thinner", FLAT: "deep ones with smaller inner networks", LOOPED: "one layer, repeated"}
    titles = {"ood": "chains with a withheld pair", "iid": "chains held out singly"}
    titles["ood_reached"] = f"withheld pair, at a loss of {settings.equal_loss:g}"
    for place, (column, title) in zip(axes[0], titles.items(), strict=True):
        for i, (trade, mine) in enumerate(rows.groupby("trade")):
            colour, style = colours[str(trade)], "o" if trade == LOOPED else "o-"
            beside, by = 1.05 ** (i - 0.5), mine.groupby("layers")[column]
            means, half = by.mean(), by.apply(half_interval)
            place.plot(mine["layers"] * beside, mine[column], "o", color=colour, alpha=0.35, markersize=3)
            place.errorbar(
                means.index * beside, means, yerr=half, fmt=style, color=colour, ms=5, label=words[str(trade)]
            )
        voter = f"voter_{column.split('_')[0]}"
        place.axhline(rows[voter].mean(), color="black", linestyle=":", linewidth=0.9, label="best voter")
        place.set(title=title, xlabel="layers", ylabel="exact answers", xscale="log", ylim=(0.2, 1.03))
        place.minorticks_off()
        place.set_xticks(settings.depths, settings.depths)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
