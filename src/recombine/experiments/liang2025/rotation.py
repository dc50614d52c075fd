"""What fills a gap of angles that a network never saw: a rotated digit, or a mixture of the gap's edges?

Fig. 9: one factor in place of two. The digit is a synthetic "4", which needs no data, where the paper has one of MNIST
(the settings `images` and `labels` name your own files of it). The networks are given (cos, sin) of the angle: a
convolutional decoder, as in the paper but without its batch norm, sigmoid and L1 loss, and an MLP. Speeds of layers
are set against those of the same network before training.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import angles, rotation_claims
from recombine.experiments.liang2025.rotation_claims import CNN, MLP
from recombine.experiments.seeds import Seeded
from recombine.tasks.mnist import load_digit

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    """A digit, a gap of unseen angles, an MLP and a convolutional decoder."""

    low: int = 160
    """the last angle in degrees before the gap"""
    high: int = 200
    """the first angle in degrees after the gap"""
    width: int = 256
    """units of a hidden layer of the MLP"""
    depth: int = 3
    """hidden layers of the MLP"""
    steps: int = 2000
    """updates of each MLP"""
    cnn_width: int = 24
    """channels of the convolutional decoder, which doubles its map twice"""
    cnn_steps: int = 1200
    """updates of each convolutional decoder"""
    cnn_learning_rate: float = 3e-3
    """AdamW's learning rate for it, falling to zero along a cosine"""
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
        self.need_positive("width", "depth", "steps", "cnn_width", "cnn_steps")
        self.need_rates("learning_rate", "cnn_learning_rate")


