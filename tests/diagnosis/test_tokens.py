"""Rows of tokens are diagnosed by the places that count, whatever stands at the others."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.answers import read_answers
from recombine.tasks.chains import chains


@pytest.fixture(scope="module")
def asked() -> rc.Record:
    """All chains of one and two functions with their steps, as a solver that never errs leaves them."""
    task = chains(symbols=6, functions=6, longest=2, steps=True, key=rc.key(0, "worlds"))
    return rc.truth(task, task.combinations, key=rc.key(0, "test"))


def answering(asked: rc.Record, ids: np.ndarray) -> np.ndarray:
    """Logits for these ids where an answer counts, and noise elsewhere."""
    noise = rc.rng(0, "noise").normal(size=(*ids.shape, 20)).astype(np.float32)
    return np.where(asked.y[..., 1:] > 0, 9.0 * np.eye(20, dtype=np.float32)[ids], noise)


def errors(targets: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    found = read_answers(targets, outputs, np.ones(len(targets), bool))
    return found.errors(found.given, found.truth)


def test_a_place_that_does_not_count_is_neither_right_nor_wrong(asked):
    right, wrong = (answering(asked, (asked.y[..., 0] + more) % 20) for more in (0, 1))
    assert np.all(errors(asked.y, right) == 0)
    assert np.all(errors(asked.y, wrong) == 1)
    right[asked.y[..., 1] == 0] = np.nan
    assert np.all(errors(asked.y, right) == 0)


def test_an_error_is_the_share_of_wrong_tokens_of_its_own_answer():
    """Two answers, of one token and of four, of which one is wrong: the short one stands anywhere in its row."""
    targets = np.zeros((2, 6, 2), int)
    targets[0, 4], targets[1, 1:5] = (3, 1), (3, 1)
    said = np.eye(8)[np.array([[0, 0, 0, 0, 5, 0], [0, 3, 3, 5, 3, 0]])]
    assert errors(targets, said).tolist() == [1.0, 0.25]


def test_short_answers_to_new_combinations_weigh_as_much_as_long_ones():
    """A memory whose new answers have one token, all wrong, beside seen answers of thirty does not compose."""
    z = np.array([(a, b) for a in range(12) for b in range(12)])
    new = (z[:, 0] + z[:, 1]) % 6 == 0
    targets = np.zeros((len(z), 30, 2), int)
    targets[..., 0] = 3 + (z[:, :1] + np.arange(30)) % 7 + 7 * (z[:, 1:] % 3)
    targets[..., 1] = ~new[:, None] | (np.arange(30) == 0)
    ids = np.where(new[:, None], 3 + (targets[..., 0] - 2) % 20, targets[..., 0])
    found = rc.diagnose({"factors": z, "trained": ~new, "y": targets, "y_hat": np.eye(24, dtype=np.float32)[ids]})
    assert found.verdict != "composes"


def test_the_distance_of_two_answers_is_a_share_of_the_longer(asked):
    """A token alone, the same before three more, and another token alone."""
    counts = np.array([[1, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
    ids = np.array([[1, 0, 0, 0], [1, 2, 2, 2], [2, 0, 0, 0]])
    found = read_answers(np.stack([ids, counts], axis=-1), np.eye(4)[ids], np.ones(3, bool))
    assert found.apart(found.truth, found.truth) == pytest.approx(np.array([[0, 0.75, 1], [0.75, 0, 1], [1, 1, 0]]))


def test_a_solver_of_chains_composes_and_a_memory_of_them_does_not(asked):
    pairs = asked.z[:, 2:]
    rows = pairs[:, 1] >= 0  # two functions: x and the pair are what is combined
    two, key = asked.where(rows), (asked.z[rows, 2] + 2 * asked.z[rows, 3]) % 6
    trained = key != 0
    memory = two.y[..., 0].copy()
    memory[~trained] = two.y[trained, :, 0][0]
    factors = {"first": two.z[:, 2], "second": two.z[:, 3], "x": two.z[:, 1]}
    verdicts = [
        rc.diagnose({"factors": factors, "trained": trained, "y": two.y, "y_hat": answering(two, ids)}).verdict
        for ids in (two.y[..., 0], memory)
    ]
    assert verdicts[0] == "composes"
    assert verdicts[1] != "composes"


def test_rows_in_which_nothing_counts_are_told(asked):
    with pytest.raises(rc.UserError, match="every weight is 0"):
        read_answers(asked.y * np.array([1, 0]), answering(asked, asked.y[..., 0]), np.ones(len(asked), bool))
    some = asked.y.copy()
    some[3, :, 1] = 0
    with pytest.raises(rc.UserError, match="row 3 has no place that counts"):
        read_answers(some, answering(asked, asked.y[..., 0]), np.ones(len(asked), bool))
