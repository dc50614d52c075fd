"""Claims on scaling and composition that were restated: planted tables with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.engine import catalogue
from recombine.experiments.redhardt2025 import (
    decoding,
    decoding_figure,
    figures,
    growth,
    reference,
    size,
    students,
    transformer,
)

WITH_VARIANTS = ("decoding", "support", "size", "transformer", "law")


def table_of(**columns) -> pd.DataFrame:
    return pd.DataFrame({"system": "network", "condition": "", "variant": "primary", **columns})


def probed(deep: list[list[float]], r2: list[float], *, code: float = 1.0) -> pd.DataFrame:
    """Six seeds of the same students; the task encoding tells all constituents alike, the first layer nearly so."""
    rows = [
        {"seed": seed, "covers": 1.0, "r2_unseen": y, "r2_seen": 0.95, "probe_deepest": float(np.mean(each))}
        | {"constituents_deepest": np.array(each), "constituents_code": np.array([code, code + 0.01 * (i % 2)])}
        | {"constituents_first": np.array([0.9, 0.9 + 0.01 * (i // 2 % 2)]), "probe_code": code, "probe_first": 0.9}
        for seed in range(6)
        for i, (each, y) in enumerate(zip(deep, r2, strict=True))
    ]
    return table_of(**pd.DataFrame(rows))  # pyrefly: ignore


LOST = probed([[0.9, 0.9], [0.6, 0.6], [0.3, 0.3], [0.4, -30.0]], [0.9, 0.6, 0.3, 0.2])


def test_one_lost_constituent_does_not_decide_a_correlation():
    assert figures.floored(LOST[LOST["seed"] == 0], "probe_deepest", 0.0) == pytest.approx([0.9, 0.6, 0.3, 0.2])
    assert figures.floored(LOST[LOST["seed"] == 0], "probe_deepest", -1.0)[-1] == pytest.approx(-0.3)
    np.testing.assert_allclose(figures.explains("probe_deepest", floor=0.0)(LOST), 1.0)
    assert (figures.explains("probe_deepest")(LOST) < 0.5).all()


def test_constituents_of_students_that_diverged_are_no_number():
    rows = pd.DataFrame({"constituents_deepest": [np.array([np.nan, np.nan]), np.array([np.nan, 0.4])]})
    found = figures.floored(rows, "probe_deepest", 0.0)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.4)


def test_decodability_is_judged_by_the_paper_s_statistic_ranks_and_rivals():
    family = figures.goes_along("here", "a source", controls=())
    assert [claim.above for claim in family] == [0.95, 0.7, 0.1]
    assert [claim.source for claim in family] == ["a source", "ours; a source", "ours; a source"]
    assert [rc.judge(LOST, claim).verdict for claim in family] == ["holds", "holds", "undecided"]
    floors = rc.judge(LOST, figures.whichever_floor(family[0]))
    assert {part.name: part.verdict for part in floors.parts} == {
        "floor 0": "holds",
        "floor -1": "fails",
        "no floor": "fails",
    }
    flat = figures.goes_along("here", "ours; a source", least=0.9, controls=())
    assert rc.judge(LOST, flat[0]).verdict == "undecided"
    assert flat[1].source == "ours; a source"


def test_an_encoding_that_goes_along_as_well_leaves_the_deepest_layer_no_lead():
    same = LOST.assign(constituents_code=LOST["constituents_deepest"])
    lead = figures.ahead_of_rivals(floor=0.0)(same)
    np.testing.assert_allclose(lead["task encoding"], 0.0, atol=1e-12)
    assert rc.judge(same, figures.goes_along("here", "ours", controls=())[2]).verdict == "fails"


def test_a_rival_at_its_ceiling_decides_nothing_however_it_correlates():
    shrunk = [1 - 0.01 * (1 - np.maximum(each, 0)) for each in LOST["constituents_deepest"]]
    found = rc.judge(LOST.assign(constituents_code=shrunk), figures.goes_along("here", "ours", controls=())[2])
    assert found.verdict == "undecided"
    assert set(found.because) >= {"task encoding"}


def test_a_rival_that_falls_where_answers_rise_counts_as_explaining_nothing():
    reversed_ = [1 - np.maximum(each, 0) for each in LOST["constituents_deepest"]]
    lead = figures.ahead_of_rivals(floor=0.0)(LOST.assign(constituents_code=reversed_))
    np.testing.assert_allclose(lead["task encoding"], 1.0)


def test_what_untrained_students_do_as_well_is_taken_off_group_by_group():
    table = pd.concat(
        [
            table_of(seed=[0], task_encoding=["a"], hidden=[0.9], code=[0.2]),
            table_of(seed=[0], task_encoding=["a"], hidden=[0.5], code=[0.4], system="untrained"),
        ]
    )
    gain = figures.beyond_untrained(lambda t: pd.DataFrame({"a": [0.7]}), "hidden", "code", "task_encoding")
    np.testing.assert_allclose(gain(table), [[0.6]])


def test_correlations_need_students_of_which_half_have_learnt():
    check = figures.mostly_fit()
    assert check.value(LOST) == 1.0
    assert check.value(LOST.assign(r2_seen=[0.95, 0.2, 0.2, 0.2] * 6)) == 0.25


@pytest.mark.parametrize(("memory", "share"), [(0.6, 0.75), (-0.35, 0.9), (0.0, 0.9)])
def test_memory_that_is_worse_than_answering_zero_lends_nothing(memory, share):
    table = pd.concat(
        [table_of(seed=[0], r2_unseen=[0.9]), table_of(seed=[0], r2_unseen=[memory], system="nearest task")]
    )
    np.testing.assert_allclose(figures.beyond_memory(rc.value("r2_unseen"))(table), share)


def test_each_configuration_of_the_reference_has_controls_of_its_own():
    rows = [
        {"system": "network", "condition": name, "seed": seed, "r2_unseen": r2, "r2_seen": r2 + 0.01}
        | {"probe_deepest": 0.95, "whole": 1.0}
        for name, r2 in (("small", 0.9), ("default", 0.99))
        for seed in range(6)
    ]
    known = [
        {"system": system, "condition": name, "seed": 0, "r2_unseen": r2, "probe_deepest": 0.85}
        for name, memory in (("small", 0.5), ("default", 0.0))
        for system, r2 in (("perfect", 1.0), ("mean", 0.0), ("nearest task", memory), ("untrained", 0.0))
    ]
    table = pd.DataFrame([*rows, *known]).assign(variant="primary")
    claims = {claim.name: claim for claim in reference.CLAIMS}
    beyond = next(claim for name, claim in claims.items() if "beyond memory" in name)
    np.testing.assert_allclose(beyond.effect(table).iloc[0][["default", "small"]], [0.99, 0.8])
    decoded = next(claim for name, claim in claims.items() if "untrained" in name)
    assert rc.judge(table, decoded).verdict == "holds"
    gaps = [rc.judge(table, reference.close(name, gap)) for name, gap in (("small", 0.02), ("default", 0.005))]
    assert [v.verdict for v in gaps] == ["holds", "fails"]
    assert [check.value(table) for check in reference.CONTROLS] == [1.0, 0.0, 0.5]
    assert rc.judge(table[table["condition"] == "small"], reference.close("default", 0.005)).verdict == "undecided"
    wrong = table.assign(r2_unseen=table["r2_unseen"].mask(table["system"] == "perfect", 0.5))
    assert rc.judge(wrong, decoded).verdict == "undecided"


def disconnected(isolated: tuple[float, float], others: tuple[float, float]) -> pd.DataFrame:
    each = {"first": np.array([isolated[0]] + [others[0]] * 3), "deepest": np.array([isolated[1]] + [others[1]] * 3)}
    columns = {f"constituents_{name}": [v] for name, v in each.items()}
    columns |= {f"probe_{name}": [v.mean()] for name, v in each.items()}
    columns |= {f"rarest_{name}": [v[0]] for name, v in each.items()}
    return table_of(seed=[0], kind="disconnected", **columns)


@pytest.mark.parametrize(("table", "lost"), [(((1.0, 0.2), (1.0, 0.9)), 0.7), (((1.0, 0.2), (1.0, 0.2)), 0.0)])
def test_what_depth_loses_of_every_module_is_not_held_against_the_isolated_one(table, lost):
    np.testing.assert_allclose(decoding.falls(disconnected(*table)), lost, atol=1e-12)


def test_what_untrained_students_lose_of_the_isolated_module_is_not_held_against_training():
    trained = disconnected((1.0, 0.2), (1.0, 0.9))
    untrained = disconnected((1.0, -1.0), (1.0, 0.8)).assign(system=figures.ISOLATED)
    np.testing.assert_allclose(decoding.lost_alone(pd.concat([trained, untrained])), 0.7 - 1.8)


def test_the_isolated_module_is_left_out_of_the_others():
    alone, rest = decoding_figure.apart(np.array([[1.0, 1.0, 1.0, 1.0], [-3.0, 0.8, 0.8, 0.8]]), -3.0)
    np.testing.assert_allclose(alone, [1.0, -3.0])
    np.testing.assert_allclose(rest, [1.0, 0.8])


def test_composing_students_are_compared_with_an_untrained_one_of_their_width():
    trained = table_of(seed=[0, 1], width=[128, 128], count=[69, 69], probe_deepest=[0.95, 0.93])
    untrained = table_of(seed=[0, 0], width=[16, 128], count=np.nan, probe_deepest=[0.4, 0.85]).assign(
        system="untrained"
    )
    np.testing.assert_allclose(decoding.over_untrained(pd.concat([trained, untrained])), [0.1, 0.08])


def test_a_student_that_has_learnt_more_is_not_ahead_for_that_alone():
    numbers = {"MLP": (0.96, 0.66), "transformer": (0.91, 0.61), "hypernetwork": (0.99, 0.89)}
    rows = [
        {"seed": seed, "model": model, "count": 8, "r2_seen": seen, "r2_unseen": unseen, "parameters": 100}
        for seed in range(6)
        for model, (seen, unseen) in numbers.items()
    ]
    table = table_of(**pd.DataFrame(rows))  # pyrefly: ignore
    effects = [claim.effect(table) for claim in transformer.CLAIMS[:2]]
    np.testing.assert_allclose(effects, [[0.0] * 6, [0.2] * 6], atol=1e-12)
    verdicts = [rc.judge(table, replace(claim, controls=())).verdict for claim in transformer.CLAIMS[:2]]
    assert verdicts == ["fails", "holds"]


def test_hypernetworks_do_not_enter_correlations_of_decodability():
    table = table_of(seed=[0] * 3, covers=1.0, model=["MLP", "transformer", "hypernetwork"])
    assert set(transformer.both_of_the_paper(table)["model"]) == {"MLP", "transformer"}


def test_encodings_that_the_largest_students_do_not_learn_are_not_judged():
    rows = [
        {"seed": seed, "task_encoding": name, "width": width, "depth": depth, "r2_seen": seen, "r2_unseen": unseen}
        | {"probe_hidden": 0.1, "probe_code": 0.5}
        for seed in range(6)
        for name, best in (("identity", 0.95), ("nonlinear", 0.3))
        for width, depth, seen, unseen in ((8, 2, 0.3, 0.1), (8, 4, 0.5, 0.3), (16, 4, best, best - 0.05))
    ]
    table = table_of(**pd.DataFrame(rows))  # pyrefly: ignore
    claims = [replace(c, controls=(), preconditions=()) for c in size.CLAIMS if c.over == "task encodings"]
    assert len(claims) == 3
    for claim in claims:
        verdict = rc.judge(table, claim)
        assert verdict.verdict == "undecided"
        assert "learnt what they were shown" in verdict.why


def test_what_is_left_of_pairs_given_a_number_of_masks():
    x, z = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([1.0, 3.0, 2.0, 6.0, 5.0, 4.0])
    assert growth.partial_rank(x, 2 * x, z) == pytest.approx(1.0)
    assert growth.partial_rank(x, z**3, z**2) != growth.partial_rank(x, z**3, x)
    assert np.isnan(growth.partial_rank(x, z, 2 * x))  # nothing is left
    rng = np.random.default_rng(0)
    given = rng.normal(size=4000)
    a, b = given + 0.5 * rng.normal(size=4000), given + 0.5 * rng.normal(size=4000)
    assert abs(growth.partial_rank(a, b, given)) < 0.05


def test_pairs_explain_what_masks_per_module_do_not():
    rng = np.random.default_rng(0)
    rows = [
        {"seed": seed, "model": "MLP", "multiple": n, "share": rng.uniform(), "pairs": pairs, "r2_unseen": pairs**2}
        for seed in range(5)
        for n in (1, 2, 4)
        for pairs in rng.uniform(0.1 * n, 1, 4)
    ]
    table = table_of(**pd.DataFrame(rows))  # pyrefly: ignore
    np.testing.assert_allclose(growth.pairs_explain(table), 1.0)
    by_masks = table.assign(r2_unseen=table["multiple"] / 10 + table["share"] / 1000)
    assert (growth.masks_explain(by_masks)["masks per module"] > 0.8).all()
    assert (growth.pairs_explain(by_masks)["given masks per module"].abs() < 0.8).all()


def test_the_cost_of_modules_is_in_the_gap_and_not_in_what_was_learnt():
    rows = [
        {"seed": 0, "model": "MLP", "max_active": 4, "modules": m, "multiple": 2, "r2_seen": seen, "r2_unseen": unseen}
        for m, seen, unseen in ((8, 0.95, 0.94), (16, 0.90, 0.86))
    ]
    np.testing.assert_allclose(growth.cost(table_of(**pd.DataFrame(rows))), 0.03)  # pyrefly: ignore


@pytest.mark.parametrize("name", WITH_VARIANTS)
@pytest.mark.parametrize("tier", ["laptop", "gpu"])
def test_variants_are_the_paper_s_schedule_and_longer_training(name, tier):
    experiment = catalogue.find(f"redhardt2025/{name}")
    settings = experiment.settings(tier)
    changed = {variant.name: variant.applied(settings) for variant in experiment.variants}
    assert set(changed) == {"constant rate", "twice the steps"}
    assert not changed["constant rate"].cosine
    assert changed["twice the steps"].steps == 2 * settings.steps
    assert {each.seeds for each in changed.values()} == {5}


@pytest.mark.parametrize("name", ["decoding", "law", "more_modules", "reference", "size", "support", "transformer"])
def test_laptop_tiers_use_seeds_that_were_not_looked_at(name):
    tiers = catalogue.find(f"redhardt2025/{name}")
    assert tiers.settings("laptop").seed == 2
    assert students.Training().seed == 1  # of the gpu tiers
