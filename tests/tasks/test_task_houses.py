from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import recombine as rc
from recombine.tasks import houses
from recombine.tasks.tokens import SEP

SIZES = ((2, 2), (3, 2), (3, 3))


def brute(count: int, attributes: int, clues: list[houses.Clue]) -> int:
    """How many solutions keep all clues, by trying every one."""
    found = 0
    for where in product(permutations(range(count)), repeat=attributes):
        at = {(a, v): where[a][v] for a in range(attributes) for v in range(count)}
        at |= {(-1, house): house for house in range(count)}
        found += all(bool(c.holds(np.asarray(at[c.first]), np.asarray(at[c.second]))) for c in clues)
    return found


@pytest.mark.parametrize(("count", "attributes"), SIZES)
def test_a_puzzle_has_one_solution_and_no_clue_to_spare(count, attributes):
    for item in range(4):
        clues, where = houses.puzzle(count, attributes, np.random.default_rng(item))
        assert brute(count, attributes, clues) == 1
        assert all(c.holds(where[c.first], np.asarray(c.second[1])) for c in clues if c.kind == houses.AT)
        for clue in clues:
            assert brute(count, attributes, [c for c in clues if c is not clue]) > 1


def test_the_solver_counts_as_trying_does():
    rng = np.random.default_rng(0)
    for _ in range(6):
        where = np.stack([rng.permutation(3) for _ in range(3)])
        clues = houses.candidates(where, rng)[:4]
        assert len(houses.solutions(3, 3, clues, most=10**4)) == brute(3, 3, clues)


def test_the_largest_puzzles_are_solved():
    clues, where = houses.puzzle(5, 5, np.random.default_rng(1))
    (found,) = houses.solutions(5, 5, clues, most=3)
    assert np.array_equal(np.array(list(permutations(range(5))))[list(found)], where)


def test_a_row_has_the_clues_then_each_house():
    task = houses.houses(SIZES, 2, key=rc.key(0, "houses"))
    record = rc.truth(task, task.combinations, key=rc.key(0, "test"))
    for row, tokens, answers in zip(record.z, record.x, record.y, strict=True):
        words = houses.VOCABULARY.words(tokens[: tokens.tolist().index(SEP)])
        assert words[:2] == [str(row[0]), str(row[1])]
        assert len(words[2:]) % 3 == 0
        asked = houses.VOCABULARY.words(answers[answers[:, 1] > 0, 0])
        assert len(asked) == row[0] * row[1] + 1
        assert len(set(asked)) == len(asked)
        assert [word.split()[1] for word in asked[: row[1]]] == [str(a) for a in range(row[1])]


def test_bad_sizes_are_refused():
    for sizes in (((1, 3),), ((6, 2),), (), ((2, 2), (2, 2))):
        with pytest.raises(rc.UserError, match="2 to 5 houses and attributes"):
            houses.houses(sizes, 2, key=rc.key(0, "houses"))
