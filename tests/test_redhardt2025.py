"""What the experiments on scaling and composition share, and how their claims read tables."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine import engine
from recombine.engine import catalogue
from recombine.experiments.redhardt2025 import (
    built_networks,
    data,
    evaluation,
    figures,
    growth,
    more_modules,
    reference,
    shared,
    size,
    students,
    support,
)
from recombine.table import modern
from recombine.tasks import modules
from recombine.train.monitor import Monitor

NAMES = [name for name in catalogue.names() if name.startswith("redhardt2025/")]
SMALL = students.StudentSettings(**students.QUICK)
NO_USE = {"data": "held_out", "law": "held_out", "transformer": "held_out", "reference": "width"}


def table_of(**columns) -> pd.DataFrame:
    """One row per network; a column that is a list is one value per row."""
    return pd.DataFrame({"system": "network", "condition": "", "variant": "primary", **columns})


@pytest.mark.parametrize(("name", "field"), NO_USE.items())
def test_no_setting_is_offered_that_would_change_nothing(name, field):
    settings = catalogue.find(f"redhardt2025/{name}").module.Settings
    assert field not in {f.name for f in fields(settings)}


def test_settings_of_an_experiment_become_those_of_its_students():
    made = students.with_changes(data.QUICK, students.WithPrecision, modules=6)
    assert (made.modules, made.width, made.precision) == (6, data.QUICK.width, "float32")
    with pytest.raises(rc.UserError, match="cannot tie the modules together"):
        replace(SMALL, held_out=0.99)


def test_a_support_without_a_module_is_not_connected():
    masks = modules.masks(4, 2)
    whole = shared.described(masks, np.ones(len(masks), bool))
    assert (whole["covers"], whole["connected"], whole["pairs"], whole["share"]) == (1, 1, 1, 1)
    without = shared.described(masks, masks[:, -1] == 0)
    assert (without["covers"], without["connected"], without["pairs"]) == (0, 0, 0.5)
    halves = shared.described(masks, rc.supports.parted(masks, 0.25, rc.key(0)))
    assert (halves["covers"], halves["connected"]) == (1, 0)


def test_memory_is_perfect_on_what_it_was_shown_and_not_elsewhere():
    task = shared.family(SMALL, 1)
    masks = shared.masks(task)
    shown = shared.known_records(SMALL, task, task.combinations, masks)
    assert rc.r2_by_unit(shown["nearest task"]) > 0.999
    assert rc.r2_by_unit(shown["perfect"]) > 0.999
    singles = masks[masks.sum(axis=1) == 1]
    pairs = task.combinations[masks.sum(axis=1) == 2]
    assert rc.r2_by_unit(shared.known_records(SMALL, task, pairs, singles)["nearest task"]) < 0.9


def test_an_untrained_student_has_all_measures_of_a_trained_one():
    task = shared.family(SMALL, 1)
    support = shared.random_support(SMALL, task, 0)
    row = shared.untrained(SMALL, task, shared.student(SMALL, task), support, width=8)
    assert (row["system"], row["width"], row["seed"]) == ("untrained", 8, 0)
    assert {"r2_seen", "r2_unseen", "pooled_unseen", "probes_seen", "probes_unseen", "pairs"} <= set(row)
    assert row["r2_unseen"] < 0.5
    assert len(row["probes_unseen"]) == SMALL.depth + 1
    again = shared.untrained(SMALL, task, shared.student(SMALL, task), support)
    assert again["r2_unseen"] == row["r2_unseen"]


def planted_records(lost: int) -> tuple[rc.Record, rc.Record]:
    """Students whose first layer has all of z and whose deepest lacks one constituent; answers are z itself."""
    rng = np.random.default_rng(0)

    def part(n: int) -> rc.Record:
        z = rng.uniform(0.5, 1, (n, 3)) * (rng.uniform(size=(n, 3)) < 0.7)
        deep = z.copy()
        deep[:, lost] = rng.normal(size=n)
        y = np.repeat(rng.normal(size=(n, 4, 1)), 3, axis=2) * (1 + z[:, None])
        return rc.Record(z, np.concatenate([z, rng.normal(size=(n, 2))], axis=1), y, y, {"layer0": z, "layer1": deep})

    return part(900), part(300)


def test_a_constituent_that_a_deep_layer_lacks_is_named_and_others_are_not_blamed():
    seen, other = planted_records(lost=1)
    found = evaluation.answers(seen, other, 2, np.eye(3))
    assert found["r2_unseen"] == 1
    assert found["fitted_on"] == 600
    np.testing.assert_allclose(found["constituents_code"], 1, atol=0.01)
    np.testing.assert_allclose(found["constituents_first"], 1, atol=0.01)
    assert found["constituents_deepest"][1] < 0.1
    assert min(found["constituents_deepest"][[0, 2]]) > 0.9
    assert found["constituents"].shape == (3, 3)
    assert found["probe_deepest"] == pytest.approx(np.mean(found["constituents_deepest"]))
    np.testing.assert_allclose(found["weights_unseen"], found["probes_unseen"])  # the weights are z itself here
    assert len(found["task_probe"]) == len(found["task_r2"]) == 300


def test_probes_are_fitted_on_four_tasks_per_unit_of_the_widest_layer():
    task = shared.family(SMALL, 1)
    assert evaluation.to_fit(task, shared.student(SMALL, task), 10) == 4 * 8
    assert evaluation.to_fit(task, shared.student(replace(SMALL, width=32), task), 10) == 4 * 32
    assert evaluation.to_fit(task, shared.student(SMALL, task), 100) == 100


def test_pairs_seen_together_are_counted_as_a_split_counts_them():
    masks = modules.masks(6, 3)
    for seed in range(3):
        train = rc.supports.random(masks, 0.7, rc.key(seed))
        assert shared.described(masks, train)["pairs"] == pytest.approx(rc.supports.coverage(masks, train, 2))


def test_tasks_with_a_module_beside_others_are_picked():
    z = np.array([[0.5, 0, 0], [0.5, 1, 0], [0, 1, 1]])
    record = rc.Record(z, z, z, z)
    assert evaluation.where_active(record, 0).tolist() == [False, True, False]


def test_squared_correlation_has_the_paper_s_value_and_a_sign():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert figures.squared(x, 2 * x + 1) == pytest.approx(1)
    assert figures.squared(x, -x) == pytest.approx(-1)
    assert figures.squared(x, np.array([0.0, 1.0, 1.0, 0.0])) == pytest.approx(0)


def test_supports_without_a_module_do_not_enter_correlations():
    table = table_of(
        seed=[0] * 4, covers=[1, 1, 1, 0], probe_deepest=[0.1, 0.5, 0.9, -3.0], r2_unseen=[0.2, 0.6, 1.0, 1.0]
    )
    assert figures.explains("probe_deepest")(table)[0] == pytest.approx(1)
    assert rc.correlation_by_seed("probe_deepest", "r2_unseen", of=figures.squared)(table)[0] < 0.2


def test_what_memory_misses_is_the_scale_of_composition():
    table = pd.concat(
        [table_of(seed=[0, 1], r2_unseen=[0.9, 0.6]), table_of(seed=[0], r2_unseen=[0.6], system="nearest task")]
    )
    np.testing.assert_allclose(figures.beyond_memory(rc.value("r2_unseen"))(table), [0.75, 0.0])


def test_controls_of_tasks_of_one_module_more_are_read_from_tables_old_and_new():
    names = ["perfect", "mean", "nearest task", "perfect, one more", "nearest task, one more"]
    old = modern(
        pd.DataFrame(
            {
                "condition": [f"control: {name}" for name in names],
                "seed": 0,
                "r2_unseen": [1.0, 0.0, 0.2, np.nan, np.nan],
                "r2_more": [np.nan, np.nan, np.nan, 1.0, 0.4],
            }
        )
    )
    found = {"perfect": (1.0, 1.0), "mean": (0.0, 0.1), "nearest task": (0.2, 0.4)}
    new = pd.DataFrame([{"system": s, "seed": 0, "r2_unseen": a, "r2_more": b} for s, (a, b) in found.items()])
    for table in (old, new):
        assert [check.value(table) for check in more_modules.CONTROLS] == [1.0, 0.0, 0.2, 1.0, 0.4]


def law_table(level: float, transformer: float = 1.0) -> pd.DataFrame:
    """R2 meets its level at 2 masks per module, between 1 and 4; a transformer's does with fewer masks."""
    rows = [
        {"seed": seed, "model": model, "max_active": 4, "modules": m, "total": m**2, "multiple": n}
        | {"masks": n * m / factor, "r2_unseen": r2, "r2_seen": 1.0}
        for seed in range(5)
        for model, factor in (("MLP", 1.0), ("transformer", transformer))
        for m in (8, 16, 32)
        for n, r2 in ((1, level - 0.1), (4, level + 0.1))
    ]
    return table_of(**pd.DataFrame(rows))  # pyrefly: ignore


