"""Targets of known complexity: their ranks are those of appendix A.1, and all but one share their stripes."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine.core import ABSENT
from recombine.encodings.position import local_bump
from recombine.experiments.liang2025 import framework_claims
from recombine.measures.complexity import exact_rank
from recombine.measures.cp import cp_rank
from recombine.tasks.conjunctions import KINDS, conjunctions, graded_bumps

SIZE = 8


def pictures(task, z) -> np.ndarray:
    return np.asarray(jax.vmap(task.sample, in_axes=(0, None))(np.asarray(z), jax.random.key(0))[1])


@pytest.mark.parametrize(("kind", "rank"), [("bright", 1), ("dark", 2), ("cross", 2), ("OR", 2)])
def test_the_rank_of_a_target_is_that_of_its_formula(kind, rank):
    z = [(KINDS.index(kind), x, y) for x in range(SIZE) for y in range(SIZE)]
    grid = pictures(conjunctions(SIZE, local_bump(SIZE)), z).reshape(SIZE, SIZE, SIZE, SIZE)
    assert exact_rank(grid) == rank


def test_a_slanted_bump_has_a_larger_rank_and_the_same_peak():
    z = [(KINDS.index("slanted"), x, y) for x in range(SIZE) for y in range(SIZE)]
    grid = pictures(conjunctions(SIZE, local_bump(SIZE)), z).reshape(SIZE, SIZE, SIZE, SIZE)
    assert exact_rank(grid) > 2
    assert grid[3, 5, 5, 3] == pytest.approx(1.0)


def test_stripes_are_those_of_the_bright_bump_but_for_the_dark_one():
    for alone in ((3, ABSENT), (ABSENT, 5)):
        found = dict(
            zip(KINDS, pictures(conjunctions(SIZE, local_bump(SIZE)), [(k, *alone) for k in range(5)]), strict=True)
        )
        for kind in ("cross", "OR", "slanted"):
            assert np.allclose(found[kind], found["bright"], atol=1e-6)
        assert np.allclose(found["dark"], 1 - found["bright"], atol=1e-6)


def test_a_grade_multiplies_a_bump_so_that_each_pixel_is_one_product_of_three_factors():
    task = graded_bumps(4, 3, local_bump(4))
    grid = pictures(task, task.combinations).reshape(4, 4, 3, 4, 4)
    assert grid[2, 1, 2, 1, 2] == pytest.approx(1.0)
    assert grid[2, 1, 0, 1, 2] == pytest.approx(1 / 3)
    assert cp_rank(grid[..., 1, 2], 1e-3, np.random.default_rng(0)) == 1
    assert cp_rank(1 - grid[..., 1, 2], 2e-2, np.random.default_rng(0)) == 2


def test_claims_name_every_kind():
    assert framework_claims.KINDS == KINDS
