"""Turns a mix of preferences into a walk through four rooms that collects what the mix likes best.

The compositional preference grid of Redhardt, Akram and Schug (2025, arXiv 2507.07207): a network sees the code of the
mix and the map, step by step, and must name the action that an optimal planner takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Record, Task, at_least_one
from recombine.encodings.tasks import TaskContext, TaskEncoding, check_task_encoding, generator, identity, seed_of
from recombine.measures.pairs import filled
from recombine.tasks.modules import Law, check_law, discrete, masks

_MAP = ("#######", "#..#..#", "#..#..#", "##...##", "#..#..#", "#..#..#", "#######")
_WALLS = np.array([[square == "#" for square in row] for row in _MAP])
_DIRECTIONS = ((0, 0), (-1, 0), (0, 1), (1, 0), (0, -1))  # stop, up, right, down, left
CELLS = [(int(row), int(column)) for row, column in np.argwhere(~_WALLS)]
"""(row, column) of the 19 cells without a wall."""
STEPS = 8
DISCOUNT = 0.9

_NUMBER = {cell: i for i, cell in enumerate(CELLS)}
MOVES = np.array(
    [[_NUMBER.get((row + d, column + r), _NUMBER[row, column]) for d, r in _DIRECTIONS] for row, column in CELLS]
)
"""The cell (19, 5) that an action leads to from a cell: walking into a wall is staying."""
_ON_MAP = np.array([_NUMBER.get((row, column), len(CELLS)) for row in range(7) for column in range(7)])

Observe = Callable[[jax.Array, jax.Array], jax.Array]
"""(objects (19, features), agent (19,)) -> what the network sees of them, as a vector."""


def compact(objects: jax.Array, agent: jax.Array) -> jax.Array:
    """19 free cells x (features + 1): a channel for each type of object, then the agent."""
    return jnp.concatenate([objects, agent[:, None]], axis=1).ravel()


def whole_map(objects: jax.Array, agent: jax.Array) -> jax.Array:
    """7 x 7 x (features + 2): as `compact`, on the map with its walls, which have the last channel."""
    free = jnp.concatenate([objects, agent[:, None]], axis=1)
    return jnp.pad(free, ((0, 1), (0, 1))).at[-1, -1].set(1.0)[_ON_MAP].ravel()


@dataclass(frozen=True)
class Walks:
    """Samples an episode of 8 steps in which an object of type f is worth sum_m z_m tastes[t, m, f].

    One vector of uniform numbers is drawn: the first for the magnitudes z, then the types of the objects, then the
    distinct free cells of objects and agent.
    """

    modules: int
    worlds: int
    features: int
    objects: int
    law: Law
    encode: TaskEncoding
    observe: Observe
    seed: tuple[int, ...]

    def __call__(self, row: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (8, code + observation) and y (8, 2): the best action and its weight, which is 0 after the stop."""
        z, rest = self._drawn(row, key)
        types = (self.features * rest[: self.objects]).astype(jnp.int32)
        places = jax.lax.top_k(rest[self.objects :], self.objects + 1)[1]
        worth = jnp.sum(z[:, None] * jnp.asarray(self.tastes)[row[0]][:, types], axis=0)
        walked, remain, y = episode(places[:-1], worth, places[-1])
        lie = remain[:, None] & (places[:-1] == np.arange(len(CELLS))[:, None])
        kinds = jnp.einsum("tco,of->tcf", lie.astype(jnp.float32), jax.nn.one_hot(types, self.features))
        view = jax.vmap(self.observe)(kinds, jax.nn.one_hot(walked, len(CELLS)))
        view /= jnp.sqrt(jnp.mean(view**2, axis=1, keepdims=True) + 1e-6)
        nothing = jnp.zeros((0, 0))
        code = self.encode(TaskContext(row[0], z, nothing, nothing))
        return jnp.concatenate([jnp.broadcast_to(code, (STEPS, *code.shape)), view], axis=1), y

    def draw(self, row: jax.Array, key: jax.Array) -> jax.Array:
        """The constituents (M,) of the episode that this key samples."""
        return self._drawn(row, key)[0]

    @property
    def tastes(self) -> np.ndarray:
        """What each module likes (worlds, modules, features), N(0, 1); world t depends on the seed and t alone."""
        return _tastes(self.worlds, self.modules, self.features, self.seed)

    def _drawn(self, row: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        u = jax.random.uniform(key, (self.modules + self.objects + len(CELLS),))
        return self.law(row[1:], u[: self.modules]), u[self.modules :]


@lru_cache
def _tastes(worlds: int, modules: int, features: int, seed: tuple[int, ...]) -> np.ndarray:
    drawn = [generator("preferences", t, *seed).normal(size=(modules, features)) for t in range(worlds)]
    return np.stack(drawn).astype(np.float32)


def preferences(
    *,
    modules: int = 16,
    max_active: int = 3,
    worlds: int = 1,
    features: int = 16,
    objects: int = 4,
    law: Law = discrete,
    encode: TaskEncoding = identity,
    observe: Observe = compact,
    key: jax.Array,
) -> Task:
    """Rows (t, mask) for every world and every mask of up to `max_active` modules, in blocks of one world each.

    An example is one episode: each of its 8 steps has the code of z, then what is seen, divided by its root mean
    square. Magnitudes, objects and places are drawn anew each time.
    """
    at_least_one(modules=modules, worlds=worlds, features=features, objects=objects)
    if objects >= len(CELLS):
        raise ValueError(f"objects and the agent have a cell each, and there are {len(CELLS)}, got {objects} objects")
    check_task_encoding(encode)
    check_law(law)
    if not callable(observe):
        raise TypeError(f"observe is a function of objects and agent, such as compact; got {observe!r}")
    if encode.shots:
        raise ValueError(f"{encode.name}: a walk has no examples to tell of")
    sample = Walks(modules, worlds, features, objects, law, encode, observe, seed_of(key))
    each = masks(modules, max_active).astype(np.int16)
    who = np.repeat(np.arange(worlds, dtype=np.int16), len(each))
    return Task(
        f"preferences {modules} choose {max_active}", np.column_stack([who, np.tile(each, (worlds, 1))]), sample
    )


def arrival_values(cells: jax.Array, worth: jax.Array) -> jax.Array:
    """V[s, c], the value of arriving in cell c while the set s of objects remains: gain[s, c] + 0.9 max_a V[s', c_a].

    8 backups from 0. Bit o of s stands for the object in cells[o]; s' is s without what lies in c, which is the gain;
    c_a is where action a leads from c. Stopping counts as staying. An action's value is that of where it leads.
    """
    bits = 1 << np.arange(len(cells))
    sets = np.arange(2 ** len(cells))[:, None]
    here = cells[:, None] == np.arange(len(CELLS))
    taken = sets & jnp.sum(jnp.where(here, bits[:, None], 0), axis=0)
    gain = jnp.where(taken > 0, jnp.sum(jnp.where(here, worth[:, None], 0.0), axis=0), 0.0)
    next_state = (sets - taken)[..., None] * len(CELLS) + MOVES

    def backup(value: jax.Array, _: None) -> tuple[jax.Array, None]:
        options = value.ravel().at[next_state].get(mode="promise_in_bounds")
        return gain + DISCOUNT * options.max(axis=-1), None

    return jax.lax.scan(backup, gain, length=STEPS - 1)[0]


def episode(cells: jax.Array, worth: jax.Array, agent: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The greedy walk, ties to the lowest action: the agent's cells (8,), which objects remain (8, objects), and y."""
    value = arrival_values(cells, worth)
    bits = 1 << np.arange(len(cells))

    def step(state: tuple[jax.Array, jax.Array], _: None):
        cell, left = state
        leads = jnp.asarray(MOVES)[cell]
        action = jnp.argmax(value[left, leads])
        there = leads[action]
        return (there, left & ~jnp.sum(jnp.where(cells == there, bits, 0))), (cell, left, action)

    start = (agent, jnp.full((), bits.sum(), jnp.int32))
    _, (walked, left, actions) = jax.lax.scan(step, start, length=STEPS)
    going = jnp.cumprod(jnp.roll(actions, 1).at[0].set(1) != 0)
    return walked, (left[:, None] & bits) > 0, jnp.stack([actions, going], axis=1).astype(jnp.int32)


def masked_cross_entropy(y_hat: jax.Array, y: jax.Array) -> jax.Array:
    """-sum w log p(y[.., 0]) / sum w over all steps or tokens, w = y[.., 1]; y_hat (.., steps, classes) are logits."""
    chosen = jax.nn.one_hot(y[..., 0], y_hat.shape[-1])
    return -jnp.sum(y[..., 1] * jnp.sum(chosen * jax.nn.log_softmax(y_hat), axis=-1)) / jnp.sum(y[..., 1])


def step_accuracy(record: Record) -> float:
    """The share of steps before the end at which the largest answer is the best action."""
    return float(np.mean(_right(record)[record.y[..., 1] > 0]))


def episode_accuracy(record: Record) -> float:
    """The share of episodes in which that holds at every step before the end."""
    return float(np.mean(np.all(_right(record) | (record.y[..., 1] == 0), axis=1)))


def _right(record: Record) -> np.ndarray:
    if filled(record).y.shape[1:] != (STEPS, 2) or record.y_hat.ndim != 3:
        shapes = f"y {record.y.shape}, y_hat {record.y_hat.shape}"
        raise ValueError(
            f"walks were expected: y (examples, {STEPS}, 2) and y_hat (examples, {STEPS}, actions); {shapes}"
        )
    finite = np.isfinite(record.y_hat).all(axis=-1)
    return finite & (record.y_hat.argmax(axis=-1) == record.y[..., 0])
