"""The benchmark of picture networks: its rows on a CPU, and those of a GPU with the kernel interpreted."""

from __future__ import annotations

import pytest

from recombine.bench import pictures


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(pictures, "MIX", "1;cache:2,sin:1")
    monkeypatch.setattr(pictures.Bits16, "interpret", True)


def test_a_population_is_set_against_the_same_networks_one_by_one():
    told = pictures.measure(members=2, size=8, iterations=4, repeats=1)
    assert (told["members"], told["size"]) == (2, 8)
    assert told["net_iterations_per_second"]["min"] > 0
    assert told["ratio_separate"] > 0
    assert told["losses_away"]["first"] < 1e-6


def test_a_row_of_the_kernel_trains_the_networks_that_the_plain_row_trains():
    task = pictures.target(8)
    kernel, plain = (pictures.beside_authors(make, task, 2, 4, 1) for make in (pictures.Bits16, pictures.Plain))
    assert kernel["last_loss"] == pytest.approx(plain["last_loss"], rel=1e-2)
    assert kernel["net_iterations_per_second"]["min"] > 0


def test_the_kernels_gradients_lie_near_the_plain_ones():
    away = pictures.gradients_away(pictures.Bits24, pictures.target(8), networks=2)
    assert 0 < away["median"] <= away["largest"] < 1e-5
