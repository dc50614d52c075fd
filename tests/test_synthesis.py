"""Six families asked alike: what is withheld, what is covered, and what the claims read on tables of known answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.synthesis import families, pooled
from recombine.tasks import scan

SHARES = (0.125, 0.5)


@pytest.fixture(scope="module")
def tasks() -> dict[str, rc.Task]:
    return {name: families.task(name, 0, 2, True) for name in families.NAMES}


@pytest.mark.parametrize("name", families.NAMES)
def test_no_training_row_has_a_withheld_pair_and_every_asked_row_has_one(tasks, name):
    task, pairs = tasks[name], families.family(name).pairs(tasks[name].combinations)
    train, asked, share = families.sides(name, task, 0, 0.5, np.random.default_rng(0))
    shown = set(pairs[train].ravel()) - {rc.ABSENT}
    assert train.any()
    assert asked.any()
    assert not (train & asked).any()
    assert all(set(row) - {rc.ABSENT} - shown for row in pairs[asked])
    own = families.mine(name, task, 0)
    assert np.array_equal(train | asked, own)
    assert share == pytest.approx(len(shown) / len(set(pairs[own].ravel()) - {rc.ABSENT}))


def parts(name: str, task: rc.Task, rows: np.ndarray) -> list[set]:
    """The values of each part that some rows have; of SCAN, its words."""
    z = task.combinations[rows]
    if name == "scan":
        return [{word for row in z.tolist() for word in scan.command(row)}]
    absent = 0 if name in ("hyperteacher", "preferences") else rc.ABSENT
    return [set(part) - {absent} for part in z[:, int(families.family(name).worlds) :].T]


@pytest.mark.parametrize("name", families.NAMES)
def test_single_parts_stay_covered_where_half_of_the_pairs_are_withheld(name):
    """What is asked is a new pair of known parts: at the sizes of the laptop tier every part value is trained on."""
    task = families.task(name, 0, 1, False)
    for seed in range(3):
        train, asked, _ = families.sides(name, task, 0, 0.5, np.random.default_rng(seed))
        pairs = zip(parts(name, task, train), parts(name, task, asked), strict=True)
        assert all(new <= shown for shown, new in pairs)


def test_withholding_all_pairs_is_refused(tasks):
    with pytest.raises(rc.UserError, match="leaves no pair covered"):
        families.sides("bumps", tasks["bumps"], 0, 0.999, np.random.default_rng(0))
    with pytest.raises(rc.UserError, match="no family is called 'songs'"):
        pooled.Settings(families=("songs",))
    with pytest.raises(rc.UserError, match="two or more rising shares"):
        pooled.Settings(withheld=(0.5, 0.125))


def table(success) -> pd.DataFrame:
    """Networks of two families whose success is a function of their size and of the share withheld."""
    kinds = [
        {"family": family, "size": size, "withheld": share, "seed": seed}
        for family in ("bumps", "chains")
        for size in (pooled.USUAL, pooled.WIDE, pooled.DEEP)
        for share in SHARES
        for seed in range(5)
    ]
    rng = np.random.default_rng(0)
    rows = [
        k | {"system": "network", "fit": 1.0, "success": success(k["size"], k["withheld"]) + 0.01 * rng.normal()}
        for k in kinds
    ]
    known = {"perfect": 1.0, "remembers": 0.1, "untrained": 0.0}
    rows += [{"system": s, "family": f, "success": v, "seed": 0} for s, v in known.items() for f in ("bumps", "chains")]
    return pd.DataFrame(rows)


def verdicts(success) -> list[str]:
    return [v.verdict for v in rc.judge_all(table(success), pooled.CLAIMS)]


def test_networks_that_follow_coverage_alone_are_read_as_that():
    assert verdicts(lambda size, share: 1 - share) == ["fails", "fails", "holds"]


def test_networks_that_gain_from_width_alone_are_read_as_that():
    assert verdicts(lambda size, share: 0.9 if size == pooled.WIDE else 0.4) == ["holds", "fails", "fails"]


def test_networks_that_do_not_fit_decide_nothing():
    unfit = table(lambda size, share: 1 - share).assign(fit=0.5)
    assert {v.verdict for v in rc.judge_all(unfit, pooled.CLAIMS)} == {"undecided"}
