"""A tendency over targets has a calibrated interval, and best depths are those of networks that render their target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.do2026.best import best, by_chance, halves, interior, pseudo_values, shallowest, tendency
from recombine.experiments.do2026.predictor import CLAIMS, MARGIN
from recombine.experiments.do2026.targets import FEATURES, OWN, pictures
from recombine.measures.similarity import rank_correlation

DEPTHS = (2.0, 4.0, 6.0, 8.0, 12.0, 16.0)


def table(strength: float, *, targets: int = 44, seed: int = 0, noise: float = 0.01) -> pd.DataFrame:
    """Networks whose score is lowest at a depth that goes with the complexities of their target so far."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(targets):
        feature, other = rng.standard_normal(2)
        wanted = np.clip(8 + 4 * (strength * feature + np.sqrt(1 - strength**2) * other), 2, 16)
        facts = {"goal": f"t{number}", "kind": "network", OWN: 1.0, **dict.fromkeys(FEATURES, feature)}
        for depth in DEPTHS:
            for one in range(4):
                score = abs(depth - wanted) / 16 + noise * rng.standard_normal()
                scores = {"map_zip": score, "R": score, "missed": 0.01}
                rows.append({"system": "network", "seed": one, "depth": depth} | facts | scores)
    return pd.DataFrame(rows)


def with_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """With the control rows: best depths that are an exact line of each complexity."""
    first = rows.drop_duplicates("goal")
    lines = [first.assign(system=f"line in {name}", best=first[name], seed=0) for name in FEATURES]
    return pd.concat([rows, *lines], ignore_index=True)


ONE = np.full(100, "one")


def test_pseudo_values_average_to_the_correlation_and_a_line_reads_one():
    x = np.arange(30.0)
    assert np.mean(pseudo_values(x, x**3, ONE[:30])) == pytest.approx(1)
    assert np.isnan(pseudo_values(x[:3], x[:3], ONE[:3])).all()
    a, b = np.random.default_rng(0).integers(6, size=(2, 12)).astype(float)
    without = [rank_correlation(np.delete(a, i), np.delete(b, i)) for i in range(12)]
    assert np.allclose(pseudo_values(a, b, ONE[:12]), 12 * rank_correlation(a, b) - 11 * np.array(without))


def test_kinds_that_differ_in_both_make_no_tendency():
    """Within each of three kinds the depth rises with complexity; over all of them it falls."""
    rng, kinds = np.random.default_rng(0), np.repeat(["network", "scene", "photograph"], 20)
    kind = np.repeat([0.0, 1.0, 2.0], 20)
    x = 10 * kind + rng.standard_normal(60)
    y = -10 * kind + x - 10 * kind + 0.3 * rng.standard_normal(60)
    assert rank_correlation(x, y) < -0.5
    values = pseudo_values(x, y, kinds)
    assert values.mean() > 0.8
    without = [pseudo_values(np.delete(x, i), np.delete(y, i), np.delete(kinds, i)) for i in (3, 40)]
    assert np.isfinite(without).all()
    low, high = rc.interval(pseudo_values(x, -10 * kind + rng.standard_normal(60), kinds))
    assert low < 0 < high


def test_the_shallowest_depth_that_renders_and_best_depths_inside_are_found():
    rows = table(0.9)
    assert interior("map_zip")(rows) > 0.5
    rows.loc[rows["depth"] == 2, "missed"] = 0.5
    assert set(shallowest(rows)["best"]) == {4.0}
    rising = rows.assign(map_zip=rows["depth"])
    assert interior("map_zip")(rising) == 0


@pytest.mark.parametrize("strength", [0.0, 0.6])
def test_the_interval_over_targets_covers_the_true_rank_correlation(strength):
    rng, inside = np.random.default_rng(1), []
    truth = 6 / np.pi * np.arcsin(strength / 2)
    for _ in range(300):
        x, e = rng.standard_normal((2, 44))
        low, high = rc.interval(pseudo_values(x, strength * x + np.sqrt(1 - strength**2) * e, ONE[:44]))
        inside.append(low <= truth <= high)
    assert np.mean(inside) >= 0.92


def test_claims_hold_of_a_planted_tendency_and_not_without_one():
    *deep, renders = CLAIMS
    assert [rc.judge(with_lines(table(0.9)), claim).verdict for claim in deep] == ["holds"] * len(deep)
    assert "most frequent" in rc.judge(with_lines(table(0.9)), renders).why, "every depth renders everything"
    none = [rc.judge(with_lines(table(0.0, seed=i)), CLAIMS[0]).verdict for i in range(20)]
    assert none.count("holds") == 0


def test_best_depths_that_other_seeds_do_not_find_are_not_judged():
    rows = with_lines(table(0.9, noise=5.0))
    assert halves(best("map_zip"))(rows) < 0.5
    assert "halves" in rc.judge(rows, CLAIMS[0]).why


def test_a_depth_that_does_not_render_the_target_is_not_its_best():
    rows = table(0.9, targets=1)
    first = best("map_zip")(rows)["best"].iloc[0]
    rows.loc[rows["depth"] == first, "missed"] = 0.5
    assert best("map_zip")(rows)["best"].iloc[0] != first


def test_shuffled_best_depths_seldom_hold():
    found = best("map_zip")(table(0.9))
    assert tendency(found, FEATURES[0]).mean() > 0.7
    assert by_chance(found, FEATURES[0], MARGIN) <= 0.05


def test_targets_are_the_same_at_every_size_and_have_names_of_their_own():
    small, large = pictures(16), pictures(32)
    assert len({t.name for t in small}) == len(small) == 44
    for a, b in zip(small, large, strict=True):
        assert abs(a.picture.mean() - b.picture.mean()) < 0.05, a.name
