"""Do penalties that make a network render each factor as a picture of its own let it compose them?

Section 4.1, Fig. 3 and Fig. 6: every value of x and of y has a low-rank picture of its own, and a small network of
convolutions joins the two. Entropy and variance penalties on the pictures' modes; four ablations; an L-shaped
training region. Two stabilisers are ours: eight hidden channels where the release has two (with two, some seeds never
learn to join), and the entropy penalty set in only after a fifth of training (from the start it leaves dead tokens).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.liang2025 import _show

if TYPE_CHECKING:
    import pandas as pd

ABLATIONS = {"none": (0.0, 0.0), "entropy": (1.0, 0.0), "variance": (0.0, 1.0), "both": (1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
    """Bumps on a square grid with one corner held out, and a factorised-embedding network."""

    size: int = 12
    """side of the picture in pixels"""
    start: int = 5
    """the corner where both coordinates are at least this is held out"""
    sigma: float = 1.0
    """width of a bump in pixels"""
    channels: int = 8
    """hidden channels of the joining convolutions (2 as released)"""
    steps: int = 2000
    """updates of each network"""
    batch: int = 32
    """pictures a step"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""
    weight_decay: float = 1e-4
    """AdamW's weight decay"""
    entropy: float = 0.1
    """weight of the entropy penalty"""
    variance: float = 0.01
    """weight of the variance penalty"""
    ramp: float = 0.2
    """share of training after which the entropy penalty sets in, to reach its full weight at twice that"""

    def __post_init__(self) -> None:
        if not 1 < self.start < self.size - 1:
            raise rc.UserError(f"the corner must start inside 2..{self.size - 2}, got {self.start}")
        if not 0 < self.ramp <= 0.5:
            raise rc.UserError(f"the ramp must start within the first half of training, got {self.ramp}")
        self.need_positive("channels", "steps", "batch")
        self.need_rates("learning_rate", "sigma")


QUICK = Settings(seeds=2, size=6, start=3, channels=2, steps=20, batch=4)
LAPTOP = Settings()
GPU = Settings(seeds=8, block=8, size=32, start=12, sigma=1.5, steps=20_000)
PAPER = Settings(seeds=20, size=32, start=12, sigma=1.5, channels=2, steps=20_000)


