"""Picture networks are compared by two scores, as they are and at equal error; rough or dead pictures fool neither."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine import device
from recombine.cppn.designed import designs, rippled
from recombine.cppn.network import CPPN, parse_mix
from recombine.cppn.sweep import structure as structures
from recombine.cppn.sweep.scores import score
from recombine.cppn.sweep.structure import structure
from recombine.experiments.pictures import closeness, moments, scoring, shared
from recombine.kernels import cppn_tiles
from recombine.table import modern
from recombine.train.population import Run


@pytest.fixture(scope="module")
def face() -> CPPN:
    return rc.network(designs()["face"])


def newborn(model: CPPN, seed: int = 0) -> CPPN:
    return CPPN(model.mix, len(model.weights) - 1, key=jax.random.key(seed))


def test_networks_scored_together_have_the_scores_that_each_has_alone(face):
    picture = rc.render(face, 24)
    together = structure([face, newborn(face)], 24, picture, seeds=[0, 3], weights=12)
    for found, model, seed in zip(together, (face, newborn(face)), (0, 3), strict=True):
        alone = score(model, 24, target=picture, weights=12, seed=seed)
        for name in ("R", "r_own", "change_zip", "map_zip", "inert"):
            assert found[name] == pytest.approx(alone[name], rel=0.01)
        assert found["redundancy"] == pytest.approx(np.nanmean(alone["redundancy_by_layer"]), rel=1e-3)
        assert found["mse"] == pytest.approx(np.mean((rc.render(model, 24) - picture) ** 2), abs=1e-6)


def test_the_kernel_gives_the_scores_of_the_plain_program(monkeypatch):
    """Interpreted; two networks of one call, the third alone in another."""
    depth, mix = parse_mix("3;cache:3,gaussian:3,sin:3")
    models = [CPPN(mix, depth, key=jax.random.key(i)) for i in range(3)]
    picture = rc.render(models[0], 32)
    plain = structure(models, 32, picture, seeds=[0, 1, 2], weights=5)
    monkeypatch.setattr(device, "device_memory", lambda: 2**26)
    monkeypatch.setattr(cppn_tiles, "Kind", partial(cppn_tiles.Kind, interpret=True))
    monkeypatch.setattr(cppn_tiles, "available", lambda: True)
    monkeypatch.setattr(structures, "NETWORKS", 2)
    for found, wanted in zip(structure(models, 32, picture, seeds=[0, 1, 2], weights=5), plain, strict=True):
        assert found == pytest.approx(wanted, rel=0.02, nan_ok=True)


def test_a_network_without_a_picture_has_no_r(face):
    dark = eqx.tree_at(lambda m: m.weights[-1], face, face.weights[-1] * 0)
    gone = jax.tree.map(lambda a: a * np.nan, face)
    (found,) = structure([dark], 16, rc.render(face, 16), seeds=[0], weights=6)
    assert found["map_zip"] > 0
    (none,) = structure([gone], 16, rc.render(face, 16), seeds=[0], weights=6)
    assert np.isnan([none[name] for name in ("R", "r_own", "map_zip", "mse")]).all()


@pytest.mark.parametrize("name", ["face", "flower", "vase"])
def test_a_faint_wave_over_the_picture_does_not_lower_r_but_lowers_r_over_the_own_picture(name):
    genome = designs()[name]
    model, rough = rc.network(genome), rc.network(rippled(genome))
    picture = rc.render(model, 32)
    (plain,), (waved,) = (structure([m], 32, picture, seeds=[0], weights=60) for m in (model, rough))
    assert 0 < np.sqrt(waved["mse"]) < 0.03
    assert plain["R"] == plain["r_own"]
    assert 0.95 <= waved["R"] / plain["R"] <= 1.5, "R may rise with a faint wave: r_own is asked for its sign"
    assert waved["r_own"] < (0.9 if name != "vase" else 1.1) * plain["R"], "a shaded picture hides the wave better"


def rows(kind: str, r, *, steps=None, seeds=8, goal="face", maps=None, log_mse=-3.0, left=0.01) -> pd.DataFrame:
    """Networks of one kind with these scores and errors; all reach both errors, or as asked."""
    at = dict(zip(map(moments.step, (moments.COARSE, moments.DRAWN)), steps or (1_000.0, 2_000.0), strict=True))
    noise = np.random.default_rng(len(kind)).normal(size=(2, seeds)) * 0.01
    r, maps = r + noise[0], (r if maps is None else maps) + noise[1]
    who = {"system": "network", "kind": kind, "goal": goal, "seed": range(seeds), "share_left": left}
    ends = {"log_mse": log_mse, "mse": 10.0 ** np.asarray(log_mse), "R": r, "map_zip": maps, "r_own": r}
    return pd.DataFrame(who | at | ends)


def table(*parts: pd.DataFrame) -> pd.DataFrame:
    known = [designed(goal) for goal in dict.fromkeys(goal for part in parts for goal in part["goal"])]
    return pd.concat([*parts, *known], ignore_index=True)


def designed(goal: str) -> pd.DataFrame:
    return pd.DataFrame([{"system": "designed", "goal": goal, "seed": 0, "R": 0.2, "map_zip": 0.2, "r_own": 0.2}])


def claim(**found) -> rc.Claim:
    return rc.Claim("c", "says", "where", **found)


def closer(first: str, second: str, **more) -> rc.Claim:
    return claim(**closeness.closer(first, second, dense="dense", **more))


def test_the_scale_is_0_for_dense_and_1_for_designed_networks_and_less_on_both_sides():
    every = table(rows("dense", 1.0), rows("designed again", 0.2), rows("half", 0.6), rows("beyond", -0.2))
    for kind, expected in (("dense", 0), ("half", 0.5), ("designed again", 1), ("beyond", 0.5)):
        effect = closer(kind, "dense").effect(every)
        assert list(effect) == [f"face: {n} {m}" for n in ("changes", "unit maps") for m in closeness.BOTH]
        assert effect.mean().to_numpy() == pytest.approx(np.full(4, expected), abs=0.03)
    assert rc.judge(every, closer("beyond", "half")).verdict == "fails", "simpler than the designed one is not closer"


def test_equal_networks_fail_and_closer_ones_hold():
    every = table(rows("dense", 1.0), rows("a", 0.6), rows("b", 0.6), rows("better", 0.4))
    assert rc.judge(every, closer("a", "b")).verdict == "fails"
    verdict = rc.judge(every, closer("better", "a"))
    assert verdict.verdict == "holds"
    assert verdict.why.startswith("1 of 1 pictures hold")
    several = closeness.each_closer("better", {"a": "a", "dense": "dense"}, dense="dense")
    assert rc.judge(every, claim(**several)).verdict == "holds"


def test_kinds_whose_errors_do_not_overlap_cannot_be_compared_at_equal_error():
    rng = np.random.default_rng(1)
    far, near, wide = (
        rows(name, 0.4, log_mse=at + 0.1 * rng.standard_normal(8))
        for name, at in (("far", -1.5), ("near", -3.0), ("wide", -2.9))
    )
    every = table(rows("dense", 1.0, log_mse=-3.0 + 0.1 * rng.standard_normal(8)), far, near, wide)
    assert closeness.overlap(every, ("far", "dense"), "face") == 0
    assert closeness.overlap(every, ("near", "dense"), "face") > 0.5
    assert rc.judge(every, closer("near", "dense")).verdict == "holds"
    verdict = rc.judge(every, closer("far", "dense"))
    assert verdict.verdict == "undecided"
    assert "errors do not overlap" in str(verdict)
    at_the_end = closer("far", "dense", moments=(closeness.END,))
    assert rc.judge(every, at_the_end).verdict == "holds", "nothing is adjusted there"


def test_kinds_that_differ_only_through_error_are_equal_once_adjusted():
    rng = np.random.default_rng(0)
    errors = {kind: mean + 0.6 * rng.standard_normal(40) for kind, mean in (("dense", -4), ("a", -2), ("b", -3))}
    scores = {kind: 0.2 - 0.2 * e for kind, e in errors.items()}
    every = table(*(rows(k, scores[k], maps=scores[k], seeds=40, log_mse=errors[k]) for k in errors))
    effect = closer("a", "b").effect(every).mean()
    for name in ("changes", "unit maps"):
        assert effect[f"face: {name} at the end"] > 0.2
        assert effect[f"face: {name} adjusted for error"] == pytest.approx(0, abs=0.03)
    verdict = rc.judge(every, closer("a", "b"))
    assert verdict.verdict == "undecided"
    assert verdict.groups == {"face": "mixed"}


def test_equal_errors_leave_nothing_to_adjust_for():
    errors = -3 + 0.3 * np.random.default_rng(0).standard_normal(8)
    every = table(*(rows(k, r, log_mse=errors) for k, r in (("dense", 1.0), ("a", 0.4), ("b", 0.8))))
    effect = closer("a", "b").effect(every)
    for name in ("changes", "unit maps"):
        assert np.allclose(effect[f"face: {name} at the end"], effect[f"face: {name} adjusted for error"])


def test_scores_that_disagree_are_mixed_and_not_a_failure():
    every = table(rows("dense", 1.0), rows("a", 0.4, maps=1.0), rows("b", 0.8))
    verdict = rc.judge(every, closer("a", "b"))
    assert verdict.verdict == "undecided"
    assert "face is mixed (changes at the end holds" in verdict.why
    assert "unit maps at the end fails" in verdict.why


def test_r_decides_nothing_where_r_over_the_own_picture_says_the_opposite():
    rough = rows("b", 0.8).assign(r_own=0.3)
    every = table(rows("dense", 1.0), rows("a", 0.4), rough)
    verdict = rc.judge(every, closer("a", "b"))
    assert verdict.verdict == "undecided"
    assert verdict.why == "0 of 1 pictures hold; face is mixed: R over the own picture says the opposite"
    assert rc.judge(every, closer("a", "b", signed=False)).verdict == "holds"
    alike = rows("b", 0.8).assign(r_own=lambda t: 0.4 + t["R"] - 0.8)
    assert rc.judge(table(rows("dense", 1.0), rows("a", 0.4), alike), closer("a", "b")).verdict == "holds"


def test_dead_networks_are_unfit_and_change_no_scale():
    few = [0.01] * 7 + [0.95]
    every = table(rows("dense", 1.0, left=few), rows("a", 0.4), rows("b", 0.8, left=few))
    every.loc[(every["kind"] != "a") & (every["seed"] == 7), ["R", "map_zip"]] = 50.0
    verdict = rc.judge(every, closer("a", "b"))
    assert verdict.verdict == "holds"
    assert {(part.seeds, part.unfit, part.lost) for part in verdict.parts} == {(7, 1, 0)}
    assert closeness.gap(every, "dense", "R", "face") == pytest.approx(0.8, abs=0.02)
    gone = every.assign(mse=every["mse"].where(every["seed"] != 7))
    assert {(part.unfit, part.lost) for part in rc.judge(gone, closer("a", "b")).parts} == {(0, 1)}


def test_a_picture_that_one_kind_does_not_render_is_undecided_and_says_so():
    every = table(rows("dense", 1.0), rows("a", 0.4), rows("b", 0.8, left=0.3))
    verdict = rc.judge(every, closer("a", "b"))
    assert verdict.verdict == "undecided"
    assert verdict.why == "0 of 1 pictures hold; face is undecided: not rendered by b"
    assert [part.verdict for part in verdict.parts] == ["holds", "undecided"] * 2
    assert "is not trained here" in rc.judge(every, closer("a", "none")).why


@pytest.mark.parametrize(("apart", "shared"), [(0.0, 1.0), (0.0, 0.5), (0.1, 1.0), (0.1, 0.5)])
def test_scores_that_must_agree_seldom_err(apart, shared):
    """Four columns that share this much of their noise: 2.5 % false holds at the margin, and as many false fails."""
    rng, words = np.random.default_rng(1), []
    for _ in range(200):
        common = rng.standard_normal((40, 1))
        noise = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.standard_normal((40, 4))
        drawn = pd.DataFrame(apart + 0.2 * noise, columns=[f"face: {i}" for i in range(4)])
        words.append(rc.judge(pd.DataFrame({"system": []}), claim(effect=lambda t, d=drawn: d, above=0.1, agree=True)))
    held, failed = (np.mean([w.verdict == word for w in words]) for word in ("holds", "fails"))
    assert held <= 0.06
    if apart:
        assert failed <= 0.06
    else:
        assert failed >= (0.8 if shared == 1 else 0.55), "equal networks are mostly found to be no closer"


def test_two_pictures_are_counted_and_one_that_fails_is_named():
    better = [rows("dense", 1.0), rows("a", 0.4), rows("b", 0.8)]
    other = [part.assign(goal="moth") for part in (rows("dense", 1.0), rows("a", 0.8), rows("b", 0.8))]
    verdict = rc.judge(table(*better, *other), closer("a", "b"))
    assert verdict.verdict == "fails"
    assert verdict.why.startswith("1 of 2 pictures hold; moth fails")
    assert verdict.groups == {"face": "holds", "moth": "fails"}


def test_how_many_reach_an_error_is_an_outcome_of_its_own():
    every = table(rows("a", 0.4), rows("b", 0.8, steps=(1_000.0, -1.0)))
    assert moments.reaches("a", "b")["effect"](every)["face"].tolist() == [1.0] * 8
    assert rc.judge(every, claim(**moments.reaches("a", "b"))).verdict == "holds"


def test_where_all_or_none_reach_an_error_there_is_no_room_to_differ():
    every = table(rows("a", 0.4), rows("b", 0.8))
    verdict = rc.judge(every, claim(**moments.reaches("a", "b")))
    assert (verdict.verdict, verdict.why) == ("undecided", "reached by 100% and 100%: no room to differ")
    half = rows("b", 0.8).assign(**{moments.step(moments.DRAWN): [2_000, -1] * 4})
    assert rc.judge(table(rows("a", 0.4), half), claim(**moments.reaches("a", "b"))).why != verdict.why


def test_a_row_has_the_end_of_a_network_when_it_reached_errors_and_nothing_if_it_diverged():
    settings = shared.PictureSettings(targets=("moth",), size=12, n_weights=4)
    goal = shared.goals(settings)["moth"]
    model = jax.tree.map(lambda a: np.stack([a] * 2), goal.model)
    at = np.array([[1, 4], [2, -1]])
    run = Run(model, np.zeros((2, 1)), np.array([-1, 5]), model, at)
    every = scoring.entries(run, [{"kind": "a", "seed": s} for s in (0, 1)])
    every += scoring.entries(Run(model, run.losses, run.diverged_at), [{"kind": "b", "seed": s} for s in (0, 1)])
    found = pd.DataFrame(scoring.scored(settings, goal, every, monitor=None))
    for column in ("mse", "R", "map_zip", "log_mse"):
        assert found[column].isna().tolist() == [False, True, False, True], "the second one diverged"
    assert found["mse"][0] < 1e-6
    assert found["reached_0.24"].dropna().tolist() == [1.0], "not recorded of b"
    assert found["reached_0.06"].dropna().tolist() == [4.0]


def test_old_tables_have_r_over_the_target():
    old = pd.DataFrame(
        {
            "condition": ["control: composed, face", "dense", "dense"],
            "goal": ["face", "face", "moth"],
            "change_zip": [0.1, 0.3, 0.3],
            "r": [0.5, 0.75, 0.5],
        }
    )
    found = modern(old)
    assert found["R"].tolist()[:2] == pytest.approx([0.5, 1.5])
    assert np.isnan(found["R"].iloc[2]), "no designed network says how large the moth is"
    assert found["r_own"].tolist() == [0.5, 0.75, 0.5]


def test_scores_that_must_agree_hardly_err():
    from picture_rule import rates

    assert rates(16, 0.1, 0.5, 8)["holds"] <= 0.125, "at the margin, though errors differ"
    assert rates(16, 0.0, 0.5, 8)["holds"] == 0, "a difference of error alone"
