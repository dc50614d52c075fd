from __future__ import annotations

import dataclasses
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.models.network import Network
from recombine.train.monitor import Monitor

RECIPE = rc.Recipe(steps=12, batch=4, chunks=3, optimiser=rc.adamw_cosine)


@cache
def task() -> rc.Task:
    return rc.bumps(4, rc.local_bump(4))


def split() -> rc.Split:
    return rc.square(task().combinations, 1, 2)


def make(key: jax.Array):
    return Line(key)


class Line(eqx.Module):
    """The smallest network that the lab can train."""

    weight: jax.Array

    def __init__(self, key: jax.Array):
        self.weight = 0.1 * jax.random.normal(key, (8, 4, 4))

    def __call__(self, x):
        y = jnp.tensordot(x, self.weight, axes=1)
        return y, {"layer0": y}


KEYS = rc.member_keys(0, range(3))


@pytest.fixture(scope="module")
def trained():
    return rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": 1e-2})


def test_the_same_key_gives_the_same_network(trained):
    again = rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": 1e-2})
    assert np.array_equal(trained.model.weight, again.model.weight)
    assert np.array_equal(trained.losses, again.losses)


class Ours(Network):
    """The same network, with the defaults of the base."""

    line: Line

    def __call__(self, x):
        return self.line(x)


def test_a_plain_module_trains_bit_for_bit_as_a_network_of_ours(trained):
    ours = rc.population(task(), split(), lambda key: Ours(Line(key)), KEYS, RECIPE, dials={"learning_rate": 1e-2})
    assert np.array_equal(ours.model.line.weight, trained.model.weight)
    assert np.array_equal(ours.losses, trained.losses)


def test_a_member_is_what_fit_makes_of_its_key(trained):
    for i, key in enumerate(KEYS):
        alone = rc.fit(task(), split(), make, key, RECIPE, dials={"learning_rate": 1e-2})
        assert np.allclose(alone.model.weight, trained[i].model.weight, atol=1e-6)
        assert alone.losses.shape == (12,)


def test_different_keys_give_different_networks_and_the_loss_falls(trained):
    assert not np.allclose(trained[0].model.weight, trained[1].model.weight)
    assert (trained.losses[:, -3:].mean(axis=1) < trained.losses[:, :3].mean(axis=1)).all()


def test_a_key_does_not_depend_on_its_neighbours():
    assert jnp.array_equal(
        jax.random.key_data(rc.member_keys(5, [7])[0]), jax.random.key_data(rc.member_keys(5, range(9))[7])
    )


def test_dials_and_splits_may_differ_from_member_to_member(trained):
    only = [rc.narrow(split(), np.arange(16) == row) for row in (0, 3, 12)]
    rates = np.array([1e-2, 1e-2, 0.0], np.float32)
    run = rc.population(task(), only, make, KEYS, RECIPE, dials={"learning_rate": rates})
    start = eqx.filter_vmap(make)(jax.vmap(lambda k: jax.random.split(k)[0])(KEYS))
    assert np.allclose(run.model.weight[2], start.weight[2])
    assert not np.allclose(run.model.weight[0], trained.model.weight[0])


def test_no_training_example_reaches_a_held_out_combination():
    held = jnp.asarray(split().combinations[split().held_out])

    def poisoned(z, key):
        x, y = task().sample(z, key)
        return x, jnp.where((held == z).all(axis=1).any(), jnp.nan, y)

    poison = rc.Task("poisoned", task().combinations, poisoned)
    recipe = rc.Recipe(steps=200, batch=32, chunks=1)  # 6,400 draws a member: a reachable cell would be met
    assert (rc.population(poison, split(), make, KEYS, recipe).diverged_at == -1).all()
    everything = rc.Split(poison.combinations, np.ones(16, bool))
    assert (rc.population(poison, everything, make, KEYS, recipe).diverged_at >= 0).all()


def test_a_member_that_diverges_is_marked_and_alters_nobody(trained):
    run = rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": [1e-2, np.inf, 1e-2]})
    assert run.diverged_at[1] >= 0
    assert run.diverged_at[[0, 2]].tolist() == [-1, -1]
    assert np.allclose(run.model.weight[jnp.array([0, 2])], trained.model.weight[jnp.array([0, 2])], atol=1e-6)


class Stops(Monitor):
    """Keeps the state after each chunk, and pulls the plug after some."""

    def __init__(self, after: int):
        self.after, self.state, self.chunks = after, None, []

    def resume(self, label):
        return self.state

    def chunk(self, label, progress, state):
        self.state = state()
        self.chunks.append(progress.done)
        if len(self.chunks) == self.after:
            raise KeyboardInterrupt


def test_a_run_cut_between_chunks_goes_on_bit_for_bit(trained):
    monitor = Stops(after=2)
    with pytest.raises(KeyboardInterrupt):
        rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": 1e-2}, monitor=monitor)
    run = rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": 1e-2}, monitor=monitor)
    assert monitor.chunks == [4, 8, 12]
    assert np.array_equal(run.model.weight, trained.model.weight)
    assert np.array_equal(run.losses, trained.losses)


def test_bfloat16_computes_near_float32_and_keeps_float32_weights(trained):
    recipe = rc.Recipe(steps=12, batch=4, chunks=3, optimiser=rc.adamw_cosine, compute=jnp.bfloat16)
    run = rc.population(task(), split(), make, KEYS, recipe, dials={"learning_rate": 1e-2})
    assert run.model.weight.dtype == jnp.float32
    assert np.allclose(run.losses, trained.losses, rtol=0.1)


