"""Does a network that reads x and y off a picture do so at pairs that it never saw?

The released repository only, not the paper: the other direction. A convolutional encoder is shown a bump and gives the
code of its x and y; it is trained on the donut and asked in the hole, as a decoder that draws is, beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _hole, _show

if TYPE_CHECKING:
    import pandas as pd

CONDITIONS = ("encoder", "decoder")


@dataclass(frozen=True, kw_only=True)
class Settings(_hole.HoleSettings):
    depth: int = 3
    """depth of the decoder"""
    channels: tuple[int, ...] = (32, 64, 128)
    """channels of the encoder's convolutions, each of which halves the picture"""
    hidden: int = 128
    """units between the encoder's last map and the code"""
    encoder_steps: int = 800
    """updates of each encoder; `steps` are those of a decoder"""

    def __post_init__(self) -> None:
        super().__post_init__()
        _hole.check_depth(self.depth)
        self.need_positive("hidden", "encoder_steps")
        if not self.channels or min(self.channels) < 1:
            raise rc.UserError(f"channels must be one or more numbers from 1 on, got {self.channels}")


QUICK = Settings(
    seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, steps=20, channels=(4, 4), hidden=8, encoder_steps=20
)
LAPTOP = Settings(batch=8, learning_rate=3e-3, steps=800)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "steps": 3125, "encoder_steps": 3125}
GPU = Settings(seeds=8, block=8, **FULL)
PAPER = Settings(seeds=20, cosine=False, **FULL)


@dataclass(frozen=True)
class Cell:
    """Encoders and decoders of one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


@cache
def reading(settings: Settings) -> rc.Task:
    """Bumps the other way round: the picture is asked, and the code of x followed by the code of y is the answer."""
    code = rc.local_bump(settings.size, settings.sigma)
    drawing = rc.bumps(settings.size, code, sigma=settings.sigma, dark=settings.dark)

    def sample(z, key):
        told, picture = drawing.sample(z, key)
        return picture, told

    return rc.Task(f"reading {drawing.name}", drawing.combinations, sample)


def run(cell: Cell, watch) -> list[dict]:
    settings, task = cell.settings, _hole.grid(cell.settings)
    drawn = _hole.train(
        settings,
        task,
        _hole.decoder(settings, settings.depth),
        splits=[_hole.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": "decoder", "seed": seed} for seed in cell.members],
        watch=watch,
        label="decoder",
    )[1]
    return encoders(cell, watch) + drawn


def encoders(cell: Cell, watch) -> list[dict]:
    """Train the encoders on the donut; a row for each."""
    import jax.numpy as jnp

    settings, task = cell.settings, reading(cell.settings)

    def make(key):
        size, outputs = settings.size, 2 * settings.size
        return rc.CNNEncoder(size, outputs, channels=settings.channels, width=settings.hidden, key=key)

    optimiser = rc.adamw_cosine if settings.cosine else rc.adamw
    precision = getattr(jnp, settings.precision)
    recipe = rc.Recipe(settings.encoder_steps, settings.batch, optimiser, compute=precision)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    keys, split = rc.member_keys(settings.seed, cell.members), _hole.hole(settings, task)
    trained = rc.population(task, split, make, keys, recipe, dials=dials, watch=watch, label="encoder")
    rows = []
    answers = rc.records(trained.model, task, task.combinations, key=_seeds.test_key(settings))
    for i, answer in enumerate(answers):
        watch.recorded(f"encoder-{cell.members[i]}", answer)
        lost = int(trained.diverged_at[i])
        who = {"condition": "encoder", "seed": cell.members[i], "diverged_at": lost}
        facts = {"images": int(split.train.sum()), "loss": float(trained.losses[i, -1])}
        rows.append(who | facts | _seeds.unless_lost(measures(settings, answer), lost))
    return rows


def spread(codes: np.ndarray) -> np.ndarray:
    """Codes (n, 2N) as pictures P[y, x] = e_y + e_x: the brightest pixel is the argmax of either half."""
    across, down = np.split(codes.astype(np.float64), 2, axis=1)
    return down[:, :, None] + across[:, None, :]


def measures(settings: Settings, answer: rc.Record) -> dict:
    """Error of the codes, and the share of pictures of which both coordinates are read rightly, by place."""
    read = answer.answering(spread(answer.y_hat))
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    row: dict = {"peak_map": rc.peak_map(read), "codes": answer.y_hat[_hole.probes(inside)]}
    for name, place in {"donut": region.train, "hole": region.held_out, "interior": inside}.items():
        row[f"mse_{name}"] = rc.mse(answer.where(place))
        for tolerance in (0, 1):
            row[f"accuracy{tolerance}_{name}"] = rc.peak_accuracy(read.where(place), tolerance)
    return row


def controls(settings: Settings) -> list[dict]:
    """The encoder's measures on a perfect reader, a fixed answer, and one that gives the code of the nearest
    training picture; and the decoder's measures on its own made-up systems."""
    task = reading(settings)
    region = _hole.hole(settings, task)
    truth = rc.truth(task, task.combinations, key=_seeds.test_key(settings))
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, int(_hole.probes(rc.interior(region, settings.rim))[1])),
        "nearest memory": rc.nearest_memory(truth, region.train),
    }
    rows = [{"condition": f"control: {name}", "seed": 0} | measures(settings, s) for name, s in systems.items()]
    return rows + [row | {"condition": f"{row['condition']}, drawing"} for row in _hole.controls(settings)]