def test_the_power_with_which_the_masks_needed_grow():
    table = law_table(0.9)
    mlps = rc.pick(table, model="MLP")
    np.testing.assert_allclose(growth.power(mlps, 0.9, "total"), 0.5)
    np.testing.assert_allclose(growth.powers(table, 0.9)["4 active"], 1.0)
    assert growth.powers(table, 1.01).isna().all().all()
    assert growth.powers(table.assign(r2_unseen=0.5), 0.9).isna().all().all()
    np.testing.assert_allclose(growth.cost(table.assign(r2_unseen=lambda t: 1 - t["modules"] / 100)), 0.24)


def test_how_many_times_fewer_masks_a_transformer_needs():
    found = growth.fewer_needed(law_table(0.9, transformer=4.0))
    assert list(found) == ["8 modules", "16 modules", "32 modules"]
    np.testing.assert_allclose(found, 2.0)
    enough = law_table(0.9).assign(r2_unseen=lambda t: t["r2_unseen"].mask(t["model"] == "transformer", 0.95))
    np.testing.assert_allclose(growth.fewer_needed(enough), 1.0)  # its fewest count: half of the MLP's 2 per module
    assert growth.fewer_needed(rc.pick(law_table(0.9), model="MLP")).empty


def test_students_and_built_networks_are_compared_at_every_size_that_both_have():
    sizes = {"built": (100, 200, 900), "trained": (95, 205, 400)}
    missed = {100: 0.2, 95: 0.1, 200: 0.05, 205: 0.1, 900: 0.01, 400: 0.1}
    rows = [
        {"condition": kind, "modules": 8, "hidden": size, "missed": missed[size], "seed": seed}
        for kind, every in sizes.items()
        for size in every
        for seed in (0, 1)
    ]
    found = built_networks.excess(table_of(**pd.DataFrame(rows)))  # pyrefly: ignore
    assert list(found) == ["100 neurons", "200 neurons"]
    np.testing.assert_allclose(found, [[0.30103, -0.30103]] * 2, atol=1e-4)


