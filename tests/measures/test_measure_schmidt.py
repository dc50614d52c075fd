"""Kernels of known rank: AND is one product, OR is two; and PF, which calls OR the better factorised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.cp import cp_rank
from recombine.measures.pf import pf_coefficient
from recombine.measures.schmidt import by_factor, schmidt_values
from recombine.measures.similarity import and_kernel, near, or_kernel, same
from recombine.measures.spectrum import effective_rank, rank_at, top_share


def _cells(*sizes: int) -> np.ndarray:
    return np.indices(sizes).reshape(len(sizes), -1).T


@pytest.mark.parametrize("match", [same, near(1.0)])
def test_and_is_one_product_and_or_two(match):
    z = _cells(9, 8)
    ranks = [int(rank_at(schmidt_values(k(z, z, match), z))) for k in (and_kernel, or_kernel)]
    assert ranks == [1, 2]


def test_the_order_of_the_cells_does_not_matter():
    z = _cells(5, 4)[np.random.default_rng(0).permutation(20)]
    assert rank_at(schmidt_values(and_kernel(z, z, near(1.0)), z)) == 1


def test_three_parts_are_grouped_for_cp():
    z = _cells(3, 2, 2)
    kernel = and_kernel(z, z, near(1.0))
    assert by_factor(kernel, z).shape == (9, 4, 4)
    assert cp_rank(by_factor(kernel, z), 1e-6, np.random.default_rng(0)) == 1
    with pytest.raises(ValueError, match="two parts"):
        schmidt_values(kernel, z)


def test_pf_ranks_the_memorisers_kernel_above_the_truth():
    z = _cells(28, 28)
    assert pf_coefficient(or_kernel(z, z, same), z) == pytest.approx(54 / 55)
    assert pf_coefficient(and_kernel(z, z, near(1.0)), z) == pytest.approx(0.29, abs=0.01)


@settings(deadline=None, max_examples=15)
@given(st.integers(2, 7))
def test_pf_of_the_hard_kernels_is_known(n):
    z = _cells(n, n)
    assert pf_coefficient(or_kernel(z, z, same), z) == pytest.approx((2 * n - 2) / (2 * n - 1))
    assert pf_coefficient(and_kernel(z, z, same), z) == pytest.approx(2 / (n + 1))
    assert pf_coefficient(and_kernel(z, z, same), z, order=2) == pytest.approx(1.0)


def test_a_constant_kernel_has_no_pf_and_rank_one():
    kernel = np.full((30, 30), 0.1)
    assert np.isnan(pf_coefficient(kernel, _cells(5, 6)))
    assert rank_at(schmidt_values(kernel, _cells(5, 6))) == 1


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_effective_rank_lies_between_one_and_the_rank(n, seed):
    strengths = np.random.default_rng(seed).exponential(size=n) + 1e-3
    assert 1 - 1e-9 <= effective_rank(strengths) <= rank_at(strengths, 0.0) + 1e-9
    assert 1 / n - 1e-9 <= top_share(strengths) <= 1


def test_spectra_of_known_rank():
    assert effective_rank(np.ones((2, 3))) == pytest.approx([3, 3])
    assert effective_rank(np.array([2.0, 0, 0])) == pytest.approx(1)
    assert rank_at(np.array([[3.0, 1e-5, 0], [1, 1, 1]])).tolist() == [1, 3]
    assert rank_at(np.zeros(3)) == 0
    assert np.isnan(effective_rank(np.zeros(3)))
