"""What the experiments that hold out a corner share: one-hot coded bumps, an L to train on, and what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.seeds import Seeded


@dataclass(frozen=True, kw_only=True)
class CornerSettings(Seeded):
    """Bumps on a square grid with one corner held out."""

    size: int = 12
    """side of the picture in pixels"""
    start: int = 6
    """the corner where both coordinates are at least this is held out"""
    sigma: float = 1.0
    """width of a bump in pixels"""

    def __post_init__(self) -> None:
        if not 1 < self.start < self.size - 1:
            raise rc.UserError(f"the corner must start inside 2..{self.size - 2}, got {self.start}")
        self.need_positive()
        self.need_rates("sigma")


def grid(settings: CornerSettings) -> rc.Task:
    """One object for equal bumps, to compile once."""
    return _grid(settings.size, settings.sigma)


@cache
def _grid(size: int, sigma: float) -> rc.Task:
    return rc.bumps(size, rc.one_hot(size), sigma=sigma)


def corner(settings: CornerSettings) -> rc.Split:
    return rc.corner(grid(settings).combinations, settings.start)


def answers(settings: CornerSettings, models) -> list[rc.Record]:
    """The answers of each network to every pair (x, y)."""
    task = grid(settings)
    return rc.records(models, task, task.combinations, key=rc.key(settings.seed, "test"))


def initial_models(settings: CornerSettings, make):
    """A population of one network at its initial weights."""
    return rc.initial_models(make, rc.key(settings.seed, "untrained")[None])


def measures(settings: CornerSettings, answer: rc.Record) -> dict:
    """Error and peak accuracy (exact, and within one pixel) on the L and in the corner."""
    split = corner(settings)
    seen, held_out = answer.where(split.train), answer.where(split.held_out)
    return {
        "mse_l": rc.mse(seen),
        "mse_corner": rc.mse(held_out),
        "accuracy0_l": rc.peak_accuracy(seen, 0),
        "accuracy1_l": rc.peak_accuracy(seen, 1),
        "accuracy0_corner": rc.peak_accuracy(held_out, 0),
        "accuracy1_corner": rc.peak_accuracy(held_out, 1),
    }


def known(settings: CornerSettings) -> Mapping[str, rc.Record]:
    """A perfect solver, a fixed answer from the middle of the corner, and two memorisers."""
    task, split = grid(settings), corner(settings)
    truth = rc.truth(task, task.combinations, key=rc.key(settings.seed, "test"))
    return {
        "perfect": truth,
        "blind": rc.blind(truth, int(np.flatnonzero(split.held_out)[split.held_out.sum() // 2])),
        "nearest memory": rc.nearest_memory(truth, split.train),
        "superposition": rc.superposition(truth, split.train),
    }


def placed(wrong: tuple[str, ...]) -> tuple[rc.Check, ...]:
    """Placement in the corner must be full for a perfect solver, and at most half for systems that do not compose."""
    return figures.peak_controls("accuracy1_corner", wrong, at_most=0.5)
