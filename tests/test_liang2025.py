"""What the experiments of the bump paper compute from rows and arrays, on known answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.engine import catalogue
from recombine.experiments.liang2025 import _donut, amounts, efficiency, holdouts, predictors, tuning

QUICK = amounts.QUICK
Z = np.array([(x, y) for x in range(QUICK.size) for y in range(QUICK.size)])


def pictures(values: np.ndarray) -> rc.Record:
    task = rc.bumps(QUICK.size, rc.local_bump(QUICK.size))
    import jax

    return rc.truth(task, Z, key=jax.random.key(0)).answering(values)


def test_a_threshold_is_where_the_curve_crosses_and_nothing_if_it_does_not():
    sizes = np.array([4, 16, 64])
    assert efficiency.threshold(sizes, np.array([0.0, 0.8, 1.0])) == pytest.approx(32.0)
    assert np.isnan(efficiency.threshold(sizes, np.array([0.1, 0.5, 0.8])))
    assert np.isnan(efficiency.threshold(sizes, np.array([0.95, 1.0, 1.0])))


def test_exponents_are_the_slopes_of_power_laws():
    rows = [
        {"condition": "bumps", "seed": seed, "side": side, "threshold": (1 + seed) * side**power}
        for seed, power in ((0, 2.0), (1, 3.0))
        for side in (8, 12, 16)
    ]
    assert efficiency.exponents(pd.DataFrame(rows), "bumps").to_list() == pytest.approx([2.0, 3.0])


def test_the_made_up_systems_of_efficiency_know_what_lies_near_what_they_saw():
    assert efficiency.remembered(5, np.array([[2, 2]])) == pytest.approx(9 / 25)
    assert efficiency.remembered(5, np.array([[0, 0]])) == pytest.approx(4 / 25)
    assert efficiency.composed(5, np.array([[2, rc.ABSENT], [rc.ABSENT, 0]])) == pytest.approx(3 / 5 * 2 / 5)


def test_crosses_are_like_crosses_and_bumps_like_bumps():
    crosses = amounts.likeness(QUICK, pictures(amounts.crosses(QUICK, Z)))
    bumps = amounts.likeness(QUICK, pictures(pictures(np.zeros((64, 8, 8))).y))
    assert crosses["r_cross"] == pytest.approx(1.0)
    assert bumps["r_truth"] == pytest.approx(1.0)
    assert crosses["r_truth"] < 0.9 > bumps["r_cross"]


def test_shares_tell_stripes_sums_and_conjunctions_apart():
    energies = {
        "stripes": [[1.0, 0.0], [0.0, 3.0], [0.0, 0.0]],
        "sum": [[1.0], [1.0], [0.0]],
        "pair": [[0.0]] * 2 + [[2.0]],
    }
    found = tuning.shares({name: np.array(values) for name, values in energies.items()})
    assert found["stripe_share"] == pytest.approx([1.0, 0.0, 0.0])
    assert found["bump_share"] == pytest.approx([0.0, 0.0, 1.0])


def test_hidden_layers_that_add_codes_are_additive_and_or_like_and_products_are_not():
    codes = np.eye(QUICK.size)
    sums = np.concatenate([codes[Z[:, 0]], codes[Z[:, 1]]], axis=1)
    pairs = np.eye(len(Z))
    record = pictures(np.zeros((64, 8, 8)))
    assert _donut.shapes(QUICK, rc.on_grid(record, sums))["additive"] == pytest.approx(1.0)
    # A strip of 2 x 8 cells in which nothing is shared: its 8 + 2 - 2 degrees of freedom of 15.
    assert _donut.shapes(QUICK, rc.on_grid(record, pairs))["additive"] == pytest.approx(8 / 15)
    assert _donut.or_like(QUICK, Z, sums) > 0
    assert _donut.or_like(QUICK, Z, pairs) < 0


def test_the_strips_of_the_donut_never_touch_the_hole():
    inside = rc.on_grid(pictures(np.zeros((64, 8, 8))), rc.square(Z, QUICK.low, QUICK.high).held_out)
    assert not any(inside[strip].any() for strip in _donut.strips(QUICK))


def table(noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ways = np.tile(np.linspace(0, 1, 12), 6)
    rows = {"seed": np.repeat(np.arange(6), 12), "way": [f"way {w:.2f}" for w in ways], "accuracy1_hole": ways}
    more = {"accuracy1_trained": 1.0, "diverged_at": -1, "good": ways + noise * rng.normal(size=72)}
    return pd.DataFrame(rows | more | {"chance": rng.uniform(size=72)})


def test_correlations_are_taken_seed_by_seed_over_networks_that_learnt():
    rows = table(0.0)
    assert predictors.correlations(rows, "good").to_list() == pytest.approx([1.0] * 6)
    assert abs(predictors.correlations(rows, "chance").mean()) < 0.3
    rows.loc[rows["way"] == "way 0.00", ["accuracy1_trained", "good"]] = [0.1, 99.0]
    assert predictors.correlations(rows, "good").to_list() == pytest.approx([1.0] * 6)


def test_the_interval_over_ways_holds_the_correlation_and_is_wider_for_noise():
    r, low, high = predictors.over_networks(table(0.3), "good", draws=200)
    assert low <= r <= high < 1
    assert predictors.over_networks(table(0.0), "good", draws=200) == pytest.approx((1.0, 1.0, 1.0))


@pytest.mark.parametrize("changes", [{"codes": ("variance",)}, {"ablations": ()}, {"bumps": 10_000}, {"depths": (3,)}])
def test_settings_that_cannot_run_are_refused(changes):
    with pytest.raises(rc.UserError):
        predictors.Settings(**changes)


def test_a_hole_too_small_for_a_cross_is_refused():
    with pytest.raises(rc.UserError, match="too small"):
        holdouts.Settings(low=7, high=7, rim=0)


def test_an_experiments_code_is_that_of_the_files_it_builds_on():
    folder = Path(amounts.__file__).parent
    found = {f.name for f in catalogue._with_imported_siblings(folder / "tuning.py")}
    assert {"tuning.py", "amounts.py", "stripes.py", "_hole.py", "_units.py"} <= found
    assert "_show.py" not in found
    assert "rendering.py" not in found
