"""Probes on known answers: a code that tells the parts, one that tells nothing, and noise that one probe reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.probe import cross_validated_r2, decodability, held_out_r2, in_sample_r2, r2, reader


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_input_code_tells_both_parts_also_where_it_was_not_fitted(perfect, train, rng):
    assert held_out_r2(perfect.x, perfect.z, train) > 0.99
    assert cross_validated_r2(perfect.x, perfect.z, rng) > 0.99


def test_only_the_probe_in_sample_reads_noise(perfect, train, rng):
    noise = rng.normal(size=(256, 20, 20))
    assert in_sample_r2(noise, perfect.z) == pytest.approx(1.0)
    assert cross_validated_r2(noise, perfect.z, rng) < 0.1
    assert held_out_r2(noise, perfect.z, train) < 0.1


def test_a_blind_layer_gets_what_the_mean_gets(perfect, train, rng):
    blind = np.full((256, 3), 0.1)
    assert held_out_r2(blind, perfect.z, train) == pytest.approx(0.0)
    assert in_sample_r2(blind, perfect.z) == pytest.approx(0.0)
    assert cross_validated_r2(blind, perfect.z, rng) <= 0.0


def test_a_memorisers_pictures_are_read_better_than_the_truth(perfect, memoriser, train):
    """So decodability is no success: a sum of memories is linear in its parts, a bump in the hole is not."""
    assert held_out_r2(memoriser.y_hat, perfect.z, train) > 0.999
    assert held_out_r2(perfect.y, perfect.z, train) < 0.95


def test_r2_of_a_constant_target_is_undefined():
    assert np.isnan(r2(np.ones((3, 1)), np.ones((3, 1))))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_the_dual_form_is_ridge(seed, units):
    rng = np.random.default_rng(seed)
    acts, targets, train = rng.normal(size=(20, units)), rng.normal(size=(20, 2)), np.arange(20) < 12
    mean, centre = acts[train].mean(axis=0), targets[train].mean(axis=0)
    known = acts[train] - mean
    penalty = 1e-3 * np.mean(np.sum(known**2, axis=1))
    weights = np.linalg.solve(known.T @ known + penalty * np.eye(units), known.T @ (targets[train] - centre))
    expected = r2(targets[~train], centre + (acts[~train] - mean) @ weights)
    assert held_out_r2(acts, targets, train) == pytest.approx(expected)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-3, 3))
def test_scaling_and_shifting_the_layer_changes_nothing(seed, scale, shift):
    rng = np.random.default_rng(seed)
    acts, targets, train = rng.normal(size=(20, 5)), rng.normal(size=(20, 2)), np.arange(20) < 12
    assert held_out_r2(scale * acts + shift, targets, train) == pytest.approx(held_out_r2(acts, targets, train))


def test_decodability_reads_what_is_linear_and_is_negative_where_a_target_was_never_seen():
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(400, 3))
    mixed = z @ rng.normal(size=(3, 8))
    first, other = slice(0, 200), slice(200, 400)
    assert decodability(mixed[first], z[first], mixed[other], z[other], penalty=1e-6) > 0.999
    assert decodability(rng.normal(size=(200, 8)), z[first], rng.normal(size=(200, 8)), z[other]) < 0.1
    never = z.copy()
    never[first, 2] = 0
    assert decodability(never[first] @ np.eye(3), never[first], never[other] @ np.eye(3), never[other]) < 0.3
    assert decodability(mixed[first], z[first], mixed[other], np.where([1, 1, 0], z[other], 0.5), penalty=1e-6) > 0.999


def test_a_probe_of_few_rows_is_the_same_though_found_from_the_rows():
    rng = np.random.default_rng(1)
    acts, targets, other, asked = (rng.normal(size=shape) for shape in ((20, 50), (20, 3), (30, 50), (30, 3)))
    rows, wanted = acts - acts.mean(axis=0), targets - targets.mean(axis=0)
    weights = np.linalg.solve(rows.T @ rows + np.eye(50), rows.T @ wanted)
    guesses = targets.mean(axis=0) + (other - acts.mean(axis=0)) @ weights
    assert decodability(acts, targets, other, asked) == pytest.approx(r2(asked, guesses), abs=1e-9)
    assert reader(acts, targets)(other, asked) == decodability(acts, targets, other, asked)
