"""Every experiment, found by its path, keeps the contract and runs at the quick tier."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recombine as rc
from recombine import engine
from recombine.cppn.genome import save_genome
from recombine.engine import catalogue
from recombine.experiments.do2026 import several
from recombine.experiments.pictures import shared
from recombine.train.monitor import Monitor

NAMES = catalogue.names()
KEEP = engine.Keep(models=True, records=True)


def test_there_are_experiments():
    assert {"liang2025/failure", "liang2025/stripes"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_states_its_question_tiers_and_claims(name):
    experiment = catalogue.find(name)
    assert experiment.question.endswith("?")
    for tier in catalogue.TIERS:
        settings = experiment.settings(tier)
        assert is_dataclass(settings)
        assert isinstance(settings, experiment.module.Settings)
        hash(settings)
        assert experiment.module.cells(settings)
    claims = experiment.claims
    assert len({c.name for c in claims}) == len(claims) > 0
    for claim in claims:
        assert claim.says
        assert claim.source
        assert claim.controls, f"{claim.name}: a measure without controls may not give a verdict"


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_tier_runs_judges_and_draws(name, tmp_path):
    experiment = catalogue.find(name)
    order = engine.RunRequest(experiment, "quick", experiment.settings("quick"), tmp_path, keep=KEEP)
    result = engine.execute(order, Monitor())
    assert not result.table.empty
    assert {v.evidence for v in result.verdicts} == {False}
    assert (result.folder / "figure.png").stat().st_size > 4_000
    assert list((tmp_path / name / "cells").glob("*.safetensors"))
    record = rc.load_record(next((tmp_path / name / "cells").glob("*.record.npz")))
    assert np.isfinite(record.y_hat).all()


def test_the_example_of_a_study_runs(tmp_path):
    example = Path(__file__).parents[1] / "examples" / "my_study.py"
    experiment = catalogue.find(str(example))
    order = engine.RunRequest(experiment, "quick", experiment.settings("quick"), tmp_path)
    assert len(engine.execute(order, Monitor()).table) == 4


def test_a_run_in_which_every_network_diverges_is_told_and_drawn(tmp_path):
    experiment = catalogue.find("liang2025/failure")
    settings = replace(experiment.settings("quick"), learning_rate=1e30)
    result = engine.execute(engine.RunRequest(experiment, "quick", settings, tmp_path), Monitor())
    assert {v.verdict for v in result.verdicts} == {"undecided"}
    assert [v.lost for v in result.verdicts] == [2, 2, 2]
    assert (result.folder / "figure.png").exists()


@pytest.mark.parametrize(
    "name", ["kumar2025/fracture", "do2026/pruning", "do2026/several", "do2026/schedules", "do2026/mechanisms"]
)
def test_picture_networks_that_all_diverge_are_told_and_drawn(name, tmp_path):
    experiment = catalogue.find(name)
    settings = replace(experiment.settings("quick"), learning_rate=1e30)
    result = engine.execute(engine.RunRequest(experiment, "quick", settings, tmp_path), Monitor())
    assert {v.verdict for v in result.verdicts} == {"undecided"}
    assert (result.folder / "figure.png").exists()


def test_a_picture_of_ones_own_is_drawn_again_as_it_was(tmp_path):
    """The figure shows what was trained on, also when the file is gone; one flat colour is refused."""
    file, flat = tmp_path / "mine.png", tmp_path / "flat.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (8, 8, 3), np.uint8)).save(file)
    Image.new("RGB", (8, 8), "red").save(flat)
    experiment = catalogue.find("do2026/several")
    settings = replace(experiment.settings("quick"), outside=(str(file),))
    result = engine.execute(engine.RunRequest(experiment, "quick", settings, tmp_path), Monitor())
    file.unlink()
    several.pictures.cache_clear()
    _, loaded, table = engine.load(experiment, result.folder)
    assert engine.plot(experiment, loaded, table, result.folder, result.verdicts, tier="quick")
    with pytest.raises(rc.UserError, match="one flat colour"):
        several.pictures(replace(settings, outside=(str(flat),)))


def test_networks_of_a_folder_that_cannot_be_used_are_named(tmp_path):
    moth = rc.designed.designs()["moth"]
    save_genome(tmp_path / "moth.json", moth, name="moth")
    settings = replace(catalogue.find("do2026/wiring").settings("quick"), artifacts=str(tmp_path))
    with pytest.raises(rc.UserError, match="called moth, as a designed picture is"):
        shared.cells(settings)
    (tmp_path / "moth.json").rename(tmp_path / "other.json")
    assert shared.names(settings) == ["moth", "other"]
    save_genome(tmp_path / "other.json", replace(moth, links=()), name="other")
    with pytest.raises(rc.UserError, match="the network other in"):
        shared.goals(settings)
