"""What fills the gap when a network that turns a digit was never shown a range of angles: a turned digit, or a mixture?

Fig. 9: one factor in place of two. The digit is a drawn "4", which needs no data, where the paper has one of MNIST
(the settings `images` and `labels` name your own files of it), and the network a small MLP on (cos, sin) of the angle,
where the paper's is convolutional.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
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
    """your file of MNIST pictures (idx-ubyte, plain or gzipped), whose first 4 is turned; without it, a drawn 4"""
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


@dataclass(frozen=True)
class Cell:
    """One block of seeds, and which digit they turn: other content of the same files makes another cell."""

    settings: Settings
    digit: str
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    name = hashlib.sha256(digit(settings).tobytes()).hexdigest()[:12] if settings.images else "drawn"
    return [Cell(settings, name, members) for members in _seeds.blocks(settings)]


def digit(settings: Settings) -> np.ndarray:
    """The picture that is turned: the drawn 4, or the first 4 of the user's own files."""
    if not settings.images:
        return rc.drawn_four()
    picture = rc.load_digit(Path(settings.images), Path(settings.labels))
    if picture.shape[0] != picture.shape[1]:
        raise rc.UserError(f"a picture to turn is square, those of {settings.images} are {picture.shape}")
    return picture


def turning(settings: Settings) -> rc.Task:
    """One task for equal digits, so that programs are compiled once."""
    picture = digit(settings)
    return _turning(len(picture), picture.tobytes())


@cache
def _turning(side: int, pixels: bytes) -> rc.Task:
    return rc.rotation(np.frombuffer(pixels, np.float32).reshape(side, side))


def run(cell: Cell, watch) -> list[dict]:
    import jax

    settings, task = cell.settings, turning(cell.settings)
    split = rc.gap(task.combinations, settings.low, settings.high)

    side = len(digit(settings))

    def make(key):
        return rc.MLPDecoder(2, side, width=settings.width, depth=settings.depth, key=key)

    recipe = rc.Recipe(settings.steps, optimiser=rc.adamw_cosine)
    keys, dials = rc.member_keys(settings.seed, cell.members), {"learning_rate": settings.learning_rate}
    trained = rc.population(task, split, make, keys, recipe, dials=dials, watch=watch)
    asked = jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 1)
    rows = []
    for i, answer in enumerate(rc.records(trained.model, task, task.combinations, key=asked)):
        watch.recorded(f"seed-{cell.members[i]}", answer)
        lost = trained.diverged_at[i]
        who = {"condition": "network", "seed": cell.members[i], "diverged_at": int(lost)}
        rows.append(who | _seeds.unless_lost(measures(settings, answer), lost))
    return rows


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
    """The same measures on a perfect solver and on one that fills the gap with mixtures of its edges."""
    import jax

    task = turning(settings)
    truth = rc.truth(task, task.combinations, key=jax.random.key(settings.seed))
    inside = rc.gap(truth.z, settings.low, settings.high).held_out[:, None, None]
    mixing = truth.answering(np.where(inside, mixtures(settings, truth.y), truth.y))
    systems = {"perfect": truth, "mixing": mixing}
    return [{"condition": f"control: {n}", "seed": 0} | measures(settings, s) for n, s in systems.items()]


def of(table: pd.DataFrame, column: str) -> pd.Series:
    return rc.by_seed(table, column, condition="network")


FITS = rc.Check(
    "every network's error on the angles it saw is at most 0.005",
    lambda t: 0.005 - of(t, "mse_seen").max(),
    at_least=0.0,
)

CLAIMS = (
    rc.Claim(
        "the gap is not filled",
        "The error peaks in the gap: it is at least eight times that on the angles seen.",
        "Fig. 9a",
        effect=lambda t: (of(t, "mse_gap") / of(t, "mse_seen")).apply(log10),
        margin=log10(8),
        unit="log10 of the error in the gap over the error outside it",
        preconditions=(FITS,),
        controls=(
            rc.Check(
                "a perfect solver has no error in the gap, and mixtures of its edges have some",
                lambda t: _show.control("mixing", "mse_gap", t) - _show.control("perfect", "mse_gap", t),
                at_least=1e-2,
            ),
        ),
    ),
    rc.Claim(
        "it is filled with a mixture",
        "In the middle of the gap the network draws a mixture of the two edges rather than the turned digit.",
        "Fig. 9 (linear mixes)",
        effect=lambda t: of(t, "r_mixture") - of(t, "r_truth"),
        margin=0.1,
        unit="correlation with the mixture of the edges, minus with the truth",
        preconditions=(FITS,),
        controls=(
            rc.Check(
                "mixtures read as mixtures and a perfect solver as the truth, by 0.1 each",
                lambda t: min(
                    _show.control("mixing", "r_mixture", t) - _show.control("mixing", "r_truth", t),
                    _show.control("perfect", "r_truth", t) - _show.control("perfect", "r_mixture", t),
                ),
                at_least=0.1,
            ),
        ),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The error by angle with the gap shaded, what one network draws in its middle, and the correlations."""
    plots, rows = rc.plots, table[table.condition == "network"].sort_values("seed")
    figure, axes = plots.panels(rows=2, columns=5)
    titles = ("edge of the gap", "network's answer", "truth", "mixture of the edges", "other edge")
    for place, title, picture in zip(axes[0], titles, rows.iloc[0]["pictures"], strict=True):
        plots.picture(place, picture[::-1], title=title)
    for errors in rows["errors"]:
        axes[1, 0].semilogy(errors, color=plots.BAD, alpha=0.6, linewidth=0.8)
    axes[1, 0].axvspan(settings.low, settings.high, color=plots.NEUTRAL, alpha=0.2)
    axes[1, 0].set(xlabel="degrees", ylabel="squared error", title="the gap is shaded")
    groups = {"mixture": rows["r_mixture"].to_numpy(), "truth": rows["r_truth"].to_numpy()}
    plots.dots(axes[1, 1], groups, colour=plots.BAD)
    axes[1, 1].set_title("correlation in mid-gap with")
    for column in (2, 3, 4):
        axes[1, column].axis("off")
    return figure
