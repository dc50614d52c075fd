"""Does a network that is told where each pixel is compose by itself?

The released repository only, not the paper: a network that asks every pixel by itself, given the code and the pixel's
position, and a small transformer whose tokens are pixels. Both are trained on an L of one-hot coded bumps, beside the
convolutional decoder, whose pixels are not told where they are. All three share one weight decay, that of the release's
per-pixel network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd

PIXELS, ATTENTION, CNN = "per-pixel MLP", "transformer", "CNN"
FITS = 0.95


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
    """Bumps on a square grid with one corner held out, and three kinds of network."""

    size: int = 12
    """side of the picture in pixels, a multiple of 4"""
    start: int = 6
    """the corner where both coordinates are at least this is held out"""
    sigma: float = 1.0
    """width of a bump in pixels"""
    batch: int = 8
    """pictures a step of the per-pixel network and of the convolutional decoder"""
    learning_rate: float = 3e-3
    """AdamW's learning rate, falling to zero along a cosine"""
    weight_decay: float = 1e-4
    """AdamW's weight decay"""
    pixel_width: int = 64
    """units of a hidden layer of the per-pixel network, a multiple of 4"""
    pixel_depths: tuple[int, ...] = (2,)
    """its hidden layers; a claim must hold at every depth"""
    pixel_steps: int = 800
    """updates of each per-pixel network"""
    transformer_width: int = 32
    """numbers of a token, a multiple of 4 and of the heads"""
    transformer_depths: tuple[int, ...] = (2,)
    """its encoder layers; a claim must hold at every depth"""
    transformer_steps: int = 1000
    """updates of each transformer"""
    transformer_batch: int = 4
    """pictures a step of a transformer"""
    heads: int = 2
    """heads of the transformer's attention"""
    cnn_width: int = 32
    """channels of the convolutional decoder"""
    cnn_depths: tuple[int, ...] = (3,)
    """its depth; a claim must hold at every depth"""
    cnn_steps: int = 400
    """updates of each convolutional decoder"""

    def __post_init__(self) -> None:
        if self.size % 4:
            raise rc.UserError(f"size must be a multiple of 4, got {self.size}")
        if not 1 < self.start < self.size - 1:
            raise rc.UserError(f"the corner must start inside 2..{self.size - 2}, got {self.start}")
        self.need_positive("batch", "transformer_batch", "heads", "pixel_width", "transformer_width", "cnn_width")
        self.need_positive("pixel_steps", "transformer_steps", "cnn_steps")
        self.need_rates("learning_rate", "sigma")
        if self.pixel_width % 4 or self.transformer_width % 4 or self.transformer_width % self.heads:
            raise rc.UserError("the widths must be multiples of 4, and the transformer's also of its heads")
        for depths in (self.pixel_depths, self.transformer_depths, self.cnn_depths):
            if not depths or min(depths) < 1 or len(set(depths)) != len(depths):
                raise rc.UserError(f"depths must be one or more different numbers from 1 on, got {depths}")
        _hole.check_depth(min(self.cnn_depths))


_SHORT = {"pixel_steps": 20, "transformer_steps": 20, "cnn_steps": 20}
_SMALL: dict[str, Any] = {"pixel_width": 8, "pixel_depths": (1,), "transformer_width": 8, "transformer_depths": (1,)}
QUICK = Settings(seeds=2, size=8, start=4, batch=4, cnn_width=4, cnn_depths=(2,), **_SMALL, **_SHORT)
LAPTOP = Settings()
_SIZES: dict[str, Any] = {"pixel_width": 256, "transformer_width": 128, "heads": 4, "cnn_width": 64, "cnn_depths": (4,)}
_TRAINING: dict[str, Any] = {"batch": 32, "transformer_batch": 32, "learning_rate": 1e-3}
FULL: dict[str, Any] = {"size": 28, "start": 14} | _SIZES | _TRAINING
GPU = Settings(seeds=8, block=8, pixel_steps=5500, transformer_steps=2500, cnn_steps=3125, **FULL)
_LONG = {"pixel_steps": 36_750, "transformer_steps": 36_750, "cnn_steps": 36_750}
PAPER = Settings(seeds=10, pixel_depths=(2, 4), transformer_depths=(2, 3, 4, 5), **FULL, **_LONG)


