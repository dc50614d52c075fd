"""What a network saw of the steps of a dynamic programme: withheld suffixes, counts of subgraphs, errors of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.dziri2023 import programmes
from recombine.measures import nodes
from recombine.measures.controls import vote
from recombine.splits.coverage import by_hash, occurrences

WITHHELD = (3, 4)
"""lengths of the suffixes of which a share is withheld"""
DEPTHS = 5
"""steps from the right whose subgraphs are counted"""
LEAST = 30
"""nodes of either kind, at least, for a depth to count"""


def by_depth(z: np.ndarray, by_input: np.ndarray, depths: int) -> np.ndarray:
    """(rows, depths) numbers by input, as numbers by step from the right; ABSENT where a row is shorter."""
    count = (z != rc.ABSENT).sum(axis=1)[:, None]
    place = count - 1 - np.arange(depths)
    return np.where(place >= 0, np.take_along_axis(by_input, np.maximum(place, 0), axis=1), rc.ABSENT)


def withheld(settings: Any, z: np.ndarray, seed: int) -> np.ndarray:
    """(rows, depths) whether the suffix of each step from the right is withheld from a seed."""
    from recombine.tasks.subsequence import suffixes

    ends = by_depth(z, suffixes(z), min(DEPTHS, z.shape[1]))
    salt = int(rc.rng(settings.seed, "suffixes", seed).integers(2**32))
    found = by_hash(ends.reshape(-1, 1), settings.withheld, salt).reshape(ends.shape) & (ends != rc.ABSENT)
    return found & np.isin(np.arange(1, ends.shape[1] + 1), WITHHELD)


def step_values(record: rc.Record, task: rc.Task, n: int, ids: np.ndarray) -> np.ndarray:
    """(rows, n) the dp that tokens (rows, T) say from the right, -1 where a token is none."""
    first = task.sample.answers[1] + 1  # pyrefly: ignore
    values = ids[:, n : 2 * n] - first
    return np.where(values >= 0, values, -1)


def outcomes(z: np.ndarray, written: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(rows, n) the outcome of each step that was written: right, local, propagated or restored."""
    from recombine.tasks.subsequence import LARGEST

    n = written.shape[1]
    inputs = z[:, :n][:, ::-1].astype(int) - LARGEST
    before = np.hstack([np.zeros((len(z), 2), int), written])  # dp of one and of two steps before, 0 at first
    computed = np.maximum(np.maximum(before[:, 1:-1], inputs + before[:, :-2]), 0)
    parents = [tuple(p for p in (j - 1, j - 2) if p >= 0) for j in range(n)]
    return nodes.node_errors(written, truth, computed, parents)


def counted(settings: Any, train: np.ndarray) -> dict[str, np.ndarray]:
    """(rows of larger sizes, DEPTHS) how many training rows have each step's whole subgraph, and its step alone."""
    from recombine.tasks.subsequence import local_steps, suffixes

    known, them = programmes.family(settings).combinations, programmes.asked(settings)
    many, columns = sum(map(len, them.rows.values())), max(settings.larger)
    wide = np.pad(known, ((0, 0), (0, columns - known.shape[1])), constant_values=rc.ABSENT)
    z = np.concatenate([wide, them.task.combinations[:many]])
    shown = np.concatenate([train, np.zeros(many, bool)])
    kinds = {"subgraph": suffixes(z), "step": local_steps(z)}
    return {
        name: by_depth(z, occurrences(numbers, shown), min(DEPTHS, settings.longest))[len(known) :]
        for name, numbers in kinds.items()
    }