QUICK = Settings(seeds=2, width=8, depth=1, steps=20, cnn_width=4, cnn_steps=20)
LAPTOP = Settings(seed=2)
_FULL = {"seed": 1, "width": 512, "steps": 10_000, "cnn_steps": 5000, "cnn_learning_rate": 1e-3}
GPU = Settings(seeds=10, block=10, cnn_width=64, **_FULL)
PAPER = Settings(seeds=20, cnn_width=128, **_FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    """One cell per network and block of seeds; other content of the same files makes another cell."""
    name = hashlib.sha256(digit(settings).tobytes()).hexdigest()[:12] if settings.images else "drawn"
    return rc.cells(settings, [{"digit": name, "network": network} for network in (CNN, MLP)])


def digit(settings: Settings) -> np.ndarray:
    """The picture that is rotated: the synthetic 4, or the first 4 of the user's own files."""
    from recombine.tasks.rotation import drawn_four

    if not settings.images:
        return drawn_four()
    picture = load_digit(Path(settings.images), Path(settings.labels))
    if picture.shape[0] != picture.shape[1]:
        raise rc.UserError(f"a picture to rotate is square, those of {settings.images} are {picture.shape}")
    if len(picture) % 4:
        raise rc.UserError(f"the decoder doubles its map twice: a side must be a multiple of 4, not {len(picture)}")
    return picture


def turning(settings: Settings) -> rc.Task:
    """One task for equal digits, so that programs are compiled once."""
    picture = digit(settings)
    return _turning(len(picture), picture.tobytes())


@cache
def _turning(side: int, pixels: bytes) -> rc.Task:
    return rc.rotation(np.frombuffer(pixels, np.float32).reshape(side, side))


def decoder(settings: Settings, network: str):
    """How a network of this kind is made."""
    side = len(digit(settings))
    if network == CNN:
        return lambda key: rc.CNNDecoder(2, side, width=settings.cnn_width, depth=2, key=key)
    return lambda key: rc.MLPDecoder(2, side, width=settings.width, depth=settings.depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, turning(cell.settings)
    of_cnn = cell.network == CNN
    recipe = rc.Recipe(settings.cnn_steps if of_cnn else settings.steps, optimiser=rc.adamw_cosine)
    trained = rc.population(
        task,
        rc.gap(task.combinations, settings.low, settings.high),
        decoder(settings, cell.network),
        rc.member_keys(settings.seed, cell.members),
        recipe,
        dials={"learning_rate": settings.cnn_learning_rate if of_cnn else settings.learning_rate},
        monitor=monitor,
        label=cell.network,
    )
    answers = rc.records(trained.model, task, task.combinations, key=rc.key(settings.seed, "test"))
    for seed, answer in zip(cell.members, answers, strict=True):
        monitor.recorded(f"{cell.network}-{seed}", answer)
    born = rc.initial_models(decoder(settings, cell.network), rc.member_keys(settings.seed, cell.members))
    before = [gap_speed(settings, one) for one in np.asarray(angles.last_hidden_speeds(born))]
    meta = [
        {"condition": cell.network, "seed": seed, "initial_gap_speed": first}
        for seed, first in zip(cell.members, before, strict=True)
    ]
    speeds = np.asarray(angles.last_hidden_speeds(trained.model))
    found = [measures(settings, *pair) for pair in zip(answers, speeds, strict=True)]
    return rc.rows(trained, meta, found)


def gap_speed(settings: Settings, speeds: np.ndarray) -> float:
    """The mean of log10 of the speed along the angle in the gap, less that outside it."""
    split = rc.gap(np.arange(len(speeds))[:, None], settings.low, settings.high)
    return rc.hole_depth(np.log10(speeds + 1e-12), split.held_out, split.train)


def measures(settings: Settings, answer: rc.Record, speeds: np.ndarray) -> dict:
    """Error by angle, in the gap and outside it; likeness of its middle to truth and mixtures; speed along the angle.

    The speed is the volume element of one factor.
    """
    split = rc.gap(answer.z, settings.low, settings.high)
    middle = slice((settings.low + settings.high) // 2 - 5, (settings.low + settings.high) // 2 + 6)
    given, mixed = answer.y_hat[middle], angles.mixtures(answer.y, settings.low, settings.high)[middle]
    edges = angles.nearer_edges(answer.y, settings.low, settings.high)[middle]
    return {
        "errors": rc.errors(answer),
        "speeds": np.log10(speeds + 1e-12),
        "gap_speed": gap_speed(settings, speeds),
        "mse_seen": rc.mse(answer.where(split.train)),
        "mse_gap": rc.mse(answer.where(split.held_out)),
        "r_truth": float(np.mean(rc.pearson(given, answer.y[middle]))),
        "r_mixture": float(np.mean(rc.pearson(given, mixed))),
        "r_edge": float(np.mean(rc.pearson(given, edges))),
        "pictures": np.stack(
            [answer.y[settings.low], given[5], answer.y[middle][5], mixed[5], answer.y[settings.high]]
        ),
    }


def controls(settings: Settings) -> list[dict]:
    """A perfect solver, two that fill the gap with a mixture or its nearer edge, and untrained networks."""
    task, key = turning(settings), rc.key(settings.seed, "test")
    truth = rc.truth(task, task.combinations, key=key)
    inside = rc.gap(truth.z, settings.low, settings.high).held_out[:, None, None]
    systems = {
        "perfect": truth.y,
        "mixing": np.where(inside, angles.mixtures(truth.y, settings.low, settings.high), truth.y),
        "nearest edge": np.where(inside, angles.nearer_edges(truth.y, settings.low, settings.high), truth.y),
    }

    def untrained(network: str) -> dict:
        born = rc.initial_models(decoder(settings, network), rc.key(settings.seed, "untrained")[None])
        (answer,), (speeds,) = rc.records(born, task, task.combinations, key=key), angles.last_hidden_speeds(born)
        return {"system": "untrained", "condition": network, "seed": 0} | measures(settings, answer, np.asarray(speeds))

    rows = rc.control_rows(lambda y: measures(settings, truth.answering(y), angles.picture_speeds(y)), systems)
    return rows + [untrained(network) for network in (CNN, MLP)]


CLAIMS = rotation_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """For each network an answer in mid-gap, error and speed by angle with the gap shaded, and the numbers judged."""
    plots = rc.plots
    figure, axes = plots.panels(rows=4, columns=5)
    titles = ("edge of the gap", "network's answer", "truth", "mixture of the edges", "other edge")
    for row, network in zip((0, 2), (CNN, MLP), strict=True):
        rows = rc.pick(table, condition=network).sort_values("seed")
        for place, title, picture in zip(axes[row], titles, rows.iloc[0]["pictures"], strict=True):
            plots.picture(place, picture[::-1], title=title)
        axes[row, 0].set_ylabel(network)
        angles.draw(axes[row + 1], rows, settings.low, settings.high)
    return figure
