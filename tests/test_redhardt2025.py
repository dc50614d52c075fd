"""What the experiments on scaling and composition share, and how their claims read tables."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine import engine
from recombine.engine import catalogue
from recombine.experiments.redhardt2025 import data, decoding, figures, law, more_modules, shared, size, students
from recombine.table import modern
from recombine.tasks import modules
from recombine.train.monitor import Monitor

NAMES = [name for name in catalogue.names() if name.startswith("redhardt2025/")]
SMALL = students.StudentSettings(**students.QUICK)
NO_USE = {"data": "held_out", "law": "held_out", "transformer": "held_out", "reference": "precision"}


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


def test_a_probe_of_the_deepest_layer_is_not_clipped_in_a_table():
    row = {"probes_unseen": np.array([1.0, 0.5, -3.0]), "condition": "c", "seed": 0}
    found = decoding.decoded(SMALL, row)
    assert (found["probe_code"], found["probe_first"], found["probe_deepest"]) == (1.0, 0.5, -3.0)
    assert shared.deepest(row) == -3.0


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


def test_the_power_with_which_the_masks_needed_grow():
    """R2 meets its level at 2 masks per module, between 1 and 4, while all masks are the modules squared."""
    rows = [
        {
            "seed": seed,
            "modules": m,
            "total": m**2,
            "multiple": n,
            "masks": float(n * m),
            "r2_unseen": r2,
            "r2_seen": 1.0,
        }
        for seed in range(5)
        for m in (8, 16, 32)
        for n, r2 in ((1, law.LEVEL - 0.1), (4, law.LEVEL + 0.1))
    ]
    table = table_of(**pd.DataFrame(rows)).assign(condition=lambda t: t["modules"].astype(str) + " modules")  # pyrefly: ignore
    np.testing.assert_allclose(law.growth(table, "total"), 0.5)
    np.testing.assert_allclose(law.growth(table, "modules"), 1.0)
    assert list(law.UNSEEN(table)) == ["8 modules", "16 modules", "32 modules"]
    never = table.assign(r2_unseen=0.5)
    assert law.growth(never, "total").isna().all()


def test_every_increase_in_training_masks_has_a_column_of_its_own():
    table = table_of(seed=[0, 1] * 3, count=[4, 4, 8, 8, 16, 16], r2_unseen=[0.1, 0.2, 0.5, 0.4, 0.45, 0.6])
    gains = data.gains(table)
    assert list(gains) == ["4 to 8 masks", "8 to 16 masks"]
    np.testing.assert_allclose(gains, [[0.4, -0.05], [0.2, 0.2]])


def test_task_encodings_are_judged_one_by_one_and_those_that_do_not_fit_are_counted():
    rows = [
        {"seed": seed, "task_encoding": name, "width": 8, "depth": 2, "r2_unseen": unseen, "r2_seen": seen}
        for seed in range(6)
        for name, unseen, seen in (("tokens", 0.95, 0.99), ("few-shot", 0.2, 0.5))
    ]
    noise = np.random.default_rng(0).normal(0, 1e-3, len(rows))
    table = table_of(**pd.DataFrame(rows)).assign(r2_unseen=lambda t: t["r2_unseen"] + noise)  # pyrefly: ignore
    claim = replace(size.CLAIMS[3], controls=())
    verdict = rc.judge(table, claim)
    assert verdict.verdict == "undecided"
    assert {p.name: (p.verdict, p.unfit) for p in verdict.parts} == {
        "tokens": ("holds", 0),
        "few-shot": ("undecided", 6),
    }
    assert rc.judge(table[table["task_encoding"] == "tokens"], claim).verdict == "holds"


def test_networks_that_all_diverge_are_told_and_drawn(tmp_path):
    experiment = catalogue.find("redhardt2025/data")
    settings = replace(experiment.settings("quick"), learning_rate=1e30)
    result = engine.execute(engine.RunRequest(experiment, "quick", settings, tmp_path), Monitor())
    assert {v.verdict for v in result.verdicts} == {"undecided"}
    assert [v.lost for v in result.verdicts] == [2, 2, 2]
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
