"""What the experiments of the bump paper compute from rows and arrays, on known answers."""

from __future__ import annotations

from importlib import import_module

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.engine import identity
from recombine.experiments.liang2025 import (
    amounts,
    depth,
    depth_claims,
    donut,
    efficiency,
    encodings,
    failure,
    figures,
    holdouts,
    layers,
    pictures_needed,
    predictors,
    shared,
    stripes,
    superposition,
    tuning,
)
from recombine.table import modern

QUICK = amounts.QUICK
Z = np.array([(x, y) for x in range(QUICK.size) for y in range(QUICK.size)])
DONUT, STRIPES = stripes.DONUT, stripes.STRIPES


def pictures(values: np.ndarray) -> rc.Record:
    task = rc.bumps(QUICK.size, rc.local_bump(QUICK.size))
    return rc.truth(task, Z, key=rc.key(0, "test")).answering(values)


def claim(module, name: str) -> rc.Claim:
    return next(c for c in module.CLAIMS if c.name == name)


def test_a_threshold_is_where_the_curve_crosses_and_a_bound_if_it_does_not():
    sizes = np.array([4, 16, 64])
    assert pictures_needed.threshold(sizes, np.array([0.0, 0.8, 1.0])) == pytest.approx((32.0, 0.0))
    assert pictures_needed.threshold(sizes, np.array([0.1, 0.5, 0.8])) == (64.0, 1.0)
    assert pictures_needed.threshold(sizes, np.array([0.95, 1.0, 1.0])) == (4.0, -1.0)
    assert np.isnan(pictures_needed.threshold(sizes, np.array([0.1, np.nan, 1.0]))).all()


def test_numbers_beyond_the_sizes_tried_are_bounds_and_too_many_of_them_decide_nothing():
    """All grids need N^3 bumps; where few numbers are bounds the claim is judged with them, else it is not."""
    known = (("network", "bumps", 3), ("memoriser", "bumps", 2), ("composer", "stripes", 1))
    cubic = next(c for c in efficiency.CLAIMS if c.name.startswith("bumps alone need about N^3"))

    def judged(bounds: int):
        rows = [
            {"system": system, "condition": kind, "side": side, "seed": seed, "needed_box_1": float(side**power)}
            | {"beyond_box_1": float(system == "network" and side == 16 and seed < bounds)}
            for system, kind, power in known
            for side in (8, 12, 16)
            for seed in range(8 if system == "network" else 1)
        ]
        return rc.judge(pd.DataFrame(rows), cubic)

    said = [judged(bounds) for bounds in (0, 1, 4)]
    assert [v.verdict for v in said] == ["holds", "holds", "undecided"]
    assert "4 of 24 numbers needed lie beyond" in said[-1].why


def test_exponents_are_the_slopes_of_power_laws():
    rows = [
        {"seed": seed, "side": side, "needed_box_1": (1 + seed) * side**power}
        for seed, power in ((0, 2.0), (1, 3.0))
        for side in (8, 12, 16)
    ]
    assert pictures_needed.exponents(pd.DataFrame(rows), "box_1").to_list() == pytest.approx([2.0, 3.0])


def test_the_made_up_systems_of_efficiency_know_what_lies_near_what_they_saw():
    places = pictures_needed.asked(8, "whole", 0)
    memory = [pictures_needed.remembered(8, np.array([cell]), places) for cell in ((2.2, 1.8), (0, 0))]
    assert [np.mean(off <= 1) for off in memory] == pytest.approx([9 / 64, 4 / 64])
    assert np.mean(memory[0] <= 0.5) == pytest.approx(1 / 64)
    off = pictures_needed.composed(8, np.array([[2, rc.ABSENT], [rc.ABSENT, 0]]), places)
    assert np.mean(off <= 1) == pytest.approx(3 / 8 * 2 / 8)


