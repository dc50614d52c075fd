"""What fills a gap of angles that a network never saw: a rotated digit, or a mixture of the gap's edges?

Fig. 9: one factor in place of two. The digit is a synthetic "4", which needs no data, where the paper has one of MNIST
(the settings `images` and `labels` name your own files of it). The network is a small MLP on (cos, sin) of the angle,
where the paper's is convolutional.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, partial
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.seeds import Seeded
from recombine.tasks.mnist import load_digit

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    """A digit, a gap of unseen angles, and an MLP."""

    low: int = 160
    """the last angle in degrees before the gap"""
    high: int = 200
    """the first angle in degrees after the gap"""
    width: int = 256
    """units of a hidden layer"""
    depth: int = 3
    """hidden layers"""
    steps: int = 2000
    """updates of each network"""
    learning_rate: float = 1e-3
    """AdamW's learning rate, falling to zero along a cosine"""
    images: str = ""
    """your file of MNIST pictures (idx-ubyte, plain or gzipped), whose first 4 is rotated; without it, a synthetic 4"""
    labels: str = ""
    """the file of their labels"""

    def __post_init__(self) -> None:
        if bool(self.images) != bool(self.labels):
            raise rc.UserError("images and labels go together: name both files of MNIST, or none for the drawn digit")
        if not 0 <= self.low < self.high - 10 < 350:
            raise rc.UserError(f"the gap must be wider than 10 degrees, within 0..359, got {self.low}..{self.high}")
        self.need_positive("width", "depth", "steps")
        self.need_rates("learning_rate")


QUICK = Settings(seeds=2, width=8, depth=1, steps=20)
LAPTOP = Settings()
GPU = Settings(seeds=16, block=16, width=512, steps=10_000)
PAPER = Settings(seeds=20, width=1024, depth=4, steps=50_000)


def cells(settings: Settings) -> list[rc.Cell]:
    """One cell per block of seeds; other content of the same files makes another cell."""
    name = hashlib.sha256(digit(settings).tobytes()).hexdigest()[:12] if settings.images else "drawn"
    return rc.cells(settings, [{"digit": name}])


def digit(settings: Settings) -> np.ndarray:
    """The picture that is rotated: the synthetic 4, or the first 4 of the user's own files."""
    from recombine.tasks.rotation import drawn_four

    if not settings.images:
        return drawn_four()
    picture = load_digit(Path(settings.images), Path(settings.labels))
    if picture.shape[0] != picture.shape[1]:
        raise rc.UserError(f"a picture to rotate is square, those of {settings.images} are {picture.shape}")
    return picture


def turning(settings: Settings) -> rc.Task:
    """One task for equal digits, so that programs are compiled once."""
    picture = digit(settings)
    return _turning(len(picture), picture.tobytes())


@cache
def _turning(side: int, pixels: bytes) -> rc.Task:
    return rc.rotation(np.frombuffer(pixels, np.float32).reshape(side, side))


