"""Components of a functional analysis of variance: they add up, they are orthogonal, and their energies add up."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.anova import anova, anova_energies, ratio

SEEDS = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.integers(1, 3))
def test_components_add_up_and_so_do_their_energies(seed, factors):
    values = np.random.default_rng(seed).normal(size=(*(2, 3, 4)[:factors], 5))
    components, energies = anova(values, factors), anova_energies(values, factors)
    assert len(components) == 2**factors
    assert np.allclose(np.broadcast_to(sum(components.values()), values.shape), values)
    assert np.allclose(sum(energies.values()), np.mean(values**2, axis=tuple(range(factors))))


def test_a_product_of_centred_functions_is_all_interaction():
    centred = np.arange(5) - 2.0
    energies = anova_energies(np.outer(centred, centred))
    assert np.allclose([energies[()], energies[(0,)], energies[(1,)]], 0)
    assert np.isclose(energies[(0, 1)], 4.0)


def test_what_does_not_vary_has_no_shares():
    assert np.array_equal(ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])), [0.5, np.nan], equal_nan=True)
