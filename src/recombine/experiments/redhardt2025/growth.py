"""How the number of training masks that are needed grows, read off between numbers that were tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import architectures

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
    return float("nan") if y.isna().any() else float(np.polyfit(np.log(x), np.log(y), 1)[0])


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


def most_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The MLPs that were trained on the largest multiple."""
    rows = rc.pick(table, model=architectures.MLP)
    return rows[rows["multiple"] == rows["multiple"].max()]


def by_family(of: Callable[[pd.DataFrame], pd.Series]):
    """What an effect is at the largest multiple, one column per number of modules and of active ones."""
    return lambda t: rc.each_of("condition", of)(most_shown(t))


def cost(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and number of active modules, R^2 with the fewest modules minus that with most, largest multiple."""
    rows = most_shown(table)
    return by_kind(rc.difference("r2_unseen", rows["modules"].min(), rows["modules"].max(), by="modules"), rows)


def pairs_explain(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the rank correlation of R^2 with the share of pairs seen, minus that with a rival."""
    rows = rc.pick(table, model=architectures.MLP)

    def over(rival: str):
        return lambda t: rc.correlation_by_seed("pairs", "r2_unseen")(t) - rc.correlation_by_seed(rival, "r2_unseen")(t)

    return rc.each({"masks per module": over("multiple"), "share of all masks": over("share")})(rows)
