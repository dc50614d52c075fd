"""What students of several families gain from more masks, and what the most masks leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.redhardt2025 import figures

if TYPE_CHECKING:
    import pandas as pd

ROOM = 0.05
"""The gap to training tasks that the fewest masks must leave, if more of them are to close it."""


def at(rows: pd.DataFrame, end: str) -> pd.DataFrame:
    """The students of each family with the fewest ("min") or the most ("max") masks."""
    return rows[rows["count"] == rows["family"].map(rows.groupby("family")["count"].agg(end))]


def roomy(table: pd.DataFrame) -> list[str]:
    """The families whose fewest masks leave held-out tasks more than `ROOM` behind training tasks, on average."""
    rows = at(rc.networks(table), "min")
    behind = (rows["r2_seen"] - rows["r2_unseen"]).groupby(rows["family"]).mean()
    return [str(name) for name in behind.index[~(behind <= ROOM)]]  # where all diverged, nothing is known of it


def improved(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the gain in R^2 on held-out tasks from the fewest masks to the most, in families with room for one."""
    rise = of_families("r2_unseen", "max")(table) - of_families("r2_unseen", "min")(table)
    return rise[roomy(table)]


def of_families(column: str, end: str):
    """A column of the students with the fewest or the most masks, one column per family."""
    return lambda t: rc.each_of("family", rc.value(column))(at(rc.networks(t), end))


def gap(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and family, R^2 on training minus held-out tasks after the most masks."""
    return of_families("r2_seen", "max")(table) - of_families("r2_unseen", "max")(table)


def fitted(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and family, whether the students with the most masks have learnt them."""
    return rc.each_of("family", figures.fits())(at(rc.networks(table), "max"))
