"""The first measures on known answers: a perfect solver, a blind one, and the failure they were made to detect."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import recombine as rc


@pytest.fixture(scope="module")
def perfect() -> rc.Record:
    task = rc.bumps(16, rc.one_hot(16))
    return rc.truth(task, task.combinations, key=jax.random.key(0))


@pytest.fixture(scope="module")
def region(perfect):
    return rc.square(perfect.z, 3, 12)


def test_a_perfect_solver_has_no_error_and_full_accuracy(perfect):
    assert rc.mse(perfect) == rc.nmse(perfect) == 0.0
    assert rc.peak_accuracy(perfect) == 1.0
    assert np.all(rc.error_map(perfect) == 0.0)


def test_a_blind_solver_is_right_at_one_place_only(perfect):
    blind = rc.blind(perfect, 8 * 16 + 8)
    assert rc.peak_accuracy(blind) == 1 / 256
    assert rc.peak_accuracy(blind, tolerance=1) == 9 / 256
    assert rc.nmse(blind) > 1.0


@pytest.mark.parametrize("memoriser", [rc.superposition, rc.nearest_memory])
def test_memorisers_are_right_where_they_were_trained_or_near_and_wrong_in_the_interior(perfect, region, memoriser):
    answers = memoriser(perfect, region.train)
    assert rc.peak_accuracy(answers.where(rc.interior(region, 3)), tolerance=1) == 0.0


def test_the_nearest_memory_is_perfect_on_its_training_set(perfect, region):
    answers = rc.nearest_memory(perfect, region.train)
    assert rc.peak_accuracy(answers.where(region.train)) == 1.0
    assert rc.mse(answers.where(region.train)) == 0.0


def test_a_superposition_is_right_along_each_axis_and_wrong_jointly(perfect, region):
    answers = rc.superposition(perfect, region.train).where(rc.interior(region, 3))
    columns, rows = answers.y_hat.sum(axis=1).argmax(axis=1), answers.y_hat.sum(axis=2).argmax(axis=1)
    assert np.mean(columns == answers.z[:, 0]) == np.mean(rows == answers.z[:, 1]) == 1.0
    assert rc.peak_accuracy(answers, tolerance=1) == 0.0


def test_maps_put_x_along_columns_and_leave_holes_empty(perfect):
    shifted = perfect.where(perfect.z[:, 0] == 2).answering(np.roll(perfect.y[perfect.z[:, 0] == 2], 3, axis=2))
    away = rc.peak_map(shifted)
    assert np.all(away[:, 2] == 3)
    assert np.isnan(away[:, :2]).all()


def test_an_answer_that_is_not_a_number_is_never_right(perfect):
    broken = perfect.answering(np.full_like(perfect.y, np.nan))
    assert rc.peak_accuracy(broken, tolerance=100) == 0.0
