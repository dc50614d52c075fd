from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.tasks import multiplication as task_of
from recombine.tasks.tokens import EOS, FIRST

KEY = rc.key(0, "test")
SIZES = (3, 2)


def answer(a: int, b: int, steps: bool) -> list[str]:
    z = task_of.written(np.array([a]), np.array([b]), SIZES)
    _, y = task_of.Product(SIZES, steps)(z[0], KEY)
    return task_of.VOCABULARY.words(np.asarray(y)[np.asarray(y)[:, 1] > 0, 0])


def test_every_size_is_there():
    rows = task_of.every(SIZES)
    assert len(rows) == 999 * 99
    full = np.all(rows != rc.ABSENT, axis=1)
    assert full.sum() == 900 * 90 == 81_000


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 999), st.integers(1, 99), st.booleans())
def test_the_last_sum_is_the_product(a, b, steps):
    words = answer(a, b, steps)
    assert words[-1] == "EOS"
    digits = words[:-1] if not steps else words[:-1][len(words) - 1 - words[::-1].index(":") + 1 :]
    assert len(digits) == len(str(a)) + len(str(b))
    assert int("".join(reversed(digits))) == a * b


def test_steps_are_those_of_school():
    assert " ".join(answer(27, 43, steps=True)) == "1 2 8 0 : 1 8 0 , 8 2 0 1 : 1 6 1 1 EOS"
    assert " ".join(answer(27, 43, steps=False)) == "1 6 1 1 EOS"


def test_five_digits_by_five():
    rows = task_of.some((5, 5), 20, np.random.default_rng(0), (5, 5))
    y = rc.truth(task_of.multiplication(rows, (5, 5), steps=False), rows, key=KEY).y
    powers = 10 ** np.arange(10)
    for row, tokens in zip(rows.astype(int), y, strict=True):
        digits = tokens[tokens[:, 1] > 0, 0]
        assert digits[-1] == EOS
        assert np.sum((digits[:-1] - FIRST) * powers) == np.sum(row[:5] * powers[:5]) * np.sum(row[5:] * powers[:5])


def test_nodes_are_pairs_of_digits_and_all_that_led_to_a_carry():
    rows = task_of.written(np.array([12, 312]), np.array([7, 47]), SIZES)
    pairs, whole = (f(rows, SIZES) for f in (task_of.digit_pairs, task_of.partial_products))
    assert pairs.tolist() == [[27, 17, -1, -1, -1, -1], [27, 17, 37, 24, 14, 34]]
    assert whole[0, :2].tolist() == whole[1, :2].tolist()  # 2 x 7 and 12 x 7
    assert len(np.unique(whole[1])) == 6


def test_bad_rows_are_refused():
    with pytest.raises(rc.UserError, match="digits of two numbers"):
        task_of.multiplication(np.array([[1, 2, 3]]), SIZES, steps=True)
    with pytest.raises(rc.UserError, match="fewer than 82 pairs"):
        task_of.some((1, 1), 82, np.random.default_rng(0), SIZES)
