"""Networks whose units are factored score differently from their rotations, and evolved ones from trained twins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest

from recombine.cppn import measures
from recombine.cppn.designed import designs
from recombine.cppn.network import CPPN, parse_mix
from recombine.cppn.picbreeder import artifacts, load_network, network
from recombine.cppn.sweep.classifier import Pair, fit, leave_one_out, share_of_yes, standardised
from recombine.cppn.sweep.compare import contrast, inside
from recombine.cppn.sweep.rotate import rotated
from recombine.cppn.sweep.scores import SweptFeatures, features, map_features, score, swept_features, unit_maps
from recombine.cppn.sweep.sweep import every_weight, forward
from recombine.measures.agreement import roc_area

DATA = Path(__file__).parents[2] / "shared" / "data" / "picbreeder"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the evolved pictures are not at {DATA}")


def test_a_rotation_keeps_the_picture_and_the_units_that_bend():
    depth, mix = parse_mix("3;cache:4,gaussian:2,identity:1,sin:1")
    model = CPPN(mix, depth, key=jax.random.key(0))
    other = rotated(model, jax.random.key(1))
    assert np.abs(forward(other, 24)[0] - forward(model, 24)[0]).max() <= 1e-4
    bends, linear = [4, 5, 7], [0, 1, 2, 3, 6]
    before, after = unit_maps(model, 24), unit_maps(other, 24)
    assert np.allclose(before[:, bends], after[:, bends], atol=1e-4)
    assert np.abs(before[:, linear] - after[:, linear]).max() > 0.5
    energies = [np.sum(m[:, linear] ** 2, axis=1) for m in (before, after)]
    assert np.allclose(*energies, rtol=1e-3), "the matrices are orthogonal"


def test_a_network_without_linear_units_has_nothing_to_rotate():
    depth, mix = parse_mix("2;gaussian:2,sin:1")
    model = CPPN(mix, depth, key=jax.random.key(0))
    assert all(
        np.array_equal(a, b) for a, b in zip(rotated(model, jax.random.key(1)).weights, model.weights, strict=True)
    )


@pytest.fixture(scope="module")
def pairs_of() -> Callable[[str], tuple[CPPN, CPPN]]:
    def make(name: str) -> tuple[CPPN, CPPN]:
        model = network(designs()[name])
        return model, rotated(model, jax.random.key(0))

    return make


@pytest.mark.parametrize(
    "name", ["face", pytest.param("moth", marks=pytest.mark.slow), pytest.param("flower", marks=pytest.mark.slow)]
)
def test_a_composed_picture_scores_better_than_its_rotation(name, pairs_of):
    """The edges of these drawings are steep: where one runs through a pixel, rounding shows in the fourth digit."""
    model, rotated = pairs_of(name)
    apart = np.abs(forward(rotated, 48)[0] - forward(model, 48)[0])
    assert apart.mean() <= 1e-6
    assert apart.max() <= 5e-4
    ours, control = (score(m, 48, weights=30) for m in (model, rotated))
    assert ours["map_zip"] < control["map_zip"]
    assert ours["map_zip_distinct"] < control["map_zip_distinct"]
    assert ours["purity"] > control["purity"]
    assert ours["distinct_share"] < control["distinct_share"]
    assert ours["R"] < control["R"]
    assert ours["even_share"] == pytest.approx(control["even_share"], abs=1e-3)


def test_the_scores_of_a_network_are_complete_and_repeatable(pairs_of):
    model, _ = pairs_of("face")
    found = score(model, 48, weights=30)
    again = score(model, 48, weights=30, seed=0)
    assert str(found) == str(again)
    assert found["even_share"] == pytest.approx(1)
    assert 0.98 < found["purity"] <= 1
    assert 0 < found["inert"] < 0.6
    assert 1 < found["participation_ratio"] < 30
    for lists in ("redundancy_by_layer", "map_zip_by_layer"):
        assert len(found[lists]) == len(model.weights) - 1
        assert np.all(np.isfinite(found[lists]))


def test_scores_and_contrasts_share_features_that_were_taken_once(pairs_of):
    model, _ = pairs_of("face")
    taken = features(model, 24, weights=8, seed=3)
    assert str(score(model, 24, weights=8, seed=3, taken=taken)) == str(score(model, 24, weights=8, seed=3))
    again = inside(model, 24, weights=8, seed=3)
    assert all(np.array_equal(again[name], values) for name, values in inside(model, 24, taken=taken).items())
    swept = swept_features(model, every_weight(model, 8, 3), 24)
    assert all(np.array_equal(a, b) for a, b in zip(swept[0], taken.swept, strict=True))
    r = measures.change_ratio(taken.swept.change_zip, taken.picture)
    assert score(model, 24, weights=8, seed=3, taken=taken)["R"] == r


def test_networks_that_died_or_diverged_have_no_scores_but_raise_nothing():
    depth, mix = parse_mix("3;cache:2,gaussian:2,sin:1")
    model = CPPN(mix, depth, key=jax.random.key(0))
    dark = eqx.tree_at(lambda m: m.weights[-1], model, model.weights[-1].at[:, 2].set(0))
    found = score(dark, 8, weights=4)
    assert np.isnan([found["R"], found["participation_ratio"], found["even_share"]]).all()
    assert found["inert"] == 1
    assert found["map_zip"] > 0
    cut = eqx.tree_at(lambda m: m.weights[1], model, model.weights[1] * 0)
    assert np.isnan(score(cut, 8, weights=4)["map_zip_by_layer"]).tolist() == [False, True, True]
    for factor in (np.nan, 1e20):
        assert np.isnan(score(jax.tree.map(lambda a, f=factor: a * f, model), 8, weights=4)["R"])
    with pytest.raises(ValueError, match="all weights of the network are zero"):
        score(jax.tree.map(lambda a: a * 0, model), 8)


def test_every_map_that_varies_is_looked_at(pairs_of):
    model, rotated = pairs_of("face")
    found, control = (map_features(m, 32) for m in (model, rotated))
    assert len(found.layer) < unit_maps(model, 32).shape[0] * unit_maps(model, 32).shape[1]
    assert np.all(np.diff(found.layer) >= 0)
    assert np.mean(found.distinct) < np.mean(control.distinct)
    assert roc_area(-np.concatenate([found.zip, control.zip]), _labels(found.zip, control.zip)) > 0.6


def _labels(yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    return np.repeat([1.0, 0.0], [len(yes), len(no)])


def drawn(shift: float, seed: int, scale: float = 1.0, offset: float = 0.0) -> SweptFeatures:
    """Made-up features of 200 sweeps: the first and third tell evolved from dense, in units of the picture's own."""
    noise = np.random.default_rng(seed).normal(size=(200, 5))
    noise[:, [0, 2]] += shift * np.array([-1, 1])
    return SweptFeatures(*(offset + scale * noise).T)


