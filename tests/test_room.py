"""How many members a device computes side by side, and that a population which is too large is split, not lost."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import recombine as rc
from recombine import device
from recombine.train import placement, population

TASK = rc.bumps(8, rc.one_hot(8))
SPLIT = rc.square(TASK.combinations, 2, 5)
KEYS = rc.member_keys(0, range(4))
RECIPE = rc.Recipe(2, 4, chunks=1)


def make(key):
    return rc.MLPDecoder(16, 8, width=4, depth=1, key=key)


def test_all_fit_a_large_device_and_few_a_small_one():
    size = {"activations": 1000, "parameters": 100}
    assert device.members_per_batch(12, **size, limit=10**9) == 12
    assert device.members_per_batch(12, **size, limit=100_000) == 3
    assert device.members_per_batch(12, **size, limit=1) == 1


def test_on_a_cpu_the_cache_decides():
    assert device.members_per_batch(12, activations=device.CACHE_FLOATS // 5, parameters=1, limit=None) == 4
    assert device.members_per_batch(7, activations=device.CACHE_FLOATS // 5, parameters=1, limit=None) == 1


def test_a_population_for_which_memory_runs_out_is_split_and_does_the_same(monkeypatch):
    whole = rc.population(TASK, SPLIT, make, KEYS, RECIPE)
    advance, tried = population.advancing(False), []

    def small_device(*args, at_once, **more):
        tried.append(at_once)
        if at_once > 1:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
        return advance(*args, at_once=at_once, **more)

    monkeypatch.setattr(population, "advancing", lambda large: small_device)
    split = rc.population(TASK, SPLIT, make, KEYS, RECIPE)
    assert tried == [4, 2, 1, 1, 1, 1], "where it fits, one after the other"
    assert np.allclose(whole.losses, split.losses, rtol=1e-5)


def test_one_network_too_large_is_one_line_and_other_errors_stay_what_they_are():
    with pytest.raises(rc.UserError, match="does not fit"):
        placement.fewer(1, 4, jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory"))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        placement.fewer(4, 4, jax.errors.JaxRuntimeError("INTERNAL: something else"))


def test_what_a_network_takes_is_at_least_its_weights_their_moments_and_its_batch():
    one, two = (population.footprint(TASK, SPLIT, make, KEYS[:n], RECIPE) for n in (1, 2))
    weights = sum(a.size for a in jax.tree.leaves(make(KEYS[0])) if hasattr(a, "size"))
    assert 3 * 4 * weights < two - one < one
