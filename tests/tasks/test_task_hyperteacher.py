"""The hyperteacher against NumPy, its random numbers, and the six ways to tell its tasks."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.core import Task
from recombine.encodings import tasks
from recombine.measures.probe import held_out_r2
from recombine.tasks.hyperteacher import constituents, hyperteacher, teacher_of, widths
from recombine.tasks.modules import continuous, discrete, khot, masks

KEY = jax.random.key(0)
small = partial(hyperteacher, modules=6, max_active=2, inputs=3, hidden=(5, 4), outputs=2, samples=4, key=KEY)


def examples(task: Task, rows: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the constituents of one example a row."""

    def both(z, key):
        return (*task.sample(z, key), constituents(task, z, key))

    keys = jax.random.split(jax.random.key(seed), len(rows))
    x, y, z = jax.device_get(jax.jit(jax.vmap(both))(jnp.asarray(task.combinations[rows]), keys))
    return x, y, z


def context(z, teacher: int = 0) -> tasks.TaskContext:
    return tasks.TaskContext(jnp.asarray(teacher), jnp.asarray(z, jnp.float32), jnp.zeros((0, 2)), jnp.zeros((0, 2)))


@pytest.fixture(scope="module")
def task() -> Task:
    return small(teachers=2)


@pytest.fixture(scope="module")
def drawn(task):
    return examples(task, np.arange(len(task.combinations)))


@pytest.mark.parametrize(
    ("modules", "counts"), [(8, (36, 92, 162, 218, 246, 254)), (16, (136, 696, 2516)), (24, (300, 2324, 12950))]
)
def test_there_are_as_many_masks_as_the_paper_has(modules, counts):
    for max_active, count in enumerate(counts, start=2):
        assert len(masks(modules, max_active)) == count == sum(comb(modules, k) for k in range(1, max_active + 1))


def test_masks_are_in_the_order_of_itertools():
    wanted = [set(c) for k in (1, 2, 3) for c in combinations(range(7), k)]
    assert [set(np.flatnonzero(m)) for m in masks(7, 3)] == wanted
    with pytest.raises(ValueError, match="between 1 and 4"):
        masks(4, 5)


def test_magnitudes_follow_their_laws():
    mask, u = np.array([1, 0, 1, 1]), np.random.default_rng(0).uniform(size=(600, 4)).astype(np.float32)
    on = np.array([0, 2, 3])
    by_law = [np.asarray(jax.vmap(partial(law, mask))(u)) for law in (discrete, khot, continuous)]
    assert all(np.all(z[:, 1] == 0) and z.dtype == np.float32 for z in by_law)
    values, counts = np.unique(by_law[0][:, on].round(6), return_counts=True)
    assert np.allclose(values, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert counts.min() > 240
    assert np.all(by_law[1][:, on] == 1)
    e = -np.log(1 - u[:, on])
    assert np.allclose(by_law[2][:, on], 0.5 + 0.5 * e / (e.sum(axis=1, keepdims=True) + 1), atol=1e-5)


def test_the_answer_is_the_formula(task, drawn):
    x, y, z = drawn
    layers, read_out = teacher_of(task).weights
    stacked = [np.reshape(a, (2, 6, *a.shape[1:])).astype(float) for a in layers]
    for row in (0, 17, 40):
        t, hidden = task.combinations[row, 0], x[row, :, 6:].astype(float)
        for layer in stacked:
            mixed = np.sum([z[row, m] / np.sqrt(2) * layer[t, m] for m in range(6)], axis=0)
            hidden = np.maximum(hidden @ mixed[:-1] + mixed[-1], 0)
        assert np.allclose(y[row], hidden @ read_out[t], atol=1e-5)


def test_weights_are_drawn_as_the_paper_draws_them():
    layers, read_out = teacher_of(hyperteacher(modules=32, max_active=1, hidden=(16, 64), key=KEY)).weights
    for weight, fan_in in [(layers[0][:, :-1], 16), (layers[1][:, :-1], 16), (read_out, 64)]:
        sigma = (3**0.5 / fan_in) ** 0.5
        assert np.std(weight) == pytest.approx(sigma, rel=0.05)
        assert 1.9 < np.abs(weight).max() / sigma * 0.8796 <= 2.0001
    for layer in layers:
        assert layer[:, -1].min() >= 0
        assert 0.45 < layer[:, -1].max() < 0.5


def test_every_number_is_drawn_for_itself(task):
    layers, read_out = teacher_of(task).weights
    numbers = np.concatenate([np.ravel(a) for a in (*layers, read_out)])
    assert len(np.unique(numbers)) == len(numbers)


def test_a_teacher_does_not_depend_on_how_many_there_are(task):
    two, three = teacher_of(task).weights, teacher_of(small(teachers=3)).weights
    for few, more in zip(two.layers, three.layers, strict=True):
        assert np.array_equal(few, more[:12])
    assert np.array_equal(two.read_out, three.read_out[:2])


def test_without_biases_nothing_goes_in_and_nothing_comes_out(task):
    nothing, z = jnp.zeros((1, 3)), jnp.ones(6)
    assert not np.any(teacher_of(small(biases=False)).teach(0, z, nothing))
    assert np.any(teacher_of(task).teach(0, z, nothing))


def test_rows_are_blocks_of_teachers_over_the_same_masks(task):
    count = len(masks(6, 2))
    assert np.array_equal(task.combinations[:, 0], np.repeat([0, 1], count))
    assert np.array_equal(task.combinations[:count, 1:], masks(6, 2))
    assert np.array_equal(task.combinations[count:, 1:], masks(6, 2))
    assert widths(task) == (6 + 3, 2)
    with pytest.raises(ValueError, match="teachers must be a whole number of at least 1"):
        small(teachers=0)


def test_the_identity_tells_the_constituents_of_that_very_example(task, drawn):
    x, y, z = drawn
    assert x.shape == (42, 4, 9)
    assert y.shape == (42, 4, 2)
    assert np.array_equal(x[:, :, :6], np.broadcast_to(z[:, None], (42, 4, 6)))
    assert np.array_equal(z > 0, task.combinations[:, 1:] > 0)
    assert np.abs(x[:, :, 6:]).max() <= 1
    with pytest.raises(TypeError, match="no hyperteacher"):
        constituents(Task("other", np.eye(2), lambda z, key: (z, z)), jnp.zeros(2), KEY)


def test_an_example_depends_on_its_key_alone(task, drawn):
    again = examples(task, np.arange(42))
    other = examples(task, np.arange(42), seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(drawn, again, strict=True))
    assert not np.any(drawn[0][:, :, 6:] == other[0][:, :, 6:])


def test_two_teachers_answer_the_same_question_differently(task):
    z, x = jnp.ones(6), jnp.ones((1, 3)) / 2
    first, second = (teacher_of(task).teach(t, z, x) for t in (0, 1))
    assert not np.allclose(first, second, atol=1e-2)


def test_equal_tasks_share_a_program():
    encode = partial(tasks.invertible, 6, jax.random.key(3))
    first, second = (small(encode=encode()).sample for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != small(encode=encode(strength=1.0)).sample
    assert first != small(encode=encode(), key=jax.random.key(1)).sample


def test_tokens_are_numbers_and_weights_in_turn():
    every = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], np.float32)
    assert tasks.tokens(context([0.5, 0, 0.8])).tolist() == [1, 9, 2, 4, 3, 12]
    assert tasks.tokens(context(every))[1::2].tolist() == [12, 13, 14, 15, 16, 17]


