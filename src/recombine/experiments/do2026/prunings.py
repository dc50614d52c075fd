"""The ways to prune that are compared: each turns a trained network into the one from which its retraining starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SIMILAR, LINKS = "SP (units)", "SP (links)"
TICKET, WANDA, TAYLOR, RANDOM = "lottery ticket", "Wanda", "LLM-Pruner", "random"
NARROW, DENSE = "dense and narrow", "dense"
RIVALS = (TICKET, WANDA, TAYLOR, RANDOM)
"""What similarity-based pruning is compared with: the paper's three, and pruning at random, which is ours."""


class Case(NamedTuple):
    """A network to prune: as trained, the grid it draws on, its loss, its random numbers."""

    trained: Any
    x: np.ndarray
    loss: Callable[[Any], Any]
    rng: np.random.Generator


METHODS = (SIMILAR, LINKS, TICKET, WANDA, TAYLOR, RANDOM)


def kept(method: str, case: Case, target: int) -> Any:
    """What a method keeps of a trained network: about `target` weights.

    A lottery ticket then goes back to its first weights, the others go on from where they are; and every mask is also
    trained from the same first weights.
    """
    from recombine.cppn.prune.magnitude import at_random, magnitude, wanda
    from recombine.cppn.prune.similarity import similar_links, similar_units
    from recombine.cppn.prune.units import taylor_units

    methods = {
        SIMILAR: lambda: similar_units(case.trained, case.x, target=target),
        LINKS: lambda: similar_links(case.trained, case.x, target=target),
        TICKET: lambda: magnitude(case.trained, target),
        WANDA: lambda: wanda(case.trained, case.x, target),
        TAYLOR: lambda: taylor_units(case.trained, case.loss, target),
        RANDOM: lambda: at_random(case.trained, case.rng, target),
    }
    return methods[method]()


def mask(method: str) -> str:
    """The name of networks that have a method's mask and the first weights; the lottery ticket is one anyway."""
    return method if method == TICKET else f"mask of {method}"


def after(method: str, number: int) -> str:
    """The kind of networks after a round of pruning."""
    return f"{method}, round {number}"
