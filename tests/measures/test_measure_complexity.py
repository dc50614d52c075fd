"""Functions of known complexity: one bump is a product, its negative two, and so are a cross, an OR and a donut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.complexity import epsilon_rank, exact_rank, pixel_ranks
from recombine.measures.cp import cp_error, cp_rank
from recombine.measures.grid import on_grid
from recombine.measures.mixture import mixture_divergence, nonnegative_rank

SEEDS = st.integers(0, 2**32 - 1)


def _pictures(perfect) -> dict[str, np.ndarray]:
    bumps = on_grid(perfect, perfect.y)
    along = np.exp(-((np.arange(16)[:, None] - np.arange(16)) ** 2) / 2)
    x, y = along[:, None, None, :], along[None, :, :, None]
    return {"bright": bumps, "dark": 1 - bumps, "cross": x + y, "or": 1 - (1 - x) * (1 - y)}


@pytest.mark.parametrize(("name", "rank"), [("bright", 1), ("dark", 2), ("cross", 2), ("or", 2)])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_pictures_take_as_many_products_as_algebra_says(perfect, name, rank, precision):
    pictures = _pictures(perfect)[name].astype(precision)
    assert exact_rank(pictures) == rank
    assert epsilon_rank(pictures, 1e-5) == rank
    assert np.all(pixel_ranks(pictures) <= rank)


def test_the_donut_takes_two_products(train):
    donut = train.reshape(16, 16).astype(float)
    assert exact_rank(donut) == 2
    assert nonnegative_rank(donut, 1e-3, np.random.default_rng(0), restarts=2) == 2


def test_nothing_takes_no_product():
    assert exact_rank(np.zeros((3, 3, 2))) == epsilon_rank(np.zeros((3, 3, 2)), 0.1) == 0
    assert cp_rank(np.zeros((2, 2, 2)), 0.1, np.random.default_rng(0)) == 0


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(0.01, 0.9))
def test_a_coarser_tolerance_never_takes_more_products(seed, epsilon):
    values = np.random.default_rng(seed).normal(size=(4, 5, 3))
    assert epsilon_rank(values, epsilon) <= epsilon_rank(values, epsilon / 2) <= exact_rank(values)


@settings(deadline=None, max_examples=10)
@given(SEEDS, st.integers(1, 3))
def test_cp_of_a_matrix_is_its_singular_values(seed, rank):
    matrix = np.random.default_rng(seed).normal(size=(4, 5))
    strengths = np.linalg.svd(matrix, compute_uv=False)
    best = np.linalg.norm(strengths[rank:]) / np.linalg.norm(strengths)
    assert best - 1e-9 <= cp_error(matrix, rank, np.random.default_rng(0)) <= best + 1e-2


def test_cp_finds_the_rank_that_a_tensor_was_made_with():
    rng = np.random.default_rng(0)
    tensor = np.einsum("ir,jr,kr->ijk", *(rng.normal(size=(n, 2)) for n in (4, 5, 6)))
    assert cp_rank(tensor, 1e-4, rng) == 2
    assert cp_rank(tensor[0], 1e-4, rng) == 2


def test_a_tensor_of_border_rank_two_stays_out_of_reach_of_two_capped_terms():
    a, b = np.eye(2)
    derivative = np.sum([np.einsum("i,j,k->ijk", *(b if f == g else a for f in range(3))) for g in range(3)], axis=0)
    capped, free = (cp_error(derivative, 2, np.random.default_rng(0), restarts=2, cap=c) for c in (1.0, np.inf))
    assert capped > 0.04
    assert free < 0.02  # and ever less with more sweeps
    assert cp_error(derivative, 3, np.random.default_rng(0)) < 1e-3


def test_the_bound_that_always_suffices_is_never_exceeded():
    rng = np.random.default_rng(0)
    assert cp_rank(rng.normal(size=(2, 3, 2)), 0.0, rng, restarts=1) <= 4


def test_mixtures_of_known_size():
    rng = np.random.default_rng(0)
    independent = np.einsum("i,j,k->ijk", *(rng.dirichlet(np.ones(n)) for n in (3, 4, 5)))
    copies = np.zeros((3, 3, 3))
    copies[range(3), range(3), range(3)] = 1 / 3
    assert nonnegative_rank(independent, 1e-3, rng) == 1
    assert nonnegative_rank(copies, 1e-3, rng) == 3
    assert nonnegative_rank(np.eye(4), 1e-3, rng) == 4


def test_one_product_misses_the_mutual_information():
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    information = np.sum(joint * np.log(joint / 0.25))
    assert mixture_divergence(joint, 1, np.random.default_rng(0)) == pytest.approx(information)


def test_negative_weights_are_no_distribution():
    with pytest.raises(ValueError, match="no negative weights"):
        mixture_divergence(np.array([[-1.0, 2.0]]), 1, np.random.default_rng(0))
