"""Picture networks are compared at one error, picture by picture and rival by rival, and equal ones come out equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import recombine as rc
from recombine.experiments.do2026 import optimisers, schedules
from recombine.experiments.do2026.best import MEANS, gains, surely
from recombine.experiments.do2026.ways import COSINE, DEFAULT
from recombine.experiments.pictures import compare, scoring, shared

PICTURES = ("face", "moth")


def table(kinds, *, by="kind", seeds=8, seed=0, shift=None, draws=None, pictures=PICTURES) -> pd.DataFrame:
    """Equal networks of several kinds but for a shift of R; those that draw as asked, or all."""
    rng, rows = np.random.default_rng(seed), []
    for kind in kinds:
        for number in range(seeds):
            for goal in pictures:
                drawn = 1.0 if draws is None else float(rng.random() < draws.get((kind, goal), 1.0))
                r = 0.7 + (shift or {}).get(kind, 0.0) + 0.03 * rng.standard_normal()
                who = {"system": "network", by: kind, "seed": number, "goal": goal, "round": 1}
                reached = {"draws": drawn, "reached_at": 100 * drawn - 1}
                rows.append(who | reached | {"R": r, "orthogonal": r, "log_mse": r, "mse": 10**r})
    return pd.DataFrame(rows)


def bare(claim: rc.Claim) -> rc.Claim:
    """A claim without its controls and preconditions, which made-up tables do not have."""
    return replace(claim, controls=(), preconditions=())


def named(module, words: str) -> rc.Claim:
    (found,) = (claim for claim in module.CLAIMS if words in claim.name)
    return bare(found)


COMPARED = compare.minus("R", "a", "b", by="kind")
CLAIM = rc.Claim("c", "says", "where", above=0.0, **COMPARED)


def test_each_picture_is_compared_at_the_seeds_of_which_both_networks_draw_it():
    rows = table(("a", "b"), shift={"a": 0.2})
    rows.loc[(rows["kind"] == "a") & (rows["goal"] == "face") & (rows["seed"] == 0), "draws"] = 0.0
    rows.loc[(rows["kind"] == "b") & (rows["goal"] == "moth") & (rows["seed"] == 1), ["draws", "R"]] = np.nan
    effect, fits = COMPARED["effect"](rows), COMPARED["fits"][0](rows)
    one = rows[(rows["goal"] == "moth") & (rows["seed"] == 2)].set_index("kind")["R"]
    assert effect.loc[2, "moth"] == pytest.approx(one["a"] - one["b"])
    assert fits.loc[0].tolist() == [0, 1]
    assert fits.loc[1].isna().tolist() == [False, True]
    face, moth = rc.judge(rows, CLAIM).parts
    assert (face.seeds, face.unfit, face.lost) == (7, 1, 0), "a network that does not draw is an outcome"
    assert (moth.seeds, moth.unfit, moth.lost) == (7, 0, 1), "one that diverged is a loss"
    assert face.verdict == "holds"


def test_a_picture_that_few_draw_cannot_hide_behind_another():
    rows = table(("a", "b"), shift={"a": 0.2}, draws={("a", "moth"): 0.0})
    verdict = rc.judge(rows, CLAIM)
    assert verdict.verdict == "undecided"
    assert [part.verdict for part in verdict.parts] == ["holds", "undecided"]
    assert "moth: only 0 of 8" in verdict.why


def test_every_rival_and_picture_has_a_column_of_its_own():
    rows = table(("a", "b", "c"), shift={"c": -0.2})
    found = compare.each_minus({"first": "a", "second": lambda t: "b"}, "c", by="kind")
    expected = [f"{rival}, {picture}" for rival in ("first", "second") for picture in PICTURES]
    assert list(found["effect"](rows)) == list(found["fits"][0](rows)) == expected
    assert rc.judge(rows, rc.Claim("c", "says", "where", above=0.0, **found)).verdict == "holds"


def test_a_way_to_train_that_changes_more_than_half_of_the_gap_is_found():
    known = [{"system": "designed", "goal": goal, "R": 0.3, "seed": 0} for goal in PICTURES]
    claim = named(schedules, "the schedule does not")
    for shift, word in ((0.0, "holds"), (-0.4, "fails"), (0.4, "fails")):
        rows = pd.concat([table((DEFAULT, COSINE), shift={COSINE: shift}), pd.DataFrame(known)])
        verdict = rc.judge(rows, claim)
        assert verdict.verdict == word
        assert verdict.effect == pytest.approx(shift / 0.4, abs=0.15)
        assert [part.name for part in verdict.parts] == [f"{COSINE}, {goal}" for goal in PICTURES]
    assert len(rc.judge(rows, named(schedules, "however networks are trained")).parts) == 4


def test_errors_of_optimisers_are_compared_at_the_best_rate_of_each_on_each_picture():
    names = (optimisers.ADAM, optimisers.FEW, optimisers.MANY)
    rates = [table(names, by="optimiser", seed=i).assign(rate=rate) for i, rate in enumerate((1e-3, 5e-3))]
    better = (rates[1]["optimiser"] == optimisers.FEW) & (rates[1]["goal"] == "moth")
    rates[1].loc[better, "log_mse"] -= 1.0
    rates[1].loc[~better, "log_mse"] += 1.0
    rows = pd.concat(rates)
    chosen = optimisers.at_best(rows).groupby(["optimiser", "goal"])["rate"].unique()
    assert chosen[optimisers.FEW, "moth"] == [5e-3]
    assert chosen[optimisers.FEW, "face"] == [1e-3]
    effect = named(optimisers, "Muon reaches").effect(rows)
    assert effect["moth"].mean() == pytest.approx(1.0, abs=0.1)
    assert effect["face"].mean() == pytest.approx(0.0, abs=0.1)


def test_a_prediction_must_beat_both_means():
    rng = np.random.default_rng(0)
    found = pd.DataFrame({"best": np.exp(rng.uniform(0, 3, 40))})
    told = gains(found.assign(feature=np.log(found["best"])), "feature")
    assert list(told) == list(MEANS)
    assert surely(told) > 0
    blind = gains(found.assign(feature=rng.uniform(size=40)), "feature")
    assert surely(blind) < 0
    assert gains(found.assign(feature=1.0)[:2], "feature").isna().all(axis=None)


def test_every_picture_has_a_composed_a_turned_and_an_untrained_network_that_are_scored_alike():
    settings = shared.PictureSettings(targets=("moth",), size=12, n_weights=4)
    rows = pd.DataFrame(scoring.controls(settings)).set_index("system")
    assert list(rows.index) == ["designed", "rotated", "rippled", "untrained", "untrained wiring"]
    assert set(rows["goal"]) == {"moth"}
    assert (rows.loc[["designed", "rotated"], "mse"] <= 1e-6).all()
    assert rows.loc["untrained", "draws"] == 0
    numbers = rows[["R", "distinct_share", "participation_ratio", "even_share", "purity", "map_zip"]]
    assert np.isfinite(numbers.to_numpy(float)).all()
    assert compare.known(rows.reset_index(), "designed", "R") == {"moth": rows.loc["designed", "R"]}


def test_threads_that_share_out_networks_keep_to_one_core_each():
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with scoring.one_core_each():
        assert threads() == {1}
    assert threads() == before
