"""Predictions of what is left out: lines worked by hand, outliers, features that know nothing, and the interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.prediction import by_line, by_log_line, by_mean, predict_left_out

X = np.array([0.0, 1, 2, 4, 7])
guesses = pytest.mark.parametrize("guess", [by_mean, by_line, by_log_line])


def some(seed: int, count: int, slope: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=count)
    return x, np.exp(2 + 0.4 * (slope * x + rng.normal(size=count)))


def test_three_points_by_hand():
    """Left out, 1 is read from the line through (1, 2) and (2, 6): -2. The mean of the others is 4."""
    found = predict_left_out([0, 1, 2], [1, 2, 6])
    assert found.predicted == pytest.approx([-2, 3.5, 3])
    assert found.error == pytest.approx((3 + 1.5 + 3) / 3)
    assert found.baseline == pytest.approx((3 + 1.5 + 4.5) / 3)
    assert found.gain == pytest.approx(0.5)
    assert found.rank == pytest.approx(1)


def test_the_depths_of_the_evolved_pictures_from_their_png_ratios():
    """Skull, butterfly, apple: within a fifth of 12, 16, 33 and better than the mean; three targets prove nothing."""
    depths = np.array([12, 16, 33])
    found = predict_left_out([0.2097, 0.2262, 0.2598], depths, by_log_line)
    assert found.predicted == pytest.approx([11.2, 16.8, 28.8], abs=0.1)
    assert np.all(np.abs(found.predicted / depths - 1) < 0.2)
    assert found.gain > 0
    assert found.interval[0] <= 0


def test_a_law_is_found_and_the_guess_that_fits_it_wins():
    straight, bent = 3 - 2 * X + 20, np.exp(0.3 * X + 1)
    for y, right, wrong in ((straight, by_line, by_log_line), (bent, by_log_line, by_line)):
        assert predict_left_out(X, y, right).error == pytest.approx(0, abs=1e-9)
        assert predict_left_out(X, y, wrong).error > 0.1
    found = predict_left_out(np.arange(12), 30 - 2 * np.arange(12))
    assert found.rank == pytest.approx(-1)
    assert found.interval[0] > 0
    assert found.gain == pytest.approx(found.baseline)


@guesses
@pytest.mark.parametrize("wild", [-1e3, 1e3, 1e9])
def test_what_is_left_out_is_never_seen(guess, wild):
    """One target is off the law: the prediction for it is that of the law to the last bit, whatever it is."""
    x, y = np.append(X, 5.0), np.exp(0.3 * np.append(X, 5.0))
    other = y.copy()
    other[-1] = abs(wild) if guess is by_log_line else wild
    seen, unseen = (predict_left_out(x, v, guess).predicted for v in (other, y))
    assert seen[-1] == unseen[-1]
    assert np.all(seen[:-1] != unseen[:-1])
    if guess is by_log_line:
        assert seen[-1] == pytest.approx(np.exp(1.5))


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**16), count=st.integers(3, 12))
def test_every_prediction_is_a_fit_to_the_others_counted_as_often_as_told(seed, count):
    x, y = some(seed, count, 0.5)
    often = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=4) + np.eye(4, count)
    for weights, line, log_line, mean in zip(
        often, by_line(x, y, often), by_log_line(x, y, often), by_mean(x, y, often), strict=True
    ):
        for i in range(count):
            others = np.repeat(np.delete(np.arange(count), i), np.delete(weights, i).astype(int))
            if len(set(others.tolist())) < 2:
                continue
            assert mean[i] == pytest.approx(y[others].mean())
            assert line[i] == pytest.approx(np.polyval(np.polyfit(x[others], y[others], 1), x[i]), rel=1e-6)
            fitted = np.polyval(np.polyfit(x[others], np.log(y[others]), 1), x[i])
            assert np.log(log_line[i]) == pytest.approx(np.clip(fitted, -300, 300), rel=1e-6)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), slope=st.floats(0.1, 100), shift=st.floats(-100, 100))
def test_the_units_of_feature_and_number_do_not_matter(seed, slope, shift):
    x, y = some(seed, 10, 0.5)
    found, turned = predict_left_out(x, y, draws=50), predict_left_out(shift - slope * x, 7 * y, draws=50)
    assert turned.predicted == pytest.approx(7 * found.predicted)
    assert turned.interval == pytest.approx([7 * end for end in found.interval])
    assert turned.rank == pytest.approx(-found.rank)


@pytest.mark.parametrize("guess", [by_line, by_log_line])
def test_a_feature_that_is_noise_does_no_better_than_the_mean(guess):
    found = [predict_left_out(*some(seed, 20, 0.0), guess, draws=200) for seed in range(200)]
    assert np.mean([f.gain for f in found]) < 0
    assert np.mean([f.interval[0] > 0 for f in found]) <= 0.025
    assert abs(np.mean([f.rank for f in found])) < 0.05


def test_a_feature_that_matters_does_better_and_the_interval_holds_the_gain_to_be_expected():
    found = [predict_left_out(*some(seed, 30, 1.5), draws=200) for seed in range(200)]
    expected = np.mean([f.gain for f in found])
    assert expected > 0.2 * np.mean([f.baseline for f in found])
    assert np.mean([f.interval[0] > 0 for f in found]) > 0.6
    assert 0.9 <= np.mean([f.interval[0] <= expected <= f.interval[1] for f in found]) <= 0.99


def test_a_feature_that_is_the_same_everywhere_is_the_mean():
    found = predict_left_out(np.full(5, 0.1), X)
    assert found.predicted == pytest.approx(by_mean(X, X, np.ones(5)))
    assert (found.gain, found.interval, found.rank) == (0, (0, 0), 0)


def test_two_close_targets_make_a_steep_line_and_no_overflow():
    found = predict_left_out([0, 1e-5, 1], [1, 100, 1], by_log_line)
    assert np.all(np.isfinite(found.predicted))
    assert np.all(np.isfinite(found.interval))


def test_the_interval_is_the_same_every_time():
    x, y = some(3, 12, 1.0)
    assert predict_left_out(x, y).interval == predict_left_out(x, y).interval
    assert predict_left_out(x, y, seed=1).interval != predict_left_out(x, y).interval


def test_bad_input_is_refused():
    for x, y in (([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), (np.ones((3, 1)), np.ones((3, 1)))):
        with pytest.raises(ValueError, match="at least three targets"):
            predict_left_out(x, y)
    with pytest.raises(ValueError, match="not finite"):
        predict_left_out([1, 2, np.nan], [1, 2, 3])
    with pytest.raises(ValueError, match="positive"):
        predict_left_out([1, 2, 3], [1, 0, 3], by_log_line)