def test_a_ruler_is_a_region_and_a_tolerance():
    off, inside = np.array([0.0, 0.55, 0.9, 3.0]), np.array([True, True, False, False])
    found = pictures_needed.shares(off, inside)
    assert [found[f"box_{t}"] for t in ("nearest", "0.6", "1")] == [0.5, 1.0, 1.0]
    assert [found[f"everywhere_{t}"] for t in ("nearest", "0.6", "1")] == [0.25, 0.5, 0.75]
    assert found["outside_1"] == 0.5


@pytest.mark.parametrize("law", ["real", "whole"])
def test_pictures_of_efficiency_are_counted_and_the_box_can_be_held_out(law):
    task = pictures_needed.pictures(8, law, 0)
    for kind in efficiency.KINDS:
        size = int(pictures_needed.sizes(kind, 8, law, 4)[-1])
        shown = task.combinations[pictures_needed.some(task, kind, 8, size, rc.key(0, "test"))]
        assert len(shown) == len(np.unique(shown, axis=0)) == size
        assert np.all(rc.whole(shown)) == (kind != pictures_needed.STRIPES)
        assert pictures_needed.in_box(shown, 8).any() == (kind == pictures_needed.BUMPS)
    perfect = rc.truth(task, pictures_needed.asked(8, law, 0), key=rc.key(0, "test"))
    assert set(pictures_needed.right(perfect, 8).values()) == {1.0}


def test_an_mlp_is_set_against_a_cnn_with_as_many_hidden_layers_and_against_itself_untrained():
    row = {"seed": 0, "system": "network", "condition": depth_claims.CNN, "depth": 2.0, "f": [1.0, 0.9, 0.5]}
    row |= {"initial_f": [0.9, 0.8, 0.5], "nmse_trained": 0.01}
    mlp = row | {"condition": depth_claims.LONG, "depth": 3.0, "f": [1.0, 0.6, 0.5], "initial_f": [1.0, 1.0, 1.0]}
    other = mlp | {"depth": 5.0, "f": [0.0, 0.0, 0.0]}
    table = pd.DataFrame([row, mlp, other])
    found = depth_claims.by_pair(depth_claims.LONG, depth_claims.fall("f"))(table)
    assert found.to_dict() == {"3 hidden layers": {0: pytest.approx(0.5)}}
    since = depth_claims.by_depth(depth_claims.CNN, depth_claims.fall("f"))(table)
    assert since.to_dict() == {"2": {0: pytest.approx(-0.1)}}
    for kind, error, fits in ((depth_claims.LONG, 0.2, 0.0), (depth_claims.SHORT, 0.2, 1.0)):
        unfit = pd.DataFrame([row, mlp | {"condition": kind, "nmse_trained": error}])
        assert depth_claims.pairs_fit(kind)[0](unfit).to_dict() == {"3 hidden layers": {0: fits}}


def test_maps_of_stripes_are_striped_and_diagonals_are_not():
    stripes, diagonal = np.tile(np.arange(4.0), (4, 1)), np.eye(4)
    assert tuning.striped(stripes[None, :, :, None]) == pytest.approx(1.0)
    assert tuning.striped((stripes + 2 * stripes.T)[None, :, :, None]) == pytest.approx(1.0)
    assert tuning.striped(diagonal[None, :, :, None]) == pytest.approx(0.0)


def test_the_hole_its_interior_and_the_donut_are_measured_apart():
    settings = stripes.QUICK
    truth = shared.truth(settings)
    region = rc.square(truth.z, settings.low, settings.high)
    shifted = np.where(region.held_out[:, None, None], np.roll(truth.y, 1, axis=2), truth.y)
    found = shared.measures(settings, truth.answering(shifted), np.zeros(len(truth), bool))
    exact = {place: found[f"accuracy0_{place}"] for place in ("donut", "hole", "interior")}
    near = {place: found[f"accuracy1_{place}"] for place in ("donut", "hole", "interior")}
    assert exact == {"donut": 1.0, "hole": 0.0, "interior": 0.0}
    assert near == {"donut": 1.0, "hole": 1.0, "interior": 1.0}
    assert found["mse_donut"] == 0.0 < found["mse_hole"]
    assert np.isnan(found["accuracy0_trained"])
    assert np.isnan(found["mse_trained"])


