"""The optimisers of picture networks: lengths, zeros that stay, and what Newton-Schulz steps do to small directions."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import recombine as rc
from recombine.train.optimizers import adamw_stopping

DIALS = {"learning_rate": jnp.asarray(1.0)}
MAKERS = {"unit_adam": rc.unit_adam, "muon": rc.muon, "muon, 20 steps": partial(rc.muon, newton=20)}


def update(make, grads, params):
    optimiser = make(DIALS, 10)
    return optimiser.update(grads, optimiser.init(params), params)[0]


@pytest.mark.parametrize("name", MAKERS)
def test_a_weight_that_is_zero_stays_zero_and_no_other_does(name):
    rng = np.random.default_rng(0)
    weight = jnp.asarray(rng.normal(size=(6, 5))) * (rng.uniform(size=(6, 5)) < 0.5)
    found = update(MAKERS[name], {"w": jnp.asarray(rng.normal(size=(6, 5)))}, {"w": weight})["w"]
    assert ((np.asarray(found) != 0) == (np.asarray(weight) != 0)).all()


@pytest.mark.parametrize("name", MAKERS)
def test_no_gradient_is_no_step_and_not_a_lost_network(name):
    found = update(MAKERS[name], {"w": jnp.zeros((3, 3))}, {"w": jnp.ones((3, 3))})["w"]
    assert np.array_equal(found, np.zeros((3, 3)))


def test_the_length_of_the_gradient_of_living_weights_does_not_matter():
    params, grads = {"w": jnp.asarray([[1.0, 0.0]]), "v": jnp.asarray([[2.0]])}, {"w": 3.0, "v": 4.0}
    optimiser = rc.unit_adam(DIALS, 1)
    state: Any = optimiser.init(params)
    found: Any = None
    for scale in (1.0, 1e4):  # Adam's own answer to a change of length would show in its second step
        scaled = {name: jnp.full_like(params[name], scale * g) for name, g in grads.items()}
        updated: Any = optimiser.update(scaled, state, params)
        found, state = updated
    assert np.allclose(found["v"], -1.0, atol=1e-4)
    assert np.allclose(found["w"], [[-1.0, 0.0]], atol=1e-4)


def test_more_newton_schulz_steps_lift_the_smallest_directions():
    """Singular values of the update of a gradient whose own differ by a factor of 10^5."""
    rng = np.random.default_rng(1)
    left, right = (np.linalg.qr(rng.normal(size=(16, 16)))[0] for _ in range(2))
    gradient = {"w": jnp.asarray(left @ np.diag(np.logspace(0, -5, 16)) @ right, jnp.float32)}
    params = {"w": jnp.ones((16, 16))}
    smallest = {n: np.linalg.svd(update(MAKERS[n], gradient, params)["w"])[1].min() for n in MAKERS}
    assert smallest["muon"] < 0.1
    assert smallest["muon, 20 steps"] > 0.5


def test_a_stacked_population_is_still_trained_by_muon():
    """Stacked weights have three axes, of which Muon would make Adam; the trainer maps it over members instead."""
    task = rc.picture(np.random.default_rng(0).uniform(size=(4, 4, 3)))
    mix = (("identity", 3), ("sin", 2))
    recipe = rc.Recipe(1, 1, rc.muon, chunks=1)
    keys = rc.member_keys(0, range(2))
    whole = rc.Split(task.combinations, np.ones(1, bool))

    def make(key):
        return rc.CPPN(mix, 2, key=key)

    before = rc.population(task, whole, make, keys, recipe, dials={"learning_rate": 0.0})
    after = rc.population(task, whole, make, keys, recipe, dials={"learning_rate": 1.0}, start=before.model)
    for member in range(2):
        step = np.asarray(after.model.weights[1][member] - before.model.weights[1][member])
        values = np.linalg.svd(step)[1]
        assert values.max() < 1.4
        assert values[:3].min() > 0.1  # Adam's first step is +-1 everywhere, of rank one or nearly so


def test_matrices_of_one_shape_are_updated_as_if_each_were_alone():
    rng = np.random.default_rng(2)
    shapes = [(4, 6), (6, 6), (6, 6), (6, 3)]
    params, grads = ([jnp.asarray(rng.normal(size=s), jnp.float32) for s in shapes] for _ in range(2))
    together, alone = (
        make(DIALS, 1) for make in (rc.muon, lambda dials, _: optax.contrib.muon(dials["learning_rate"]))
    )
    for ours, plain in zip(two_steps(together, grads, params), two_steps(alone, grads, params), strict=True):
        assert np.allclose(ours, plain, atol=1e-4)


def two_steps(optimiser, grads, params) -> Any:
    state = optimiser.init(params)
    _, state = optimiser.update(grads, state, params)
    return optimiser.update([g**2 for g in grads], state, params)[0]


def test_a_member_that_stops_early_is_the_one_that_was_trained_for_less():
    task = rc.bumps(8, rc.local_bump(8))
    keys, whole = rc.member_keys(0, (0, 0)), rc.Split(task.combinations, np.ones(64, bool))
    make = partial(rc.MLPDecoder, 16, 8, width=4, depth=1)
    dials = {"stop": jnp.array([3.0, 6.0])}
    both = rc.population(
        task, whole, lambda k: make(key=k), keys, rc.Recipe(6, 4, adamw_stopping, chunks=1), dials=dials
    )
    short = rc.population(task, whole, lambda k: make(key=k), keys, rc.Recipe(3, 4, chunks=1))
    early, late = np.asarray(both.model.read_out.weight)
    assert np.allclose(early, short.model.read_out.weight[0], atol=1e-6)
    assert not np.allclose(early, late, atol=1e-6)
