"""The largest sum of non-adjacent numbers, step by step: rows to train on, larger sizes, and what was seen of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.experiments.tokens import shared
from recombine.measures.nodes import predicted_exact
from recombine.measures.tokens import exact_rows, right_tokens


@dataclass(frozen=True, kw_only=True)
class Programmes(shared.Decoders):
    """Dynamic programmes with their steps written out, and decoders of them."""

    longest: int = 5
    """inputs of a trained row, at most"""
    larger: tuple[int, ...] = (6, 7, 8, 9, 10)
    """numbers of inputs that are only asked"""
    rows: int = 20_000
    """rows that a network is trained on, at most"""
    n_eval: int = 500
    """rows on which a network is evaluated, of each kind"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("longest", "rows", "n_eval")
        if not 3 <= self.longest <= 7:
            raise rc.UserError(f"rows have 3 to 7 inputs at most, got {self.longest}")
        if not self.larger or min(self.larger) <= self.longest or list(self.larger) != sorted(set(self.larger)):
            raise rc.UserError(f"larger must be rising numbers above {self.longest}, got {self.larger}")

    @property
    def largest(self) -> int:
        """The largest sum that may occur, in rows of any size."""
        from recombine.tasks.subsequence import LARGEST

        return LARGEST * ((max(self.larger) + 1) // 2)


@cache
def family(settings: Programmes) -> rc.Task:
    """The rows of trained sizes: all of up to three inputs, and a random fifth of the rest of each size.

    The largest size has what is left. A fifth more than a network is trained on, so that there are others to ask.
    """
    from recombine.tasks.subsequence import VALUES, every, some, subsequence

    rng, longest = rc.rng(settings.seed, "rows"), settings.longest
    shortest = min(3, longest - 2)
    short = every(shortest)
    short = np.pad(short, ((0, 0), (0, longest - short.shape[1])), constant_values=rc.ABSENT)
    left = max(round(1.2 * settings.rows) - len(short), 10)
    fewer = {n: min(left // 5, VALUES**n // 2) for n in range(shortest + 1, longest)}
    if left - sum(fewer.values()) > VALUES**longest // 2:
        raise rc.UserError(f"there are too few rows of {longest} inputs to train on {settings.rows}: lower --rows")
    between = [some(n, count, rng, columns=longest) for n, count in fewer.items()]
    parts = [short, *between, some(longest, left - sum(fewer.values()), rng)]
    return subsequence(np.concatenate(parts), steps=True, most=settings.largest)


class Asked(NamedTuple):
    """Rows of one larger size with sums that were trained on, and rows with larger sums, whose tokens are new."""

    task: rc.Task
    rows: dict[int, np.ndarray]
    new: np.ndarray


@cache
def asked(settings: Programmes) -> Asked:
    """The same rows for all networks."""
    import jax
    import jax.numpy as jnp

    from recombine.tasks.subsequence import LARGEST, largest_sum, solved, some, subsequence

    columns, most = max(settings.larger), largest_sum(family(settings).combinations)
    kept, new = {}, []
    for n in settings.larger:
        rows = some(n, 2 * settings.n_eval, rc.rng(settings.seed, "larger", n), columns=columns)
        there = rows != rc.ABSENT
        sums = jax.vmap(solved)(jnp.asarray(rows, jnp.int32) - LARGEST, jnp.asarray(there))[0][:, 0]
        kept[n] = rows[np.asarray(sums) <= most][: settings.n_eval]
        new.append(rows[np.asarray(sums) > most])
    every = np.concatenate([*kept.values(), *new])
    return Asked(subsequence(every, steps=True, most=settings.largest), kept, np.concatenate(new))


def trained_rows(settings: Programmes, seed: int, contains: np.ndarray | None = None) -> np.ndarray:
    """(rows of the family,) which a seed trains on: so many at random, of those that contain nothing withheld."""
    every = len(family(settings).combinations)
    chosen = rc.rng(settings.seed, "trained", seed).permutation(every) < settings.rows
    return chosen if contains is None else chosen & ~contains


def known_sizes(settings: Programmes, model: Any, train: np.ndarray, seed: int) -> dict[str, float]:
    """Exact answers to some rows that were trained on, and to others of the largest trained size."""
    task, rng = family(settings), rc.rng(settings.seed, "test rows", seed)
    full = (task.combinations != rc.ABSENT).all(axis=1)
    sides = {"exact_trained": train, "exact_held": ~train & full}
    key, found = rc.key(settings.seed, "test"), {}
    for name, mask in sides.items():
        rows = rng.permutation(np.flatnonzero(mask))[: settings.n_eval]
        found[name] = float(exact_rows(rc.record(model, task, task.combinations[rows], key=key)).mean())
    return found


def answered(n: int, record: rc.Record) -> np.ndarray:
    """(rows, 2 n + 2) whether each prediction is right, given a right beginning: n dp, ":", n answers, the end."""
    return right_tokens(record)[:, n : 3 * n + 2]


def larger_sizes(settings: Programmes, model: Any) -> tuple[dict[str, float], rc.Record]:
    """Exact answers to each larger size, those that independent errors would give, and those with new sums."""
    them, key, found = asked(settings), rc.key(settings.seed, "test"), {}
    record = rc.record(model, them.task, them.task.combinations, key=key)
    first = 0
    for n, rows in them.rows.items():
        here = np.arange(first, first := first + len(rows))
        mine = record.where(np.isin(np.arange(len(record)), here))
        right = answered(n, mine)
        found[f"exact_{n}"] = float(right.all(axis=1).mean())
        found[f"predicted_{n}"] = predicted_exact(right)
        found[f"node_{n}"] = float(right[:, :n].mean())
    found["exact_larger"] = float(np.mean([found[f"exact_{n}"] for n in them.rows]))
    found["exact_new_sums"] = float(exact_rows(record)[first:].mean()) if len(them.new) else float("nan")
    return found, record


def solver(task: rc.Task, rows: np.ndarray, *, wrong: float = 0.0, rng: np.random.Generator | None = None) -> rc.Record:
    """What a perfect solver says, as certain logits; or one that errs at random, at each place with this chance."""
    import jax

    truth = rc.truth(task, rows, key=jax.random.key(0))
    ids = truth.y[..., 0]
    if rng is not None:
        ids = np.where(rng.uniform(size=ids.shape) < wrong, (ids + 1) % len(task.sample.vocabulary), ids)  # pyrefly: ignore
    return truth.answering(np.eye(len(task.sample.vocabulary), dtype=np.float32)[ids])  # pyrefly: ignore


def known_systems(settings: Programmes, train: np.ndarray) -> list[dict]:
    """A perfect solver, one that errs at random, a rememberer of rows that begin alike, and one that copies steps."""
    them, found = asked(settings), []
    for name, wrong in (("perfect", 0.0), ("errs by lot", 0.02)):
        row: dict[str, Any] = {"system": name, "seed": 0}
        for n, rows in them.rows.items():
            right = answered(n, solver(them.task, rows, wrong=wrong, rng=rc.rng(settings.seed, "errors", n)))
            row |= {f"exact_{n}": float(right.all(axis=1).mean()), f"predicted_{n}": predicted_exact(right)}
        found.append(row | {"exact_larger": float(np.mean([row[f"exact_{n}"] for n in them.rows]))})
    known = {"rememberer": {"exact_larger": remembered(settings, train)}, "copies": copied(settings)}
    return [*found, *({"system": name, "seed": 0} | row for name, row in known.items())]


def copied(settings: Programmes) -> dict[str, float]:
    """Right steps of larger sizes if each were the one before again, and the first 0."""
    import jax
    import jax.numpy as jnp

    from recombine.tasks.subsequence import LARGEST, solved

    found = {}
    for n, rows in asked(settings).rows.items():
        there = jnp.asarray(rows != rc.ABSENT)
        sums = np.asarray(jax.vmap(solved)(jnp.asarray(rows, jnp.int32) - LARGEST, there)[0])[:, :n]
        found[f"node_{n}"] = float(np.mean(sums == np.pad(sums[:, 1:], ((0, 0), (0, 1)))))
    return found


def remembered(settings: Programmes, train: np.ndarray) -> float:
    """Exact answers to larger sizes of a pure rememberer: taken or not as in the trained row that begins alike."""
    import jax
    import jax.numpy as jnp

    from recombine.measures.controls import longest_prefix
    from recombine.tasks.subsequence import LARGEST, solved

    known, them = family(settings).combinations[train], asked(settings)
    many = sum(map(len, them.rows.values()))
    wide = np.pad(known, ((0, 0), (0, max(settings.larger) - settings.longest)), constant_values=rc.ABSENT)
    rows = np.concatenate([wide, them.task.combinations[:many]])
    there = rows != rc.ABSENT
    _, taken = jax.vmap(solved)(jnp.asarray(rows, jnp.int32) - LARGEST, jnp.asarray(there))
    digits = np.where(there, 1 + np.asarray(taken), 0) @ (3 ** np.arange(rows.shape[1]))
    shown = np.arange(len(rows)) < len(known)
    return float(np.mean((longest_prefix(rows, digits, shown) == digits)[~shown]))


fits = 0.95
"""the share of trained rows that a network must answer exactly to count"""
CONTROLS = (
    rc.reads("perfect", "exact_larger", at_least=1.0),
    rc.reads("rememberer", "exact_larger", at_most=0.2),
    rc.reads("untrained", "exact_larger", at_most=0.05),
)