@dataclass(frozen=True)
class Plan:
    """How one kind of network is made, at which depths, and how long it is trained."""

    make: Callable[[int], Callable[[Any], rc.Model]]
    depths: tuple[int, ...]
    steps: int
    batch: int


def plans(settings: Settings) -> dict[str, Plan]:
    """The plan of each condition; its `make` takes a depth, then a key."""
    ends = (2 * settings.size, settings.size)

    def pixels(depth: int):
        return lambda key: rc.PixelMLP(*ends, width=settings.pixel_width, depth=depth, key=key)

    def attention(depth: int):
        width, heads = settings.transformer_width, settings.heads
        return lambda key: rc.TransformerDecoder(*ends, width=width, depth=depth, heads=heads, key=key)

    def convolutions(depth: int):
        return lambda key: rc.CNNDecoder(*ends, width=settings.cnn_width, depth=depth, key=key)

    return {
        PIXELS: Plan(pixels, settings.pixel_depths, settings.pixel_steps, settings.batch),
        ATTENTION: Plan(attention, settings.transformer_depths, settings.transformer_steps, settings.transformer_batch),
        CNN: Plan(convolutions, settings.cnn_depths, settings.cnn_steps, settings.batch),
    }


@dataclass(frozen=True)
class Cell:
    """The networks of one kind, depth and block of seeds."""

    settings: Settings
    network: str
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    kinds = [(name, depth) for name, plan in plans(settings).items() for depth in plan.depths]
    return [Cell(settings, *kind, members) for kind in kinds for members in _seeds.blocks(settings)]


@cache
def grid(settings: Settings) -> rc.Task:
    return rc.bumps(settings.size, rc.one_hot(settings.size), sigma=settings.sigma)


def run(cell: Cell, watch) -> list[dict]:
    import jax

    settings, task, plan = cell.settings, grid(cell.settings), plans(cell.settings)[cell.network]
    split = rc.corner(task.combinations, settings.start)
    keys = rc.member_keys(settings.seed, cell.members)
    recipe = rc.Recipe(plan.steps, plan.batch, rc.adamw_cosine)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    label = f"{cell.network} {cell.depth}"
    trained = rc.population(task, split, plan.make(cell.depth), keys, recipe, dials=dials, watch=watch, label=label)
    asked = jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 1)
    rows = []
    for i, answer in enumerate(rc.records(trained.model, task, task.combinations, key=asked)):
        watch.recorded(f"{label}-{cell.members[i]}", answer)
        lost = int(trained.diverged_at[i])
        who = {"condition": cell.network, "depth": cell.depth, "seed": cell.members[i], "diverged_at": lost}
        rows.append(who | {"loss": float(trained.losses[i, -1])} | _seeds.unless_lost(measures(answer, split), lost))
    return rows


def measures(answer: rc.Record, split: rc.Split) -> dict:
    """Error and peak accuracy on the L and in the corner, the error of each pair, and three answers in the corner."""
    row: dict = {"error_map": rc.error_map(answer), "samples": answer.y_hat[_hole.probes(split.held_out)]}
    for name, place in {"l": split.train, "corner": split.held_out}.items():
        part = answer.where(place)
        row[f"mse_{name}"] = rc.mse(part)
        for tolerance in (0, 1):
            row[f"accuracy{tolerance}_{name}"] = rc.peak_accuracy(part, tolerance)
    return row


def controls(settings: Settings) -> list[dict]:
    """The measures on a perfect solver, a fixed answer from the middle of the corner, and two memorisers."""
    import jax

    task = grid(settings)
    split = rc.corner(task.combinations, settings.start)
    truth = rc.truth(task, task.combinations, key=jax.random.key(settings.seed))
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, int(_hole.probes(split.held_out)[1])),
        "nearest memory": rc.nearest_memory(truth, split.train),
        "superposition": rc.superposition(truth, split.train),
    }
    return [{"condition": f"control: {name}", "seed": 0} | measures(s, split) for name, s in systems.items()]