@pytest.mark.parametrize(
    "module", [amounts, depth, encodings, failure, holdouts, layers, stripes, superposition, tuning]
)
def test_untrained_networks_are_measured_as_the_others_are(module):
    rows = pd.DataFrame(module.controls(module.QUICK))
    untrained = rc.pick(rows, system="untrained")
    assert not untrained.empty
    known = rows[rows["system"] != "untrained"]
    assert known["system"].isin(["network"]).sum() == 0
    assert set(known.dropna(axis=1, how="all")) <= set(untrained.dropna(axis=1, how="all")) | {"condition"}


def by_condition(column: str, values: dict[str, float], seeds: int = 5) -> pd.DataFrame:
    rows = [
        {"condition": c, "seed": s, "system": "network", column: v} for c, v in values.items() for s in range(seeds)
    ]
    return pd.DataFrame(rows)


def test_effects_are_taken_from_networks_and_never_from_controls():
    rows = by_condition("a", {DONUT: 100.0}).assign(b=1.0, deep=[[1.0, 2.0, 3.0]] * 5)  # pyrefly: ignore
    known = pd.DataFrame([{"condition": DONUT, "seed": 0, "system": "perfect", "a": 0.0, "b": 7.0, "deep": [9.0]}])
    table = pd.concat([rows, known])
    assert figures.minus("a", "b", condition=DONUT)(table).to_list() == [99.0] * 5
    assert list(figures.log_over("a", "b", condition=DONUT)(table)) == [2.0] * 5
    assert figures.layer("deep", -2, condition=DONUT)(table).to_list() == [2.0] * 5
    assert figures.output_of(table, "perfect", "deep") == 9.0


def test_each_depth_has_an_interval_and_one_that_does_not_fail_decides():
    rows = [
        {"system": "network", "condition": "donut", "depth": d, "seed": s, "accuracy1_donut": 1.0}
        | {"accuracy0_donut": 1.0, "accuracy0_interior": inside + 0.01 * s}
        for d, inside in ((2, 0.0), (4, 0.9))
        for s in range(5)
    ]
    known = [{"system": n, "seed": 0, "accuracy0_interior": float(n == "perfect")} for n in ("perfect", "blind")]
    known += [{"system": name, "seed": 0, "accuracy0_interior": 0.0} for name in figures.MEMORISERS]
    verdict = rc.judge(pd.DataFrame(rows + known), claim(failure, "the decoder fails in the hole"))
    assert [part.verdict for part in verdict.parts] == ["holds", "fails"]
    assert verdict.verdict == "fails"


def test_a_network_that_did_not_learn_the_donut_is_left_out_at_its_depth_alone():
    rows = [
        {"system": "network", "condition": "donut", "depth": d, "seed": s}
        | {"accuracy1_donut": 0.0 if (d, s) == (4, 5) else 1.0}
        for d in (2, 4)
        for s in range(6)
    ]
    fits = failure.FITS[0](pd.DataFrame(rows))
    assert fits.sum().to_list() == [6.0, 5.0]


def test_or_like_is_a_property_of_the_failing_network_alone():
    effect = claim(superposition, "the failing kernel is OR-like").effect
    table = by_condition("overlap_or", {DONUT: 0.8, STRIPES: 0.9})
    assert effect(table).to_list() == [0.8] * 5
    other = by_condition("overlap_or", {DONUT: 0.8, STRIPES: -0.9})
    assert effect(other).to_list() == effect(table).to_list()


def test_a_network_that_diverged_has_no_kinship():
    settings = superposition.QUICK
    answer = shared.truth(settings).answering(np.full((64, 8, 8), np.nan))
    found = superposition.measured(settings, {"seed": 0, "diverged_at": 3}, answer, np.zeros((2, 8, 8, 8)))
    assert all(np.isnan(value).all() for name, value in found.items() if name != "matrices")
    assert np.shape(found["sums"]) == (2, 8, 8)