def test_the_reference_is_compared_where_it_was_trained_as_long():
    table = table_of(condition=["small"] * 2, seed=[0, 1], r2_unseen=[0.95, 0.96], authors_unseen=0.955)
    np.testing.assert_allclose(reference.apart("small")(table)["small"], [-0.005, 0.005])
    assert reference.apart("default")(table).empty
    assert reference.configured(reference.GPU, "default").steps == 100_000
    assert reference.configured(reference.QUICK, "small").steps == 20


def test_two_halves_and_as_many_random_masks_are_as_many():
    masks = modules.masks(8, 3)
    both = [kind(masks, 0.25, rc.key(0)) for kind in (rc.supports.parted, support.as_many)]
    assert both[0].sum() == both[1].sum()
    assert shared.described(masks, both[0])["pairs"] < shared.described(masks, both[1])["pairs"]


def test_every_increase_in_training_masks_has_a_column_of_its_own():
    table = table_of(seed=[0, 1] * 3, own=1.0, count=[4, 4, 8, 8, 16, 16], r2_unseen=[0.1, 0.2, 0.5, 0.4, 0.45, 0.6])
    gains = data.gains(table)
    assert list(gains) == ["4 to 8 masks", "8 to 16 masks"]
    np.testing.assert_allclose(gains, [[0.4, -0.05], [0.2, 0.2]])


