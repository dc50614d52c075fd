"""The kinds of student of this paper: an MLP, a transformer that attends to the encoding, and a hypernetwork."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import recombine as rc
from recombine.experiments.redhardt2025 import shared, students

MLP, TRANSFORMER, HYPERNETWORK = "MLP", "transformer", "hypernetwork"


@dataclass(frozen=True, kw_only=True)
class WithTransformer(students.WithPrecision):
    """Students of which some are transformers."""

    features: int = 32
    """numbers of a transformer's token"""
    layers: int = 2
    """layers of the transformer"""
    heads: int = 2
    """attention heads of each"""
    inner: int = 128
    """units of the hidden layer within each"""
    transformer_rate: float = 1e-2
    """the transformer's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("features", "layers", "heads", "inner")
        self.need_rates("transformer_rate")
        if self.features % (2 * self.heads):
            raise rc.UserError(f"tokens of {self.features} cannot be shared by {self.heads} heads of even size")


QUICK: dict[str, Any] = {"features": 8, "layers": 1, "heads": 2, "inner": 8}
LARGE: dict[str, Any] = {"features": 256, "layers": 4, "heads": 4, "inner": 1024, "transformer_rate": 1e-3}
"""The paper's transformer, at the rate of the gpu tiers."""


def transformer(settings: Any, task: rc.Task, inputs: int, outputs: int | None = None) -> Callable:
    """How a transformer is made for a task of which so many numbers of a sample are not the encoding."""
    from recombine.tasks.hyperteacher import widths

    whole, asked = widths(task)
    return lambda key: rc.InContextTransformer(
        whole - inputs,
        inputs,
        outputs or asked,
        width=settings.features,
        depth=settings.layers,
        heads=settings.heads,
        inner=settings.inner,
        key=key,
    )


def hypernetwork(settings: Any, task: rc.Task) -> Callable:
    """How a hypernetwork is made that reads the encoding with its scale, by which answers grow."""
    from recombine.tasks.hyperteacher import widths

    whole, outputs = widths(task)
    inputs = settings.size
    return lambda key: rc.Hypernetwork(
        whole - inputs, inputs, outputs, width=settings.written, normalise=False, key=key
    )


KINDS: dict[str, tuple[Callable[[Any, rc.Task], Callable], str]] = {
    MLP: (shared.student, "learning_rate"),
    TRANSFORMER: (lambda settings, task: transformer(settings, task, settings.size), "transformer_rate"),
    HYPERNETWORK: (hypernetwork, "hypernetwork_rate"),
}
"""How students of a kind are made, and which setting is their learning rate."""


def parameters(make: Callable) -> int:
    """How many numbers of a student are trained."""
    import jax

    return sum(a.size for a in jax.tree.leaves(jax.eval_shape(make, jax.random.key(0))))
