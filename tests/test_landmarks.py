"""Real training beside landmarks: the inequalities that one or two seeds of the same networks suggested elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

import recombine as rc
from recombine import engine
from recombine.engine import catalogue
from recombine.train.monitor import Monitor

pytestmark = pytest.mark.slow
LANDMARK = {"width": 32, "steps": 1500, "learning_rate": 1e-3}
DEMO = {"width": 16, "steps": 500, "learning_rate": 3e-3}


def run(name: str, out, **changes):
    experiment = catalogue.find(name)
    settings = replace(experiment.settings("laptop"), **changes)
    return engine.execute(engine.RunRequest(experiment, "laptop", settings, out), Monitor()).table


def test_the_donut_is_fitted_and_its_hole_is_not(tmp_path):
    rows = rc.pick(run("liang2025/failure", tmp_path, **LANDMARK), condition="donut")
    assert (rows.accuracy1_donut >= 0.99).all()
    assert (rows.mse_hole / rows.mse_donut >= 20).all()
    assert (rows.accuracy0_hole <= 0.25).all()
    assert (rows.accuracy1_interior <= 0.1).all()


def test_stripes_compose_where_as_many_bumps_do_not(tmp_path):
    table = run("liang2025/stripes", tmp_path, **DEMO)
    stripes, bumps = (rc.pick(table, condition=name) for name in ("stripes + bumps", "bumps only"))
    assert (stripes.accuracy1_hole >= 0.95).all()
    assert (bumps.accuracy1_hole <= 0.5).all()