def test_a_penalty_is_weighed_by_its_dial(trained):
    def size(model, acts, dials, progress):
        return dials["weight"] * (progress > 0.5) * jnp.sum(model.weight**2)

    recipe = rc.Recipe(steps=12, batch=4, chunks=3, optimiser=rc.adamw_cosine, penalty=size)
    run = rc.population(task(), split(), make, KEYS, recipe, dials={"learning_rate": 1e-2, "weight": [0.0, 1.0, 1.0]})
    assert np.allclose(run.model.weight[0], trained.model.weight[0], atol=1e-6)
    assert jnp.sum(run.model.weight[1] ** 2) < jnp.sum(trained.model.weight[1] ** 2)


def test_a_last_update_that_breaks_the_weights_is_marked():
    once = rc.Recipe(steps=1, batch=4, chunks=1)
    run = rc.population(task(), split(), make, KEYS, once, dials={"learning_rate": [1e-2, np.inf, 1e-2]})
    assert run.diverged_at.tolist() == [-1, 1, -1]


def test_keys_of_questions_are_never_keys_of_training_examples():
    asked = jax.random.key_data(jax.random.split(jax.random.fold_in(jax.random.key(0), 2**31 - 1), 16))

    def poisoned(z, key):
        x, y = task().sample(z, key)
        return x, jnp.where((asked == jax.random.key_data(key)).all(axis=1).any(), jnp.nan, y)

    poison = rc.Task("poisoned by key", task().combinations, poisoned)
    recipe = rc.Recipe(steps=200, batch=32, chunks=1)
    assert (rc.population(poison, split(), make, KEYS, recipe).diverged_at == -1).all()


def test_a_split_of_other_combinations_is_refused():
    other = rc.Split(task().combinations[::-1].copy(), split().train)
    with pytest.raises(ValueError, match="its own combinations"):
        rc.population(task(), other, make, KEYS, RECIPE)


def test_a_checkpoint_of_another_run_is_not_resumed_from(trained):
    monitor = Stops(after=99)
    rc.population(task(), split(), make, KEYS[::-1], RECIPE, dials={"learning_rate": 1e-2}, monitor=monitor)
    run = rc.population(task(), split(), make, KEYS, RECIPE, dials={"learning_rate": 1e-2}, monitor=monitor)
    assert np.array_equal(run.model.weight, trained.model.weight)


@pytest.mark.parametrize(("steps", "chunk"), [(3125, 125), (1000, 50), (800, 40), (7, 1), (997, 49)])
def test_chunks_divide_the_steps_where_they_can(steps, chunk):
    assert rc.Recipe(steps=steps).chunk == chunk


def test_a_split_without_training_combinations_is_refused():
    with pytest.raises(ValueError, match="without training"):
        rc.population(task(), rc.narrow(split(), np.zeros(16, bool)), make, KEYS, RECIPE)


def test_training_goes_on_from_networks_that_are_given(trained):
    one = rc.Recipe(1, 4, chunks=1)
    keys = jax.random.split(jax.random.key(5), len(trained))
    again = rc.population(task(), split(), make, keys, one, dials={"learning_rate": 0.0}, start=trained.model)
    assert np.allclose(again.model.weight, trained.model.weight)
    with pytest.raises(ValueError, match="one network to start from"):
        rc.population(task(), split(), make, keys[:1], one, start=trained.model)


def test_newborn_networks_are_those_that_a_population_starts_from():
    keys = jax.random.split(jax.random.key(6), 2)
    still = rc.population(task(), split(), make, keys, rc.Recipe(1, 4, chunks=1), dials={"learning_rate": 0.0})
    assert np.allclose(still.model.weight, rc.initial_models(make, keys).weight)


def test_a_copy_is_kept_from_the_first_step_whose_loss_is_low_enough(trained):
    every = trained.losses
    until = float(np.median(every[:, 1:]))
    recipe = dataclasses.replace(RECIPE, until=until)
    found = rc.population(task(), split(), make, KEYS, recipe, dials={"learning_rate": 1e-2})
    assert np.array_equal(found.model.weight, trained.model.weight), "keeping a copy changes nothing"
    assert found.reached_at is not None
    for i in range(len(KEYS)):
        low = np.flatnonzero(every[i] <= until)
        assert found.reached_at[i] == (low[0] if len(low) else -1)
        same = np.array_equal(found[i].reached.weight, found[i].model.weight)
        assert same == (len(low) == 0)


def test_a_ladder_of_losses_keeps_what_each_loss_alone_would_keep(trained):
    low, high = (float(np.quantile(trained.losses[:, 1:], q)) for q in (0.25, 0.75))
    found = {
        until: rc.population(
            task(), split(), make, KEYS, dataclasses.replace(RECIPE, until=until), dials={"learning_rate": 1e-2}
        )
        for until in (high, low, (high, low))
    }
    both = found[high, low]
    assert np.array_equal(both.model.weight, trained.model.weight)
    for k, until in enumerate((high, low)):
        assert np.array_equal(np.asarray(both.reached_at)[:, k], np.asarray(found[until].reached_at))
        assert np.array_equal(both.reached.weight[:, k], found[until].reached.weight)
    assert np.array_equal(both[0].reached.weight[1], found[low][0].reached.weight)


def test_a_copy_is_there_from_the_start_if_nothing_is_asked():
    recipe = dataclasses.replace(RECIPE, until=np.inf)
    found = rc.population(task(), split(), make, KEYS, recipe, dials={"learning_rate": 1e-2})
    assert found.reached_at is not None
    assert not found.reached_at.any()
    assert np.array_equal(found.reached.weight, rc.initial_models(make, KEYS).weight)
