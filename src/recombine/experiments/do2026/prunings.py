"""The ways to prune that are compared: each turns a trained network into the one from which its retraining starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SIMILAR, LINKS = "SP (units)", "SP (links)"
TICKET, WANDA, TAYLOR = "lottery ticket", "Wanda", "LLM-Pruner"
RANDOM, POOLED = "random, layer by layer", "random, all alike"
FRESH, NARROW, DENSE = "SP's mask, fresh weights", "dense and narrow", "dense"
SLOWLY, TICKETS = "SP (units), gradually", "lottery ticket, gradually"
PAPERS = (TICKET, WANDA, TAYLOR, RANDOM)
"""What the paper compares similarity-based pruning with."""


class Case(NamedTuple):
    """A network to prune: as trained, at its initial weights, the grid it draws on, its loss, its random numbers."""

    trained: Any
    born: Any
    x: np.ndarray
    loss: Callable[[Any], Any]
    rng: np.random.Generator


Method = Callable[[Case, int], Any]


METHODS = (SIMILAR, LINKS, TICKET, WANDA, TAYLOR, RANDOM, POOLED, FRESH)
"""Those that start from a dense network's shapes, so that all retrain in one compiled program."""


GRADUAL = {SLOWLY: SIMILAR, TICKETS: TICKET}
"""Those that get to a count in several prunings of one method, with retraining after each."""


def methods() -> dict[str, Method]:
    """Each of METHODS as a function."""
    from recombine.cppn.prune.magnitude import at_random, magnitude, rewound, wanda
    from recombine.cppn.prune.similarity import similar_links, similar_units
    from recombine.cppn.prune.units import taylor_units

    def similar(case: Case, target: int) -> Any:
        return similar_units(case.trained, case.x, target=target)

    return {
        SIMILAR: similar,
        LINKS: lambda case, target: similar_links(case.trained, case.x, target=target),
        TICKET: lambda case, target: rewound(magnitude(case.trained, target), case.born),
        WANDA: lambda case, target: wanda(case.trained, case.x, target),
        TAYLOR: lambda case, target: taylor_units(case.trained, case.loss, target),
        RANDOM: lambda case, target: at_random(case.trained, case.rng, target),
        POOLED: lambda case, target: at_random(case.trained, case.rng, target, pooled=True),
        FRESH: lambda case, target: rewound(similar(case, target), case.born),
    }


def by_steps(last: float, steps: int) -> list[float]:
    """Shares of weights that fall from all to the last by one factor, `steps` times."""
    return [last ** (i / steps) for i in range(1, steps + 1)]