def mlp(settings: Settings):
    side = len(digit(settings))
    return lambda key: rc.MLPDecoder(2, side, width=settings.width, depth=settings.depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, turning(cell.settings)
    split = rc.gap(task.combinations, settings.low, settings.high)
    recipe = rc.Recipe(settings.steps, optimiser=rc.adamw_cosine)
    keys, dials = rc.member_keys(settings.seed, cell.members), {"learning_rate": settings.learning_rate}
    trained = rc.population(task, split, mlp(settings), keys, recipe, dials=dials, monitor=monitor)
    answers = rc.records(trained.model, task, task.combinations, key=rc.key(settings.seed, "test"))
    for seed, answer in zip(cell.members, answers, strict=True):
        monitor.recorded(f"seed-{seed}", answer)
    return rc.rows(trained, [{"seed": seed} for seed in cell.members], [measures(settings, a) for a in answers])


def mixtures(settings: Settings, truth: np.ndarray) -> np.ndarray:
    """For every angle the linear mixture of the two edges of the gap that lies between them."""
    share = np.clip((np.arange(360) - settings.low) / (settings.high - settings.low), 0.0, 1.0)[:, None, None]
    return (1 - share) * truth[settings.low] + share * truth[settings.high]


def measures(settings: Settings, answer: rc.Record) -> dict:
    """Error by angle, in the gap and outside it; likeness of the middle of the gap to truth and to mixtures."""
    split = rc.gap(answer.z, settings.low, settings.high)
    middle = slice((settings.low + settings.high) // 2 - 5, (settings.low + settings.high) // 2 + 6)
    given, mixed = answer.y_hat[middle], mixtures(settings, answer.y)[middle]
    return {
        "errors": rc.errors(answer),
        "mse_seen": rc.mse(answer.where(split.train)),
        "mse_gap": rc.mse(answer.where(split.held_out)),
        "r_truth": float(np.mean(rc.pearson(given, answer.y[middle]))),
        "r_mixture": float(np.mean(rc.pearson(given, mixed))),
        "pictures": np.stack(
            [answer.y[settings.low], given[5], answer.y[middle][5], mixed[5], answer.y[settings.high]]
        ),
    }


def controls(settings: Settings) -> list[dict]:
    """The same measures on a perfect solver, one that fills the gap with mixtures, and an untrained network."""
    task, key = turning(settings), rc.key(settings.seed, "test")
    truth = rc.truth(task, task.combinations, key=key)
    inside = rc.gap(truth.z, settings.low, settings.high).held_out[:, None, None]
    born = rc.initial_models(mlp(settings), rc.key(settings.seed, "untrained")[None])
    systems = {
        "perfect": truth,
        "mixing": truth.answering(np.where(inside, mixtures(settings, truth.y), truth.y)),
        "untrained": rc.records(born, task, task.combinations, key=key)[0],
    }
    return rc.control_rows(partial(measures, settings), systems)


def known(system: str, first: str, second: str):
    """One column minus another of a system whose answer is known."""
    return lambda t: rc.control(t, system, first) - rc.control(t, system, second)


FITS = (rc.fitted("mse_seen", at_most=0.005),)
CLAIMS = (
    rc.Claim(
        "the error peaks in the gap of angles",
        "The error peaks in the gap: it is at least eight times that on the angles seen.",
        "Fig. 9a",
        effect=figures.log_over("mse_gap", "mse_seen"),
        above=log10(8),
        unit="log10 of the error in the gap over the error outside it",
        fits=FITS,
        controls=(
            rc.reads("perfect", "mse_gap", at_most=0.0),
            rc.reads("mixing", "mse_gap", at_least=1e-2),
        ),
    ),
    rc.Claim(
        "the gap of angles is filled with a mixture of its edges",
        "In the middle of the gap the answer is like a mixture of the two edges rather than like the rotated digit.",
        "Fig. 9c, 9d",
        effect=figures.minus("r_mixture", "r_truth"),
        above=0.1,
        unit="correlation with the mixture of the edges, minus with the truth",
        fits=FITS,
        controls=(
            rc.Check("a mixture reads as a mixture", known("mixing", "r_mixture", "r_truth"), at_least=0.1),
            rc.Check("a perfect solver reads as the truth", known("perfect", "r_truth", "r_mixture"), at_least=0.1),
        ),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Error by angle with the gap shaded, one network's answer in its middle, and the numbers that are judged."""
    plots, rows = rc.plots, rc.networks(table).sort_values("seed")
    figure, axes = plots.panels(rows=2, columns=5)
    titles = ("edge of the gap", "network's answer", "truth", "mixture of the edges", "other edge")
    for place, title, picture in zip(axes[0], titles, rows.iloc[0]["pictures"], strict=True):
        plots.picture(place, picture[::-1], title=title)
    for errors in rows["errors"]:
        axes[1, 0].semilogy(errors, color=plots.BAD, alpha=0.6, linewidth=0.8)
    axes[1, 0].axvspan(settings.low, settings.high, color=plots.NEUTRAL, alpha=0.2)
    axes[1, 0].set(xlabel="degrees", ylabel="squared error", title="the gap is shaded")
    for place, column in enumerate(("mse_seen", "mse_gap")):
        axes[1, 1].semilogy([place] * len(rows), rows[column], "o", color=plots.BAD, alpha=0.75, markersize=4)
    axes[1, 1].set_xticks((0, 1), ("seen", "gap"))
    axes[1, 1].set(xlim=(-0.6, 1.6), title="error at the angles\n(one dot per network)")
    groups = {"mixture": rows["r_mixture"].to_numpy(), "truth": rows["r_truth"].to_numpy()}
    plots.dots(axes[1, 2], groups, colour=plots.BAD)
    axes[1, 2].set_title("correlation in mid-gap with")
    for column in (3, 4):
        axes[1, column].axis("off")
    return figure
