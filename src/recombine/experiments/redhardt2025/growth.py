"""How the number of training masks that are needed grows, read off between numbers that were tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import architectures, figures

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.85, 0.9, 0.95)
"""R^2 on held-out tasks at which the number of masks needed is read off."""
COMPARED = 0.9
"""The level at which kinds of student are compared."""


def meet(some: pd.DataFrame, level: float, column: str = "r2_unseen", *, or_fewer: bool = False) -> float:
    """How many masks are needed for a level, by students of one kind and seed.

    Between two numbers of masks that were tried, the column is taken as straight over their logarithms; beyond them
    nothing is said, unless the fewest are enough and may count (`or_fewer`).
    """
    some = some.sort_values("masks")
    known = np.maximum.accumulate(some[column].to_numpy())
    left = np.log(some["masks"].iloc[0]) if or_fewer else np.nan
    return float(np.exp(np.interp(level, known, np.log(some["masks"]), left=left, right=np.nan)))


def needed(rows: pd.DataFrame, level: float, column: str = "r2_unseen", *, or_fewer: bool = False) -> pd.DataFrame:
    """By seed and family of one kind, how many masks are needed for a level on held-out tasks."""
    found = {
        key: meet(some, level, column, or_fewer=or_fewer) for key, some in rows.groupby(["seed", "modules", "total"])
    }
    return rows.drop_duplicates(["seed", "modules", "total"])[["seed", "modules", "total"]].assign(
        needed=lambda t: [found[key] for key in zip(t["seed"], t["modules"], t["total"], strict=True)]
    )


def power(rows: pd.DataFrame, level: float, over: str, column: str = "r2_unseen") -> pd.Series:
    """By seed, the power of some number with which the masks needed grow; none if a family does not meet the level."""
    found = needed(rows, level, column)
    return found.groupby("seed")[[over, "needed"]].apply(lambda some: _power(some[over], some["needed"]))


def _power(x: pd.Series, y: pd.Series) -> float:
    known = x.nunique() > 1 and y.notna().all()
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if known else float("nan")


def by_kind(effect: Callable[[pd.DataFrame], pd.Series], rows: pd.DataFrame) -> pd.DataFrame:
    """An effect of MLPs, one column per number of active modules."""
    return rc.each({f"{k:g} active": (lambda t, k=k: effect(t[t["max_active"] == k])) for k in actives(rows)})(rows)


def actives(rows: pd.DataFrame) -> list[float]:
    """The numbers of active modules, rising."""
    return sorted(rows["max_active"].unique())


def powers(table: pd.DataFrame, level: float, column: str = "r2_unseen") -> pd.DataFrame:
    """By seed, the power of the modules with which the masks needed grow, one column per number of active modules."""
    return by_kind(lambda t: power(t, level, "modules", column), rc.pick(table, model=architectures.MLP))


def fewer_needed(table: pd.DataFrame, level: float = COMPARED, column: str = "r2_unseen") -> pd.DataFrame:
    """By seed, log2 of how many times as many masks an MLP needs as a transformer, one column per number of modules."""
    import pandas as pd

    def of(model: str, *, or_fewer: bool) -> pd.DataFrame:
        rows = rc.pick(table, model=model)
        rows = rows[rows["max_active"] == rows["max_active"].min()]
        found = needed(rows, level, column, or_fewer=or_fewer)
        return found.pivot_table(index="seed", columns="modules", values="needed", dropna=False)

    if not len(rc.pick(table, model=architectures.TRANSFORMER)):
        return pd.DataFrame()
    ours, other = of(architectures.MLP, or_fewer=False), of(architectures.TRANSFORMER, or_fewer=True)
    return pd.DataFrame({f"{m:g} modules": np.log2(ours[m] / other[m]) for m in ours if m in other})


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """The table with R^2 on held-out tasks as a share of that on training tasks, in the column `kept`."""
    return table.assign(kept=table["r2_unseen"] / table["r2_seen"])


def most_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The MLPs that were trained on the largest multiple."""
    rows = rc.pick(table, model=architectures.MLP)
    return rows[rows["multiple"] == rows["multiple"].max()]


def by_family(of: Callable[[pd.DataFrame], pd.Series]):
    """What an effect is at the largest multiple, one column per number of modules and of active ones."""
    return lambda t: rc.each_of("condition", of)(most_shown(t))


def cost(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and number of active modules, the gap with most modules minus that with the fewest, largest multiple.

    The gap is R^2 on training minus held-out tasks: students of more modules may also learn less.
    """
    rows = most_shown(table).assign(gap=lambda t: t["r2_seen"] - t["r2_unseen"])
    return by_kind(rc.difference("gap", rows["modules"].max(), rows["modules"].min(), by="modules"), rows)


def partial_rank(a: Any, b: Any, given: Any) -> float:
    """The rank correlation of a and b that is left given a third: (ab - ag bg) / sqrt((1 - ag^2) (1 - bg^2)).

    >>> round(partial_rank([1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 4, 3]), 2)
    1.0
    """
    from recombine.measures.similarity import rank_correlation

    ab, ag, bg = rank_correlation(a, b), rank_correlation(a, given), rank_correlation(b, given)
    rest = (1 - ag**2) * (1 - bg**2)
    return float((ab - ag * bg) / np.sqrt(rest)) if rest > 0 else float("nan")


def explains(column: str, given: str):
    """By seed, the rank correlation of R^2 on held-out tasks with a column, given another."""
    columns = [column, "r2_unseen", given]
    return lambda t: t.groupby("seed")[columns].apply(lambda some: partial_rank(*(some[c] for c in columns)))


def pairs_explain(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the rank correlation of R^2 with the share of pairs seen, given each of two numbers of masks."""
    effects = {"given masks per module": explains("pairs", "multiple")}
    effects |= {"given share of all masks": explains("pairs", "share")}
    return rc.each(effects)(rc.pick(table, model=architectures.MLP))


def masks_explain(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the rank correlation of R^2 with each of two numbers of masks, given the share of pairs seen."""
    effects = {"masks per module": explains("multiple", "pairs"), "share of all masks": explains("share", "pairs")}
    return rc.each(effects)(rc.pick(table, model=architectures.MLP))


def readable_mlps(table: pd.DataFrame) -> pd.DataFrame:
    """The MLPs whose training masks hold every module."""
    rows = figures.readable(table)
    return rows[rows["model"] == architectures.MLP]
