"""Measures that a diagnosis brought: gap, recall, identification, ridge, and those for grids with holes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.additive import additive_share, additive_share_of_rows
from recombine.measures.gap import gap, mean_interval, share_interval
from recombine.measures.geometry import finite_differences, neighbour_differences
from recombine.measures.identify import chance, explained_by_parts, identified
from recombine.measures.recall import interpolated, nearest_errors, recalled, smoothed, steps_apart, sum_of_parts
from recombine.measures.ridge import ridge_predictions, scores
from recombine.measures.schmidt import grouped_schmidt_values, schmidt_values

GRID = np.array(list(product(range(4), range(5))))
RNG = np.random.default_rng


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 10), st.floats(0, 5), st.integers(0, 99))
def test_noise_that_all_errors_share_cancels(floor, share, seed):
    errors = RNG(seed).random(12)
    plain = gap(share * errors, 1 + errors, [0.0, 0.0, 0.0])
    raised = gap(share * errors + floor, 1 + errors + floor, [floor, floor, floor])
    assert np.allclose(plain, raised, atol=1e-6)


def test_the_interval_of_the_gap_holds_what_it_should():
    """Errors around G = 0.4 of a memory's: the 95 % interval holds it in 95 % of draws, within 3 %."""
    hits = 0
    for seed in range(600):
        rng = RNG(seed)
        memory, floor = rng.gamma(4, 0.25, 20), 0.1 + 0.02 * rng.normal(size=30)
        found = gap(0.1 + 0.4 * (memory - 0.1) + 0.1 * rng.normal(size=20), memory, floor)
        hits += found.low < 0.4 < found.high
    assert abs(hits / 600 - 0.95) < 0.03


def test_intervals_of_few_are_wide():
    assert mean_interval([1.0]).high == np.inf
    assert share_interval(0, 0).low == 0
    assert share_interval(3, 3).low < 0.5 < share_interval(10, 10).low


def test_ridge_is_that_of_the_normal_equations_and_picks_by_leaving_one_out():
    rng = RNG(0)
    fit, acts = rng.normal(size=(40, 6)), rng.normal(size=(9, 6))
    targets = fit @ rng.normal(size=(6, 2)) + rng.normal(size=(40, 2))
    penalties = np.array([0.1, 3.0, 80.0])

    def plain(rows, wanted, asked, penalty):
        centre, middle = rows.mean(axis=0), wanted.mean(axis=0)
        gram = (rows - centre).T @ (rows - centre) + penalty * np.eye(6)
        return middle + (asked - centre) @ np.linalg.solve(gram, (rows - centre).T @ (wanted - middle))

    def left_out(penalty):
        keep = ~np.eye(40, dtype=bool)
        missed = [targets[i] - plain(fit[k], targets[k], fit[i : i + 1], penalty)[0] for i, k in enumerate(keep)]
        return np.mean(np.square(missed), axis=0)

    best = np.argmin([left_out(p) for p in penalties], axis=0)
    wanted = np.stack([plain(fit, targets, acts, penalties[b])[:, t] for t, b in enumerate(best)], axis=1)
    assert np.allclose(ridge_predictions(fit, targets, acts, penalties), wanted)


def test_ridge_with_fewer_rows_than_units_reads_nothing_off_noise():
    rng = RNG(0)
    acts, targets = rng.normal(size=(60, 200)), rng.normal(size=(60, 1))
    assert scores(targets[30:], ridge_predictions(acts[:30], targets[:30], acts[30:]))[0] < 0.2


def test_ridge_equals_scikit_learns():
    linear = pytest.importorskip("sklearn.linear_model")
    rng = RNG(1)
    acts = rng.normal(size=(300, 20)) @ rng.normal(size=(20, 20))
    targets = acts @ rng.normal(size=(20, 3)) + rng.normal(size=(300, 3))
    penalties = 10.0 ** np.arange(-3, 4)
    theirs = linear.RidgeCV(alphas=penalties, alpha_per_target=True).fit(acts[:200], targets[:200]).predict(acts[200:])
    ours = ridge_predictions(acts[:200], targets[:200], acts[200:], penalties)
    assert np.allclose(scores(targets[200:], ours), scores(targets[200:], theirs), atol=1e-4)


def test_measures_of_rows_equal_those_of_a_full_grid():
    acts = RNG(0).normal(size=(20, 7))
    on_grid = acts.reshape(4, 5, 7)
    assert additive_share_of_rows(acts, GRID) == pytest.approx(additive_share(on_grid))
    tangents, there = neighbour_differences(acts, GRID)
    assert there.all()
    for part, wanted in enumerate(finite_differences(on_grid)):
        assert np.allclose(tangents[:, part], wanted.reshape(20, 7))
    kernel = acts @ acts.T
    for part in (0, 1):
        values = grouped_schmidt_values(kernel, GRID, part)
        assert np.allclose(values, schmidt_values(kernel, GRID)[: len(values)])


def test_a_hole_in_the_grid_leaves_out_what_has_no_neighbours():
    keep = np.ones(20, bool)
    keep[[6, 7, 8]] = False  # (1, 1), (1, 2), (1, 3)
    alone = GRID[keep].tolist().index([0, 2])
    tangents, there = neighbour_differences(RNG(0).normal(size=(17, 2)), GRID[keep])
    assert not there[alone]
    assert there.sum() > 8
    assert np.isfinite(tangents).all()


def test_what_is_recalled():
    answers = (GRID[:, :1] * 10.0 + GRID[:, 1:]) ** 1.0
    seen = np.arange(20) != 7  # (1, 2) is new
    both = np.array([True, True])
    known, asked = GRID[seen], GRID[~seen]
    assert np.allclose(sum_of_parts(known, answers[seen], asked), [[12.0]], atol=1e-3)
    assert np.allclose(interpolated(known, answers[seen], asked, both), [[12.0]], atol=0.5)
    assert np.allclose(smoothed(known, answers[seen], asked), [[12.0]], atol=0.5)
    near = nearest_errors(known, answers[seen], asked, answers[~seen], both)
    assert near == pytest.approx([(100 + 100 + 1 + 1) / 4])
    shares = [answers[seen & (GRID[:, 0] == 1)].mean(), answers[seen & (GRID[:, 1] == 2)].mean()]
    assert np.allclose(recalled(known, answers[seen], asked), [[np.mean(shares)]])
    assert steps_apart(asked, known, np.array([False, False])).max() == 2


def test_a_factor_that_changes_no_target_is_identified_by_chance():
    targets = GRID[:, :1].astype(float)
    found = identified(targets, targets, GRID, GRID).mean(axis=0)
    assert np.allclose(found, [1.0, 0.2])
    assert np.allclose(chance(GRID), [0.25, 0.2])


def test_sums_of_parts_are_told_from_the_truth():
    rng = RNG(0)
    parts = rng.normal(size=(2, 30, 6))
    truth = parts[0] * parts[1]
    by_parts, by_truth, weights = explained_by_parts(0.5 * parts[0] + parts[1], parts, truth)
    assert by_parts == pytest.approx(1)
    assert by_truth < 0.2
    assert np.allclose(weights, [0.5, 1.0])
    assert explained_by_parts(truth, parts, truth)[1] == pytest.approx(1)
    assert np.isnan(explained_by_parts(np.ones((30, 6)), parts, truth)[0])