def test_the_volume_is_judged_in_the_last_hidden_layer():
    table = by_condition("hole_depth", {DONUT: 0.0, STRIPES: 0.0})
    table["hole_depth"] = [[0.0, -0.8, -9.0] if c == DONUT else [0.0, -0.2, 9.0] for c in table["condition"]]
    table["initial_hole_depth"] = [[0.0, 0.1, 0.0]] * len(table)
    collapsed = claim(layers, "the volume collapses in the hole").effect(table)
    even = claim(layers, "the volume stays even where the network composes").effect(table)
    assert collapsed.to_list() == pytest.approx([-0.9] * 5)
    assert even.to_list() == pytest.approx([0.3] * 5)


def test_crosses_are_like_crosses_and_bumps_like_bumps():
    crosses = amounts.likeness(QUICK, pictures(amounts.crosses(QUICK, Z)))
    bumps = amounts.likeness(QUICK, pictures(pictures(np.zeros((64, 8, 8))).y))
    assert crosses["r_cross"] == pytest.approx(1.0)
    assert bumps["r_truth"] == pytest.approx(1.0)
    assert crosses["r_truth"] < 0.9 > bumps["r_cross"]


def test_a_cross_is_in_place_and_no_bump():
    """Stripes and bumps are claimed by what crosses, which are brightest at the right place, do not have."""
    rows = {row["system"]: row for row in shared.controls(stripes.QUICK)}
    read = {name: [rows[name][c] for c in ("accuracy1_hole", "bumps1_hole", "bumps0_interior")] for name in rows}
    assert read["crosses"] == [1.0, 0.0, 0.0]
    assert read["perfect"] == [1.0, 1.0, 1.0]
    blank = shared.truth(QUICK).answering(np.ones((64, 8, 8)))  # dark on white
    assert shared.measures(QUICK, blank, np.ones(64, bool))["nmse_trained"] == pytest.approx(1.0)


def test_stripes_without_bumps_are_learnt_by_their_loss_alone():
    rows = [
        {"system": "network", "bumps": n, "seed": s, "loss": 0.1 if (n, s) == (0, 1) else 0.001}
        | {"accuracy1_trained": np.nan if n == 0 else 0.5 if s == 0 else 1.0}
        for n in (0, 8, 64)
        for s in range(3)
    ]
    table = pd.DataFrame(rows)
    (none,) = amounts.learnt(amounts.NONE)
    loss, placed = amounts.learnt(amounts.NONE, amounts.MOST)
    assert none(table).to_list() == loss(table).to_list() == [1.0, 0.0, 1.0]
    assert placed(table).to_list() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("variant", amounts.VARIANTS, ids=lambda v: v.name)
def test_a_variant_makes_one_choice_otherwise_and_says_why(variant):
    assert variant.why.endswith(".")
    assert len(set(variant.changes) - set(amounts.FEWER)) == 1  # on no more networks than it needs
    assert any(variant.applied(tier) != tier for tier in (amounts.LAPTOP, amounts.GPU))


@pytest.mark.parametrize("module", [amounts, depth, tuning])
def test_all_tiers_have_the_papers_polarity(module):
    assert all(tier.dark for tier in (module.QUICK, module.LAPTOP, module.GPU, module.PAPER))


def test_stripes_alone_say_nothing_of_bumps():
    table = pd.DataFrame(
        [{"system": "network", "bumps": 0, "seed": s, "r_cross": 0.9, "r_truth": 0.5} for s in range(5)]
    )
    assert claim(amounts, "stripes alone draw a cross").effect(table).to_list() == pytest.approx([0.4] * 5)
    with pytest.raises(IndexError, match="stripes alone"):
        claim(amounts, "bumps turn crosses into bumps").effect(table)


