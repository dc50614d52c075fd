"""Depth at a fixed number of weights: sizes, and claims on planted numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.liu2024 import depth, depth_claims, scan, scan_claims
from recombine.experiments.liu2024.trades import FLAT, LOOPED, THIN, inner_units
from recombine.experiments.tokens import shared, worlds
from recombine.measures.tokens import exact_rows
from recombine.tasks.scan import VOCABULARY
from recombine.tasks.tokens import EOS

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
        ({"depths": (1, 3, 4)}, "depths must have 1, 2 and 4 among them"),
        ({"widths": (12, 8, 6)}, "width must be a multiple of head"),
        ({"weights": 100}, "have more than 100 weights without inner networks"),
    ],
)
def test_settings_that_cannot_be_are_told(changes, says):
    with pytest.raises(rc.UserError, match=says):
        replace(depth.QUICK, **changes)


def table(
    ood: dict[int, float], iid: dict[int, float], reached: dict[int, float], trades: tuple[str, ...] = (THIN,)
) -> pd.DataFrame:
    noise = np.random.default_rng(0).normal(0, 0.005, 5)
    rows = [
        {
            "system": "network", "condition": f"{trade}, {n} layers", "trade": trade, "layers": n, "seed": s,
            "diverged_at": -1, "ood": ood[n] + noise[s], "iid": iid[n] + noise[-s], "reached": 1.0,
            "ood_reached": reached[n] + noise[s], "exact_trained": 1.0, "layer_parameters": 36_864.0,
        }
        for trade in trades
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


def test_claims_of_petty_are_judged_on_each_trade_that_was_trained():
    rising, flat = {1: 0.2, 2: 0.3, 4: 0.5, 8: 0.4}, dict.fromkeys((1, 2, 4, 8), 0.3)
    both = table(rising, rising, rising, (THIN, FLAT))
    ours = {claim.name: claim for claim in depth.CLAIMS}
    names = ["returns of depth fade (Petty et al.)", "depth helps at equal loss (Petty et al.)"]
    wide = both["trade"] == FLAT
    both.loc[wide, ["ood", "ood_reached"]] = table(flat, flat, flat)[["ood", "ood_reached"]].to_numpy()[: wide.sum()]
    for name in names:
        judged = rc.judge(both, ours[name])
        assert judged.verdict == "fails"
        assert {part.name: part.verdict for part in judged.parts} == {THIN: "holds", FLAT: "fails"}
        assert rc.judge(both[~wide], ours[name]).verdict == "holds"
    both.loc[wide & (both["layers"] == 1), ["reached", "exact_trained"]] = 0.0
    assert [rc.judge(both, ours[name]).verdict for name in names] == ["undecided", "undecided"]


def test_four_layers_are_compared_with_two_and_with_both_ends():
    found = table({1: 0.2, 2: 0.9, 4: 0.5, 8: 0.4}, {1: 0.9, 2: 0.3, 4: 0.5, 8: 0.9}, dict.fromkeys((1, 2, 4, 8), 0.3))
    assert depth_claims.in_distribution(found).to_numpy() == pytest.approx(np.full(5, 0.2), abs=1e-9)
    ends = depth_claims.inside(found)
    assert ends.mean().to_dict() == pytest.approx({"1 layer": 0.3, "8 layers": 0.1})


def test_a_length_of_few_rows_weighs_less():
    scores = {"exact_pair_2": 1.0, "exact_pair_3": 0.0, "n_pair_2": 20.0, "n_pair_3": 3000.0}
    scores |= {"voter_pair_2": 0.5, "voter_pair_3": 0.5} | {
        "exact_row_2": np.nan,
        "n_row_2": 0.0,
        "voter_row_2": np.nan,
    }
    found = depth.averaged(scores)
    assert found["ood"] == pytest.approx(20 / 220)
    assert found["voter_ood"] == 0.5
    assert np.isnan(found["iid"])


def test_all_trades_are_points_of_the_paper_tier():
    assert {point["trade"] for point in depth.points(depth.PAPER)} == {THIN, FLAT, LOOPED}
    assert {point["trade"] for point in depth.points(depth.GPU)} == {THIN, FLAT}


def test_where_the_length_is_given_the_end_is_neither_said_early_nor_asked_for():
    walk, jump = VOCABULARY.ids(["I_WALK", "I_JUMP"])
    y = np.stack([np.tile([walk, jump, EOS], (4, 1)), np.ones((4, 3), int)], axis=-1)
    first = np.array([[walk, jump, EOS], [walk, EOS, EOS], [walk, jump, jump], [walk, EOS, EOS]])
    second = np.array([[EOS] * 3, [walk, jump, walk], [EOS] * 3, [walk, walk, walk]])
    eye = np.eye(len(VOCABULARY))
    record = rc.Record(np.arange(4)[:, None], y[..., 0], y, 2 * eye[first] + eye[second])
    assert exact_rows(record).tolist() == [True, False, False, False]
    # an early end with the right action second counts, an end that is missed too, a wrong action second does not
    assert exact_rows(scan.length_given(record)).tolist() == [True, True, True, False]


def commands(levels: dict[str, dict[int, float]], fit: float = 1.0) -> pd.DataFrame:
    noise = np.random.default_rng(0).normal(0, 0.002, 5)
    rows = [
        {
            "system": "network", "condition": f"{asked}, {n} layers", "asked": asked, "layers": n, "seed": s,
            "diverged_at": -1, "ood": level + abs(noise[s] * n * level), "exact_trained": fit,
            "layer_parameters": 36_864.0,
        }
        for asked, by_depth in levels.items()
        for n, level in by_depth.items()
        for s in range(5)
    ]  # fmt: skip
    known = {"perfect": {"ood": 1.0}, "walks": {"ood": 0.0}, "untrained": {"exact_trained": 0.0}}
    return pd.DataFrame([*rows, *({"system": name, "seed": 0} | row for name, row in known.items())])


def test_commands_are_judged_by_their_mean_and_kinds_at_the_floor_are_left_open():
    rising, level = {2: 0.2, 4: 0.6, 8: 0.6}, {2: 0.5, 4: 0.5, 8: 0.5}
    floor = dict.fromkeys((2, 4, 8), 0.0)
    mean, each = scan.CLAIMS
    some = commands(dict(zip(scan.ASKED, (rising, level, floor), strict=True)))
    assert scan_claims.over_kinds(some).mean() == pytest.approx(0.4 / 3, abs=0.01)
    assert rc.judge(some, mean).verdict == "holds"
    by_kind = {part.name: part.verdict for part in rc.judge(some, each).parts}
    assert by_kind == {scan.LENGTH: "holds", scan.TEMPLATE: "fails", scan.JUMP: "undecided"}
    full = rc.judge(commands({scan.LENGTH: rising, scan.TEMPLATE: dict.fromkeys((2, 4, 8), 0.97)}), each)
    assert full.groups == {scan.LENGTH: "holds", scan.TEMPLATE: "undecided"}
    assert full.because[scan.TEMPLATE].endswith("no room")
    nothing = rc.judge(commands(dict.fromkeys(scan.ASKED, floor)), mean)
    assert nothing.verdict == "undecided"
    assert "novel commands answered at the best depth" in nothing.why
    unfit = commands(dict.fromkeys(scan.ASKED, rising), fit=0.9)
    assert [rc.judge(unfit, claim).verdict for claim in scan.CLAIMS] == ["undecided"] * 2
    some.loc[some["asked"] == scan.JUMP, "exact_trained"] = 0.9  # one kind that is not learnt leaves the others
    assert rc.judge(some, mean).verdict == "undecided"
    assert {part.name: part.verdict for part in rc.judge(some, each).parts} == by_kind


@pytest.mark.parametrize("experiment", [depth, scan])
def test_settings_that_are_not_read_are_refused(experiment):
    with pytest.raises(rc.UserError, match="width and depth are not read here: set widths, depths and weights"):
        experiment.Settings(width=64)
    with pytest.raises(rc.UserError, match="learning_rate is not read here: set rates, one for each depth"):
        experiment.Settings(learning_rate=0.01)
    replace(experiment.QUICK, learning_rate=experiment.QUICK.rates[0])  # as it is trained
