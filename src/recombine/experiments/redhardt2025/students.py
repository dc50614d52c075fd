"""The settings that the experiments of this paper share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import comb
from typing import Any, Literal

import recombine as rc
from recombine.experiments.seeds import Seeded


@dataclass(frozen=True, kw_only=True)
class Training(Seeded):
    """A student, how it is trained, and on how much it is evaluated."""

    seed: int = 1
    """the number from which every random draw is derived; number 0 was looked at before today's claims were stated"""
    width: int = 128
    """units of a student's hidden layer"""
    depth: int = 3
    """hidden layers of a student"""
    steps: int = 1000
    """updates of each student"""
    learning_rate: float = 5e-3
    """AdamW's learning rate"""
    cosine: bool = True
    """let the learning rate fall to a fiftieth along a cosine"""
    weight_decay: float = 1e-3
    """AdamW's weight decay, on matrices alone"""
    n_eval: int = 512
    """tasks on which a student is evaluated, of each kind; probes are fitted on others"""

    def __post_init__(self) -> None:
        self.need_positive("width", "depth", "steps")
        self.need_rates("learning_rate")
        if self.n_eval < 64:
            raise rc.UserError(f"n_eval must be at least 64: fewer tasks say nothing, got {self.n_eval}")


@dataclass(frozen=True, kw_only=True)
class SharedSettings(Training):
    """A hyperteacher, and students of it."""

    modules: int = 8
    """modules of a teacher"""
    max_active: int = 3
    """modules of a task, at most"""
    size: int = 8
    """a teacher's inputs, hidden units and outputs"""
    samples: int = 8
    """inputs per task, each time it is sampled"""
    tasks: int = 128
    """tasks per step"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("modules", "max_active", "size", "samples", "tasks")
        if self.max_active > self.modules:
            raise rc.UserError(f"a task cannot have {self.max_active} of {self.modules} modules")


@dataclass(frozen=True, kw_only=True)
class WithPrecision(SharedSettings):
    """Students that are all computed in one precision."""

    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""


@dataclass(frozen=True, kw_only=True)
class WithHeldOut(SharedSettings):
    """Students that are all trained on the same share of the masks."""

    held_out: float = 0.25
    """share of the combinations of modules that is never trained on"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        if self.held_out * total(self.modules, self.max_active) < 1:
            raise rc.UserError(f"{self.held_out} of {total(self.modules, self.max_active)} masks is not even one")
        shown = round((1 - self.held_out) * total(self.modules, self.max_active))
        if 1 + (self.max_active - 1) * shown < self.modules:
            raise rc.UserError(f"held_out {self.held_out} leaves {shown} masks, which cannot tie the modules together")


@dataclass(frozen=True, kw_only=True)
class StudentSettings(WithHeldOut, WithPrecision):
    """What most experiments of this paper share."""


def check_counts(settings: SharedSettings, counts: Sequence[int]) -> None:
    """Refuse numbers of training masks that do not rise, cannot tie the modules together, or leave none held out."""
    modules, max_active = settings.modules, settings.max_active
    if len(counts) < 2 or list(counts) != sorted(set(counts)):
        raise rc.UserError(f"counts must be two or more rising numbers, got {counts}")
    if 1 + (max_active - 1) * counts[0] < modules:
        raise rc.UserError(f"{counts[0]} masks of {max_active} modules cannot tie {modules} together")
    if counts[-1] >= total(modules, max_active):
        raise rc.UserError(f"{counts[-1]} masks leave none unseen")


def total(modules: int, max_active: int) -> int:
    """How many masks of one to `max_active` modules there are."""
    return sum(comb(modules, k) for k in range(1, max_active + 1))


QUICK: dict[str, Any] = {"seeds": 2, "modules": 4, "max_active": 2, "size": 4, "samples": 4, "n_eval": 64}
QUICK |= {"tasks": 8, "width": 8, "depth": 2, "steps": 20}
FULL: dict[str, Any] = {"modules": 16, "size": 16, "samples": 16, "depth": 4, "n_eval": 1024, "weight_decay": 3e-3}
"""The paper's task and student, but for its width."""
LARGE: dict[str, Any] = FULL | {"seeds": 5, "width": 1024, "steps": 10_000, "learning_rate": 1e-3}
LARGE |= {"precision": "bfloat16"}
"""The gpu tiers: fewer steps than the paper's, at a larger learning rate that falls."""
LONG: dict[str, Any] = {"seeds": 10, "steps": 300_000, "learning_rate": 3e-4, "cosine": False}
"""The paper's training."""
VARIANTS = (
    rc.Variant(
        "constant rate",
        "the paper's learning rate is constant, ours falls along a cosine",
        cosine=False,
        seeds=lambda s: min(s.seeds, 5),
    ),
    rc.Variant(
        "twice the steps",
        "students train for fewer steps than the paper's",
        steps=lambda s: 2 * s.steps,
        seeds=lambda s: min(s.seeds, 5),
    ),
)
"""Choices of training that differ from the paper's, for five seeds."""


def with_changes(settings: Training, kind: type = StudentSettings, **changes) -> Any:
    """What settings of one kind have in common with these, with another task or student."""
    here = {f.name for f in fields(settings)} & {f.name for f in fields(kind)}
    return kind(**{name: getattr(settings, name) for name in here} | changes)
