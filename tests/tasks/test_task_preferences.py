from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.core import Record, Task
from recombine.encodings.tasks import few_shot
from recombine.tasks.preferences import (
    CELLS,
    MOVES,
    STEPS,
    Walks,
    compact,
    episode,
    episode_accuracy,
    masked_cross_entropy,
    preferences,
    step_accuracy,
    whole_map,
)

MODULES, FEATURES, KEY = 4, 6, jax.random.key(0)
MOVE = ((0, 0), (-1, 0), (0, 1), (1, 0), (0, -1))


def walls() -> np.ndarray:
    wall = np.zeros((7, 7), bool)
    wall[[0, 6]] = wall[:, [0, 6]] = wall[:, 3] = wall[3] = True
    wall[3, 2:5] = False
    return wall


def task(*, worlds: int = 2, **more) -> Task:
    return preferences(modules=MODULES, worlds=worlds, features=FEATURES, key=KEY, **more)


def walks(**more) -> Walks:
    sample = task(**more).sample
    assert isinstance(sample, Walks)
    return sample


@pytest.fixture(scope="module")
def sampled() -> Record:
    """Two episodes for each row, with four objects and the whole map; `acts` has the constituents."""
    sample = walks(observe=whole_map)
    z = np.repeat(task().combinations, 2, axis=0)
    keys = jax.random.split(jax.random.key(1), len(z))
    (x, y), drawn = jax.jit(jax.vmap(lambda z, key: (sample(z, key), sample.draw(z, key))))(z, keys)
    return Record(z, np.asarray(x), np.asarray(y), np.asarray(y), {"z": np.asarray(drawn)})


def maps(x: np.ndarray) -> np.ndarray:
    """The observations of an episode as 0 and 1, (8, 7, 7, features + 2)."""
    view = x[:, MODULES:].reshape(STEPS, 7, 7, FEATURES + 2)
    return np.round(view / view[:, :1, :1, -1:])


def slow_walk(agent, things, worth):
    """Best actions by recursion over coordinates, in double precision: things is {(row, column): type}."""
    wall = walls()

    @cache
    def value(place, left, action, backups):
        if not backups:
            return 0.0
        there, rest, reward = move(place, left, action)
        return reward + 0.9 * max(value(there, rest, a, backups - 1) for a in range(5))

    def move(place, left, action):
        there = (place[0] + MOVE[action][0], place[1] + MOVE[action][1])
        there = place if wall[there] else there
        reward = worth[things[there]] if there in left else 0.0
        return there, left - {there}, reward

    left, path = frozenset(things), []
    for _ in range(STEPS):
        action = int(np.argmax([value(agent, left, a, STEPS) for a in range(5)]))
        path.append((agent, left, action))
        if action == 0:
            break
        agent, left, _ = move(agent, left, action)
    return path


def test_there_are_19_free_cells_and_walls_stop_the_agent():
    assert [tuple(cell) for cell in np.argwhere(~walls())] == CELLS
    assert len(CELLS) == 19
    number = {cell: i for i, cell in enumerate(CELLS)}
    assert [CELLS[i] for i in MOVES[number[1, 1]]] == [(1, 1), (1, 1), (1, 2), (2, 1), (1, 1)]
    assert [CELLS[i] for i in MOVES[number[3, 2]]] == [(3, 2), (2, 2), (3, 3), (4, 2), (3, 2)]


def test_a_slow_planner_takes_the_same_walk(sampled):
    steps, tastes = 0, walks().tastes.astype(float)
    for row, x, y in zip(sampled.z, sampled.x, sampled.y, strict=True):
        seen = maps(x)
        worth = x[0, :MODULES].astype(float) @ tastes[row[0]]
        things = {(int(r), int(c)): int(f) for r, c, f in np.argwhere(seen[0, ..., :FEATURES])}
        agent = tuple(int(v) for v in np.argwhere(seen[0, ..., -2])[0])
        path = slow_walk(agent, things, worth)
        assert len(things) == 4
        assert agent not in things
        assert y[:, 1].tolist() == [1] * len(path) + [0] * (STEPS - len(path))
        for t, (place, left, action) in enumerate(path):
            wanted = np.zeros((7, 7, FEATURES + 2))
            wanted[..., -1] = walls()
            wanted[(*place, -2)] = 1
            for cell in left:
                wanted[(*cell, things[cell])] = 1
            assert np.array_equal(seen[t], wanted)
            assert y[t, 0] == action
        steps += len(path)
    assert steps > 3 * len(sampled)


def test_the_code_stands_before_every_observation_and_observations_have_unit_mean_square(sampled):
    assert sampled.x.shape == (len(sampled), STEPS, MODULES + 7 * 7 * (FEATURES + 2))
    code = sampled.x[..., :MODULES]
    assert np.array_equal(code, np.broadcast_to(sampled.acts["z"][:, None], code.shape))
    assert np.array_equal(code[:, 0] > 0, sampled.z[:, 1:] > 0)
    assert set(np.unique(code.round(6))) == {np.float32(v) for v in (0, 0.5, 0.6, 0.7, 0.8, 0.9, 1)}
    assert np.allclose(np.mean(sampled.x[..., MODULES:] ** 2, axis=-1), 1.0, atol=1e-4)


