"""Do penalties that make a network render each factor as a picture of its own let it compose them?

Section 4.1, Fig. 3 and Fig. 6: every value of x and of y has a low-rank picture of its own, and a small network of
convolutions joins the two. Entropy and variance penalties on the pictures' modes; four ablations; an L-shaped
training region. The larger tiers train the network as released, the laptop as a variant. Two stabilisers are ours, on
the laptop and as a variant: eight hidden channels for two (with two, some seeds never learn to join), and an entropy
penalty that sets in after a fifth of training (from the start it leaves dead tokens).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import corner, rendered, rendering_claims
from recombine.measures.bands import vertical_share

if TYPE_CHECKING:
    import pandas as pd

ABLATIONS = {"none": (0.0, 0.0), "entropy": (1.0, 0.0), "variance": (0.0, 1.0), "both": (1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Settings(corner.CornerSettings):
    """A corner held out, and a factorised-embedding network."""

    start: int = 5
    """the corner where both coordinates are at least this is held out"""
    channels: int = 8
    """hidden channels of the joining convolutions (2 as released)"""
    steps: int = 2000
    """updates of each network"""
    batch: int = 32
    """pictures per step"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""
    weight_decay: float = 1e-4
    """AdamW's weight decay"""
    entropy: float = 0.1
    """weight of the entropy penalty"""
    variance: float = 0.01
    """weight of the variance penalty"""
    ramp: float = 0.2
    """share of training after which the entropy penalty sets in, full at twice that; 0: in full from the start"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.ramp <= 0.5:
            raise rc.UserError(f"the ramp must start within the first half of training, got {self.ramp}")
        self.need_positive("channels", "steps", "batch")
        self.need_rates("learning_rate")


QUICK = Settings(seeds=2, size=6, start=3, channels=2, steps=20, batch=4)
LAPTOP = Settings()
RELEASED = {"size": 32, "start": 12, "sigma": 1.5, "channels": 2, "ramp": 0.0, "steps": 20_000, "seed": 1}
GPU = Settings(seeds=35, block=35, **RELEASED)
PAPER = GPU
STABLE = rc.Variant(
    "stabilised",
    "Ours: with two channels and early entropy some never join.",
    channels=8,
    ramp=0.2,
    seeds=lambda s: min(s.seeds, 8),
)
AS_RELEASED = rc.Variant(
    "as released",
    "The paper's network: two channels, and entropy in full from the start.",
    channels=2,
    ramp=0.0,
)
VARIANTS = (STABLE, AS_RELEASED)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def rendering(settings: Settings):
    return lambda key: rc.Rendering(settings.size, channels=settings.channels, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax.numpy as jnp

    settings, task = cell.settings, corner.grid(cell.settings)
    who = [{"condition": name, "seed": seed} for name in ABLATIONS for seed in cell.members]
    on = np.array([ABLATIONS[one["condition"]] for one in who])
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    dials |= {"entropy": settings.entropy * on[:, 0], "variance": settings.variance * on[:, 1]}
    penalty = rc.weighted(rc.Ramp(settings.ramp, 2 * settings.ramp)) if settings.ramp else rc.weighted()
    keys = jnp.concatenate([rc.member_keys(settings.seed, cell.members)] * len(ABLATIONS))
    recipe, split = rc.Recipe(settings.steps, settings.batch, penalty=penalty), corner.corner(settings)
    trained = rc.population(task, split, rendering(settings), keys, recipe, dials=dials, monitor=monitor)
    answers = corner.answers(settings, trained.model)
    for one, answer in zip(who, answers, strict=True):
        monitor.recorded(f"{one['condition']}-{one['seed']}", answer)
    return rc.rows(trained, who, measures(settings, trained.model, answers))


def measures(settings: Settings, models, answers: list[rc.Record]) -> list[dict]:
    """Error and peak accuracy of each network's answers, and the shape of the pictures that it has stored."""
    from recombine.models.rendering import tables as tables_of

    tables = tables_of(models)
    stored = [{name: a[i] for name, a in tables.items()} for i in range(len(answers))]
    return [
        corner.measures(settings, a) | rendered.volume(settings, a) | rendered.embedding(settings, s)
        for a, s in zip(answers, stored, strict=True)
    ]


def controls(settings: Settings) -> list[dict]:
    """The measures on an untrained network and on known systems: a perfect one, which stores bands, and others."""
    systems = corner.known(settings)
    known = rc.control_rows(lambda a: corner.measures(settings, a) | rendered.volume(settings, a), systems)
    bands = np.broadcast_to(np.eye(settings.size)[:, None, :], (settings.size,) * 3)
    noise = rc.rng(settings.seed, "noise").normal(size=bands.shape)
    for row in known:
        row["bands"] = vertical_share(bands if row["system"] == "perfect" else noise)
    born = corner.initial_models(settings, rendering(settings))
    untrained = measures(settings, born, corner.answers(settings, born))[0]
    one_mode = {"system": "one mode", "seed": 0, "rank": float(rc.effective_rank(np.eye(settings.size)[0]))}
    return [*known, one_mode, {"system": "untrained", "seed": 0} | untrained]


CLAIMS = rendering_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """One stored picture and the volume of each ablation; errors, bands, modes, unevenness and accuracies."""
    return rendered.figure(settings, table, tuple(ABLATIONS))