@dataclass(frozen=True)
class Cell:
    """All ablations for one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


@cache
def grid(settings: Settings) -> rc.Task:
    return rc.bumps(settings.size, rc.one_hot(settings.size), sigma=settings.sigma)


def run(cell: Cell, watch) -> list[dict]:
    import jax
    import jax.numpy as jnp

    settings, task = cell.settings, grid(cell.settings)
    split = rc.corner(task.combinations, settings.start)
    who = [{"condition": name, "seed": seed} for name in ABLATIONS for seed in cell.members]
    on = np.array([ABLATIONS[person["condition"]] for person in who])
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    dials |= {"entropy": settings.entropy * on[:, 0], "variance": settings.variance * on[:, 1]}
    penalty = rc.weighted(rc.Ramp(settings.ramp, 2 * settings.ramp))
    keys = jnp.concatenate([rc.member_keys(settings.seed, cell.members)] * len(ABLATIONS))

    def make(key):
        return rc.Rendering(settings.size, channels=settings.channels, key=key)

    recipe = rc.Recipe(settings.steps, settings.batch, penalty=penalty)
    trained = rc.population(task, split, make, keys, recipe, dials=dials, watch=watch)
    asked = jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 1)
    answers = rc.records(trained.model, task, task.combinations, key=asked)
    stored = rc.tables(trained.model)
    rows = []
    for i, (person, answer) in enumerate(zip(who, answers, strict=True)):
        watch.recorded(f"{person['condition']}-{person['seed']}", answer)
        seen = measures(answer, split) | embedding(settings, {name: a[i] for name, a in stored.items()})
        rows.append(
            person | {"diverged_at": int(trained.diverged_at[i])} | _seeds.unless_lost(seen, trained.diverged_at[i])
        )
    return rows


def measures(answer: rc.Record, split: rc.Split) -> dict:
    """Error and peak accuracy on the L and in the corner."""
    places = {"l": answer.where(split.train), "corner": answer.where(split.held_out)}
    row: dict = {f"mse_{name}": rc.mse(part) for name, part in places.items()}
    return row | {f"accuracy1_{name}": rc.peak_accuracy(part, 1) for name, part in places.items()}


def embedding(settings: Settings, stored: dict[str, np.ndarray]) -> dict:
    """How far the stored pictures are bands, how many modes they use, and one of them from the held-out range."""
    bands = (rc.vertical_share(stored["map_x"]) + rc.horizontal_share(stored["map_y"])) / 2
    rank = float(np.mean(rc.effective_rank(stored["lambda_x"])))
    return {"bands": bands, "rank": rank, "picture": stored["map_x"][(settings.start + settings.size) // 2]}


def controls(settings: Settings) -> list[dict]:
    """The measures on a perfect solver, a fixed answer, and the nearest memory."""
    import jax

    task = grid(settings)
    split = rc.corner(task.combinations, settings.start)
    truth = rc.truth(task, task.combinations, key=jax.random.key(settings.seed))
    middle = int(np.flatnonzero(split.held_out)[split.held_out.sum() // 2])
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, middle),
        "nearest memory": rc.nearest_memory(truth, split.train),
    }
    # Bands as they should be, and pictures without any order, to read the share of bands on.
    bands = np.broadcast_to(np.eye(settings.size)[:, None, :], (settings.size,) * 3)
    noise = np.random.default_rng(settings.seed).normal(size=bands.shape)
    pictures = {"perfect": bands, "blind": noise, "nearest memory": noise}
    return [
        {"condition": f"control: {n}", "seed": 0, "bands": rc.vertical_share(pictures[n])} | measures(s, split)
        for n, s in systems.items()
    ]


def log_error(table: pd.DataFrame, ablation: str) -> pd.Series:
    return rc.by_seed(table, "mse_corner", condition=ablation).apply(log10)


FITS = rc.Check(
    "at least 90 % of the training bumps are placed within one pixel, over all networks",
    lambda t: t[t.condition.isin(list(ABLATIONS))]["accuracy1_l"].mean(),
    at_least=0.9,
)
PLACED = _show.peak_controls("accuracy1_corner", ("blind", "nearest memory"), at_most=0.5)
ERRORS = (
    rc.Check(
        "the nearest memory has a larger error in the corner than a perfect solver",
        lambda t: _show.control("nearest memory", "mse_corner", t) - _show.control("perfect", "mse_corner", t),
        at_least=1e-4,
    ),
)
BANDS = _show.peak_controls("bands", ("blind",), at_most=0.3)


def claim(name: str, says: str, source: str, *, effect, margin: float, unit: str, controls) -> rc.Claim:
    return rc.Claim(name, says, source, effect, margin, unit, preconditions=(FITS,), controls=controls)


LESS = "log10 of the error in the corner"
CLAIMS = (
    claim(
        "regularised rendering composes",
        "With both penalties the network draws bumps in the corner that it never saw.",
        "Fig. 3; section 4.1",
        effect=lambda t: rc.by_seed(t, "accuracy1_corner", condition="both"),
        margin=0.8,
        unit="accuracy within 1 pixel, corner",
        controls=PLACED,
    ),
    claim(
        "unregularised rendering does not",
        "Without penalties the same network fits the L and fails in the corner.",
        "Fig. 3d",
        effect=lambda t: (
            rc.by_seed(t, "accuracy1_l", condition="none") - rc.by_seed(t, "accuracy1_corner", condition="none")
        ),
        margin=0.5,
        unit="accuracy within 1 pixel, L minus corner",
        controls=PLACED,
    ),
    claim(
        "penalties lower the error",
        "Both penalties together lower the error in the corner at least fivefold.",
        "Fig. 3d",
        effect=lambda t: log_error(t, "none") - log_error(t, "both"),
        margin=log10(5),
        unit=f"{LESS}, none minus both",
        controls=ERRORS,
    ),
    claim(
        "both are best (the paper)",
        "The two penalties together do better than variance alone.",
        "Fig. 3d",
        effect=lambda t: log_error(t, "variance") - log_error(t, "both"),
        margin=0.0,
        unit=f"{LESS}, variance minus both",
        controls=ERRORS,
    ),
    claim(
        "variance alone is as good (ours)",
        "With the variance penalty alone the error is at most three times that with both.",
        "our wording of Fig. 3d",
        effect=lambda t: log_error(t, "both") - log_error(t, "variance"),
        margin=-log10(3),
        unit=f"{LESS}, both minus variance",
        controls=ERRORS,
    ),
    claim(
        "entropy alone is marginal",
        "With the entropy penalty alone the error is at least three times that with variance.",
        "Fig. 3d",
        effect=lambda t: log_error(t, "entropy") - log_error(t, "variance"),
        margin=log10(3),
        unit=f"{LESS}, entropy minus variance",
        controls=ERRORS,
    ),
    claim(
        "embeddings become bands",
        "The penalties align the stored pictures with their axis.",
        "Fig. 3b; Fig. 6",
        effect=lambda t: rc.by_seed(t, "bands", condition="both") - rc.by_seed(t, "bands", condition="none"),
        margin=0.2,
        unit="share of the pictures that is bands, both minus none",
        controls=BANDS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Error in the corner against error on the L, one stored picture and the accuracies of each ablation."""
    plots = rc.plots
    figure, axes = plots.panels(rows=2, columns=len(ABLATIONS) + 1, side=2.1)
    colours = dict(zip(ABLATIONS, (plots.BAD, "#c9892b", "#2b6fc9", plots.GOOD), strict=True))
    for i, name in enumerate(ABLATIONS):
        rows = table[table.condition == name].sort_values("seed")
        axes[0, 0].plot(rows["mse_l"], rows["mse_corner"], "o", color=colours[name], label=name, markersize=4)
        plots.signed(axes[0, i + 1], rows.iloc[0]["picture"], title=f"{name}: what is stored\nfor one unseen x")
        places = {"L": rows["accuracy1_l"].to_numpy(), "corner": rows["accuracy1_corner"].to_numpy()}
        plots.dots(axes[1, i + 1], places, colour=colours[name])
    plots.decades(axes[0, 0], xlabel="error on the L", ylabel="error in the corner")
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[1, 1].set_ylabel("placed within 1 pixel")
    axes[1, 0].axis("off")
    return figure
