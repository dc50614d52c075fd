"""Sweeps that are batched draw what is drawn one by one, and changes that are matched have one effect."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from recombine import device
from recombine.bench import sweep as bench
from recombine.cppn.network import CPPN, parse_mix
from recombine.cppn.sweep import sweep as sweeping
from recombine.cppn.sweep.after import stacked
from recombine.cppn.sweep.matching import INERT_BELOW, matched
from recombine.cppn.sweep.sweep import WeightIndex, every_weight, forward, one_by_one, slopes, sweep
from recombine.cppn.task import grid
from recombine.kernels import cppn_sweep, cppn_tiles

SIZE = 9
DELTAS = [-1.5, -0.2, 0.7]
MIXES = {
    "all but cos": "3;cache:2,gaussian:2,identity:1,relu:1,sigmoid:1,sin:1,tanh:1",
    "narrower than its inputs": "2;cos:1,gaussian:1",
    "linear": "1;cache:5",
}


def made(text: str, seed: int = 0) -> CPPN:
    depth, mix = parse_mix(text)
    return CPPN(mix, depth, key=jax.random.key(seed))


@pytest.fixture(scope="module")
def model() -> CPPN:
    return made(MIXES["all but cos"])


@pytest.fixture(scope="module")
def where(model) -> WeightIndex:
    return every_weight(model, 30, seed=1)


@pytest.fixture(scope="module")
def truth(model, where) -> np.ndarray:
    return one_by_one(model, where, DELTAS, SIZE)


@pytest.mark.parametrize("text", MIXES.values(), ids=MIXES)
def test_a_sweep_draws_what_is_drawn_one_by_one(text):
    model = made(text)
    where = every_weight(model, 40)
    assert set(where.layer) == set(range(len(model.weights)))
    found = sweep(model, where, DELTAS, SIZE)
    assert found.shape == (len(where.layer), 3, SIZE**2, 3)
    assert np.abs(found - one_by_one(model, where, DELTAS, SIZE)).max() <= 1e-5


@pytest.mark.parametrize("columns", [10, 200])
def test_blocks_and_groups_do_not_show(columns, model, where, truth, monkeypatch):
    """Of 81 pixels, ten at a time, the last block half empty; and two pictures at a time."""
    monkeypatch.setattr(sweeping, "COLUMNS", columns)
    assert np.abs(sweep(model, where, DELTAS, SIZE) - truth).max() <= 1e-5


def test_an_accelerator_takes_as_many_pictures_as_fit(model, where, truth, monkeypatch):
    monkeypatch.setattr(device, "device_memory", lambda: 2**20)
    fit = sweeping.room(model, SIZE)
    assert (fit.block, fit.threads) == (SIZE**2, 1)
    assert 4 * device.COPIES * 9 * fit.group * fit.block <= device.SHARE * 2**20 / sweeping.CALLERS
    assert fit.group > 5
    assert np.abs(sweep(model, where, DELTAS, SIZE) - truth).max() <= 1e-5


@pytest.mark.parametrize("text", [*MIXES.values(), "2;gaussian:9,sin:4", "1;cache:20,gaussian:8,sin:12"])
def test_the_kernel_draws_what_is_drawn_one_by_one(text, monkeypatch):
    """Interpreted; 16 tiles of pixels, two to a block."""
    monkeypatch.setattr(device, "device_memory", lambda: 2**26)
    monkeypatch.setattr(cppn_tiles, "Kind", partial(cppn_tiles.Kind, interpret=True))
    monkeypatch.setattr(cppn_tiles, "available", lambda: True)
    used = []
    monkeypatch.setattr(cppn_sweep, "colours", lambda *given, whole=cppn_sweep.colours: used.append(1) or whole(*given))
    model = made(text)
    where = every_weight(model, 12)
    assert set(where.layer) == set(range(len(model.weights)))
    assert np.abs(sweep(model, where, DELTAS, 32) - one_by_one(model, where, DELTAS, 32)).max() <= 5e-5
    assert used


def test_networks_of_about_one_depth_share_a_program():
    mix = (("cache", 2), ("sin", 1))
    two, five = (stacked(CPPN(mix, depth, key=jax.random.key(0))) for depth in (2, 5))
    assert jax.tree.structure(two) == jax.tree.structure(five)
    assert two.weights.shape == five.weights.shape


def test_what_is_kept_one_by_one_may_hold_arrays_and_is_compiled_once(model, where):
    traced = []

    def further(far: jax.Array, picture: jax.Array) -> jax.Array:
        traced.append(far)
        return jnp.mean(picture) + far

    for far in (1.0, 2.0):
        found = one_by_one(model, where, DELTAS, 7, reduce=Partial(further, jnp.asarray(far)))
        assert np.all((found >= far) & (found <= far + 1))
    assert len(traced) == 1


def test_each_weight_may_have_deltas_of_its_own_in_any_order(model, where, truth):
    order = np.random.default_rng(0).permutation(len(where.layer))
    shuffled = WeightIndex(*(a[order] for a in where))
    first = order % 2 == 0
    deltas = np.where(first[:, None], DELTAS[:2], DELTAS[1:])
    wanted = np.where(first[:, None, None, None], truth[order, :2], truth[order, 1:])
    assert np.abs(sweep(model, shuffled, deltas, SIZE) - wanted).max() <= 1e-5


def test_a_picture_is_reduced_to_what_is_asked(model, where, truth):
    found = sweep(model, where, DELTAS, SIZE, reduce=lambda p: {"mean": p.mean(), "first": p[0]})
    assert np.allclose(found["mean"], truth.mean(axis=(2, 3)), atol=1e-5)
    assert np.allclose(found["first"], truth[:, :, 0], atol=1e-5)


def test_slopes_are_the_derivatives_of_the_picture(model, where):
    def picture(weights):
        return eqx.tree_at(lambda m: m.weights, model, weights)(jnp.asarray(grid(SIZE)))[0]

    by_matrix = jax.jit(jax.jacfwd(picture))(model.weights)
    wanted = np.stack([by_matrix[k][:, :, i, j] for k, i, j in zip(*where, strict=True)])
    assert np.abs(wanted).max() > 0.5
    assert np.allclose(slopes(model, where, SIZE), wanted, atol=1e-4)


def test_weights_are_those_that_are_not_zero(model):
    sparse = eqx.tree_at(lambda m: m.weights[1], model, model.weights[1].at[:, 2].set(0))
    every = every_weight(sparse)
    assert len(every.layer) == sum(w.size for w in model.weights) - 9
    assert not np.any((every.layer == 1) & (every.col == 2))
    some = every_weight(sparse, 20, seed=3)
    assert np.array_equal(some, every_weight(sparse, 20, seed=3))
    assert not np.array_equal(some, every_weight(sparse, 20, seed=4))
    assert len({*zip(*some, strict=True)}) == 20
    assert {*zip(*some, strict=True)} <= {*zip(*every, strict=True)}


def test_what_cannot_be_swept_is_one_clear_complaint(model, where):
    none = WeightIndex(*(a[:0] for a in where))
    for weights, deltas in ((none, DELTAS), (where, [])):
        with pytest.raises(ValueError, match="nothing to sweep"):
            sweep(model, weights, deltas, SIZE)
    for place in ((9, 0, 0), (0, 4, 0), (3, 0, 3)):
        with pytest.raises(ValueError, match="not in the network"):
            sweep(model, WeightIndex(*np.array(place)[:, None]), DELTAS, SIZE)
    depth, mix = parse_mix("1;sin:3")
    told = CPPN(mix, depth, inputs=5, key=jax.random.key(0))
    with pytest.raises(ValueError, match="the network has 5"):
        sweep(told, every_weight(told), DELTAS, SIZE)


def rms(model: CPPN, where: WeightIndex, deltas: np.ndarray) -> np.ndarray:
    changes = one_by_one(model, where, deltas, SIZE) - np.asarray(forward(model, SIZE)[0])
    return np.sqrt(np.mean(changes**2, axis=(2, 3)))


def test_matched_changes_are_small_and_alter_the_picture_equally_much(model, where):
    found = matched(model, where, SIZE)
    assert found.deltas.shape == (30, 2)
    assert np.all(found.deltas[:, 0] < 0)
    assert np.all(found.deltas[:, 1] > 0)
    assert np.abs(found.deltas).max() <= 2 + 1e-6
    assert np.allclose(found.rms, rms(model, where, found.deltas), atol=1e-5)
    reached = rms(model, where, np.array([-2.0, 2.0])) >= 0.1
    assert reached.mean() >= 0.4
    assert np.abs(found.rms[reached] - 0.1).max() < 0.005
    halves = rms(model, where, found.deltas / 2)
    assert np.all(halves[reached] < 0.1)


def test_a_weight_that_leads_nowhere_is_inert(model):
    """Unit 0 of layer 1 has nothing that reads it; the changes of the others reach the picture."""
    blind = eqx.tree_at(lambda m: m.weights[2], model, model.weights[2].at[0].set(0))
    into = WeightIndex(np.full(4, 1), np.arange(4), np.array([0, 0, 3, 4]))
    found = matched(blind, into, SIZE, target=0.05)
    assert found.inert.tolist() == [[True, True], [True, True], [False, False], [False, False]]
    assert found.rms[:2].max() < 1e-6
    assert found.rms[2:].min() > INERT_BELOW
    assert np.abs(found.rms[2:] - 0.05).max() < 0.003


def test_the_benchmark_compares_like_with_like():
    told = bench.measure(size=8, weights=3, values=2, repeats=1)
    assert (told["weights"], told["values"]) == (3, 2)
    assert list(told["rows"]) == ["sweep", "one_by_one"]
    assert all(row["pictures_per_second"]["min"] > 0 for row in told["rows"].values())
    assert told["ratio"]["median"] > 0
    assert told["largest_difference"] < 1e-5
