"""What claims about pruning compare: networks of several methods that draw the picture, after the first round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.do2026.prunings import DENSE, FRESH, METHODS, TICKET
from recombine.experiments.pictures import compare

if TYPE_CHECKING:
    import pandas as pd

FIRST = {"by": "method", "round": (0, 1)}
"""Dense networks, and those after the first round."""
MASKS = tuple(method for method in METHODS if method not in (FRESH, TICKET))
"""Methods that go on from trained weights, and so differ in their masks (SP also merges what it removes)."""


def drawing(table: pd.DataFrame, methods: Sequence[str], column: str) -> dict[str, pd.DataFrame]:
    """By picture, a column of the first round: a row per seed and a column per method."""
    rows = rc.pick(table, round=(0, 1), method=methods)
    each = rows.pivot_table(index="seed", columns=["goal", "method"], values=column, dropna=False)
    return {str(goal): each[goal].reindex(columns=list(methods)) for goal in sorted(rows["goal"].unique())}


def scores(table: pd.DataFrame, methods: Sequence[str]) -> dict[str, pd.DataFrame]:
    """By picture, R of the networks that reach the gate; no number of the others."""
    draws = drawing(table, methods, "draws")
    return {goal: r.where(draws[goal] == 1) for goal, r in drawing(table, methods, "R").items()}


def pulled(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture, R of the dense network minus the mean of the pruned networks of that seed that draw."""
    every = scores(table, (DENSE, *METHODS))
    return joined({goal: r[DENSE] - r[list(METHODS)].mean(axis=1) for goal, r in every.items()})


def matters(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture, the share of masks whose R is farther from all others' than the dense network's is.

    Of the networks of that seed that draw: how far is the mean |difference| from all of them. Nothing is chosen. If
    masks and dense network differed by noise alone, the dense network would be anywhere among them: one half.
    """

    def of(r: pd.DataFrame) -> pd.Series:
        apart = np.abs(r.to_numpy()[:, :, None] - r.to_numpy()[:, None, :])
        far = r * 0 + np.nansum(apart, axis=2)
        farther = far[list(MASKS)].gt(far[DENSE], axis=0).sum(axis=1)
        return farther / r[list(MASKS)].notna().sum(axis=1) + 0 * r[DENSE]

    return joined({goal: of(r) for goal, r in scores(table, (DENSE, *MASKS)).items()})


def joined(columns: dict[str, pd.Series]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)


def half_of(methods: Sequence[str]) -> compare.Table:
    """By seed and picture, whether the dense network and at least half of the pruned ones draw it."""

    def fits(table: pd.DataFrame) -> pd.DataFrame:
        found = {}
        for goal, draws in drawing(table, (DENSE, *methods), "draws").items():
            enough = (draws[DENSE] == 1) & ((draws[list(methods)] == 1).mean(axis=1) >= 0.5)
            found[goal] = enough.astype(float).where(draws[DENSE].notna())
        return joined(found)

    return fits


def able(table: pd.DataFrame, methods: Sequence[str]) -> list[str]:
    """Columns "method, picture" of which most networks draw the picture: the others cannot be compared in R."""
    shares = {goal: (draws == 1).mean() for goal, draws in drawing(table, methods, "draws").items()}
    return [f"{method}, {goal}" for method in methods for goal, share in shares.items() if share[method] >= 0.5]


def among_able(effect: compare.Table, methods: Sequence[str]) -> compare.Table:
    """An effect with columns "method, picture" at those that mostly draw; at all, if there is none."""
    return lambda t: effect(t)[able(t, methods) or [*effect(t)]]
