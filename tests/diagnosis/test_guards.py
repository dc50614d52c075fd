"""Guards of a verdict: right answers that less than composing explains, and verdicts that hang on one combination."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.diagnosis.behaviour import behaviour
from recombine.diagnosis.evidence import gather
from recombine.diagnosis.rules import rule
from recombine.diagnosis.ruling import Ruling


def cells(*sizes: int) -> np.ndarray:
    """All combinations as rows."""
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))


TWO, THREE = cells(8, 8), cells(5, 5, 5)


def ruled(z, seen, y, y_hat) -> Ruling:
    return rule(behaviour(gather(z, seen, y, y_hat)))[0]


def at_random(z, share=0.3, seed=0) -> np.ndarray:
    """Some combinations are held out, but none of the first row and column, so that every value is seen."""
    rng = np.random.default_rng(seed)
    return (rng.random(len(z)) > share) | (z.min(axis=1) == 0)


def product(z, seed=0) -> np.ndarray:
    """A target in which every factor scales the others: much more than a sum."""
    rng = np.random.default_rng(seed)
    return np.prod([rng.normal(size=(z.max() + 1, 6))[part] for part in z.T], axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_all_that_matters_is_no_composition(seed):
    table = np.random.default_rng(seed).normal(size=(5, 5, 4))
    y = table[THREE[:, 0], THREE[:, 1]]  # c is irrelevant, and every (a, b) is seen with one c at least
    seen = at_random(THREE, 0.5, seed) | (THREE.sum(axis=1) % 5 == 0)
    said = ruled(THREE, seen, y, y)
    assert (said.verdict, said.rule) == ("cannot tell", "table")


@pytest.mark.parametrize("seed", range(3))
def test_a_target_of_one_factor_is_no_composition(seed):
    y = np.random.default_rng(seed).normal(size=(8, 4))[TWO[:, 0]]
    said = ruled(TWO, at_random(TWO, seed=seed), y, y)
    assert (said.verdict, said.rule) == ("cannot tell", "table")


def test_one_wrong_target_decides_nothing():
    seen = at_random(TWO, 0.6)
    y = product(TWO)
    y_hat, wrong = y.copy(), np.flatnonzero(~seen)[3]
    y[wrong] += 100.0
    assert 20 <= (~seen).sum() <= 40
    said = ruled(TWO, seen, y, y_hat)
    assert (said.verdict, said.rule) == ("cannot tell", "one")


def test_new_targets_that_are_all_the_same_ask_nothing():
    seen, y = at_random(TWO), product(TWO)
    y[~seen] = y[~seen][0]
    said = ruled(TWO, seen, y, y)
    assert (said.verdict, said.rule) == ("cannot tell", "target")


@pytest.mark.parametrize("seed", range(3))
def test_a_value_that_is_never_composed_is_told(seed):
    z = cells(8, 8, 8)
    seen, y = at_random(z, 0.4, seed), product(z, seed)
    y_hat, lost = y.copy(), ~seen & (z[:, 1] == 3)
    y_hat[lost] = y[seen].mean(axis=0)
    said = ruled(z, seen, y, y_hat)
    assert said.verdict != "composes"
    assert (said.verdict, said.rule) != ("partly", "values") or "is 3" in said.why


@pytest.mark.parametrize("seed", range(3))
def test_a_sum_that_underfits_does_not_compose(seed):
    """An additive model of a target with a fifth of its variance in how the parts interact."""
    rng = np.random.default_rng(seed)
    total = np.sum([rng.normal(size=(8, 6))[part] for part in TWO.T], axis=0)
    mixed = rng.normal(size=(8, 8, 6))[TWO[:, 0], TWO[:, 1]]
    mixed *= np.sqrt(0.25 * total.var() / mixed.var())
    assert ruled(TWO, at_random(TWO, seed=seed), total + mixed, total).verdict != "composes"


@pytest.mark.parametrize("z", [TWO, THREE], ids=["two factors", "three"])
@pytest.mark.parametrize("seed", range(3))
def test_a_perfect_model_of_products_composes(z, seed):
    y = product(z, seed)
    said = ruled(z, at_random(z, seed=seed), y, y)
    assert (said.verdict, said.rule) == ("composes", "gap")