def exact(table: pd.DataFrame, condition: str) -> pd.Series:
    return rc.by_seed(table, "accuracy0_interior", condition=condition)


def fits(condition: str) -> rc.Check:
    return rc.Check(
        f"every {condition} is exactly right on at least 95 % of the donut",
        lambda t: t[t.condition == condition]["accuracy0_donut"].min(),
        at_least=0.95,
    )


READ = _show.peak_controls("accuracy0_interior", ("blind", "nearest memory"), at_most=0.1)
DRAWN = (
    rc.Check(
        "a perfect drawer's interior accuracy exceeds that of superposed memories by at least 0.9",
        lambda t: (
            _show.control("perfect, drawing", "accuracy0_interior", t)
            - _show.control("superposition, drawing", "accuracy0_interior", t)
        ),
        at_least=0.9,
    ),
)
CLAIMS = (
    rc.Claim(
        "an encoder reads the hole (ours)",
        "An encoder trained on the donut reads both coordinates off pictures in the interior of the hole.",
        "ours; the network is of the released repository",
        effect=lambda t: exact(t, "encoder"),
        margin=0.5,
        unit="exact accuracy of both coordinates, interior of the hole",
        preconditions=(fits("encoder"),),
        controls=READ,
    ),
    rc.Claim(
        "reading is easier than drawing (ours)",
        "In the interior, the encoder is exactly right more often, by half, than a decoder trained on the same donut.",
        "ours; the networks are of the released repository",
        effect=lambda t: exact(t, "encoder") - exact(t, "decoder"),
        margin=0.5,
        unit="exact accuracy in the interior, encoder minus decoder",
        preconditions=(fits("encoder"), fits("decoder")),
        controls=(*READ, *DRAWN),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """A column a direction: how many networks are exactly right at each (x, y), one answer in the hole, the seeds."""
    plots = rc.plots
    figure, axes = plots.panels(rows=3, columns=3, side=2.3)
    pictures = dict(zip(CONDITIONS, ("reads x and y off a picture", "draws a picture from x and y"), strict=True))
    firsts = {}
    for column, (condition, does) in enumerate(pictures.items()):
        rows = table[table.condition == condition].sort_values(["diverged_at", "seed"])
        firsts[condition] = rows.iloc[0]
        sound = _show.sound(rows)
        right = np.mean(np.stack(list(sound["peak_map"])) == 0, axis=0)
        image = plots.heat_map(axes[0, column], right, title=f"{condition}:\n{does}", low=0, high=1)
        plots.box(axes[0, column], settings.low, settings.high)
        places = {p: rows[f"accuracy0_{p}"].to_numpy() for p in ("donut", "hole", "interior")}
        plots.dots(axes[2, column], places, colour=plots.NEUTRAL)
    plots.colour_bar(figure, image, axes[0, -1], "share of networks\nexactly right")
    asked = table[table.condition == "control: perfect, drawing"].iloc[0]["samples"][1]
    x, y = plots.brightest(asked)
    answer = firsts["encoder"]["codes"][1]
    for half, name, true in zip(np.split(answer, 2), "xy", (x, y), strict=True):
        line = axes[1, 0].plot(half, linewidth=1, label=name)[0]
        axes[1, 0].axvline(true, color=line.get_color(), linestyle=":", linewidth=1)
    axes[1, 0].legend(fontsize=7, frameon=False)
    axes[1, 0].set_title(f"the code that it gives for ({x}, {y})\n(dotted: the truth)")
    plots.picture(axes[1, 1], firsts["decoder"]["samples"][1], mark=(x, y), title="what it draws there")
    plots.picture(axes[1, 2], asked, mark=(x, y), title="truth")
    axes[2, 0].set_ylabel("exactly right\n(a dot is a network)")
    axes[2, -1].axis("off")
    figure.suptitle(f"The square {settings.low}..{settings.high} (blue) is never trained on", fontsize=10)
    return figure
