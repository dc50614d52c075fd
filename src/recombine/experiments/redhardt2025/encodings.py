"""The task encodings of this paper, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import recombine as rc

TASK_ENCODINGS: dict[str, Callable[[Any, Any, int], Any]] = {
    "identity": lambda _s, _key, _draws: rc.task_encodings.identity,
    "orthogonal": lambda s, key, draws: rc.task_encodings.orthogonal(s.modules, key, draws=draws),
    "invertible": lambda s, key, draws: rc.task_encodings.invertible(s.modules, key, draws=draws),
    "tokens": lambda _s, _key, _draws: rc.task_encodings.tokens,
    "interval shuffle": lambda _, key, draws: rc.task_encodings.interval_shuffle(key, draws=draws),
    "nonlinear": lambda s, key, draws: rc.task_encodings.nonlinear(s.modules, key, draws=draws),
    "few-shot": lambda s, _key, _draws: rc.task_encodings.few_shot(s.shots),
}
"""How a task is encoded, given the settings, a key, and how many teachers encode each in their own way."""
REPORTED = {"identity": 1.0, "orthogonal": 1.0, "invertible": 0.95, "tokens": 1.0}
REPORTED |= {"interval shuffle": 0.98, "nonlinear": 0.95, "few-shot": 0.97}
"""R^2 of the paper's largest students on held-out tasks, by a reading note."""
NOT_THE_PAPERS = {
    "invertible": "; as released, which is nearly affine, and not what the note describes",
    "nonlinear": " for the invertible one, of which this is our reconstruction",
}
"""What is to be said of such a number where the encoding is not the paper's."""
NONLINEAR = ("interval shuffle", "nonlinear", "few-shot")
"""Encodings from which the constituents cannot be decoded linearly."""
