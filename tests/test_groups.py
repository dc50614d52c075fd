"""Claims about several rivals or pictures: a short cell on the board, and a small table of what is said of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.cli import groups, report

EMPTY = pd.DataFrame({"system": []})
HIGH, LOW = np.linspace(0.4, 0.6, 8), np.linspace(-0.6, -0.4, 8)


def verdict(columns: dict[str, np.ndarray], **more):
    asked: dict[str, Any] = {"effect": lambda _: pd.DataFrame(columns), "above": 0.1, "over": "rivals and pictures"}
    return rc.judge(EMPTY, rc.Claim("SP wins", "It does.", "here", unit="C", **asked, **more))


@pytest.fixture(scope="module")
def agreeing():
    columns = {
        "ticket, face: changes": HIGH,
        "ticket, face: maps": HIGH,
        "ticket, moth: changes": LOW,
        "ticket, moth: maps": np.full(8, np.nan),
    }
    unfit = pd.DataFrame({name: np.isfinite(values).astype(float) for name, values in columns.items()})
    open_ = {"ticket, moth": ("undecided", "not rendered by ticket")}
    return verdict(columns, agree=True, fits=(lambda _: unfit,), unsettled=lambda _: open_)


def test_scores_that_must_agree_have_a_column_each_and_the_reason_its_row(agreeing):
    assert agreeing.because == {"ticket, moth": "not rendered by ticket"}
    assert groups.table(agreeing, "laptop").splitlines() == [
        "| laptop | verdict | changes | maps | why |",
        "|---|---|---|---|---|",
        "| ticket, face | holds | 0.50 holds | 0.50 holds |  |",
        "| ticket, moth | undecided | -0.50 fails | none | not rendered by ticket |",
    ]
    assert groups.lines(agreeing, 60) == [
        "              verdict    changes    maps",
        "ticket, face  holds       0.50 h  0.50 h",
        "ticket, moth  undecided  -0.50 f    none",
        "  not rendered by ticket",
    ]


def test_a_cell_of_the_board_has_numbers_how_many_hold_and_one_reason(agreeing):
    shown = report.Shown("do2026/pruning", Path("results/do2026/pruning/laptop"), [agreeing], tier="laptop")
    table, _, fold = report.markdown([shown]).partition("<details>")
    cell = table.splitlines()[-2].split(" | ")[-1]
    assert cell == "**undecided** -0.50 [-0.56, -0.44]; holds for 1 of 2 rivals and pictures; not rendered by ticket |"
    assert "| ticket, moth | undecided |" in fold
    printed = list(report.verdict_lines([agreeing], 100))
    assert max(map(len, printed)) <= 100 + len("[yellow][/]")
    assert not [line for line in printed if "is undecided" in line]


def test_what_repeats_in_one_column_has_its_interval_and_what_fitted():
    fits = pd.DataFrame({"face": np.ones(8), "moth": [0.0, *np.ones(7)]})
    found = verdict({"face": HIGH, "moth": LOW}, fits=(lambda _: fits,))
    assert groups.held(found) == "holds for 1 of 2 rivals and pictures"
    assert groups.table(found, "gpu").splitlines()[-1].startswith("| moth | fails | -0.49 [")
    assert groups.table(found, "gpu").endswith("] | 7 of 8 |")


def test_a_misread_control_is_the_reason_of_all_groups():
    misread = rc.Check("noise", lambda _: 1.0, at_most=0.9)
    for agree in (True, False):
        names = ("face: a", "moth: a") if agree else ("face", "moth")
        found = verdict(dict.fromkeys(names, HIGH), agree=agree, controls=(misread,))
        assert report.reason(found).startswith("control misread: noise")
    straddling = verdict({"face": HIGH, "moth": np.linspace(-0.5, 0.6, 8)})
    assert report.reason(straddling).startswith("moth: the interval straddles")


def test_a_claim_about_one_thing_has_no_table():
    found = verdict({"": HIGH})
    assert groups.held(found) == ""
    assert "<details>" not in report.markdown([report.Shown("a/b", Path("results/a/b/gpu"), [found], tier="gpu")])