def test_a_judge_finds_the_features_that_tell_and_their_sign():
    yes, no = np.stack(drawn(2, 0), axis=1), np.stack(drawn(0, 1), axis=1)
    judge = fit(yes, no)
    assert judge.coefficients[0] < -0.5
    assert judge.coefficients[2] > 0.5
    assert np.abs(judge.coefficients[[1, 3, 4]]).max() < 0.3
    assert np.mean(judge.log_odds(yes) > 0) > 0.9
    assert np.mean(judge.log_odds(no) > 0) < 0.1


def test_a_judge_of_classes_without_overlap_stays_finite():
    judge = fit(np.full((3, 5), 10.0), np.full((400, 5), -10.0))
    assert np.all(np.isfinite(judge.coefficients))
    assert judge.log_odds(np.full((1, 5), 1.0)) > 0


def test_a_judge_carries_over_to_a_picture_on_another_scale():
    pairs = {str(i): Pair(drawn(2, 2 * i, 10.0**i, i), drawn(0, 2 * i + 1, 10.0**i, i)) for i in range(3)}
    for held in leave_one_out(pairs).values():
        assert held.area > 0.95
        assert held.error < 0.12
        assert held.error == pytest.approx((1 - held.evolved + held.dense) / 2)
    judge = fit(standardised(*pairs["0"]), standardised(pairs["0"].dense, pairs["0"].dense))
    assert share_of_yes(judge, pairs["2"].evolved, pairs["2"].dense) > 0.85


