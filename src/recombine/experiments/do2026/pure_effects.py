"""What claims on pure units compare: a count with what training adds, one size with another, few parts with many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

TARGETS = {1: "sum", 2: "two steps", 3: "three steps"}
JUDGED = 3
"""Parts of the targets that claims on width and depth are judged at: the paper's P."""
LEARNT = 0.1
"""A network has learnt its target if it misses a tenth of its variance at most."""
MOST = 0.9
"""Share of networks that must have learnt it, for the narrowest width that is compared."""


def sound(table: pd.DataFrame) -> pd.DataFrame:
    """Networks that have learnt their target."""
    rows = rc.networks(table)
    return rows[rows["missed"] <= LEARNT]


def by_target(effect: Callable, *, parts: int | None = JUDGED, steps: int = 1) -> Callable:
    """An effect with a column for each target of the paper's number of parts, or of all; and of so many steps."""

    def apart(table: pd.DataFrame) -> pd.DataFrame:
        kept = table["target"].isin([name for k, name in TARGETS.items() if k >= steps])
        mine = table[kept & ((table["parts"] == parts) | (parts is None))]
        return rc.each_of("target", effect)(mine)

    return apart


def half(table: pd.DataFrame) -> pd.Series:
    """By seed, 1 if at least half of its networks of as many layers as steps have learnt the target, else 0."""
    rows = rc.networks(table)
    able = rows[np.isfinite(rows["log_ratio"])]
    return able.groupby("seed")["missed"].agg(lambda missed: float((missed <= LEARNT).mean() >= 0.5))


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Networks that have learnt their target and have a count: no wiring of fewer layers than steps is compositional,
    and the logarithm of none is not a number to be ranked."""
    rows = sound(table)
    return rows[np.isfinite(rows["log_ratio"])]


def follows(first: str, second: str = "gained") -> Callable:
    """By seed, the rank correlation of two columns over widths and depths, where the target is learnt and counted."""
    return rc.correlation_by_seed(first, second, among=counted)


def against(rival: str) -> Callable:
    """By seed, how much more the count says of what training adds than a rival, of which less is to be better.

    That is its rank correlation at equal ranks of the rival, minus the rival's at equal ranks of the count: above 0 if
    only the count matters, below if only the rival does. Plain correlations could not tell, as both go together.
    """

    def effect(table: pd.DataFrame) -> pd.Series:
        count, other, both = (f(table) for f in (follows("log_ratio"), follows(rival), follows("log_ratio", rival)))
        return partial(count, -other, -both) - partial(-other, count, -both)

    return effect


def partial(first: pd.Series, second: pd.Series, both: pd.Series) -> pd.Series:
    """The correlation of a with c at equal b, (ac - bc ab) / sqrt((1 - bc^2) (1 - ab^2)), from ac, bc and ab."""
    left = (1 - second**2) * (1 - both**2)
    return (first - second * both) / np.sqrt(left.where(left > 1e-9))


def every(table: pd.DataFrame, effects: pd.Series) -> pd.Series:
    """Effects by seed, with no number of seeds that have none."""
    return effects.groupby("seed").mean().reindex(sorted(rc.networks(table)["seed"].unique()))


def narrowest(table: pd.DataFrame) -> pd.Series:
    """By seed, the narrowest width that most networks of a depth learn at minus the widest, mean over depths."""
    learnt = rc.networks(table).groupby(["depth", "width"])["missed"].agg(lambda m: (m <= LEARNT).mean()) >= MOST
    rows, apart = sound(table).set_index(["depth", "width", "seed"])["gained"], []
    for depth, able in learnt[learnt].groupby("depth"):
        widths = [width for _, width in able.index]
        if len(widths) > 1:
            apart.append(rows.loc[depth, min(widths)] - rows.loc[depth, max(widths)])
    return every(table, _joined(apart))


def _joined(effects: list[Any]) -> pd.Series:
    import pandas as pd

    none = pd.Series(dtype=float, index=pd.Index([], name="seed"))
    return pd.concat([*effects, none]) if effects else none


def own_minus_deepest(table: pd.DataFrame) -> pd.Series:
    """By seed, networks of as many layers as the target has steps minus the deepest, at widths where both learn it."""
    return at_own_depth(table, sound(table), "gained", lambda own, depths: max(depths))


def own_minus_fewer(table: pd.DataFrame) -> pd.Series:
    """By seed, the share of widths at which as many layers as steps learn the target, minus that of one layer less."""
    rows = rc.networks(table)
    learnt = rows.assign(learnt=(rows["missed"] <= LEARNT).astype(float))
    return at_own_depth(table, learnt, "learnt", lambda own, depths: own - 1)


def at_own_depth(table: pd.DataFrame, rows: pd.DataFrame, column: str, other: Callable) -> pd.Series:
    """By seed, a column at a depth of as many layers as steps minus that at another, mean over widths."""
    own = {name: k for k, name in TARGETS.items()}[rc.networks(table)["target"].iloc[0]]
    wide = rows.set_index(["depth", "width", "seed"])[column]
    depth = other(own, rc.networks(table)["depth"].unique())
    here, there = (wide[wide.index.get_level_values("depth") == d].droplevel("depth") for d in (own, depth))
    return every(table, (here - there).dropna())


def fewest_minus_most(table: pd.DataFrame) -> pd.Series:
    """By seed, targets of the fewest parts minus those of the most, at sizes where both are learnt."""
    rows = sound(table).set_index(["width", "depth", "seed"])
    ends = [rc.networks(table)["parts"].agg(end) for end in ("min", "max")]
    few, many = (rows[rows["parts"] == end]["gained"] for end in ends)
    return every(table, (few - many).dropna())
