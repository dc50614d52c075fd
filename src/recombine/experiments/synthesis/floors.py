"""What is right without composing: the nearest memory and the best voter, on the rows that networks are asked."""

from __future__ import annotations

from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.synthesis import families
from recombine.measures.controls import vote

MEMORIES = 4096
"""How many training rows are remembered at most."""


def floors(settings: Any, name: str, task: rc.Task, side: families.Sides) -> dict[str, float]:
    """Success of the nearest memory and of the best voter on the rows that a network is asked, and the better one."""
    asked = families.drawn(task, families.picked(settings, name, task, side.asked), rc.key(settings.seed, "test"))
    found = {what: scored(name, asked, y) for what, y in without_composing(settings, name, task, asked, side).items()}
    return found | {"floor": max(found.values())}


def without_composing(
    settings: Any, name: str, task: rc.Task, asked: rc.Record, side: families.Sides
) -> dict[str, np.ndarray]:
    """Answers from memory: as the nearest trained row is answered to the same inputs, and as most rows that share."""
    rng = rc.rng(settings.seed, "memories", name)
    shown = np.flatnonzero(side.train)
    some = task.combinations[rng.choice(shown, min(MEMORIES, len(shown)), replace=False)]
    nearest = some[[int(np.argmin(np.sum(some != z, axis=1))) for z in asked.z]]
    memory = families.drawn(task, some, rc.key(settings.seed, "memories"))
    return {
        "remembers": families.drawn(task, nearest, rc.key(settings.seed, "test")).y,
        "votes": voted(name, asked, memory),
    }


def voted(name: str, asked: rc.Record, memory: rc.Record) -> np.ndarray:
    """The commonest remembered answer among rows that share a part; of all parts, the one that is right most often."""
    _, first, label = np.unique(memory.y.reshape(len(memory), -1), axis=0, return_index=True, return_inverse=True)
    shown = np.arange(len(memory) + len(asked)) < len(memory)
    labels, tried = np.append(label, np.zeros(len(asked), int)), {}
    for column in range(int(families.family(name).worlds), memory.z.shape[1]):
        parts = np.append(memory.z[:, column], asked.z[:, column])[:, None]
        y = memory.y[first[vote(parts, labels, shown)[~shown]]]
        tried[scored(name, asked, y)] = y
    return tried[max(tried)]


def scored(name: str, asked: rc.Record, y: np.ndarray) -> float:
    """The success of these answers."""
    one = families.family(name)
    answers = 1 + max(int(asked.y[..., 0].max()), int(y[..., 0].max()))
    return one.score(asked.answering(said(y, answers) if one.categories else y))


def said(y: np.ndarray, answers: int) -> np.ndarray:
    """Answers that are categories, in the form in which a network gives them: certain logits."""
    return np.eye(answers, dtype=np.float32)[y[..., 0]]


def known(settings: Any, name: str, task: rc.Task, side: families.Sides, make: Any) -> dict[str, float]:
    """The success of systems whose answer is known, on examples with a withheld pair."""
    import equinox as eqx
    import jax

    born = rc.initial_models(make, rc.key(settings.seed, "untrained")[None])
    model = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, born)
    untrained = families.asked(settings, name, task, model, side.asked)
    found = {"perfect": scored(name, untrained, untrained.y), "untrained": families.family(name).score(untrained)}
    memories = without_composing(settings, name, task, untrained, side)
    return found | {what: scored(name, untrained, y) for what, y in memories.items()}