def test_a_judge_of_what_does_not_differ_errs_half_the_time():
    pairs = {str(i): Pair(drawn(0, 2 * i), drawn(0, 2 * i + 1)) for i in range(3)}
    errors = [held.error for held in leave_one_out(pairs).values()]
    assert 0.4 < np.mean(errors) < 0.6


def test_a_judge_needs_something_to_go_by():
    with pytest.raises(ValueError, match="two or more"):
        leave_one_out({"only": Pair(drawn(0, 0), drawn(0, 1))})
    nothing = SweptFeatures(*np.full((5, 3), np.nan))
    with pytest.raises(ValueError, match="got 0"):
        standardised(drawn(0, 0), nothing)


@pytest.fixture(scope="module")
def twins() -> dict[str, tuple[CPPN, CPPN]]:
    """Each evolved network, and what gradient descent made of its picture."""
    found = {}
    for artifact in artifacts(DATA, {}):
        assert artifact.sgd is not None
        evolved = network(artifact.genome)
        found[artifact.name] = evolved, load_network(artifact.sgd, evolved.mix)[0]
    return found


@needs_data
def test_the_evolved_skull_is_compositional_and_its_trained_twin_is_not(twins):
    evolved, dense = (score(m, 48, weights=40) for m in twins["skull"])
    assert evolved["R"] <= 0.8 * dense["R"]
    assert evolved["purity"] > 0.98
    assert dense["purity"] < 0.75
    assert dense["participation_ratio"] >= 3 * evolved["participation_ratio"]
    assert evolved["distinct_share"] <= 0.3
    assert dense["distinct_share"] >= 0.9
    assert evolved["even_share"] > 0.84


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["skull", "butterfly", "apple"])
def test_evolved_twins_and_rotations_are_told_apart(name, twins):
    evolved, dense = twins[name]
    other = rotated(evolved, jax.random.key(0))
    assert np.abs(forward(other, 64)[0] - forward(evolved, 64)[0]).max() <= 1e-4
    ours, theirs, control = (map_features(m, 64) for m in (evolved, dense, other))
    for other, zip_area, purity_area in ((theirs, 0.90, 0.88), (control, 0.80, 0.80)):
        labels = _labels(ours.zip, other.zip)
        assert roc_area(-np.concatenate([ours.zip, other.zip]), labels) >= zip_area
        assert roc_area(np.concatenate([ours.purity, other.purity]), labels) >= purity_area
    first, second = (score(m, 64, weights=60) for m in (evolved, dense))
    assert first["R"] <= 0.8 * second["R"]
    assert second["participation_ratio"] >= 3 * first["participation_ratio"]
    assert first["distinct_share"] <= 0.3
    assert second["distinct_share"] >= 0.9


@needs_data
@pytest.mark.slow
def test_a_judge_fitted_on_two_pictures_knows_the_third(twins):
    def swept(model: CPPN) -> SweptFeatures:
        return swept_features(model, every_weight(model, 60), 64)[0]

    pairs = {name: Pair(*(swept(m) for m in both)) for name, both in twins.items()}
    for pair in pairs.values():
        labels = _labels(pair.evolved.change_zip, pair.dense.change_zip)
        assert roc_area(-np.concatenate([pair.evolved.change_zip, pair.dense.change_zip]), labels) >= 0.80
    for held in leave_one_out(pairs).values():
        assert held.area > 0.9
        assert held.error < 0.25
        assert held.dense < 0.2
        assert held.evolved > 0.6


def test_a_network_is_as_far_from_itself_as_from_no_other_and_its_rotation_is_far():
    model = network(designs()["moth"])
    same = contrast(model, model, 16, weights=8)
    assert all(np.isclose(v, 0.5) or np.isnan(v) for v in same.values())
    far = contrast(model, rotated(model, jax.random.key(0)), 16, weights=8)
    assert far["map_zip"] > 0.6, "maps of entangled units take more to describe"
    assert far["purity"] < 0.4, "and are less purely even or odd"


@pytest.mark.slow
@needs_data
def test_trained_twins_of_evolved_networks_are_far_apart_inside(twins):
    found = {name: contrast(evolved, dense, 48, weights=40) for name, (evolved, dense) in twins.items()}
    assert all(f["change_zip"] >= 0.8 and f["map_zip"] >= 0.9 and f["purity"] <= 0.12 for f in found.values()), found
