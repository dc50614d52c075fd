from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.tasks.modules import masks
from recombine.theory.construction import Hyperteacher
from recombine.theory.memorising import memorise, stored_neurons


def drawn(modules: int, seed: int) -> Hyperteacher:
    rng = np.random.default_rng(seed)
    return Hyperteacher(
        rng.normal(size=(modules, 3, 4)), rng.uniform(0, 0.5, (modules, 4)), rng.normal(size=(4, 2)), min(3, modules)
    )


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(0, 99))
def test_what_is_stored_is_exact_and_the_rest_is_silent(modules, seed):
    teacher, rng = drawn(modules, seed), np.random.default_rng(seed)
    every = masks(modules, teacher.max_active)
    stored = rng.uniform(size=len(every)) < 0.6
    stored[:2] = True, False
    network = memorise(teacher, every[stored])
    x = rng.uniform(-1, 1, (len(every), 3))
    answers = network(every.astype(float), x)
    assert np.allclose(answers[stored], teacher(every.astype(float), x)[stored], atol=1e-9)
    assert np.allclose(answers[~stored], 0, atol=1e-12)
    assert network.hidden == 4 * stored.sum()


def test_storing_all_masks_takes_h_neurons_for_each():
    teacher = drawn(5, 0)
    assert memorise(teacher, masks(5, 3)).hidden == stored_neurons(5, 3, 4)