def test_an_absent_factor_is_silent_or_lies_in_the_margin():
    for settings in (amounts.LAPTOP, tuning.LAPTOP):
        margin = next(v for v in amounts.VARIANTS if "absent" in v.changes).applied(settings)
        silent, aside = (np.asarray(amounts.encoding(s)(jnp.asarray(rc.ABSENT))) for s in (settings, margin))
        assert not silent.any()
        assert aside.max() == pytest.approx(1.0, abs=0.2)
        assert np.argmax(aside) < 6  # before the first pixel
        assert len(aside) == settings.size + 12


def test_shares_tell_stripes_sums_and_conjunctions_apart():
    energies = {
        "stripes": [[1.0, 0.0], [0.0, 3.0], [0.0, 0.0]],
        "sum": [[1.0], [1.0], [0.0]],
        "pair": [[0.0]] * 2 + [[2.0]],
    }
    found = tuning.shares({name: np.array(values) for name, values in energies.items()})
    assert found["stripe_share"] == pytest.approx([1.0, 0.0, 0.0])
    assert found["bump_share"] == pytest.approx([0.0, 0.0, 1.0])


def test_controls_of_a_shape_are_read_from_old_tables_and_new():
    check = holdouts.reads("square", "perfect", "accuracy0_unseen", at_least=1.0)
    old = [{"condition": f"control: perfect, {shape}", "seed": 0} for shape in holdouts.SHAPES]
    new = [{"condition": shape, "system": "perfect", "seed": 0} for shape in holdouts.SHAPES]
    for rows in (old, new):
        table = modern(pd.DataFrame(rows).assign(accuracy0_unseen=[0.7, 0.0, 0.0, 0.0]))
        assert check.value(table) == 0.7


def test_hidden_layers_that_add_codes_are_additive_and_or_like_and_products_are_not():
    codes = np.eye(QUICK.size)
    sums = np.concatenate([codes[Z[:, 0]], codes[Z[:, 1]]], axis=1)
    pairs = np.eye(len(Z))
    record = pictures(np.zeros((64, 8, 8)))
    assert donut.shapes(QUICK, rc.on_grid(record, sums))["additive"] == pytest.approx(1.0)
    # A strip of 2 x 8 cells in which nothing is shared: its 8 + 2 - 2 degrees of freedom of 15.
    assert donut.shapes(QUICK, rc.on_grid(record, pairs))["additive"] == pytest.approx(8 / 15)
    assert donut.or_like(QUICK, Z, sums) > 0
    assert donut.or_like(QUICK, Z, pairs) < 0


def test_the_strips_of_the_donut_never_touch_the_hole():
    inside = rc.on_grid(pictures(np.zeros((64, 8, 8))), rc.square(Z, QUICK.low, QUICK.high).held_out)
    assert not any(inside[strip].any() for strip in donut.strips(QUICK))


def table(noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ways = np.tile(np.linspace(0, 1, 12), 6)
    rows = {"seed": np.repeat(np.arange(6), 12), "way": [f"way {w:.2f}" for w in ways], predictors.OUTCOME: ways}
    more = {"accuracy1_trained": 1.0, "diverged_at": -1, "good": ways + noise * rng.normal(size=72)}
    return modern(pd.DataFrame(rows | more | {"chance": rng.uniform(size=72)}))


def test_correlations_are_taken_seed_by_seed_over_networks_that_learnt():
    rows = table(0.0)
    assert predictors.correlation("good")(rows).to_list() == pytest.approx([1.0] * 6)
    assert abs(predictors.correlation("chance")(rows).mean()) < 0.3
    rows.loc[rows["way"] == "way 0.00", ["accuracy1_trained", "good"]] = [0.1, 99.0]
    assert predictors.correlation("good")(rows).to_list() == pytest.approx([1.0] * 6)


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


@pytest.mark.parametrize("name", ["layers", "superposition", "tuning"])
def test_an_experiments_code_is_that_of_the_definitions_it_builds_on(name):
    module = import_module(f"recombine.experiments.liang2025.{name}")
    found = {file.rpartition(".")[2] for file in identity.code_files(module)}
    assert {name, "stripes", "shared"} <= found
    assert "figures" not in found  # judges and plots rows, and makes none
    assert "rendering" not in found
