"""Does a network that reads x and y off a picture do so at pairs that it never saw?

The released repository only, not the paper: the other direction. A convolutional encoder is given the picture of a bump
and predicts the code of its x and y. It is trained on the donut and evaluated in the hole, beside a decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared

if TYPE_CHECKING:
    import pandas as pd

CONDITIONS = ("encoder", "decoder")


@dataclass(frozen=True, kw_only=True)
class Settings(shared.HoleSettings):
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
        shared.check_depth(self.depth)
        self.need_positive("hidden", "encoder_steps")
        if not self.channels or min(self.channels) < 1:
            raise rc.UserError(f"channels must be one or more numbers from 1 on, got {self.channels}")


QUICK = Settings(
    seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, steps=20, channels=(4, 4), hidden=8, encoder_steps=20
)
LAPTOP = Settings(batch=8, learning_rate=3e-3, steps=800, cosine=True)
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "steps": 3150, "encoder_steps": 3150}
GPU = Settings(seed=1, seeds=8, block=8, cosine=True, **FULL)
PAPER = Settings(seed=1, seeds=20, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


@cache
def reading(settings: Settings) -> rc.Task:
    """Bumps the other way round: the input is the picture, the target the code of x followed by the code of y."""
    code = rc.local_bump(settings.size, settings.sigma)
    drawing = rc.bumps(settings.size, code, sigma=settings.sigma, dark=settings.dark)

    def sample(z, key):
        codes, picture = drawing.sample(z, key)
        return picture, codes

    return rc.Task(f"reading {drawing.name}", drawing.combinations, sample)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, shared.grid(cell.settings)
    _, drawn = shared.train(
        settings,
        task,
        shared.decoder(settings, settings.depth),
        splits=[shared.donut(settings, task)] * len(cell.members),
        keys=rc.member_keys(settings.seed, cell.members),
        who=[{"condition": "decoder", "seed": seed} for seed in cell.members],
        monitor=monitor,
        label="decoder",
    )
    return encoders(cell, monitor) + drawn


def reader(settings: Settings):
    """How an encoder is made."""
    ends = (settings.size, 2 * settings.size)
    return lambda key: rc.CNNEncoder(*ends, channels=settings.channels, width=settings.hidden, key=key)


def encoders(cell: rc.Cell, monitor) -> list[dict]:
    """Train the encoders on the donut; one row per network."""
    import jax.numpy as jnp

    settings, task = cell.settings, reading(cell.settings)
    optimiser = rc.adamw_cosine if settings.cosine else rc.adamw
    precision = getattr(jnp, settings.precision)
    recipe = rc.Recipe(settings.encoder_steps, settings.batch, optimiser, compute=precision)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    keys, split = rc.member_keys(settings.seed, cell.members), shared.hole(settings, task)
    trained = rc.population(task, split, reader(settings), keys, recipe, dials=dials, monitor=monitor, label="encoder")
    answers = rc.records(trained.model, task, task.combinations, key=rc.key(settings.seed, "test"))
    for seed, answer in zip(cell.members, answers, strict=True):
        monitor.recorded(f"encoder-{seed}", answer)
    images = int(split.train.sum())
    meta = [{"condition": "encoder", "seed": seed, "images": images} for seed in cell.members]
    return rc.rows(trained, meta, [measures(settings, answer) for answer in answers])


def spread(codes: np.ndarray) -> np.ndarray:
    """Codes (n, 2N) as pictures P[y, x] = e_y + e_x: the brightest pixel is the argmax of either half."""
    across, down = np.split(codes.astype(np.float64), 2, axis=1)
    return down[:, :, None] + across[:, None, :]


def measures(settings: Settings, answer: rc.Record) -> dict:
    """Error of the codes, and the share of pictures of which both coordinates are read rightly, by place."""
    read = rc.Record(answer.z, answer.x, spread(answer.y), spread(answer.y_hat))
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    row: dict = {"peak_map": rc.peak_map(read), "codes": answer.y_hat[shared.example_cells(inside)]}
    for name, place in {"donut": region.train, "hole": region.held_out, "interior": inside}.items():
        row[f"mse_{name}"] = rc.mse(answer.where(place))
        for tolerance in (0, 1):
            row[f"accuracy{tolerance}_{name}"] = rc.peak_accuracy(read.where(place), tolerance)
    return row


def controls(settings: Settings) -> list[dict]:
    """The encoder's measures on known systems and on an untrained encoder; then the same for the decoder."""
    task, key = reading(settings), rc.key(settings.seed, "test")
    region = shared.hole(settings, task)
    truth = rc.truth(task, task.combinations, key=key)
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, int(shared.example_cells(rc.interior(region, settings.rim))[1])),
        "nearest memory": rc.nearest_memory(truth, region.train),
        "untrained": rc.record(shared.initial_models(settings, reader(settings)), task, task.combinations, key=key),
    }
    read = rc.control_rows(partial(measures, settings), systems)
    drawn = [*shared.controls(settings), shared.untrained_row(settings, settings.depth)]
    return [row | {"condition": "encoder"} for row in read] + [row | {"condition": "decoder"} for row in drawn]


