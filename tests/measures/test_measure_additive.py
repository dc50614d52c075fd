"""Layers that are sums of one-part terms and layers that are not, and a definition that cannot tell them apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.additive import additive_share, generally_factorised, subspace_overlap
from recombine.measures.controls import blind
from recombine.measures.grid import on_grid

SEEDS = st.integers(0, 2**32 - 1)


def test_a_disentangled_code_is_additive_and_its_halves_do_not_overlap(perfect):
    code = on_grid(perfect, perfect.x)
    assert additive_share(code) == pytest.approx(1.0)
    assert subspace_overlap(code) == pytest.approx(0.0, abs=1e-9)


def test_at_the_output_a_memoriser_is_more_additive_than_the_truth(perfect, memoriser):
    """So a low share in late layers is no failure by itself: the pictures themselves are mostly interaction."""
    assert additive_share(on_grid(perfect, perfect.y)) < 0.4
    assert additive_share(on_grid(memoriser, memoriser.y_hat)) > 0.6


def test_random_conjunctive_units_share_what_counting_predicts():
    acts = np.random.default_rng(0).normal(size=(16, 16, 500))
    assert additive_share(acts) == pytest.approx(30 / 255, abs=0.01)


def test_one_shared_direction_is_full_overlap_though_additive():
    x, y = np.meshgrid(np.arange(6.0), np.arange(6.0), indexing="ij")
    acts = (x + y)[..., None] * np.ones(3)
    assert additive_share(acts) == pytest.approx(1.0)
    assert subspace_overlap(acts) == pytest.approx(1.0)


def test_a_layer_that_ignores_a_part_overlaps_with_nothing():
    acts = np.broadcast_to(np.eye(5)[:, None, :], (5, 4, 5))
    assert subspace_overlap(acts) == 0.0
    assert additive_share(acts) == pytest.approx(1.0)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_a_blind_layer_has_no_share(perfect, precision):
    answers = blind(perfect, 0)
    assert np.isnan(additive_share(on_grid(answers, answers.y_hat).astype(precision)))


def test_partial_factorisation_lets_a_block_interact():
    rng = np.random.default_rng(0)
    pair, single = rng.normal(size=(4, 4, 1, 6)), rng.normal(size=(1, 1, 4, 6))
    acts = np.concatenate(np.broadcast_arrays(pair, single), axis=-1)
    assert additive_share(acts, ((0, 1), (2,))) == pytest.approx(1.0)
    assert additive_share(acts, ((0, 2), (1,))) < 0.95
    assert additive_share(acts, ((0,), (1,), (2,))) < 0.95
    assert subspace_overlap(acts, ((0, 1), (2,))) == pytest.approx(0.0, abs=1e-9)


def test_blocks_must_name_every_part_once():
    with pytest.raises(ValueError, match="every part once"):
        additive_share(np.ones((2, 2, 1)), ((0,), (2,)))


def test_the_general_definition_passes_noise_and_fails_only_where_cells_look_alike():
    noise = np.random.default_rng(0).normal(size=(6, 6, 3))
    assert generally_factorised(noise)
    assert additive_share(noise) < 0.5
    noise[2, 3] = noise[4, 5]
    assert not generally_factorised(noise)


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_rotating_scaling_and_shifting_the_layer_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    acts, turn = rng.normal(size=(4, 3, 6)), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    assert 0 <= additive_share(acts) <= 1
    assert additive_share(3 * acts @ turn + 5) == pytest.approx(additive_share(acts))
    assert subspace_overlap(3 * acts @ turn + 5) == pytest.approx(subspace_overlap(acts))


@settings(deadline=None, max_examples=15)
@given(SEEDS)
def test_larger_blocks_never_explain_less(seed):
    acts = np.random.default_rng(seed).normal(size=(2, 3, 2, 3))
    assert additive_share(acts, ((0,), (1,), (2,))) <= additive_share(acts, ((0, 1), (2,))) + 1e-12
