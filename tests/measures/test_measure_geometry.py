"""Shapes whose metric is known: the bump code, the true pictures, a collapsed hole, and a line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.geometry import (
    factorisation,
    factorisation_from_zero,
    factorisation_map,
    factorisation_of_means,
    finite_differences,
    hole_depth,
    log_volume,
    metric,
    volume,
)
from recombine.measures.grid import on_grid

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def surfaces(bump_record):
    """The metric of the input code and of the true pictures for N = 28, and the cells far from the border."""
    record = bump_record(28)
    far = np.all((record.z >= 6) & (record.z <= 21), axis=1).reshape(28, 28)
    return {"code": _metric(on_grid(record, record.x)), "pictures": _metric(on_grid(record, record.y)), "far": far}


def _metric(acts: np.ndarray) -> np.ndarray:
    return metric(*finite_differences(acts))


def test_the_volume_of_code_and_pictures_is_the_analytic_one(surfaces):
    code, pictures = (log_volume(surfaces[name])[surfaces["far"]] for name in ("code", "pictures"))
    assert np.allclose(code, np.log10(np.sqrt(np.pi) * (1 - 1 / np.e) / 2), atol=1e-3)
    assert np.allclose(pictures, np.log10(np.pi * (1 - 1 / np.e) / 2), atol=1e-3)
    assert code[0] == pytest.approx(-0.252, abs=1e-3)
    assert pictures[0] == pytest.approx(-0.003, abs=1e-3)


def test_exact_tangents_give_the_exact_volume():
    apart = np.arange(28) - 14.0
    along = np.exp(-(apart**2) / 2)
    code = [np.concatenate([apart * along, 0 * along])[None], np.concatenate([0 * along, apart * along])[None]]
    pictures = [np.outer(along, apart * along).reshape(1, -1), np.outer(apart * along, along).reshape(1, -1)]
    assert log_volume(metric(*code)) == pytest.approx(-0.053, abs=1e-3)
    assert log_volume(metric(*pictures)) == pytest.approx(0.196, abs=1e-3)


def test_the_truth_is_factorised(surfaces):
    assert factorisation(surfaces["code"]) == pytest.approx(1.0)
    for measure in (factorisation, factorisation_of_means, factorisation_from_zero):
        assert measure(surfaces["pictures"][surfaces["far"]]) == pytest.approx(1.0, abs=1e-6)


def test_a_line_is_entangled_and_has_no_volume():
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    g = _metric((x + y)[..., None] * np.array([1.0, 2.0]))
    assert factorisation(g) == factorisation_of_means(g) == pytest.approx(0.5)
    assert factorisation_from_zero(g) == pytest.approx(0.0)
    assert np.allclose(volume(g), 0, atol=1e-6)


def test_a_blind_layer_has_no_factorisation_and_the_least_volume():
    g = _metric(np.ones((4, 4, 3)))
    assert np.isnan(factorisation(g))
    assert np.isnan(factorisation_of_means(g))
    assert np.all(log_volume(g) == -12)


def test_noise_looks_factorised_too():
    """Random tangents in many dimensions are orthogonal: a high F says little about structure."""
    noise = np.random.default_rng(0).normal(size=(8, 8, 2000))
    assert factorisation(_metric(noise)) > 0.97


def test_points_that_stand_still_do_not_count():
    g = np.stack([np.zeros((2, 2)), np.eye(2)])
    assert np.isnan(factorisation_map(g)[0])
    assert factorisation(g) == 1.0


def test_a_collapsed_hole_is_deep_and_the_truth_is_level(perfect, memoriser, train, inside):
    grid, hole = (on_grid(perfect, mask) for mask in (train, inside))
    truth = log_volume(_metric(on_grid(perfect, perfect.y)))
    faint = perfect.y * np.where(train, 1.0, 0.1)[:, None, None]
    assert abs(hole_depth(truth, hole, grid)) < 0.2
    assert hole_depth(log_volume(_metric(on_grid(perfect, faint))), hole, grid) < -1.5
    assert -0.5 < hole_depth(log_volume(_metric(on_grid(memoriser, memoriser.y_hat))), hole, grid) < -0.2


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.integers(2, 4))
def test_factorisation_lies_between_one_half_and_one(seed, factors):
    rng = np.random.default_rng(seed)
    g = metric(*rng.normal(size=(factors, 3, 2)))
    assert np.all((factorisation_map(g) >= 0.5 - 1e-9) & (factorisation_map(g) <= 1 + 1e-9))
    assert -1e-9 <= factorisation_from_zero(g) <= 1 + 1e-9


@settings(deadline=None, max_examples=15)
@given(SEEDS)
def test_rotations_of_the_layer_change_nothing_and_scale_multiplies_volume(seed):
    rng = np.random.default_rng(seed)
    acts, turn = rng.normal(size=(4, 5, 6)), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    assert np.allclose(_metric(acts), _metric(acts @ turn))
    assert np.allclose(volume(_metric(3 * acts)), 9 * volume(_metric(acts)))


def test_three_factors_and_any_trailing_axes():
    acts = np.moveaxis(np.indices((3, 4, 5)).astype(float), 0, -1).reshape(3, 4, 5, 3, 1)
    g = metric(*finite_differences(acts, factors=3))
    assert np.allclose(g, np.eye(3))
    assert factorisation(g) == 1.0


def test_one_factor_alone_cannot_be_entangled():
    with pytest.raises(ValueError, match="two parts"):
        factorisation(np.ones((3, 1, 1)))