def test_families_are_compared_at_an_equal_share_held_out():
    rows = [
        {"seed": 0, "modules": m, "max_active": k, "r2_unseen": m / 100 + k / 10, "compared": float(share)}
        for m, k in ((8, 2), (8, 3), (16, 3))
        for share in (0, 1)
    ]
    found = data.larger(table_of(**pd.DataFrame(rows)))  # pyrefly: ignore
    assert found.iloc[0].round(3).to_dict() == {
        "max_active 3: modules 8 to 16": 0.08,
        "modules 8: max_active 2 to 3": 0.1,
    }


def test_a_share_that_leaves_too_few_masks_is_left_out():
    assert data.possible(data.GPU, 8, 2) == {0.75: 9, 0.25: 27}
    assert data.possible(data.GPU, 16, 3) == {0.98: 14, 0.9: 70, 0.75: 174, 0.25: 522}


def encodings_table(**numbers: tuple[float, float]) -> pd.DataFrame:
    rows = [
        {"seed": seed, "task_encoding": name, "width": 8, "depth": 2, "r2_unseen": unseen, "r2_seen": seen}
        for seed in range(6)
        for name, (unseen, seen) in numbers.items()
    ]
    noise = np.random.default_rng(0).normal(0, 1e-3, len(rows))
    return table_of(**pd.DataFrame(rows)).assign(r2_unseen=lambda t: t["r2_unseen"] + noise)  # pyrefly: ignore


def test_task_encodings_are_judged_one_by_one_and_those_that_do_not_fit_are_counted():
    table = encodings_table(**{"tokens": (0.95, 0.99), "few-shot": (0.2, 0.5)})
    verdicts = [
        rc.judge(table, replace(size.suffices(name), controls=())) for name in ("tokens", "few-shot", "identity")
    ]
    assert [v.verdict for v in verdicts] == ["holds", "undecided", "undecided"]
    assert [v.unfit for v in verdicts] == [0, 6, 0]


def test_depth_is_judged_on_what_is_missed_at_equal_widths():
    rows = [
        {"seed": 0, "task_encoding": "tokens", "width": w, "depth": d, "r2_unseen": r2}
        for w, d, r2 in ((8, 1, 0.0), (8, 3, 0.9), (16, 1, 0.9), (16, 3, 0.99), (32, 3, 0.999))
    ]
    np.testing.assert_allclose(figures.depth_gain(table_of(**pd.DataFrame(rows)))["tokens"], -1.0)  # pyrefly: ignore


def test_the_hidden_layer_is_chosen_on_training_tasks():
    row = {"probes_seen": np.array([1.0, 0.5, 0.9]), "probes_unseen": np.array([1.0, 0.8, 0.3])}
    assert size.hidden(row) == {"probe_hidden": 0.3}


def test_networks_that_all_diverge_are_told_and_drawn(tmp_path):
    experiment = catalogue.find("redhardt2025/data")
    settings = replace(experiment.settings("quick"), learning_rate=1e30)
    result = engine.execute(engine.RunRequest(experiment, "quick", settings, tmp_path), Monitor())
    assert {v.verdict for v in result.verdicts} == {"undecided"}
    assert {v.lost for v in result.verdicts} == {2}
    assert rc.networks(result.table)["r2_unseen"].isna().all()
    assert (result.folder / "figure.png").exists()


@pytest.mark.parametrize("name", NAMES)
def test_claims_are_complete_phrases_with_bounds_and_units(name):
    for claim in catalogue.find(name).claims:
        assert not claim.name.startswith(("and ", "but ", "nor ", "though ", "it ", "its "))
        assert claim.unit
        assert "minus the loss" not in claim.unit
        assert len(claim.says) < 300


def test_a_student_fits_from_an_r2_of_ninety_percent_on():
    table = table_of(seed=[0, 1, 2], r2_seen=[0.95, 0.85, np.nan])
    fits = figures.fits()(table)
    assert fits[0] == 1
    assert fits[1] == 0
    assert np.isnan(fits[2])


def test_stored_settings_of_pairs_are_read_as_they_were(tmp_path):
    facts = {"tier": "laptop", "settings": asdict(data.LAPTOP)}
    (tmp_path / "settings.json").write_text(json.dumps(facts))
    pd.DataFrame([{"system": "network", "seed": 0}]).to_parquet(tmp_path / "table.parquet")
    assert engine.load(catalogue.find("redhardt2025/data"), tmp_path)[1] == data.LAPTOP