FILLED = {"encoder": "codes", "decoder": "samples"}
"""The column that only one kind of network fills, which tells the rows of known systems apart in every table."""


def known(system: str, network: str):
    """Interior accuracy of a system whose answer is known, in place of an encoder or of a decoder."""
    return lambda t: rc.control(t[t[FILLED[network]].notna()], system, "accuracy0_interior")


def fits(condition: str):
    return rc.fitted("accuracy0_donut", at_least=0.95, condition=condition)


READ = (
    rc.Check("interior accuracy of a perfect reader", known("perfect", "encoder"), at_least=1.0),
    rc.Check("interior accuracy of a fixed answer", known("blind", "encoder"), at_most=0.1),
    rc.Check("interior accuracy of the nearest memory", known("nearest memory", "encoder"), at_most=0.1),
)
DRAWN = (
    rc.Check(
        "interior accuracy of a perfect renderer minus that of superposed memories",
        lambda t: known("perfect", "decoder")(t) - known("superposition", "decoder")(t),
        at_least=0.9,
    ),
)
CLAIMS = (
    rc.Claim(
        "an encoder reads the hole (ours)",
        "An encoder trained on the donut reads both coordinates off pictures in the interior of the hole.",
        "ours; the network is of the released repository",
        effect=rc.value("accuracy0_interior", condition="encoder"),
        above=0.5,
        unit="exact accuracy of both coordinates, interior of the hole",
        fits=(fits("encoder"),),
        controls=READ,
    ),
    rc.Claim(
        "reading coordinates is easier than rendering them (ours)",
        "In the interior, the encoder is exactly right more often than a decoder trained on the same donut, by half of"
        " all answers.",
        "ours; the networks are of the released repository",
        effect=rc.difference("accuracy0_interior", "encoder", "decoder"),
        above=0.5,
        unit="exact accuracy in the interior, encoder minus decoder",
        fits=(fits("encoder"), fits("decoder")),
        controls=(*READ, *DRAWN),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """One column per direction: the share of networks right at each (x, y), one answer in the hole, the seeds."""
    plots = rc.plots
    figure, axes = plots.panels(rows=3, columns=3, side=2.3)
    pictures = dict(zip(CONDITIONS, ("reads x and y off a picture", "renders a picture from x and y"), strict=True))
    firsts = {}
    for column, (condition, does) in enumerate(pictures.items()):
        rows = rc.pick(table, condition=condition).sort_values(["diverged_at", "seed"])
        firsts[condition] = rows.iloc[0]
        sound = figures.sound(rows)
        right = np.mean(np.stack(list(sound["peak_map"])) == 0, axis=0)
        image = plots.heat_map(axes[0, column], right, title=f"{condition}:\n{does}", low=0, high=1)
        plots.box(axes[0, column], settings.low, settings.high)
        places = {p: rows[f"accuracy0_{p}"].to_numpy() for p in ("donut", "hole", "interior")}
        plots.dots(axes[2, column], places, colour=plots.NEUTRAL)
    plots.colour_bar(figure, image, axes[0, -1], "share of networks\nexactly right")
    asked = rc.pick(table, system="perfect").dropna(subset="samples").iloc[0]["samples"][1]
    x, y = plots.brightest(asked)
    answer = firsts["encoder"]["codes"][1]
    for half, name, true in zip(np.split(answer, 2), "xy", (x, y), strict=True):
        line = axes[1, 0].plot(half, linewidth=1, label=name)[0]
        axes[1, 0].axvline(true, color=line.get_color(), linestyle=":", linewidth=1)
    axes[1, 0].legend(fontsize=7, frameon=False)
    axes[1, 0].set_title(f"the code predicted for ({x}, {y})\n(dotted: the truth)")
    plots.picture(axes[1, 1], firsts["decoder"]["samples"][1], mark=(x, y), title="what it renders there")
    plots.picture(axes[1, 2], asked, mark=(x, y), title="truth")
    axes[2, 0].set_ylabel("exactly right\n(one dot per network)")
    axes[2, -1].axis("off")
    figure.suptitle(f"The square {settings.low}..{settings.high} (blue) is never trained on", fontsize=10)
    return figure