def at_worst_depth(table: pd.DataFrame, condition: str, effect: Callable[[pd.DataFrame], pd.Series]) -> pd.Series:
    """An effect of each network of a kind, and of each seed the smallest over depths; lost if one of them is."""
    rows = table[table.condition == condition]
    return effect(rows).groupby(rows["seed"]).agg(lambda values: values.min(skipna=False))


def fits(condition: str) -> rc.Check:
    return rc.Check(
        f"every {condition} places at least 95 % of the training bumps within one pixel",
        lambda t: t[t.condition == condition]["accuracy1_l"].min(),
        at_least=FITS,
    )


PLACED = _show.peak_controls("accuracy1_corner", ("blind", *_show.MEMORISERS), at_most=0.5)
CLAIMS = (
    rc.Claim(
        "a per-pixel network composes",
        "A network that asks every pixel by itself, telling it where it is, draws bumps in a corner that it never saw.",
        "the released repository: position-aware network",
        effect=lambda t: at_worst_depth(t, PIXELS, lambda rows: rows.accuracy1_corner),
        margin=0.8,
        unit="accuracy within 1 pixel, corner",
        preconditions=(fits(PIXELS),),
        controls=PLACED,
    ),
    rc.Claim(
        "and a CNN does not",
        "The convolutional decoder, trained on the same L, fits it and fails in the corner.",
        "the released repository; Fig. 1b for a hole",
        effect=lambda t: at_worst_depth(t, CNN, lambda rows: rows.accuracy1_l - rows.accuracy1_corner),
        margin=0.5,
        unit="accuracy within 1 pixel, L minus corner",
        preconditions=(fits(CNN),),
        controls=PLACED,
    ),
    rc.Claim(
        "attention keeps it (ours)",
        "A transformer whose pixels are told where they are, and look at each other, draws bumps in the corner too.",
        "ours; the network is of the released repository",
        effect=lambda t: at_worst_depth(t, ATTENTION, lambda rows: rows.accuracy1_corner),
        margin=0.8,
        unit="accuracy within 1 pixel, corner",
        preconditions=(fits(ATTENTION),),
        controls=PLACED,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """A column a network: its error over (x, y), three answers in the corner, and the accuracies of all seeds."""
    plots = rc.plots
    kinds = [(name, depth) for name, plan in plans(settings).items() for depth in plan.depths]
    wanted = table[table.condition == "control: perfect"].iloc[0]["samples"]
    figure, axes = plots.panels(rows=5, columns=len(kinds) + 1)
    for column, (name, depth) in enumerate(kinds):
        rows = table[(table.condition == name) & (table.depth == depth)].sort_values(["diverged_at", "seed"])
        sound = _show.sound(rows)
        errors = np.mean(np.stack(list(sound["error_map"])), axis=0)
        image = plots.error_map(axes[0, column], errors, title=f"{name},\ndepth {depth}")
        plots.box(axes[0, column], settings.start, settings.size - 1)
        for i, (answer, truth) in enumerate(zip(rows.iloc[0]["samples"], wanted, strict=True), start=1):
            plots.picture(axes[i, column], answer, mark=plots.brightest(truth))
        places = {"L": rows["accuracy1_l"].to_numpy(), "corner": rows["accuracy1_corner"].to_numpy()}
        fits = (rows["accuracy1_l"] >= FITS).all()
        colour = plots.GOOD if rows["accuracy1_corner"].mean() > 0.8 else plots.BAD
        plots.dots(axes[4, column], places, colour=colour if fits else plots.NEUTRAL)
    plots.colour_bar(figure, image, axes[0, -1], "squared error,\nmean over seeds")
    for i, truth in enumerate(wanted, start=1):
        plots.picture(axes[i, -1], truth, mark=plots.brightest(truth), title="truth" if i == 1 else "")
    axes[1, 0].set_ylabel("one network's answers\nin the corner")
    axes[4, 0].set_ylabel("placed within 1 pixel\n(a dot is a network)")
    axes[4, -1].axis("off")
    figure.suptitle(f"The corner from {settings.start} on (blue) is never trained on", fontsize=10)
    return figure
