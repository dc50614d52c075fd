"""What is kept of a population between chunks, and when a run may go on from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.train.program import Given, Recipe, State


def fingerprint(given: Given, recipe: Recipe, params: Any) -> str:
    """What a checkpoint must have in common with a run that resumes from it."""
    digest = hashlib.sha256(f"{recipe.steps} {recipe.batch} {recipe.compute} {recipe.until}".encode())
    known = eqx.tree_at(lambda g: g.key, given, jax.random.key_data(given.key))
    for leaf in jax.tree.leaves((known, params)):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()


def saved(state: State, losses: list[np.ndarray], done: int, mark: Callable[[], str]) -> dict[str, np.ndarray]:
    """The state of a population as arrays by name."""
    leaves = {f"leaf{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(state))}
    return {**leaves, "losses": np.concatenate(losses, axis=1), "done": np.asarray(done), "mark": np.asarray(mark())}


def restored(kept: Mapping[str, np.ndarray], fresh: State) -> tuple[State, list[np.ndarray], int]:
    """The state that was kept, in the shape of a fresh one; the losses so far; the steps done."""
    leaves, tree = jax.tree.flatten(fresh)
    arrays = [jnp.asarray(kept[f"leaf{i}"], a.dtype) for i, a in enumerate(leaves)]
    return jax.tree.unflatten(tree, arrays), [kept["losses"]], int(kept["done"])
