"""Do plain numbers in place of bump codes change how a decoder loses the separation of x and y?

Fig. 2, right half: the layers of decoders that are given x and y as two plain numbers (a rate code, without a flag that
says that they are there), beside decoders that are given bump codes, at several depths; both trained on the donut.
Falls count from the input, where factorisation and decodability are 1; what a network of the same seed loses before
training is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared
from recombine.experiments.liang2025.layers import SHOWN, from_input
from recombine.experiments.liang2025.layers_claims import FACTORS, PROBE, VOLUME, fall

if TYPE_CHECKING:
    import pandas as pd

BUMP, RATE = "local bump", "rate"


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    depths: tuple[int, ...] = (2, 4)
    """depths of the decoder, shallow ones first"""
    steps: int = 1200
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.depths) < 2 or list(self.depths) != sorted(set(self.depths)):
            raise rc.UserError(f"depths must be two or more rising numbers, got {self.depths}")
        shared.check_depth(self.depths[0])


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, dark=True, width=4, depths=(2, 3), steps=20)
LAPTOP = Settings(seed=1, seeds=7, block=7, batch=16, dark=True, steps=2000)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "dark": True, "width": 64, "learning_rate": 1e-3, "seed": 1}
GPU = Settings(seeds=8, block=8, depths=(2, 4, 8), steps=3150, **FULL)
PAPER = Settings(seeds=10, depths=tuple(range(2, 11)), steps=3150, **FULL)


def encoding(settings: Settings, code: str) -> rc.Encoding:
    return rc.rate(flag=False) if code == RATE else rc.local_bump(settings.size, settings.sigma)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"code": code, "depth": d} for code in (BUMP, RATE) for d in settings.depths])


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.experiments.liang2025 import surfaces

    settings, encode = cell.settings, encoding(cell.settings, cell.code)
    task = shared.grid(settings, encode)
    trained, rows = shared.train(
        settings,
        task,
        shared.decoder(settings, cell.depth, encode),
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": cell.code, "depth": cell.depth, "seed": seed} for seed in cell.members],
        monitor=monitor,
    )

    def measured(i: int) -> dict:
        if rows[i]["diverged_at"] >= 0:
            return {name: np.full(cell.depth + 2, np.nan) for name in surfaces.MEASURES}
        return surfaces.of_network(settings, task, trained[i].model, cell.depth + 1)

    born = shared.starts(shared.decoder(settings, cell.depth, encode), rc.member_keys(settings.seed, cell.members))
    before = [surfaces.of_network(settings, task, one, cell.depth + 1) for one in born]
    rows = [row | measured(i) for i, row in enumerate(rows)]
    return shared.with_initial(rows, dict(zip(cell.members, before, strict=True)), surfaces.MEASURES)


def controls(settings: Settings) -> list[dict]:
    """Systems whose answer is known, as in `layers`, and a network of each code and depth at its initial weights."""
    from recombine.experiments.liang2025 import surfaces

    def untrained(code: str, depth: int) -> dict:
        encode = encoding(settings, code)
        born = shared.initial_models(settings, shared.decoder(settings, depth, encode))
        who = {"system": "untrained", "condition": code, "depth": depth, "seed": 0}
        return who | surfaces.of_network(settings, shared.grid(settings, encode), born, depth + 1)

    return surfaces.known(settings) + [untrained(code, depth) for code in (BUMP, RATE) for depth in settings.depths]


def at_each_depth(effect):
    """An effect of the networks with a rate code, with a column for each depth."""
    return lambda t: rc.each_of("depth", effect)(rc.pick(t, condition=RATE).astype({"depth": int}))


def steepness(code: str, depth: int):
    """How much factorisation training takes per map, of the depth + 1 from the input to the last hidden layer."""
    return lambda t: fall("factorisation", condition=code, depth=depth)(t) / (depth + 1)


def sharper(table: pd.DataFrame) -> pd.DataFrame:
    """How much more the shallowest network with a rate code loses per map than each of two others."""
    depths = sorted(rc.pick(table, condition=RATE)["depth"].astype(int).unique())
    shallow, deep = steepness(RATE, depths[0])(table), steepness(RATE, depths[-1])
    others = {"the deepest rate network": deep, "the bump code at that depth": steepness(BUMP, depths[0])}
    return rc.each({name: lambda t, other=other: shallow - other(t) for name, other in others.items()})(table)


def placed(**where):
    """By seed, whether networks given plain numbers place four fifths of the donut within a pixel.

    They train slowly: the paper's own stop at 17 % of a blank picture's error, so that 5 % cannot be asked of them.
    """
    return rc.fitted("accuracy1_donut", at_least=0.8, **where)


def shallow_fits(table: pd.DataFrame) -> pd.Series:
    """By seed, whether every network that is compared has learnt the donut."""
    depths = sorted(rc.pick(table, condition=RATE)["depth"].astype(int).unique())
    rate, bump = [depths[0], depths[-1]], [depths[0]]
    fits = placed(condition=RATE, depth=rate), figures.close(condition=BUMP, depth=bump)
    return np.minimum(*(fit(table) for fit in fits))  # pyrefly: ignore


FITS = {"fits": (at_each_depth(placed()),), "over": "depths"}
CLAIMS = (
    rc.Claim(
        "with plain numbers training lowers decodability in the last hidden layer",
        "From the input to the last hidden layer, linear decodability of x and y in the hole falls more than before"
        " training. (On the way it may rise.)",
        "Fig. 2b, with a probe scored where it was not fitted",
        effect=at_each_depth(fall("probe")),
        above=0.05,
        unit="R2 in the hole of a probe fitted outside it, input minus last hidden layer, trained minus initial",
        controls=PROBE,
        **FITS,
    ),
    rc.Claim(
        "with plain numbers training lowers factorisation in the last hidden layer",
        "From the input, where it is 1, to the last hidden layer, the factorisation score falls more than before"
        " training. (On the way it may rise.)",
        "Fig. 2d",
        effect=at_each_depth(fall("factorisation")),
        above=0.01,
        unit="factorisation, input minus last hidden layer, trained minus initial",
        controls=FACTORS,
        **FITS,
    ),
    rc.Claim(
        "with plain numbers the volume collapses in the hole",
        "In the last hidden layer training takes more than 0.6 decades of volume from the hole.",
        "Fig. 2f",
        effect=at_each_depth(figures.learnt_layer("hole_depth", -2)),
        below=-0.6,
        unit="decades of volume in the hole over the donut that training adds, last hidden layer",
        controls=VOLUME,
        **FITS,
    ),
    rc.Claim(
        "shallow networks given plain numbers lose factorisation more sharply",
        "Per map from the input to the last hidden layer, the shallowest network given plain numbers loses more"
        " factorisation than the deepest one, and than one given bump codes.",
        "section 3.4, of Fig. 2d",
        effect=sharper,
        above=0.01,
        unit="factorisation lost per map from the input on since training, shallowest rate network minus the other",
        fits=(shallow_fits,),
        controls=FACTORS,
        over="rivals",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Each measure against the layer, one row of panels per code, one colour per depth, one line per network."""
    from matplotlib import colormaps

    plots = rc.plots
    figure, axes = plots.panels(rows=2, columns=len(SHOWN) + 1, side=2.2)
    colours = dict(zip(settings.depths, colormaps["viridis"](np.linspace(0, 0.85, len(settings.depths))), strict=True))
    for row, code in zip(axes, (BUMP, RATE), strict=True):
        for depth, colour in colours.items():
            networks = rc.pick(table, condition=code, depth=depth)
            for place, measure in zip(row, SHOWN, strict=False):
                for i, (now, before) in enumerate(zip(networks[measure], networks[f"initial_{measure}"], strict=True)):
                    line = {"color": colour, "linewidth": 0.8, "label": f"depth {depth}" if i == 0 else None}
                    place.plot(*from_input(measure, now[:-1]), alpha=0.7, **line)
                    place.plot(*from_input(measure, before[:-1]), ":", alpha=0.4, **line | {"label": None})
            for x, place in enumerate(("donut", "interior")):
                shift = 0.12 * (settings.depths.index(depth) - 1)
                row[-1].plot([x + shift] * len(networks), networks[f"accuracy1_{place}"], "o", color=colour, ms=4)
        row[0].set_ylabel(code)
        row[-1].set_xticks((0, 1), ("donut", "interior"))
        row[-1].set(xlim=(-0.6, 1.6), ylim=(-0.05, 1.05))
    for place, title in zip(axes[0], (*SHOWN.values(), "placed within 1 pixel"), strict=True):
        place.set_title(title)
    for upper, lower in axes.T[:-1]:
        low, high = zip(upper.get_ylim(), lower.get_ylim(), strict=True)
        for place in (upper, lower):
            place.set_ylim(max(min(low), -3.0), max(high))
        lower.set_xlabel("layer (0: input)")
    axes[0, 0].legend(fontsize=7, frameon=False)
    figure.suptitle("One line per network, to its last hidden layer; dotted: before training", fontsize=9)
    return figure
