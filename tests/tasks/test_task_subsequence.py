from __future__ import annotations

from itertools import combinations, pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.splits import coverage
from recombine.tasks import subsequence
from recombine.tasks.tokens import EOS, SEP

KEY = rc.key(0, "test")
FIVE = subsequence.every(5, shortest=5)


@pytest.fixture(scope="module")
def solutions():
    """dp and taken of all rows of five inputs."""
    return [np.asarray(a) for a in jax.jit(jax.vmap(lambda z: subsequence.solved(z - 5, z >= 0)))(FIVE.astype(int))]


def test_the_released_example():
    dp, taken = subsequence.solved(jnp.array([10, 10, 7, 5, 6]), jnp.ones(5, bool))
    assert dp.tolist() == [23, 16, 13, 6, 6]
    assert taken.tolist() == [1, 0, 1, 0, 1]


def test_the_counts_of_the_family(solutions):
    dp, taken = solutions
    assert len(subsequence.every(5)) == 177_155
    assert len(FIVE) == 161_051
    assert (dp[:, 0].min(), dp[:, 0].max()) == (0, 15)
    kinds, counts = np.unique(taken, axis=0, return_counts=True)
    assert len(kinds) == 13
    assert kinds[counts.argmax()].tolist() == [0, 1, 0, 1, 0]
    assert counts.max() / len(FIVE) == pytest.approx(0.137, abs=5e-4)


def best(numbers: list[int]) -> int:
    """The largest sum of numbers, no two adjacent, by trying all."""
    places = range(len(numbers))
    sums = [0]
    for count in places:
        for chosen in combinations(places, count + 1):
            if all(b - a > 1 for a, b in pairwise(chosen)):
                sums.append(sum(numbers[i] for i in chosen))
    return max(sums)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=6, max_size=6))
def test_what_is_taken_is_not_adjacent_and_sums_to_the_best(numbers):
    dp, taken = (np.asarray(a) for a in subsequence.solved(jnp.array(numbers), jnp.ones(6, bool)))
    assert not np.any(taken[1:] * taken[:-1])
    assert np.sum(taken * numbers) == dp[0] == best(numbers)


@pytest.mark.parametrize("steps", [True, False])
def test_a_row_is_inputs_steps_and_answers(steps):
    z = np.array([[6, 0, 8, -1, -1], [5, -1, -1, -1, -1]], np.int8)  # 1, -5, 3 and 0
    task = subsequence.subsequence(z, steps=steps)
    record = rc.truth(task, z, key=KEY)
    x, y = record.x, record.y
    words = task.sample.vocabulary.words(y[0, y[0, :, 1] > 0, 0])  # pyrefly: ignore
    middle = ["dp 3", "dp 3", "dp 4", ":"] if steps else []
    assert words == [*middle, "taken", "not taken", "taken", "EOS"]
    assert task.sample.vocabulary.words(x[0, :3]) == ["in 1", "in -5", "in 3"]  # pyrefly: ignore
    assert x[0, 3] == SEP
    assert y[1, y[1, :, 1] > 0, 0][-1] == EOS
    assert x.shape[1] == (17 if steps else 11)


def test_longer_rows_are_a_task_with_the_same_tokens():
    rng = np.random.default_rng(0)
    rows = subsequence.some(7, 300, rng, columns=10)
    assert rows.shape == (300, 10)
    assert len(np.unique(rows, axis=0)) == 300
    assert set(subsequence.lengths(rows)) == {7}
    large, small = (subsequence.subsequence(r, steps=True) for r in (rows, FIVE[:5]))
    assert large.sample.vocabulary == small.sample.vocabulary  # pyrefly: ignore


def test_a_suffix_is_one_node_wherever_it_stands():
    rows = np.array([[1, 2, 3], [2, 3, -1], [0, 2, 3]])
    nodes = subsequence.suffixes(rows)
    assert nodes[0, 1] == nodes[1, 0] == nodes[2, 1]
    assert len(np.unique(subsequence.suffixes(subsequence.every(3)))) == 11 + 11**2 + 11**3 + 1  # and ABSENT


def test_natural_coverage_of_suffixes():
    train = np.zeros(len(FIVE), bool)
    train[np.random.default_rng(0).choice(len(FIVE), 20_000, replace=False)] = True
    nodes = subsequence.suffixes(FIVE)
    shares = [coverage.covered(nodes[:, [5 - k]], train) for k in range(1, 6)]
    assert shares == pytest.approx([1, 1, 1, 1 - (1 - 20_000 / 11**5) ** 11, 20_000 / 11**5], abs=0.01)


def test_steps_with_the_same_numbers_are_one_node(solutions):
    dp, _ = solutions
    rows = np.flatnonzero((FIVE[:, 0] == 3) & (dp[:, 1] == 4) & (dp[:, 2] == 4))
    assert len(rows) > 1
    assert len(np.unique(subsequence.local_steps(FIVE)[rows, 0])) == 1


def test_bad_rows_are_refused():
    with pytest.raises(rc.UserError, match="inputs plus 5 lie in 0"):
        subsequence.subsequence(np.array([[11, 0]]), steps=True)
    with pytest.raises(rc.UserError, match="a sum of 15 has no token: dp goes up to 9"):
        subsequence.subsequence(FIVE[:3], steps=True, most=9)
    with pytest.raises(rc.UserError, match="at most half of the"):
        subsequence.some(1, 11, np.random.default_rng(0))
