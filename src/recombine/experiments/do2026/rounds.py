"""One round of pruning: every network of a run pruned by its method, and all of them retrained as one population."""

from __future__ import annotations

from typing import Any, NamedTuple

import recombine as rc
from recombine.experiments.do2026 import prunings
from recombine.experiments.pictures import scoring, shared


class Case(NamedTuple):
    """What every network of a cell shares: cell, picture, how one is made, those that were, and who watches."""

    cell: rc.Cell
    goal: shared.Goal
    make: Any
    born: Any
    monitor: Any


def again(case: Case, before: Any, ways: dict[str, prunings.Method], *, target: int, label: str) -> Any:
    """Every network of a run pruned, and retrained: all methods and seeds are one population.

    A run of one network per seed is pruned by each method.
    """
    settings, seeds = case.cell.settings, case.cell.members
    every = [(method, i, seed) for method in ways for i, seed in enumerate(seeds)]
    old = [before[place % len(before)] for place in range(len(every))]
    start = scoring.in_threads(
        lambda one: pruned(case, ways[one[0][0]], one[1], one[0][1:], target), zip(every, old, strict=True)
    )
    return shared.train(
        settings,
        case.goal,
        case.make,
        [seed for _, _, seed in every],
        steps=settings.retraining,
        start=shared.stacked(start),
        monitor=case.monitor,
        label=label,
        names=[f"{method}, {label}, {seed}" for method, _, seed in every],
    )


def pruned(case: Case, way: prunings.Method, old: Any, who: tuple[int, int], target: int) -> Any:
    """A trained network after one pruning; one that diverged is left alone."""
    import jax

    place, seed = who
    x = rc.grid(case.cell.settings.size)
    first = jax.tree.map(lambda a: a[place], case.born)

    def loss(model):
        return ((model(x)[0] - case.goal.picture.reshape(-1, 3)) ** 2).mean()

    rng = rc.rng(case.cell.settings.seed, "pruning at random", seed)
    return old.model if old.diverged_at >= 0 else way(prunings.Case(old.model, first, x, loss, rng), target)
