"""Scores of tokens and of whole answers."""

from __future__ import annotations

import numpy as np

from recombine.core import Record
from recombine.measures.tokens import exact_match, exact_rows, token_accuracy

IDS = np.array([[3, 4, 1], [4, 3, 1], [4, 4, 1], [3, 3, 1]])
WEIGHTS = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]])
PERFECT = Record(np.arange(4)[:, None], IDS, np.stack([IDS, WEIGHTS], axis=-1), np.eye(5)[IDS])


def test_a_perfect_answer_is_exact():
    assert exact_match(PERFECT) == token_accuracy(PERFECT) == 1.0


def test_one_wrong_token_spoils_a_row_and_a_place_without_weight_does_not():
    logits = PERFECT.y_hat.copy()
    logits[0, 0] = np.eye(5)[2]  # has no weight
    logits[2, 1] = np.eye(5)[2]
    found = PERFECT.answering(logits)
    assert exact_rows(found).tolist() == [True, True, False, True]
    assert token_accuracy(found) == 7 / 8


def test_what_is_not_a_number_is_never_right():
    assert exact_match(PERFECT.answering(np.full_like(PERFECT.y_hat, np.nan))) == 0.0
