"""Superposition on known answers: full for a memoriser, none for a perfect solver; a blind one gives itself away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import ABSENT, Record
from recombine.measures.controls import blind
from recombine.measures.memory import (
    box_share,
    code_superposition,
    cross_share,
    derangement,
    memory_superposition,
    superposition_score,
)


def _score(record: Record, train: np.ndarray, rows: np.ndarray):
    return superposition_score(record.where(rows), memory_superposition(record, train)[rows], np.random.default_rng(0))


def test_a_memoriser_is_a_sum_of_its_memories(memoriser, train, inside):
    score = _score(memoriser, train, inside)
    assert score.r_sum == pytest.approx(1.0)
    assert score.r_shuffled < 0.7
    assert score.r_truth < 0.2


def test_a_perfect_solver_is_the_truth_and_not_a_sum(perfect, train, inside):
    score = _score(perfect, train, inside)
    assert score.r_truth == pytest.approx(1.0)
    assert score.r_sum < 0.2


def test_a_blind_solver_matches_any_sum_as_well_as_its_own(perfect, train, inside):
    score = _score(blind(perfect, len(perfect) // 2), train, inside)
    assert score.r_sum == pytest.approx(1.0)
    assert score.r_sum - score.r_shuffled == pytest.approx(0.0)


def test_an_empty_answer_correlates_with_nothing(perfect, train, inside):
    assert _score(perfect.answering(0 * perfect.y), train, inside) == (0.0, 0.0, 0.0)


def test_one_cell_has_no_other_to_be_compared_with(perfect, train):
    assert np.isnan(_score(perfect, train, np.arange(len(train)) == 0).r_shuffled)


def test_memories_come_from_training_cells_that_share_a_part():
    z = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, ABSENT]])
    answers = np.array([1.0, 2.0, 4.0, 99.0, 3.0]).reshape(5, 1, 1)
    record = Record(z, answers, answers, answers)
    sums = memory_superposition(record, np.array([True, True, True, False, True]))
    assert sums.ravel().tolist() == [2 + 2.5, 2 + 2, 4 + 2.5, 4 + 2, 2]


def test_code_superposition_adds_the_answers_to_each_part():
    by_x, by_y = np.arange(3.0).reshape(3, 1, 1), 10 * np.arange(3.0).reshape(3, 1, 1)
    assert code_superposition(np.array([[1, 2], [0, 1]]), by_x, by_y).ravel().tolist() == [21, 10]


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_a_derangement_moves_everything(n, seed):
    places = derangement(n, np.random.default_rng(seed))
    assert sorted(places) == list(range(n))
    assert not np.any(places == np.arange(n))


def test_shares_of_light_tell_right_parts_from_a_right_pair(perfect, memoriser, inside):
    assert box_share(perfect.where(inside)) > 0.97
    assert cross_share(memoriser.where(inside)) > 0.95
    assert box_share(memoriser.where(inside)) < 0.2


def test_even_light_reads_chance(bump_record):
    record = bump_record(28)
    centre = record.answering(np.ones_like(record.y)).where(np.all((record.z > 2) & (record.z < 25), axis=1))
    assert cross_share(centre) == pytest.approx(1 - (23 / 28) ** 2)
    assert box_share(centre) == pytest.approx((5 / 28) ** 2)
    assert cross_share(centre.answering(-centre.y_hat)) == 0.0
