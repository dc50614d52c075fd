"""Errors of nodes on graphs made by hand, and what independent errors predict."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.measures.nodes import (
    LOCAL,
    OUTCOMES,
    PROPAGATED,
    RESTORED,
    RIGHT,
    node_errors,
    predicted_exact,
    seen_more,
)

PARENTS = [(), (), (0, 1), (2,), (3, 0)]
"""a, b, a + b, the parity of that, and parity + a"""
TRUTH = np.array([2, 3, 5, 1, 3])


def computed(a: int, b: int, total: int, parity: int, last: int) -> list[int]:
    """Each node, rightly computed from the written values of its parents."""
    return [2, 3, a + b, total % 2, parity + a]


CASES = {
    "all right": ([2, 3, 5, 1, 3], [RIGHT] * 5),
    "a wrong sum that is passed on": ([2, 3, 6, 0, 2], [RIGHT, RIGHT, LOCAL, PROPAGATED, PROPAGATED]),
    "a wrong sum of the same parity": ([2, 3, 7, 1, 3], [RIGHT, RIGHT, LOCAL, RESTORED, RESTORED]),
    "an error at the end": ([2, 3, 5, 1, 9], [RIGHT, RIGHT, RIGHT, RIGHT, LOCAL]),
    "a wrong input": ([4, 3, 7, 1, 5], [LOCAL, RIGHT, PROPAGATED, RESTORED, PROPAGATED]),
    "wrong on wrong": ([4, 3, 9, 1, 9], [LOCAL, RIGHT, LOCAL, RESTORED, LOCAL]),
}


@pytest.mark.parametrize(("written", "wanted"), CASES.values(), ids=CASES)
def test_outcomes_of_five_nodes(written, wanted):
    found = node_errors(np.array([written]), TRUTH[None], np.array([computed(*written)]), PARENTS)
    assert [OUTCOMES[i] for i in found[0]] == [OUTCOMES[i] for i in wanted]


def test_parents_stand_before_their_nodes():
    with pytest.raises(ValueError, match="node 0 has the parent 1"):
        node_errors(TRUTH[None], TRUTH[None], TRUTH[None], [(1,), (), (), (), ()])


def test_independent_errors_are_predicted_and_shared_ones_are_not():
    rng = np.random.default_rng(0)
    independent = rng.uniform(size=(20_000, 12)) > 0.02
    assert abs(independent.all(axis=1).mean() - predicted_exact(independent)) < 0.01
    together = np.repeat(rng.uniform(size=(20_000, 1)) > 0.2, 12, axis=1)
    assert together.all(axis=1).mean() - predicted_exact(together) > 0.5


def test_errors_by_lot_read_no_difference_of_counts_and_memory_reads_one():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 20, (4000, 3))
    assert abs(seen_more(counts, rng.uniform(size=counts.shape) > 0.1, 30)) < 0.05
    assert seen_more(counts, counts > 0, 30) > 0.8
    assert np.isnan(seen_more(counts, counts >= 0, 30))
