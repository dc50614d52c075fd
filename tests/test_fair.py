"""Picture networks are compared at one error, and equal ones come out equal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from recombine.claims import judge_all
from recombine.experiments import _fair, _pictures
from recombine.experiments.do2026 import depth, pruning, wiring
from recombine.experiments.do2026._methods import DENSE, GRADUAL, METHODS, NARROW, PAPERS, RANDOM, SIMILAR

PICTURES = ("face", "moth")


def table(kinds, *, by="kind", seeds=8, seed=0, shift=None, draws=None) -> pd.DataFrame:
    """Equal networks of several kinds but for a shift of R; those that draw as asked, or all."""
    rng, rows = np.random.default_rng(seed), []
    for kind in kinds:
        for number in range(seeds):
            for goal in PICTURES:
                drawn = 1.0 if draws is None else float(rng.random() < draws.get((kind, goal), 1.0))
                r = 0.7 + (shift or {}).get(kind, 0.0) + 0.03 * rng.standard_normal()
                rows.append({by: kind, "seed": number, "goal": goal, "r": r, "draws": drawn, "log_mse": r, "round": 1})
    return pd.DataFrame(rows)


def test_scores_are_averaged_over_the_pictures_that_all_draw():
    rows = table(("a", "b"), seeds=3)
    rows.loc[(rows["kind"] == "a") & (rows["goal"] == "face") & (rows["seed"] == 0), "draws"] = 0.0
    rows.loc[(rows["kind"] == "b") & (rows["seed"] == 1), "draws"] = np.nan
    found = _fair.compared(rows, "r", ("a", "b"), by="kind")
    moth = rows[(rows["goal"] == "moth") & (rows["seed"] == 0)].set_index("kind")["r"]
    assert found.loc[0].to_dict() == pytest.approx(moth.to_dict())
    assert found.loc[1].isna().all(), "a seed of which nothing can be compared gives no number"
    both = rows[rows["seed"] == 2].groupby("kind")["r"].mean()
    assert found.loc[2].to_dict() == pytest.approx(both.to_dict())


def test_a_picture_that_few_draw_cannot_hide_behind_another():
    rows = table(("a", "b"), draws={("a", "moth"): 0.0})
    assert _fair.fit("kind", ("a", "b")).value(rows) == 0
    assert _fair.fit("kind", ("b",)).value(rows) == 1
    assert _fair.fit("kind", lambda _: ()).value(rows) == 0
    assert _fair.fit("kind", ("a", "none")).value(rows) == 0


def test_the_rival_is_chosen_in_other_seeds():
    each = pd.DataFrame({"a": [0.0, 5.0, 5.0], "b": [4.0, 4.0, 4.0]})
    assert _fair.rival(each).tolist() == [4.0, 5.0, 5.0]
    assert _fair.rival(each.iloc[:1]).isna().all()
    gap = pd.DataFrame({"a": [1.0, np.nan, 1.0, 1.0], "b": [2.0, 2.0, 2.0, 2.0]})
    assert _fair.rival(gap).isna().tolist() == [False, True, False, False]


def test_the_rival_of_equal_columns_is_not_lower_by_chance():
    rng = np.random.default_rng(0)
    means = [_fair.rival(pd.DataFrame(rng.standard_normal((8, 6)))).mean() for _ in range(200)]
    assert abs(np.mean(means)) < 0.1


def claims_that_hold(module, make, count=40) -> float:
    """Of claims of a module on tables of equal networks, the largest share that holds."""
    bare = [claim for claim in module.CLAIMS if claim.margin >= 0]
    bare = [type(c)(**{**vars(c), "controls": (), "preconditions": ()}) for c in bare]
    held = np.array([[v.verdict == "holds" for v in judge_all(make(i), bare)] for i in range(count)])
    return float(held.mean(axis=0).max())


def test_claims_about_pruning_do_not_hold_of_equal_networks():
    def make(i):
        rows = table((DENSE, NARROW, *METHODS, *GRADUAL), by="method", seed=i)
        return rows.assign(orthogonal=rows["r"])

    assert claims_that_hold(pruning, make) <= 0.15


def test_claims_about_depth_and_wiring_do_not_hold_of_equal_networks():
    offsets = (-4.0, -1.0, 0.0, 1.0, 4.0)
    assert claims_that_hold(depth, lambda i: table(offsets, by="offset", seed=i).assign(kind="pruned")) <= 0.15
    half = {(kind, goal): 0.5 for kind in wiring.KINDS for goal in PICTURES}
    assert claims_that_hold(wiring, lambda i: table(wiring.KINDS, seed=i, draws=half).assign(reach=2.0)) <= 0.15


def test_a_planted_advantage_of_similarity_pruning_is_found():
    rows = table((DENSE, NARROW, *METHODS, *GRADUAL), by="method", shift={SIMILAR: -0.2}).assign(orthogonal=0.5)
    assert (pruning.gain(rows, SIMILAR, PAPERS) > 0.1).all()
    assert (pruning.drop(rows, RANDOM, SIMILAR) > 0.1).all()


def test_methods_that_mostly_do_not_draw_are_no_rivals():
    rows = table((SIMILAR, *PAPERS), by="method", draws={(RANDOM, goal): 0.2 for goal in PICTURES})
    assert RANDOM not in pruning.able(rows, PAPERS)
    assert len(pruning.able(rows, PAPERS)) == len(PAPERS) - 1


def test_threads_that_share_out_networks_keep_to_one_core_each():
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with _pictures.one_core_each():
        assert threads() == {1}
    assert threads() == before
