"""One round of pruning: what each method keeps of each network, and all of them retrained as one population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import recombine as rc
from recombine.experiments.do2026 import prunings
from recombine.experiments.pictures import moments, scoring, shared


class Case(NamedTuple):
    """What every network of a cell shares: cell, picture, how one is made, those that were, and who watches."""

    cell: rc.Cell
    goal: shared.Goal
    make: Any
    born: Sequence[Any]
    monitor: Any


def pruned(case: Case, networks: Mapping[str, Sequence[Any]], target: int) -> dict[str, list[Any]]:
    """For each method its networks (seed by seed, None where one diverged) pruned to so many weights."""
    jobs = [(m, i, one) for m, mine in networks.items() for i, one in enumerate(mine)]
    found = scoring.in_threads(lambda job: _one(case, job, target), jobs)
    return {m: [new for (name, _, _), new in zip(jobs, found, strict=True) if name == m] for m in networks}


def _one(case: Case, job: tuple[str, int, Any], target: int) -> Any:
    """A trained network, the so-manyth of its method, after one pruning."""
    method, place, model = job
    settings, seed = case.cell.settings, case.cell.members[place]
    if model is None:
        return None
    x, y = rc.grid(settings.size), case.goal.picture.reshape(-1, 3)
    rng = rc.rng(settings.seed, "pruning at random", seed)
    return prunings.kept(method, prunings.Case(model, x, lambda m: _error()(m, x, y), rng), target)


@cache
def _error() -> Any:
    """The mean squared error of a network, compiled once for each shape."""
    import equinox as eqx

    return eqx.filter_jit(lambda model, x, y: ((model(x)[0] - y) ** 2).mean())


def retrained(case: Case, starts: Mapping[str, Sequence[Any]], number: int) -> list[scoring.Entry]:
    """Networks of several kinds, seed by seed, retrained together; one that had diverged stays so."""
    settings, seeds = case.cell.settings, case.cell.members
    every = [(kind, i, start) for kind, mine in starts.items() for i, start in enumerate(mine)]
    run = shared.train(
        settings,
        case.goal,
        case.make,
        [seeds[i] for _, i, _ in every],
        steps=settings.retraining,
        start=shared.stacked([case.born[i] if start is None else start for _, i, start in every]),
        until=moments.until(case.goal.picture),
        monitor=case.monitor,
        label=f"round {number}",
        names=[f"{prunings.after(kind, number)}, {seeds[i]}" for kind, i, _ in every],
    )
    found = scoring.entries(run, [who(case, kind, number, seeds[i]) for kind, i, _ in every])
    return [
        one._replace(diverged_at=0) if start is None else one for one, (_, _, start) in zip(found, every, strict=True)
    ]


def who(case: Case, method: str, number: int, seed: int) -> dict[str, Any]:
    """The facts of a network: dense ones are of round 0."""
    kind = prunings.after(method, number) if number else method
    facts = {"condition": f"{kind}, {case.goal.name}", "kind": kind, "method": method, "round": number}
    return facts | {"seed": seed}


def alive(entries: Sequence[scoring.Entry]) -> list[Any]:
    """The networks, None in place of those that diverged."""
    return [one.model if one.diverged_at < 0 else None for one in entries]
