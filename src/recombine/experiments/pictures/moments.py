"""What is recorded of picture networks, when they count as dead, and whether they reach an error.

Scores are R (what single weights do) and the compressed size of unit maps (what units carry), at the end of training.
`closeness` compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.table import NoSuchRow

if TYPE_CHECKING:
    import pandas as pd

COARSE, DRAWN = 0.24, 0.06
"""Errors, as shares of the picture's variance: one that sparse networks reach as well, and one at which a network
renders its picture. It is recorded when a network first reaches each."""
DEAD = 0.9
"""A network that leaves more than this share of the picture's variance renders a flat or black picture."""
REACHES, FLOOR = 0.25, 0.1
"""The least difference of the shares of seeds that reach an error, and how far from none and all one share must be."""
SCORES = {"R": "changes", "map_zip": "unit maps"}
"""The columns of both scores, and what they are of."""


def until(picture: np.ndarray) -> tuple[float, ...]:
    """The mean squared errors for a picture (rows, columns, 3) of which it is recorded when they are reached."""
    return tuple(float(share * variance(picture)) for share in (COARSE, DRAWN))


def variance(picture: np.ndarray) -> float:
    """The mean squared error of the best flat colour."""
    return float(picture.var(axis=(0, 1)).mean())


def step(error: float) -> str:
    """The column of the update at which a network reaches an error, -1 if it never does."""
    return f"reached_{error:g}"


def of(table: pd.DataFrame, kind: str, picture: str) -> pd.DataFrame:
    """The rows of one kind and picture, by seed; columns that an older table lacks are there without a number."""
    return filled(table[(table["kind"] == kind) & (table["goal"] == picture)].set_index("seed").sort_index())


def filled(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with every column that is asked of networks, without a number where an older table lacks one."""
    asked = ["mse", "log_mse", "share_left", *map(step, (COARSE, DRAWN))]
    missing = [name for name in asked if name not in rows]
    return rows.reindex(columns=[*rows, *missing]) if missing else rows


def alive(rows: pd.DataFrame) -> pd.Series:
    """By network 1, 0 of a dead one, NaN of one that diverged; a dead one has not fitted, and enters no effect.

    Networks that were not trained leave no share: they are no less alive than they were made.
    """
    return (~(rows["share_left"] > DEAD)).astype(float).where(rows["mse"].notna())


def pictures(table: pd.DataFrame, *kinds: str) -> list[str]:
    """The pictures of which there are networks of all these kinds."""
    found = [set(table[table["kind"] == kind]["goal"]) for kind in kinds if "kind" in table]
    return sorted(set.intersection(*found)) if found else []


def reading(table: pd.DataFrame, system: str, score: str, picture: str) -> float:
    """What a score reads of a system whose answer is known; the mean if there are several rows."""
    rows = table[(table["system"] == system) & (table["goal"] == picture)]
    if rows.empty:
        raise NoSuchRow(f"the table has no row of the control {system!r}: run it again")
    return float(rows[score].mean())


def attained(table: pd.DataFrame, kind: str, picture: str, error: float = DRAWN) -> pd.Series:
    """By seed 1 if the error of a network fell so low, else 0; NaN if it diverged."""
    found = of(table, kind, picture)[step(error)]
    return (found >= 0).astype(float).where(found.notna())


def reaches(first: str, second: str, error: float = DRAWN) -> dict[str, Any]:
    """What a claim needs that more networks of one kind reach an error than of another: a column for each picture."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        every = pictures(table, first, second)
        return pd.DataFrame({p: attained(table, first, p, error) - attained(table, second, p, error) for p in every})

    def unsettled(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        """Pictures that hardly any network reaches, or nearly all do: there is no room for a difference."""
        every = pictures(table, first, second)
        shares = {p: [attained(table, kind, p, error).mean() for kind in (first, second)] for p in every}
        tight = {p: s for p, s in shares.items() if max(s) < FLOOR or min(s) > 1 - FLOOR}
        return {p: ("undecided", f"reached by {s[0]:.0%} and {s[1]:.0%}: no room to differ") for p, s in tight.items()}

    unit = f"share of networks whose error falls to {error:.0%} of the picture's variance, {first} minus {second}"
    return {"effect": effect, "unsettled": unsettled, "over": "pictures", "above": REACHES, "unit": unit}


def _least(column: str, first: str, second: str, how: Callable[[float, float], float]) -> Callable[[Any], float]:
    def value(table: pd.DataFrame) -> float:
        goals = table[table["system"] == second]["goal"].unique()
        if not len(goals):
            raise NoSuchRow(f"the table has no row of the control {second!r}: run it again")
        return min(how(reading(table, first, column, goal), reading(table, second, column, goal)) for goal in goals)

    return value


CONTROLS = (
    rc.Check(
        "mean squared error of designed networks and of the same rotated, worst picture",
        lambda t: -min(_least("mse", name, "designed", lambda a, _: -a)(t) for name in ("designed", "rotated")),
        at_most=1e-6,
    ),
    rc.Check(
        "compressed size of unit maps, rotated over designed, least picture",
        _least("map_zip", "rotated", "designed", lambda a, b: a / b),
        at_least=1.05,
    ),
    rc.Check(
        "R with a faint wave over the picture, over R of the designed network, least picture (it may rise, by up to"
        " 1.4: where R over the own picture says the opposite, R decides nothing)",
        _least("R", "rippled", "designed", lambda a, b: a / b),
        at_least=0.9,
    ),
)
"""Both scores see what they should: a rotation makes maps larger, and a rough picture does not make R smaller."""
