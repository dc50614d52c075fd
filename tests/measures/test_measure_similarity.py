"""Matrices of likeness on known answers: the truth is a soft AND, a superposition of memories a soft OR."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.similarity import (
    agreement,
    and_kernel,
    cosine_matrix,
    distance_matrix,
    near,
    or_kernel,
    overlap_matrix,
    pearson,
    rank_correlation,
    same,
)


def test_the_cosine_of_true_pictures_is_the_soft_and(perfect, inside):
    cosine = cosine_matrix(perfect.y[inside], perfect.y[inside])
    z = perfect.z[inside]
    assert np.allclose(cosine, and_kernel(z, z, near(1.0)), atol=5e-4)  # sums over pixels, not integrals


def test_the_truth_agrees_with_and_a_memoriser_with_or(perfect, memoriser, train, inside):
    soft_or, soft_and = (kernel(perfect.z, perfect.z, near(1.0)) for kernel in (or_kernel, and_kernel))
    truth, memory = (cosine_matrix(r.y_hat, r.y_hat) for r in (perfect, memoriser))
    hole = ~train
    assert agreement(truth, soft_and, hole, train) > 0.98
    assert agreement(truth, soft_and, hole, train) > agreement(truth, soft_or, hole, train) + 0.5
    assert agreement(memory, soft_or, hole, train) > agreement(memory, soft_and, hole, train) + 0.1
    assert agreement(memory, soft_or, inside, train) > agreement(truth, soft_or, inside, train) + 0.1


def test_a_blind_solver_agrees_with_neither(perfect, train):
    blind = cosine_matrix(np.ones((256, 4)), np.ones((256, 4)))
    for kernel in (or_kernel, and_kernel):
        assert agreement(blind, kernel(perfect.z, perfect.z, same), ~train, train) == 0.0


def test_hard_kernels_count_matching_parts():
    z, other = np.array([[1, 2]]), np.array([[1, 2], [1, 5], [4, 2], [4, 5]])
    assert or_kernel(z, other, same).tolist() == [[1, 1, 1, 0]]
    assert and_kernel(z, other, same).tolist() == [[1, 0, 0, 0]]


def test_overlap_counts_pixels_above_the_threshold_in_both():
    a, b = np.array([[[0.9, 0.9], [0.1, 0.1]]]), np.array([[[0.9, 0.1], [0.9, 0.1]]])
    assert overlap_matrix(a, b, 0.7) == 0.25
    assert overlap_matrix(a, b, 0.05) == 1.0


def test_distances_are_euclidean_over_pixels():
    assert distance_matrix(np.zeros((1, 2, 2)), np.full((1, 2, 2), 3.0)) == pytest.approx(6.0)


def test_likeness_of_nothing_is_zero():
    rows = np.array([[0.0, 0.0], [0.1, 0.1]])
    assert pearson(rows, np.array([[1.0, 2.0], [1.0, 2.0]])).tolist() == [0, 0]
    assert cosine_matrix(rows, rows)[0].tolist() == [0, 0]


def test_what_is_not_a_number_stays_so():
    assert np.isnan(pearson(np.array([[np.nan, 1.0]]), np.array([[1.0, 2.0]]))).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-5, 5))
def test_pearson_forgets_scale_and_shift_and_stays_within_one(seed, scale, shift):
    a, b = np.random.default_rng(seed).normal(size=(2, 3, 4, 4))
    assert np.allclose(pearson(a, b), pearson(scale * a + shift, b))
    assert np.allclose(pearson(a, scale * a + shift), 1)
    assert np.all(np.abs(pearson(a, b)) <= 1 + 1e-12)


def test_rank_correlation_sees_order_alone():
    a = np.array([1.0, 2.0, 3.0, 10.0])
    assert rank_correlation(a, a**3) == pytest.approx(1.0)
    assert rank_correlation(a, -np.exp(a)) == pytest.approx(-1.0)
    assert rank_correlation(a, np.ones(4)) == 0.0
    assert rank_correlation(np.array([1, 1, 2]), np.array([5, 5, 9])) == pytest.approx(1.0)
