"""The verdict is right on systems whose answer is known, of every kind of data; `zoo.py` prints rates over 20 draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from diagnosis import zoo

import recombine as rc
from recombine.diagnosis.behaviour import behaviour
from recombine.diagnosis.diagnosis import Diagnosis
from recombine.diagnosis.from_arrays import from_arrays
from recombine.diagnosis.rules import rule

EVERY = [(w, c) for w, c in product(zoo.WORLDS, zoo.CASES) if zoo.applies(w, c)]


@pytest.mark.parametrize(("world", "case"), [(w, c) for w, c in EVERY if w != "3 factors, continuous"])
def test_the_verdict_is_right(world, case):
    ruling, _ = rule(behaviour(from_arrays(zoo.arrays(world, case, seed=1))))
    assert ruling.verdict == zoo.CASES[case][1], ruling.why


@pytest.mark.parametrize("world", ["2 factors, vectors", "3 factors, vectors", "2 factors, images"])
def test_the_factor_that_is_composed_is_named(world):
    ruling, _ = rule(behaviour(from_arrays(zoo.arrays(world, "composes in one factor", seed=2))))
    assert ruling.factors == ("factor 0",)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "case"), EVERY)
def test_the_verdict_is_right_in_nine_of_ten_draws(world, case):
    assert zoo.rates(world, case)[zoo.CASES[case][1]] >= 18


def through_jax(a: zoo.Arrays) -> Diagnosis:
    import jax.numpy as jnp

    table = jnp.asarray(a["y_hat"], jnp.float32)
    data = np.arange(len(a["y"])), a["y"]
    return rc.diagnose(lambda place: table[place], data, factors=a["z"], trained=a["trained"])


def through_torch(a: zoo.Arrays) -> Diagnosis:
    torch = pytest.importorskip("torch")

    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.tensor(np.array(a["y_hat"]), dtype=torch.float32))

        def forward(self, place):
            return self.table[place.long()]

    data = np.arange(len(a["y"])), a["y"]
    return rc.diagnose(Table(), data, factors=a["z"], trained=a["trained"], layers=[])


@pytest.mark.parametrize("door", [through_jax, through_torch])
@pytest.mark.parametrize("case", ["composes", "look-up table", "superposition", "composes in one factor"])
def test_the_other_doors_say_the_same(door, case):
    found = door(zoo.arrays("2 factors, vectors", case, 0))
    assert found.verdict == zoo.CASES[case][1], found.why
