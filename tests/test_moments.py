"""Picture networks are compared by two scores at two moments on one scale, and a rough picture fools neither."""

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
from recombine.experiments.pictures import moments, scoring, shared
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
    assert waved["R"] >= 0.95 * plain["R"]
    assert waved["r_own"] < (0.9 if name != "vase" else 1.1) * plain["R"], "a shaded picture hides the wave better"


def rows(kind: str, r, *, steps=None, seeds=8, system="network", goal="face", maps=None) -> pd.DataFrame:
    """Networks of one kind with these scores; all reach every rung late, or as asked."""
    steps = [2_000] * len(moments.LADDER) if steps is None else steps
    at = {moments.step(rung): float(s) for rung, s in zip(moments.LADDER, steps, strict=True)}
    noise = np.random.default_rng(len(kind)).normal(size=(2, seeds)) * 0.01
    r, maps = r + noise[0], (r if maps is None else maps) + noise[1]
    both = {"R": r, "map_zip": maps}
    both |= {moments.at(s, rung): both[s] for s in ("R", "map_zip") for rung in moments.LADDER}
    who = {"system": system, "kind": kind, "goal": goal, "seed": range(seeds), "mse": 0.001}
    return pd.DataFrame(who | at | both)


def table(*parts: pd.DataFrame) -> pd.DataFrame:
    known = rows("", 0.2, system="designed", seeds=1).assign(R=0.2, map_zip=0.2, kind=None)
    return pd.concat([*parts, known], ignore_index=True)


def claim(**found) -> rc.Claim:
    return rc.Claim("c", "says", "where", **found)


def test_the_scale_is_0_for_dense_and_1_for_designed_networks():
    every = table(rows("dense", 1.0), rows("designed again", 0.2), rows("half", 0.6))
    for kind, expected in (("dense", 0), ("half", 0.5), ("designed again", 1)):
        effect = moments.closer(kind, "dense", dense="dense")["effect"](every)
        assert list(effect) == [
            f"face: {n} {m}" for n in ("changes", "unit maps") for m in (moments.END, moments.EQUAL)
        ]
        assert effect.mean().to_numpy() == pytest.approx(np.full(4, expected), abs=0.03)


def test_equal_networks_fail_and_closer_ones_hold():
    every = table(rows("dense", 1.0), rows("a", 0.6), rows("b", 0.6), rows("better", 0.4))
    assert rc.judge(every, claim(**moments.closer("a", "b", dense="dense"))).verdict == "fails"
    verdict = rc.judge(every, claim(**moments.closer("better", "a", dense="dense")))
    assert verdict.verdict == "holds"
    assert verdict.why.startswith("1 of 1 pictures hold")
    several = moments.each_closer("better", {"a": "a", "dense": "dense"}, dense="dense")
    assert rc.judge(every, claim(**several)).verdict == "holds"


def test_scores_that_disagree_are_mixed_and_not_a_failure():
    every = table(rows("dense", 1.0), rows("a", 0.4, maps=1.0), rows("b", 0.8))
    verdict = rc.judge(every, claim(**moments.closer("a", "b", dense="dense")))
    assert verdict.verdict == "undecided"
    assert "face is mixed (changes at the end holds" in verdict.why
    assert "unit maps at the end fails" in verdict.why


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
    known = rows("", 0.2, system="designed", seeds=1).assign(R=0.2, map_zip=0.2, kind=None, goal="moth")
    verdict = rc.judge(table(*better, *other, known), claim(**moments.closer("a", "b", dense="dense")))
    assert verdict.verdict == "fails"
    assert verdict.why.startswith("1 of 2 pictures hold; moth fails")


def test_the_rung_is_the_lowest_that_nearly_all_of_both_reach_and_not_too_soon():
    shape = 10, len(moments.LADDER)
    all_, last, soon = np.full(shape, 2_000), np.full(shape, 2_000), np.full(shape, 50)
    last[2:, 5:] = -1
    assert moments.rung(all_, all_) == moments.LADDER[-1]
    assert moments.rung(all_, last) == moments.LADDER[4]
    assert moments.rung(all_, soon) is None
    assert moments.rung(all_, np.full(shape, -1)) is None
    needed = moments.rungs({"a": all_, "b": last, "c": soon}, [("a", "b"), ("a", "c"), ("a", "none")])
    assert needed == {"a": {moments.LADDER[4]}, "b": {moments.LADDER[4]}, "c": set()}


def test_kinds_without_a_common_error_are_undecided_there_and_missing_ones_are_told():
    never = [-1] * len(moments.LADDER)
    every = table(rows("dense", 1.0), rows("a", 0.4), rows("b", 0.8, steps=never))
    verdict = rc.judge(every, claim(**moments.closer("a", "b", dense="dense")))
    assert verdict.verdict == "undecided"
    assert [part.verdict for part in verdict.parts] == ["holds", "undecided"] * 2
    assert verdict.parts[1].unfit == 8
    at_end = claim(**moments.closer("a", "b", dense="dense", moments=(moments.END,)))
    assert rc.judge(every, at_end).verdict == "holds"
    assert "nothing" in rc.judge(every, claim(**moments.closer("a", "none", dense="dense"))).why


def test_how_many_reach_an_error_is_an_outcome_of_its_own():
    never = [2_000, 2_000, *[-1] * (len(moments.LADDER) - 2)]
    every = table(rows("a", 0.4), rows("b", 0.8, steps=never))
    assert moments.reaches("a", "b")["effect"](every)["face"].tolist() == [1.0] * 8
    assert rc.judge(every, claim(**moments.reaches("a", "b", error=0.12))).verdict == "fails"


def test_networks_are_scored_at_the_rungs_that_their_pairs_need(monkeypatch):
    monkeypatch.setattr(moments, "EARLIEST", 1)
    settings = shared.PictureSettings(targets=("moth",), size=12, n_weights=4)
    goal = shared.goals(settings)["moth"]
    model = jax.tree.map(lambda a: np.stack([a] * 2), goal.model)
    copies = jax.tree.map(lambda a: np.stack([a] * len(moments.LADDER), axis=1), model)
    at = np.tile([1, 2, 3, 4, *[-1] * (len(moments.LADDER) - 4)], (2, 1))
    run = Run(model, np.zeros((2, 1)), np.array([-1, -1]), copies, at)
    every = [*scoring.entries(run, [{"kind": "a", "seed": s} for s in (0, 1)])]
    every += [one._replace(facts={"kind": "b", "seed": s}, diverged_at=5 * s - 1) for s, one in enumerate(every)]
    found = pd.DataFrame(scoring.at_moments(settings, goal, every, [("a", "b")], monitor=None))
    assert found["mse"].isna().tolist() == [False, False, False, True], "the last one diverged"
    assert not [name for name in found if str(name).startswith("R_")], "half of b never reach a rung"
    found = pd.DataFrame(scoring.at_moments(settings, goal, every[:3], [("a", "b")], monitor=None))
    assert found["R_0.03"].tolist() == pytest.approx(found["R"].tolist())
    assert found["reached_0.03"].tolist() == [4.0] * 3


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
