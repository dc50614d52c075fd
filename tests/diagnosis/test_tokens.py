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


def test_a_place_that_does_not_count_is_neither_right_nor_wrong(asked):
    right = answering(asked, asked.y[..., 0])
    found = read_answers(asked.y, right, np.ones(len(asked), bool))
    assert np.all(found.errors(found.given, found.truth) == 0)
    wrong = answering(asked, (asked.y[..., 0] + 1) % 20)
    found = read_answers(asked.y, wrong, np.ones(len(asked), bool))
    assert np.all(found.errors(found.given, found.truth) > 0)


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