def generated(settings: Any, model: Any) -> tuple[dict[str, float], np.ndarray]:
    """Shares of outcomes over all steps that a network writes for larger sizes; which of the first steps are right."""
    import equinox as eqx
    import jax

    from recombine.recording.generation import generate
    from recombine.tasks.tokens import EOS

    them, every, first = programmes.asked(settings), [], []
    alone = jax.tree.map(lambda a: a[None] if eqx.is_array(a) else a, model)
    for n, z in them.rows.items():
        truth = rc.truth(them.task, z, key=jax.random.key(0))
        ids = generate(alone, truth, end=EOS)[0]
        said, gold = (step_values(truth, them.task, n, some) for some in (ids, truth.y[..., 0]))
        found = outcomes(z, said, gold)
        every.append(found.ravel())
        first.append(found[:, : min(DEPTHS, settings.longest)])
    shares = np.bincount(np.concatenate(every), minlength=4) / sum(map(len, every))
    named = {f"share_{name}": float(share) for name, share in zip(nodes.OUTCOMES, shares, strict=True)}
    return named, np.concatenate(first) == nodes.RIGHT


def counts_apart(counts: dict[str, np.ndarray], right: np.ndarray) -> dict[str, float]:
    """How much more often the subgraphs, and the steps, of right nodes were seen; and at how many depths that shows."""
    both = [min(good.sum(), (~good).sum()) >= LEAST for good in right.T]
    found = {f"seen_{name}": nodes.seen_more(each, right, LEAST) for name, each in counts.items()}
    return found | {"depths": float(sum(both))}


def at_equal_depth(settings: Any, model: Any, train: np.ndarray, seed: int) -> dict[str, float]:
    """Right steps in rows not trained on, given right ones before: of seen and of withheld suffixes of equal length."""
    from recombine.tasks.subsequence import suffixes

    task, rng = programmes.family(settings), rc.rng(settings.seed, "equal depth", seed)
    full = (task.combinations != rc.ABSENT).all(axis=1)
    rows = rng.permutation(np.flatnonzero(~train & full))[: 4 * settings.n_eval]
    record = rc.record(model, task, task.combinations[rows], key=rc.key(settings.seed, "test"))
    n, depths = settings.longest, min(DEPTHS, settings.longest)
    right = programmes.answered(n, record)[:, :depths]
    z = task.combinations
    ends = by_depth(z, suffixes(z), depths)
    seen = (occurrences(ends, train) > 0)[rows]
    out = withheld(settings, z, seed)[rows]
    guess = np.stack([vote(e[:, None], d, train) == d for e, d in zip(ends.T, truths(task, depths).T, strict=True)], 1)
    kinds, guessed = {"node_seen": seen & ~out, "node_withheld": out}, guess[rows]
    return by_length(right, kinds) | by_length(guessed, kinds, "remembered_")


def by_length(right: np.ndarray, kinds: dict[str, np.ndarray], start: str = "") -> dict[str, float]:
    """Right steps of each kind, at each withheld length and as the mean of lengths that have nodes of every kind.

    Long endings are harder and seldom seen: nodes pooled over lengths would set easy seen ones against hard withheld.
    """
    found: dict[str, float] = {}
    for length in (n for n in WITHHELD if n <= right.shape[1]):
        each = {f"{start}{name}_{length}": right[mask[:, length - 1], length - 1] for name, mask in kinds.items()}
        if all(map(len, each.values())):
            found |= {name: float(some.mean()) for name, some in each.items()}
    for name in kinds:
        levels = [value for key, value in found.items() if key.startswith(f"{start}{name}_")]
        found[f"{start}{name}"] = float(np.mean(levels)) if levels else np.nan
    return found


def truths(task: rc.Task, depths: int) -> np.ndarray:
    """(rows, depths) all dp from the right; 0 where a row is shorter."""
    import jax
    import jax.numpy as jnp

    from recombine.tasks.subsequence import LARGEST, solved

    z = task.combinations
    dp, _ = jax.vmap(solved)(jnp.asarray(z, jnp.int32) - LARGEST, jnp.asarray(z != rc.ABSENT))
    return np.maximum(by_depth(z, np.asarray(dp), depths), 0)
