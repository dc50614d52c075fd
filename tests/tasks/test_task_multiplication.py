from __future__ import annotations

import jax.numpy as jnp
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
    with pytest.raises(rc.UserError, match="at most 81 pairs"):
        task_of.some((1, 1), 82, np.random.default_rng(0), SIZES)


@settings(max_examples=15, deadline=None)
@given(st.integers(100, 999), st.integers(10, 99))
def test_steps_stand_where_it_is_said(a, b):
    z = task_of.written(np.array([a]), np.array([b]), SIZES)
    y = rc.truth(task_of.multiplication(z, SIZES, steps=True), z, key=KEY).y[0]
    for j, row in enumerate(task_of.step_tokens(SIZES)):
        carry = 0
        for i, places in enumerate(row):
            carry, low = divmod(int(str(a)[::-1][i]) * int(str(b)[::-1][j]) + carry, 10)
            assert (y[places, 0] - FIRST).tolist() == [low, carry]


def test_digits_that_are_worked_on_together_share_a_place():
    z = task_of.written(np.array([27, 127]), np.array([43, 8]), SIZES)
    x = rc.truth(task_of.multiplication(z, SIZES, steps=True), z, key=KEY).x
    places = np.asarray(task_of.coupled(jnp.asarray(x)))
    #                                   7  2  x  3   4  =  1  2  8  0  :  1  8  0   ,  8  2  0  1  :  1  6  1  1
    assert places[0, :24].tolist() == [1, 2, 3, 0, -1, 0, 1, 1, 2, 2, 0, 1, 2, 3, -1, 1, 1, 2, 2, 0, 0, 1, 2, 3]
    #                                   7  2  1  x  8  =  6  5  1  2  0  1  :  6  1  0  1
    assert places[1, :17].tolist() == [1, 2, 3, 4, 0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3, 4]
    assert np.array_equal(np.asarray(task_of.coupled(jnp.asarray(x[0]))), places[0])


@pytest.mark.parametrize("digits", [(3, 1), (5, 2), (4, 3)])
def test_what_a_step_needs_lies_as_far_away_in_numbers_of_every_length(digits):
    rows = task_of.some(digits, 1, np.random.default_rng(0), digits)
    x = rc.truth(task_of.multiplication(rows, digits, steps=True), rows, key=KEY).x[0]
    places = np.append(np.asarray(task_of.coupled(jnp.asarray(x))), 0)
    steps = task_of.step_tokens(digits) + 1  # where x has them
    assert np.array_equal(places[steps], np.broadcast_to(places[: digits[0], None], steps.shape))
    # the sum of round j begins after ":"; from its digit j on it is added to, digit by digit
    for j, start in enumerate(steps[:, -1, -1] + 2):
        assert places[start + j : start + j + digits[0]].tolist() == places[: digits[0]].tolist()


@pytest.mark.parametrize("row", [[-1, 2, 3, 7, 1], [1, 2, 3, -1, 7], [1, -1, 3, 7, 1], [1, 2, 10, 7, 1]])
def test_what_are_no_digits_of_two_numbers_is_refused(row):
    with pytest.raises(rc.UserError, match="is none"):
        task_of.multiplication(np.array([[1, 2, 3, 4, -1], row]), (3, 2), steps=True)
    for shape in ((0, 5), (5,), (2, 4)):
        with pytest.raises(rc.UserError, match=r"digits of two numbers.* got"):
            task_of.multiplication(np.ones(shape, int), (3, 2), steps=True)