def test_an_orthogonal_code_turns_and_each_teacher_may_have_its_own():
    encode = tasks.orthogonal(5, KEY, draws=2)
    turns = [np.stack([encode(context(row, t)) for row in np.eye(5)]) for t in (0, 1, 2)]
    assert np.allclose(turns[0] @ turns[0].T, np.eye(5), atol=1e-5)
    assert not np.allclose(turns[0], turns[1], atol=0.1)
    assert np.array_equal(turns[0], turns[2])


def test_shuffled_intervals_are_permuted_alike_and_keep_their_insides():
    encode = tasks.interval_shuffle(KEY)
    edges = np.asarray(encode(context(np.arange(10) / 10)))
    assert np.allclose(np.sort(edges), np.arange(10) / 10, atol=1e-6)
    assert not np.allclose(edges, np.arange(10) / 10)
    assert np.allclose(encode(context(np.arange(10) / 10 + 0.03)), edges + 0.03, atol=1e-6)
    assert encode(context([1.0])).tolist() == [1.0]


def test_the_invertible_code_can_be_inverted():
    z = np.random.default_rng(1).uniform(size=6)
    code = np.asarray(tasks.invertible(6, KEY, strength=0.8, draws=2)(context(z, 1)), float)
    for i, layers in reversed(list(enumerate(tasks._couplings(6, 2, tasks.seed_of(KEY))))):
        step = -1 if i % 2 else 1
        kept, changed = np.split(code[::step], 2)
        told = kept
        for j, weight in enumerate(layers):
            told = 0.8 * (1 / (1 + np.exp(-told)) if j else told) @ weight[1]
        scale, shift = np.split(told, 2)
        code = np.concatenate([kept, (changed - shift) / (1 + np.tanh(scale) / 2)])[::step]
    assert np.allclose(code, z, atol=1e-4)
    with pytest.raises(ValueError, match="even"):
        tasks.invertible(5, KEY)


def test_shots_are_fresh_examples_of_the_same_task():
    task = small(encode=tasks.few_shot(3))
    x, _, z = examples(task, np.arange(21))
    assert widths(task) == (3 * (3 + 2) + 3, 2)
    shown, answers, asked = x[5, 0, :9].reshape(3, 3), x[5, 0, 9:15].reshape(3, 2), x[5, :, 15:]
    assert np.allclose(teacher_of(task).teach(0, jnp.asarray(z[5]), jnp.asarray(shown)), answers, atol=1e-5)
    assert not np.isin(shown, asked).any()
    with pytest.raises(ValueError, match="at least one"):
        tasks.few_shot(0)


def test_a_probe_reads_constituents_from_the_identity_and_hardly_from_few_shots():
    def read(encode):
        task = hyperteacher(
            modules=6, max_active=2, inputs=4, hidden=(6,), outputs=4, samples=1, encode=encode, key=KEY
        )
        rows = np.random.default_rng(0).permutation(21).repeat(30)  # the last masks are held out
        x, _, z = examples(task, rows)
        return held_out_r2(x[:, 0, :-4], z, np.arange(len(rows)) < 15 * 30)

    assert read(tasks.identity) > 0.99
    assert read(tasks.few_shot(20)) < 0.5
    assert tasks.nonlinear(16, KEY) == tasks.invertible(16, KEY, strength=1.0)
