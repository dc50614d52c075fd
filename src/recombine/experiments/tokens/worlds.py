"""Chains of functions in a world per seed: what is withheld, the groups of rows, and answers without composing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np

import recombine as rc
from recombine.experiments.tokens import shared
from recombine.measures import controls
from recombine.measures.tokens import exact_rows
from recombine.splits import chains as splits


@dataclass(frozen=True, kw_only=True)
class Worlds(shared.Decoders):
    """A family of chains, and decoders of it."""

    symbols: int = 8
    """symbols of a world"""
    functions: int = 8
    """functions of a world"""
    longest: int = 3
    """functions of a chain, at most"""
    held_out: float = 0.2
    """share of the rows whose pairs are all trained on that is held out singly"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("symbols", "functions", "longest")
        if self.longest < 2:
            raise rc.UserError(f"chains of {self.longest} function have no pairs: longest must be at least 2")
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")


@cache
def _family(seed: int, **sizes: int) -> rc.Task:
    from recombine.tasks.chains import chains

    return chains(**sizes, key=rc.key(seed, "chains"))  # pyrefly: ignore


def family(settings: Worlds, worlds: int, *, steps: bool = False) -> rc.Task:
    """The chains of this many worlds; one object for equal settings, so that programs are compiled once."""
    sizes = {name: getattr(settings, name) for name in ("symbols", "functions", "longest")}
    return _family(settings.seed, **sizes, worlds=worlds, steps=steps)


class World(NamedTuple):
    """One seed's world: its rows, which of them are trained on, their groups, and the last value of each."""

    rows: np.ndarray
    train: np.ndarray
    groups: dict[str, np.ndarray]
    answers: np.ndarray
    pairs: np.ndarray


def world(settings: Worlds, task: rc.Task, seed: int, withheld: float) -> World:
    """The same pairs and rows are withheld from all networks of a seed and a share."""
    rows = task.combinations[task.combinations[:, 0] == seed]
    pairs = splits.withheld_pairs(settings.functions, withheld, rc.rng(settings.seed, "pairs", str(withheld), seed))
    single = rc.rng(settings.seed, "rows", str(withheld), seed)
    split = splits.withholding(rows, pairs, settings.held_out, single)
    answers = task.sample.values(rows)[:, -1]  # pyrefly: ignore
    return World(rows, split.train, splits.groups(split, pairs), answers, pairs)


def voters(known: World) -> dict[str, np.ndarray]:
    """The commonest training answer among chains with the same last function, or the same last two; never of x."""
    count, chain = splits.lengths(known.rows), known.rows[:, 2:]
    last = np.take_along_axis(chain, count[:, None] - 1, axis=1)
    before = np.where(count[:, None] > 1, np.take_along_axis(chain, np.maximum(count[:, None] - 2, 0), axis=1), -1)
    one = controls.vote(last, known.answers, known.train)
    return {"last": one, "last two": controls.vote(np.hstack([before, last]), known.answers, known.train, one)}


def scored(known: World, right: np.ndarray, name: str = "exact") -> dict[str, float]:
    """The share of right rows in each group."""
    return {f"{name}_{group}": shared.share(right, mask) for group, mask in known.groups.items()}


def described(known: World) -> dict[str, float]:
    """What the best voter gets right in each group, how many rows it has, and the share of pairs that is covered."""
    right = [scored(known, guess == known.answers, "voter") for guess in voters(known).values()]
    best = {name: max(each[name] for each in right) for name in right[0]}
    counts = {f"n_{group}": float(mask.sum()) for group, mask in known.groups.items()}
    return best | counts | {"coverage_pairs": float(1 - known.pairs.mean())}


def measured(settings: Worlds, task: rc.Task, model, known: World) -> tuple[dict[str, float], rc.Record]:
    """Exact answers of one network in each group of its world, and what it said."""
    record = rc.record(model, task, known.rows, key=rc.key(settings.seed, "test"))
    return scored(known, exact_rows(record)) | described(known), record


def known_systems(settings: Worlds, withheld: float) -> list[dict]:
    """Rows of systems whose answer is known, in the world of seed 0: perfect, a rememberer, and the voters."""
    known = world(settings, family(settings, 1), 0, withheld)
    answers = {"perfect": known.answers} | voters(known)
    answers["rememberer"] = controls.longest_prefix(known.rows[:, 1:], known.answers, known.train)
    return rc.control_rows(lambda guess: scored(known, guess == known.answers) | described(known), answers)


def enough(*groups: str) -> rc.Check:
    """The precondition that every group has rows enough for a share, in the median world: more seeds ask no more."""
    columns = [f"n_{group}" for group in groups]
    return rc.Check(
        "rows of the smallest group, median of worlds", lambda t: rc.networks(t)[columns].median().min(), 60
    )


fits = partial(rc.fitted, "exact_trained", at_least=0.99)
CONTROLS = (
    rc.reads("perfect", "exact_pair_2", at_least=1.0),
    rc.reads("rememberer", "exact_trained", at_least=1.0),
    rc.reads("rememberer", "exact_pair_2", at_most=0.4),
    # Random tables of 8 symbols: means over worlds are .37 and .41 of single rows, .31 of withheld pairs; .5 of 6.
    rc.reads("last", "exact_pair_2", at_least=0.1, at_most=0.6),
    rc.reads("last two", "exact_row_2", at_least=0.15, at_most=0.65),
    rc.reads("untrained", "exact_trained", at_most=0.3),
)
