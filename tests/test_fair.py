"""Optimisers, ways to train, shared networks, mechanisms: planted effects are found, equal networks come out equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import recombine as rc
from recombine.claims import Verdict
from recombine.experiments.do2026 import basins, mechanisms, optimisers, schedules, several
from recombine.experiments.do2026.optimisers_figure import ADAM, DENSE, FEW, MANY, NAMES, SECOND, TRIAL, of
from recombine.experiments.do2026.several_figure import ALONE, SHARED
from recombine.experiments.do2026.ways import COSINE, DEFAULT
from recombine.experiments.pictures import moments, scoring, shared

PICTURES = ("face", "moth")


def table(kinds, *, seeds=12, seed=0, shift=None, columns=("R", "map_zip")) -> pd.DataFrame:
    """Equal networks of several kinds but for a shift of all columns, of equal errors; beside a designed one at 0.3."""
    rng, rows = np.random.default_rng(seed), []
    for goal in PICTURES:
        rows.append({"system": "designed", "goal": goal, "seed": 0, **dict.fromkeys(columns, 0.3)})
        for kind in kinds:
            for number in range(seeds):
                scores = 0.7 + (shift or {}).get(kind, 0.0) + 0.03 * rng.standard_normal(len(columns))
                who = {"system": "network", "kind": kind, "seed": number, "goal": goal}
                ends = {"mse": 0.001, "log_mse": -3.0, "share_left": 0.01}
                rows.append(who | ends | dict(zip(columns, scores, strict=True)))
    return pd.DataFrame(rows)


def judged(module, rows: pd.DataFrame, words: str) -> Verdict:
    """The verdict on a claim without its controls and preconditions, which made-up tables do not have."""
    (found,) = (claim for claim in module.CLAIMS if words in claim.name)
    return rc.judge(rows, replace(found, controls=(), preconditions=()))


@pytest.mark.parametrize(("shift", "word"), [(0.0, "holds"), (-0.4, "fails"), (0.4, "fails")])
def test_a_way_to_train_that_changes_more_than_half_of_the_gap_is_found(shift, word):
    verdict = judged(schedules, table((DEFAULT, COSINE), shift={COSINE: shift}), "the schedule does not")
    assert verdict.verdict == word
    assert abs(verdict.effect - shift / 0.4) < 0.15
    assert len(verdict.parts) == 2 * len(PICTURES) * len(moments.SCORES)


def test_the_rate_of_an_optimiser_is_that_of_the_lowest_error_at_which_none_diverges():
    errors = {1e-2: (-3.0, np.nan), 5e-3: (-2.0, -2.2), 1e-3: (-1.0, -1.0)}
    rows = [{"rate": rate, "log_mse": error} for rate, both in errors.items() for error in both]
    assert optimisers.best(rows) == 5e-3


def test_errors_of_optimisers_are_compared_by_decades_and_at_rates_inside_of_the_grid():
    rows = table([of(name, DENSE) for name in NAMES], columns=("log_mse",), shift={of(FEW, DENSE): -0.5})
    assert judged(optimisers, rows, "Muon reaches").verdict == "holds"
    assert judged(optimisers, rows, "lower error still").verdict == "fails"
    tried = pd.DataFrame({"kind": of(ADAM, TRIAL), "goal": "face", "rate": [1e-2, 5e-3, 1e-3]})
    for rate, share in ((5e-3, 1.0), (1e-2, 0.0)):
        assert optimisers.inner(pd.concat([rows.assign(rate=rate), tried])) == share


def test_what_two_rounds_leave_is_compared_by_both_scores_as_they_are_and_adjusted():
    kinds = [of(name, stage) for name in NAMES for stage in (DENSE, SECOND)]
    rows = table(kinds, shift={of(FEW, SECOND): -0.2})
    assert judged(optimisers, rows, "two rounds of SP with Muon, 5").verdict == "holds"
    assert judged(optimisers, rows, "by Muon are closer").verdict == "holds"
    assert judged(optimisers, rows, f"two rounds of SP with {MANY}").verdict == "fails"


def test_one_network_for_all_may_be_as_fractured_but_not_more():
    assert judged(several, table((SHARED, ALONE)), "does not fracture").verdict == "holds"
    assert judged(several, table((SHARED, ALONE), shift={SHARED: 0.2}), "does not fracture").verdict == "fails"


def test_a_flatter_network_is_found_and_an_equal_one_is_not_called_flatter():
    columns = (*basins.FLAT, "log_compounded")
    rows = table(mechanisms.KINDS, columns=columns, shift={mechanisms.SP: -0.5})
    for words in ("after SP relative", "after SP noise"):
        assert judged(mechanisms, rows, words).verdict == "holds"
        assert judged(mechanisms, table(mechanisms.KINDS, columns=columns), words).verdict == "fails"
    assert judged(mechanisms, rows, "to the designed network").verdict == "holds"
    assert judged(mechanisms, rows, "bound on compounded").verdict == "fails", "only that of SP is below the range"
    assert mechanisms.quadratic() == pytest.approx(10)


def test_theory_is_measured_on_the_networks_of_several_shapes_at_once():
    settings = shared.PictureSettings(targets=("moth",), size=12, n_weights=4, untrained=1)
    goal = shared.goals(settings)["moth"]
    narrow, *_ = scoring.untrained(settings, shared.dense(goal, mix=(("cache", 2), ("gaussian", 2))))
    first, second, third = basins.measured(settings, goal, [goal.model, narrow, goal.model], probes=4)
    assert first == third
    assert first["mse"] < 1e-6 < second["mse"]
    assert all(np.isfinite(list(one.values())).all() and one["respected"] == 1 for one in (first, second))


def test_every_picture_has_networks_whose_answer_is_known_and_they_are_scored_alike():
    settings = shared.PictureSettings(targets=("moth",), size=12, n_weights=12, untrained=3)
    rows = pd.DataFrame(scoring.controls(settings)).set_index("system")
    number = {"designed": 1, "rotated": 1, "rippled": 1, "untrained": 3, "untrained wiring": 3}
    assert rows.groupby("system", sort=False).size().to_dict() == number
    assert len(set(rows[rows.index == "untrained"]["R"])) == 3, "each has initial weights of its own"
    assert set(rows["goal"]) == {"moth"}
    assert (rows.loc[["designed", "rotated"], "mse"] <= 1e-6).all()
    assert np.isfinite(rows[["R", "map_zip"]].to_numpy(float)).all()


def test_threads_that_share_out_networks_keep_to_one_core_each():
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with scoring.one_core_each():
        assert threads() == {1}
    assert threads() == before
