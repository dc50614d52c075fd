"""Scale and coverage: what the claims read on tables of known answer, and the sets that are trained on."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.dziri2023 import coverage as chains
from recombine.experiments.dziri2023 import fillers
from recombine.experiments.redhardt2025 import coverage, predicting, shared
from recombine.splits import modules
from recombine.splits.coverage import neighbours
from recombine.tasks.modules import masks

RNG = np.random.default_rng(0)
R2 = [
    {"system": "perfect", "r2_unseen": 1.0, "seed": 0},
    {"system": "mean", "r2_unseen": 0.0, "seed": 0},
    {"system": "nearest task", "r2_unseen": 0.3, "seed": 0},
]


def read(module, rows: list[dict]) -> list[str]:
    return [v.verdict for v in rc.judge_all(pd.DataFrame(rows), module.CLAIMS)]


def students(column: str) -> list[dict]:
    """Seven conditions in which one column goes with success and the others are random numbers."""
    rows = []
    for seed in range(8):
        success = np.linspace(0, 1, 7)
        for i, unseen in enumerate(success):
            other = {name: RNG.uniform() for name in ("probe_shown", "probe_deepest", "r2_seen", "chance")}
            row = {"system": "network", "condition": f"{i}", "kind": f"{i}", "seed": seed, "r2_unseen": unseen} | other
            row |= {"covers": 1.0, "width": 128, "r2_seen": 0.9 + 0.1 * other["r2_seen"]}
            rows.append(row | ({column: unseen} if column else {}))
    probes = [
        {"system": s, "seed": 0, "probe_deepest": v, "probe_shown": v} for s, v in (("code", 1.0), ("noise", 0.0))
    ]
    return [*rows, *probes, *R2]


def test_a_probe_of_shown_tasks_that_foretells_success_is_read_as_that():
    first, among_wide, _, beyond_fit = read(predicting, students("probe_shown"))
    assert first == among_wide == beyond_fit == "holds"


def test_a_probe_of_unseen_tasks_alone_only_goes_with_success():
    first, among_wide, second, third = read(predicting, students("probe_deepest"))
    assert second == "holds"
    assert first == among_wide == "fails"
    assert third != "holds"


def test_narrow_students_that_do_not_fit_carry_no_prediction_at_one_width():
    """The probe tells wide from narrow students, and nothing among the wide ones."""
    rows = students("")
    for row in (r for r in rows if r["system"] == "network"):
        narrow = int(row["kind"]) < 3
        row |= {"width": 16 if narrow else 128, "r2_seen": 0.4 if narrow else 0.95}
        row["probe_shown"] = 0.3 if narrow else 0.9 + 0.1 * RNG.uniform()
    first, among_wide, *_ = rc.judge_all(pd.DataFrame(rows), predicting.CLAIMS)
    assert first.effect > 0.6
    assert among_wide.verdict == "fails"


def test_supports_of_coverage_have_as_many_masks_and_differ_in_pairs():
    every, settings = masks(8, 3), coverage.LAPTOP
    found = coverage.supports(settings, every, shared.support_key(settings, 0))
    for amount in (coverage.MANY, coverage.FEW):
        counts = {kind: found[kind, amount].sum() for kind in (coverage.RANDOM, coverage.HALVES)}
        assert len(set(counts.values())) == 1
        pairs = {kind: modules.coverage(every, found[kind, amount], 2) for kind in counts}
        assert pairs[coverage.RANDOM] > pairs[coverage.HALVES]
        assert modules.covers(every, found[coverage.HALVES, amount])
    inside = modules.parted(every, 0.0, shared.support_key(settings, 0))
    assert not (found[coverage.HALVES, coverage.FEW] & ~inside).any()


def gaps(random: float, halves: float, few: float = 0.3, level: float = 0.4) -> list[dict]:
    """Students whose gap to held-out tasks shrinks with width by so much, and grows by `few` where random data do."""
    rows = []
    for seed in range(5):
        for kind, shrinks in ((coverage.RANDOM, random), (coverage.HALVES, halves)):
            for width in (64, 256):
                for amount in (coverage.MANY, coverage.FEW):
                    gap = level - shrinks * (width == 256)
                    gap += few * (amount == coverage.FEW and kind == coverage.RANDOM)
                    seen = 0.95 + 0.002 * RNG.normal()
                    who = {"system": "network", "condition": kind, "kind": kind, "amount": amount, "width": width}
                    rows.append(who | {"seed": seed, "r2_seen": seen, "gap": gap, "r2_unseen": seen - gap})
    return [*rows, *R2]


def test_scale_that_helps_where_pairs_are_covered_is_read_as_that():
    assert read(coverage, gaps(0.3, 0.05)) == ["holds", "holds", "holds", "holds"]
    assert read(coverage, gaps(0.1, 0.1, few=0.0)) == ["fails", "fails", "fails", "fails"]


def test_a_difference_in_r2_is_read_where_random_masks_leave_room_for_it():
    """A small gap that is closed wholly adds less than the margin beyond the halves: that is no failure."""
    rows = gaps(0.2, 0.2, few=0.05)
    for row in (r for r in rows if r.get("kind") == coverage.RANDOM):
        row["gap"] /= 4
    width, _, masks, _ = rc.judge_all(pd.DataFrame(rows), coverage.CLAIMS)
    for verdict in (width, masks):
        assert verdict.verdict == "undecided"
        assert "the largest possible effect" in verdict.why


def test_a_share_of_a_gap_is_read_where_there_is_a_gap():
    """Width closes half of a small gap and a quarter of a large one: less R2, a larger share."""
    rows = gaps(0.1, 0.1)
    for row in (r for r in rows if r["system"] == "network" and r["kind"] == coverage.RANDOM):
        row["gap"] = 0.2 - 0.1 * (row["width"] == 256) + 0.002 * RNG.normal()
    absolute, share, *_ = rc.judge_all(pd.DataFrame(rows), coverage.CLAIMS)
    assert absolute.verdict == "fails"
    assert share.effect == pytest.approx(0.25, abs=0.05)
    assert share.verdict == "holds"
    for row in (r for r in rows if r.get("kind") == coverage.RANDOM):
        row["gap"] /= 4
    _, share, _, masks = rc.judge_all(pd.DataFrame(rows), coverage.CLAIMS)
    assert "gap of narrow students" in share.why
    assert "gap of wide students" in masks.why


def test_the_share_that_more_masks_close_is_that_of_the_gap_after_few():
    """After random masks a gap of .5 falls to .2; after halves it stays."""
    table = pd.DataFrame(gaps(0.2, 0.2, few=0.3))
    assert coverage.share_by_masks(coverage.RANDOM, table).to_numpy() == pytest.approx(0.6)
    assert coverage.share_by_masks(coverage.HALVES, table).to_numpy() == pytest.approx(0.0)


def decoders(gains: dict[float, float]) -> list[dict]:
    """Decoders of two widths whose held-out answers gain so much with width, by share withheld."""
    rows = []
    for seed in range(5):
        for share, more in gains.items():
            for width in (16, 32):
                held = 0.4 + more * (width == 32) + 0.002 * RNG.normal()
                who = {"system": "network", "condition": f"{share}", "withheld": share, "width": width, "seed": seed}
                groups = {"n_row_2": 80.0, "n_pair_2": 64.0}
                rows.append(who | {"exact_trained": 1.0, "exact_held": held} | groups)
    known = {"perfect": 1.0, "rememberer": 0.2, "last": 0.3, "last two": 0.3}
    groups = {"exact_pair_2": 0, "exact_row_2": 0, "exact_trained": 1}
    rows += [{"system": s, "seed": 0} | {g: max(v, one) for g, one in groups.items()} for s, v in known.items()]
    return [*rows, {"system": "untrained", "seed": 0, "exact_trained": 0.1, "exact_pair_2": 0.1, "exact_row_2": 0.1}]


def test_width_that_helps_chains_where_pairs_are_covered_is_read_as_that():
    assert read(chains, decoders({0.125: 0.4, 0.5: 0.1})) == ["holds"]
    assert read(chains, decoders({0.125: 0.2, 0.5: 0.2})) == ["fails"]


def test_equally_many_rows_hold_all_trained_pairs_and_all_single_functions():
    from recombine.experiments.tokens import worlds
    from recombine.splits import chains as splits

    settings = replace(chains.LAPTOP, equal_rows=True)
    task = worlds.family(settings, 1)
    full, *_ = known = [worlds.world(settings, task, 0, share) for share in settings.withheld]
    fewer = [chains.world(settings, task, 0, share) for share in settings.withheld]
    assert {int(each.train.sum()) for each in fewer} == {int(known[1].train.sum())}
    assert int(full.train.sum()) > 2 * int(fewer[0].train.sum())
    assert not (fewer[0].train & ~full.train).any()
    assert (fewer[0].train | (splits.lengths(full.rows) > 1)).all()
    assert np.array_equal(fewer[0].groups["trained"], fewer[0].train)
    assert np.array_equal(fewer[0].groups["row_2"], full.groups["row_2"])
    pairs = [set(neighbours(full.rows[:, 2:])[train].ravel().tolist()) for train in (full.train, fewer[0].train)]
    assert pairs[0] == pairs[1]


def commands(wide: float, narrow: float) -> list[dict]:
    """Decoders whose exact answers rise by so much per filler."""
    rows = []
    for seed in range(5):
        for width, rise in ((48, wide), (16, narrow)):
            for n in (0, 1, 3):
                held = 0.1 + rise * n + 0.002 * RNG.normal()
                who = {"system": "network", "condition": f"{n}", "fillers": n, "width": width, "seed": seed}
                rows.append(who | {"exact_trained": 1.0, "exact_held": held})
    known = {"perfect": 1.0, "walks": 0.0, "untrained": 0.0}
    return [*rows, *({"system": s, "seed": 0, "exact_held": v} for s, v in known.items())]


def test_the_rise_per_filler_is_a_slope():
    slopes = fillers.slope(pd.DataFrame(commands(0.25, 0.05)), 48)
    assert slopes.to_numpy() == pytest.approx(0.25, abs=0.01)
    assert read(fillers, commands(0.25, 0.05)) == ["holds"]
    assert read(fillers, commands(0.1, 0.1)) == ["fails"]


def test_variants_of_fillers_train_the_ends_alone():
    assert {one.applied(fillers.GPU).fillers for one in fillers.VARIANTS} == {(0, 3)}


def test_short_commands_still_ask_jump_around_right():
    rows = fillers.asked(SimpleNamespace(most=8, seed=0, n_eval=32), 3)  # pyrefly: ignore
    assert len(rows["test"])
    assert not set(rows["train"]) & set(rows["test"])


BAD = {
    "narrower than": lambda: coverage.Settings(narrow=256),
    "few must lie": lambda: coverage.Settings(few=1.0),
    "two rising shares": lambda: chains.Settings(withheld=(0.5, 0.125)),
    "narrow decoders": lambda: chains.Settings(narrow=32),
    "two or more rising": lambda: fillers.Settings(fillers=(3,)),
    "no command more than 48": lambda: fillers.Settings(most=60),
}


@pytest.mark.parametrize(("says", "make"), BAD.items(), ids=BAD)
def test_settings_that_compare_nothing_are_refused(says, make):
    with pytest.raises(rc.UserError, match=says):
        make()
