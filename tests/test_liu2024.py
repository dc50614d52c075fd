"""Depth at a fixed number of weights: sizes, and claims on planted numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.liu2024 import depth, depth_claims
from recombine.experiments.liu2024.trades import FLAT, LOOPED, THIN, inner_units
from recombine.experiments.tokens import shared, worlds

SMALL = {1: (56, 217), 2: (40, 150), 3: (32, 128), 4: (24, 144), 6: (24, 80), 8: (16, 112), 12: (16, 64)}
LARGE = {1: (352, 1427), 2: (256, 953), 3: (192, 918), 4: (192, 593), 6: (160, 461), 8: (128, 476), 12: (96, 459)}


@pytest.mark.parametrize(("weights", "table"), [(36_864, SMALL), (1_500_000, LARGE)])
def test_sizes_are_those_of_the_table(weights, table):
    for layers, (width, inner) in table.items():
        assert inner_units(weights, layers, width) == inner
        assert layers * (4 * width**2 + 2 * width * inner) == pytest.approx(weights, rel=2e-3)


@pytest.mark.parametrize("tier", ["QUICK", "LAPTOP", "GPU", "PAPER"])
def test_networks_of_a_tier_have_equally_many_weights(tier):
    settings = getattr(depth, tier)
    task = worlds.family(replace(settings, seed=0), 1)
    sizes = [shared.sizes(depth.decoder(settings, task, **point), 6) for point in depth.points(settings)]
    weights = [size["layer_parameters"] for size in sizes]
    assert max(weights) / min(weights) < (1.2 if tier == "QUICK" else 1.02)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depths": (2, 1, 4)}, "rising depths have a width and a rate each"),
        ({"depths": (1, 3, 4)}, "depths must have 1 and 2 among them"),
        ({"widths": (12, 8, 6)}, "cannot be shared by heads of 4"),
        ({"weights": 100}, "have more than 100 weights without inner networks"),
    ],
)
def test_settings_that_cannot_be_are_told(changes, says):
    with pytest.raises(rc.UserError, match=says):
        replace(depth.QUICK, **changes)


def table(ood: dict[int, float], iid: dict[int, float], reached: dict[int, float]) -> pd.DataFrame:
    noise = np.random.default_rng(0).normal(0, 0.005, 5)
    rows = [
        {
            "system": "network", "condition": f"thin, {n} layers", "trade": THIN, "layers": n, "seed": s,
            "diverged_at": -1, "ood": ood[n] + noise[s], "iid": iid[n] + noise[-s], "reached": 1.0,
            "ood_reached": reached[n] + noise[s], "exact_trained": 1.0, "layer_parameters": 36_864.0,
        }
        for n in ood
        for s in range(5)
    ]  # fmt: skip
    controls = [row | depth.averaged(row) for row in worlds.known_systems(worlds.Worlds(seed=3), 0.25)]
    born = {"system": "untrained", "seed": 0, "exact_trained": 0.1, "ood": 0.1}
    return pd.DataFrame([*rows, *controls, born])


def verdicts(found: pd.DataFrame) -> list[str]:
    return [v.verdict for v in rc.judge_all(found, depth.CLAIMS)]


def test_planted_gains_of_depth_are_judged_so():
    flat = dict.fromkeys((1, 2, 4, 8), 0.3)
    rising = {1: 0.2, 2: 0.3, 4: 0.5, 8: 0.4}
    assert verdicts(table(flat, flat, flat)) == ["fails"] * 6
    assert verdicts(table(rising, {1: 0.5, 2: 0.5, 4: 0.55, 8: 0.5}, rising)) == ["holds"] * 6


def test_the_best_depth_is_chosen_on_other_seeds():
    found = {2: pd.Series([0.9, 0.0, 0.0]), 4: pd.Series([0.5, 0.5, 0.5])}
    assert depth_claims.best_elsewhere(found).tolist() == [0.5, 0.5, 0.5]


def test_all_trades_are_points_of_the_gpu_tier():
    assert {point["trade"] for point in depth.points(depth.GPU)} == {THIN, FLAT, LOOPED}