def test_rows_are_worlds_times_masks_and_a_world_does_not_depend_on_how_many_there_are():
    rows = task().combinations
    assert np.array_equal(rows[:, 0], [0] * 14 + [1] * 14)
    assert np.array_equal(rows[:14, 1:], rows[14:, 1:])
    tastes = walks().tastes
    alone = walks(worlds=1).tastes
    assert np.array_equal(tastes[:1], alone)
    assert not np.any(np.isclose(tastes[0], tastes[1]))
    assert walks() == walks()


def test_tellings_by_example_and_crowded_maps_are_refused():
    with pytest.raises(ValueError, match="no examples"):
        task(encode=few_shot(3))
    with pytest.raises(ValueError, match="a cell each"):
        task(objects=19)


def test_the_compact_view_is_the_whole_map_without_walls():
    random = np.random.default_rng(1)
    objects, agent = random.uniform(size=(19, 3)).astype(np.float32), np.eye(19, dtype=np.float32)[4]
    whole = np.asarray(whole_map(jnp.asarray(objects), jnp.asarray(agent))).reshape(7, 7, 5)
    free = np.asarray(compact(jnp.asarray(objects), jnp.asarray(agent))).reshape(19, 4)
    assert np.array_equal(whole[~walls()], np.concatenate([free, np.zeros((19, 1))], axis=1))
    assert np.array_equal(whole[walls()], np.broadcast_to([0, 0, 0, 0, 1], (30, 5)))


@pytest.fixture(scope="module")
def walk():
    """walk(agents, cells, worth): the agents' cells and y, for scenes of two objects."""
    compiled = jax.jit(jax.vmap(episode))

    def walk(agents, cells, worth):
        scenes = len(agents)
        fill = lambda a: np.resize(np.asarray(a), (342, *np.shape(a)[1:]))  # noqa: E731, one program for all
        walked, _, y = compiled(fill(cells), fill(np.asarray(worth, np.float32)), fill(agents))
        return np.asarray(walked)[:scenes], np.asarray(y)[:scenes]

    return walk


def test_nothing_to_like_stops_at_once_and_a_dislike_is_walked_around(walk):
    number = {cell: i for i, cell in enumerate(CELLS)}
    scenes = [  # agent, an object and its worth, another and its worth, the actions that count
        ((1, 1), (1, 2), -1.0, (2, 1), -0.5, [0]),
        ((1, 1), (1, 2), 0.0, (2, 1), 0.0, [0]),
        ((1, 1), (5, 5), 1.0, (2, 1), -0.1, [2, 3, 3, 2, 2, 3, 2, 3]),
        ((1, 1), (2, 2), 1.0, (1, 2), -1.0, [3, 2, 0]),
        ((4, 4), (4, 5), 0.2, (3, 4), 3.0, [1, 3, 2, 0]),
        ((5, 5), (4, 5), -1.0, (4, 4), 1.5, [4, 1, 0]),
    ]
    agents = [number[agent] for agent, *_ in scenes]
    cells = [(number[first], number[second]) for _, first, _, second, *_ in scenes]
    _, y = walk(agents, cells, [(worth, other) for _, _, worth, _, other, _ in scenes])
    assert [steps[steps[:, 1] > 0, 0].tolist() for steps in y] == [s[-1] for s in scenes]
    assert not np.any(y[y[..., 1] == 0])


def test_one_liked_object_is_fetched_along_a_shortest_path(walk):
    reached = np.eye(19, dtype=bool)
    distance = np.zeros((19, 19), int)
    while not np.all(reached):
        distance += ~reached
        reached = np.any(reached[:, MOVES], axis=2)
    pairs = np.array([(a, b) for a in range(19) for b in range(19) if a != b])
    other = [next(c for c in range(19) if c not in pair) for pair in pairs]
    walked, y = walk(pairs[:, 0], np.stack([pairs[:, 1], other], axis=1), [(0.7, 0.0)] * len(pairs))
    wanted = distance[pairs[:, 0], pairs[:, 1]]
    assert wanted.max() == STEPS
    assert np.array_equal(np.sum(y[..., 0] != 0, axis=1), wanted)
    assert np.array_equal(np.sum(y[..., 1], axis=1), np.minimum(wanted + 1, STEPS))
    assert np.array_equal(MOVES[walked[:, -1], y[:, -1, 0]], pairs[:, 1])


def test_masked_steps_count_neither_in_the_loss_nor_in_the_measures():
    y = np.zeros((2, STEPS, 2), np.int32)
    y[0, :3] = [[1, 1], [2, 1], [0, 1]]
    y[1, :1] = [[0, 1]]
    logits = np.random.default_rng(0).normal(size=(2, STEPS, 5)).astype(np.float32)
    logits[[0, 0, 0, 1], [0, 1, 2, 0], [1, 2, 3, 0]] = 9.0  # right, right, wrong; right
    rows = Record(np.zeros((2, 1)), np.zeros((2, 1)), y, logits)
    assert step_accuracy(rows) == 3 / 4
    assert episode_accuracy(rows) == 1 / 2
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    wanted = -np.mean(np.log([p[0, 0, 1], p[0, 1, 2], p[0, 2, 0], p[1, 0, 0]]))
    assert float(masked_cross_entropy(jnp.asarray(logits), jnp.asarray(y))) == pytest.approx(wanted, rel=1e-5)
    logits[1, 0] = np.nan
    assert step_accuracy(rows.answering(logits)) == 2 / 4
    assert episode_accuracy(rows.answering(logits)) == 0.0
