"""Agreement on known answers: the same judge twice, its opposite, one that does not look, and tables worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from recombine.measures.agreement import kappa, kappa_interval, raw_agreement, roc_area

NAN = np.nan
answers = st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, NAN])] * 2), min_size=1, max_size=30)


def table(no_no: int, no_yes: int, yes_no: int, yes_yes: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.repeat([0, 0, 1, 1], [no_no, no_yes, yes_no, yes_yes])
    return first, np.repeat([0, 1, 0, 1], [no_no, no_yes, yes_no, yes_yes])


def test_the_formula_by_hand():
    """Fifty items: 35 alike, so p = 0.7; yes shares 0.5 and 0.6, so e = 0.3 + 0.2 and kappa = 0.2 / 0.5."""
    first, second = table(15, 10, 5, 20)
    assert raw_agreement(first, second) == pytest.approx(0.7)
    assert kappa(first, second) == pytest.approx(0.4)


def test_the_same_judge_twice_and_its_opposite():
    first = np.array([0, 1, 1, 0])
    assert (raw_agreement(first, first), kappa(first, first)) == (1, 1)
    assert (raw_agreement(first, 1 - first), kappa(first, 1 - first)) == (0, -1)
    assert kappa_interval(first, first) == (1, 1)


def test_agreement_by_chance_has_no_kappa_however_high_it_is():
    first, second = table(1, 9, 9, 81)
    assert raw_agreement(first, second) == pytest.approx(0.82)
    assert kappa(first, second) == 0


def test_a_judge_who_always_says_yes_agrees_by_chance_only():
    looks = np.array([0, 1, 1, 0])
    assert kappa(looks, np.ones(4)) == 0
    assert np.isnan(kappa(np.ones(4), np.ones(4)))
    assert np.isnan(kappa_interval(np.ones(4), np.ones(4))).all()


def test_what_one_leaves_open_does_not_count():
    first, second = [1, 0, NAN, 1, NAN], [1, 0, 1, NAN, NAN]
    assert raw_agreement(first, second) == kappa(first, second) == 1
    assert np.isnan(raw_agreement([NAN], [1]))
    assert np.isnan(kappa([], []))


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Judges that copy the truth with chance 0.8 and else toss a coin have kappa 0.64."""
    rng = np.random.default_rng(0)

    def one() -> bool:
        truth = rng.integers(0, 2, 150)
        first, second = (np.where(rng.random(150) < 0.8, truth, rng.integers(0, 2, 150)) for _ in range(2))
        low, high = kappa_interval(first, second, draws=300)
        return low <= 0.64 <= high

    assert 0.90 <= np.mean([one() for _ in range(200)]) <= 0.98


def test_groups_of_items_that_are_alike_widen_the_interval():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 2, (2, 20))
    low, high = kappa_interval(np.repeat(first, 50), np.repeat(second, 50))
    wide_low, wide_high = kappa_interval(np.repeat(first, 50), np.repeat(second, 50), np.repeat(np.arange(20), 50))
    assert (wide_low, wide_high) == pytest.approx(kappa_interval(first, second))
    assert wide_high - wide_low > 4 * (high - low)


def test_one_group_has_no_interval():
    assert np.isnan(kappa_interval([0, 1, 1], [0, 1, 0], ["a", "a", "a"])).all()


def test_the_interval_is_the_same_every_time():
    pair = table(15, 10, 5, 20)
    low, high = kappa_interval(*pair)
    assert (low, high) == kappa_interval(*pair)
    assert low < kappa(*pair) < high
    assert kappa_interval(*pair, seed=1) != (low, high)


@settings(deadline=None, max_examples=40)
@given(answers)
def test_neither_judge_is_first_and_yes_is_no_better_than_no(both):
    first, second = np.array(both).T
    expected = kappa(first, second)
    for other in (kappa(second, first), kappa(1 - first, 1 - second)):
        np.testing.assert_allclose(other, expected)
    assert np.isnan(expected) or -1 <= expected <= 1


def test_the_area_by_hand():
    """Yes: 3 and 1, no: 1 and 0. Of four pairs three are in order and one is tied."""
    assert roc_area([3, 1, 1, 0], [1, 1, 0, 0]) == 3.5 / 4


def test_the_area_of_a_perfect_a_reversed_and_a_blind_score():
    label = np.array([0, 0, 1, 1, 1])
    assert roc_area([1, 2, 3, 4, 5], label) == 1
    assert roc_area([5, 4, 3, 2, 1], label) == 0
    assert roc_area(np.zeros(5), label) == 0.5


def test_an_area_needs_both_labels():
    assert np.isnan(roc_area([1, 2], [1, 1]))
    assert np.isnan(roc_area([1, NAN, 2], [1, 0, NAN]))
    assert np.isnan(roc_area([], []))


def test_infinite_scores_rank_like_any_other():
    assert roc_area([np.inf, 0, -np.inf], [1, 0, 0]) == 1


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_mann_and_whitneys_and_sees_order_alone(items):
    score, label = np.array([s for s, _ in items], float), np.array([yes for _, yes in items])
    area = roc_area(score, label)
    if label.all() or not label.any():
        assert np.isnan(area)
        return
    assert area == pytest.approx(mannwhitneyu(score[label], score[~label]).statistic / (label.sum() * (~label).sum()))
    assert roc_area(np.exp(score), label) == pytest.approx(area)
    assert roc_area(-score, label) == pytest.approx(1 - area)


@pytest.mark.parametrize("measure", [raw_agreement, kappa, kappa_interval])
def test_answers_are_yes_no_or_none_and_equally_many(measure):
    with pytest.raises(ValueError, match="yes"):
        measure([0, 2], [0, 1])
    with pytest.raises(ValueError, match="one value an item"):
        measure([0, 1], [0])


def test_a_score_and_its_labels_are_equally_many():
    with pytest.raises(ValueError, match="one value an item"):
        roc_area([1, 2, 3], [0, 1])
