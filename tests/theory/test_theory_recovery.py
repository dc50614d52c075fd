from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory import recovery

TOLERANCE = 0.5


def spoilt(seed: int, tasks: int, inputs: int, wrong: float) -> tuple[np.ndarray, np.ndarray]:
    """Tasks with few kinds of answers, so that some are alike, and a model that errs on tasks of its choice."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (tasks, inputs, 1)).astype(float) * 2
    rates = wrong * rng.dirichlet(np.full(tasks, 0.3)) * tasks
    bad = rng.uniform(size=(tasks, inputs)) < rates[:, None]
    return y, np.where(bad[..., None], y[rng.integers(tasks)], y + rng.uniform(-TOLERANCE, TOLERANCE, y.shape))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(4, 60), st.floats(0, 0.4))
def test_the_promise_is_kept_wherever_its_premise_is_met(seed, tasks, inputs, wrong):
    y, y_hat = spoilt(seed, tasks, inputs, wrong)
    for answers in (y_hat, recovery.adversary(y, wrong, TOLERANCE)):
        d, apart = recovery.wrong_share(y, answers, TOLERANCE), recovery.separation(y, TOLERANCE)
        if recovery.promised(d, apart):
            assert recovery.recovered_share(y, answers, TOLERANCE) >= recovery.recovery_bound(d) - 1e-9


def test_a_model_without_errors_tells_all_tasks_apart_and_a_constant_one_none():
    y = np.random.default_rng(0).normal(size=(8, 40, 2))
    assert recovery.recovered_share(y, y, 0.1) == 1
    assert recovery.recovered_share(y, np.zeros_like(y), 0.1) < 0.3
    assert recovery.wrong_share(y, y, 0.1) == 0


def test_the_adversary_spends_no_more_errors_than_it_may_and_breaks_the_promise_without_a_premise():
    y = np.zeros((10, 50, 1))
    y[1::2, :5] = 9.0  # tasks are alike but for five inputs, in two kinds
    y[:, 10:20, 0] += 9.0 * np.eye(10)[:, :10]
    answers = recovery.adversary(y, 0.05, TOLERANCE)
    d = recovery.wrong_share(y, answers, TOLERANCE)
    assert d <= 0.05
    assert not recovery.promised(d, recovery.separation(y, TOLERANCE))
    assert recovery.recovered_share(y, answers, TOLERANCE) < recovery.recovery_bound(d)


def test_errors_anywhere_are_as_many_as_asked_for():
    y = np.random.default_rng(1).normal(size=(40, 100, 1)) * 10
    d = recovery.wrong_share(y, recovery.even_predictor(y, 0.2, np.random.default_rng(0)), 0.01)
    assert abs(d - 0.2) < 0.03
