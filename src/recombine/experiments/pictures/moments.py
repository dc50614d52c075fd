"""How the structure of picture networks is compared: by two scores, at two moments, on one scale, picture by picture.

Scores are R (what single weights do) and the compressed size of unit maps (what units carry). Moments are the end of
training, and the same error for both kinds of a pair: one rung of a ladder of errors, chosen from errors alone. The
scale is C = (dense - x) / (dense - designed): 0 for the dense network, 1 for the designed one. A picture's verdict
needs all four to agree. Whether networks reach an error is an outcome of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.table import NoSuchRow

if TYPE_CHECKING:
    import pandas as pd

LADDER = (0.24, 0.12, 0.06, 0.03, 0.015, 0.0075, 0.00375, 0.001875)
"""Errors at which a copy of each network is kept, as shares of the picture's variance; the last two for easy ones."""
DRAWN = 0.06
"""The error at which a network counts as one that renders its picture."""
MOST, EARLIEST = 0.9, 1_000
"""A rung is one that this share of both kinds reach, by the median not before so many updates."""
MARGIN, REACHES = 0.10, 0.25
"""The least difference on the scale C, and the least difference of the shares of seeds that reach an error."""
SCORES = {"R": "changes", "map_zip": "unit maps"}
"""The columns of both scores, and what they are of."""
END, EQUAL = "at the end", "at one error"
UNIT = "C (0: dense network, 1: designed network)"
Kinds = Sequence[tuple[str, str]]
"""Pairs of kinds of networks that are compared."""


def until(picture: np.ndarray) -> tuple[float, ...]:
    """The mean squared errors of the ladder for a picture (rows, columns, 3)."""
    return tuple(float(rung * variance(picture)) for rung in LADDER)


def variance(picture: np.ndarray) -> float:
    """The mean squared error of the best flat colour."""
    return float(picture.var(axis=(0, 1)).mean())


def step(rung: float) -> str:
    """The column of the update at which a network reaches a rung, -1 if it never does."""
    return f"reached_{rung:g}"


def at(score: str, rung: float) -> str:
    """The column of a score where a network reaches a rung."""
    return f"{score}_{rung:g}"


def rung(*kinds: np.ndarray) -> float | None:
    """The lowest rung that nearly all networks of both kinds reach, if not too soon; from updates (networks, rungs).

    A higher rung is reached sooner still: if the lowest is too soon, there is none.
    """
    for i in reversed(range(len(LADDER))):
        reached = [kind[kind[:, i] >= 0, i] for kind in kinds]
        if all(len(mine) >= MOST * len(kind) and len(mine) for mine, kind in zip(reached, kinds, strict=True)):
            return LADDER[i] if all(np.median(mine) >= EARLIEST for mine in reached) else None
    return None


def rungs(steps: Mapping[str, np.ndarray], pairs: Iterable[tuple[str, str]]) -> dict[str, set[float]]:
    """The rungs at which networks of each kind must be scored, for these pairs to be compared."""
    needed: dict[str, set[float]] = {kind: set() for kind in steps}
    for first, second in pairs:
        if first in steps and second in steps and (found := rung(steps[first], steps[second])) is not None:
            needed[first].add(found)
            needed[second].add(found)
    return needed


def of(table: pd.DataFrame, kind: str, picture: str) -> pd.DataFrame:
    """The rows of one kind and picture, by seed; rungs that an older table lacks are there without a number."""
    found = table[(table["kind"] == kind) & (table["goal"] == picture)].set_index("seed").sort_index()
    return found.reindex(columns=[*found, *(step(rung) for rung in LADDER if step(rung) not in found)])


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


def gap(table: pd.DataFrame, dense: str, score: str, picture: str) -> float:
    """Dense minus designed: the mean over all seeds at the end of training, so that no seed has a denominator of its
    own; NaN where dense networks are not above the designed one."""
    found = of(table, dense, picture)[score].mean() - reading(table, "designed", score, picture)
    return float(found) if found > 0 else float("nan")


def closer(first: str, second: str, *, dense: str, moments: Sequence[str] = (END, EQUAL)) -> dict[str, Any]:
    """What a claim needs that one kind of network is closer to the designed one than another: C minus C, by seed.

    The denominator is the same for both moments and all seeds: that of `gap`. A column for each picture, score and
    moment; a picture holds or fails only if all of its columns do.
    """

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        return _columns(table, first, second, moments, lambda a, b, s, p: (b - a) / gap(table, dense, s, p))

    def fits(table: pd.DataFrame) -> pd.DataFrame:
        return _fits(table, first, second, moments)

    return {"effect": effect, "fits": (fits,), "over": "pictures", "agree": True, "above": MARGIN, "unit": UNIT}


def larger(first: str, second: str, factor: float = 1.1) -> dict[str, Any]:
    """What a claim needs that scores of one kind are larger than another's by a factor: log10 of the ratio, by seed."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        return _columns(table, first, second, (END, EQUAL), lambda a, b, s, p: np.log10(a / b))

    def fits(table: pd.DataFrame) -> pd.DataFrame:
        return _fits(table, first, second, (END, EQUAL))

    asked = {"above": float(np.log10(factor)), "unit": f"log10 of the score, {first} over {second}"}
    return {"effect": effect, "fits": (fits,), "over": "pictures", "agree": True, **asked}


def timeless(numbers: Mapping[str, float]) -> dict[str, float]:
    """What a row says of a network that was not trained here: it is the same at every rung."""
    steps: dict[str, float] = {step(rung): float(EARLIEST) for rung in LADDER}
    return {**numbers, **steps} | {at(score, rung): numbers[score] for score in SCORES for rung in LADDER}


def each_closer(first: str, rivals: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """The same against several rivals: a group "rival, picture" for each."""
    each = {name: closer(first, rival, **more) for name, rival in rivals.items()}

    def joined(pick: Callable[[dict], Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        def every(table: pd.DataFrame) -> pd.DataFrame:
            import pandas as pd

            found = {name: pick(one)(table) for name, one in each.items()}
            return pd.DataFrame({f"{name}, {column}": one[column] for name, one in found.items() for column in one})

        return every

    effect, fits = joined(lambda one: one["effect"]), joined(lambda one: one["fits"][0])
    shared = {"over": "rivals and pictures", "agree": True, "above": MARGIN, "unit": UNIT}
    return {"effect": effect, "fits": (fits,), **shared}


Compare = Callable[[Any, Any, str, str], Any]
"""From a score of both kinds by seed, the score and the picture to an effect by seed."""


def _columns(table: pd.DataFrame, first: str, second: str, moments: Sequence[str], compare: Compare) -> pd.DataFrame:
    """A column "picture: score, moment" for each; at one error NaN where both have no rung in common."""
    import pandas as pd

    found = {}
    for picture in pictures(table, first, second):
        one, other = of(table, first, picture), of(table, second, picture)
        shared = common(table, first, second, picture)
        for score, name in SCORES.items():
            for moment in moments:
                column = score if moment == END else at(score, shared) if shared else None
                there = column in one and column in other
                pair = (one[column], other[column]) if there else (one[score] * np.nan, other[score] * np.nan)
                found[f"{picture}: {name} {moment}"] = compare(*pair, score, picture)
    return pd.DataFrame(found)


def _fits(table: pd.DataFrame, first: str, second: str, moments: Sequence[str]) -> pd.DataFrame:
    """By seed 1, at one error 0 where one of both networks does not reach it, and at the end 0 where one has no score.

    A network that renders one flat colour has learnt nothing, and has no change or map to score: it does not fit.
    """
    import pandas as pd

    found = {}
    for picture in pictures(table, first, second):
        both, shared = [of(table, kind, picture) for kind in (first, second)], common(table, first, second, picture)
        there = (both[0]["mse"] + both[1]["mse"]).notna()  # neither diverged
        reached = [(rows[step(shared)] >= 0) if shared else rows["mse"] * 0 > 1 for rows in both]
        equal = (reached[0] & reached[1]).astype(float).where(there)
        for score, name in SCORES.items():
            ends = (both[0][score].notna() & both[1][score].notna()).astype(float).where(there)
            found |= {f"{picture}: {name} {moment}": ends if moment == END else equal for moment in moments}
    return pd.DataFrame(found)


def common(table: pd.DataFrame, first: str, second: str, picture: str) -> float | None:
    """The rung at which two kinds are compared on a picture, if there is one."""
    columns = [step(r) for r in LADDER]
    return rung(*(of(table, kind, picture)[columns].to_numpy(float) for kind in (first, second)))


def reaches(first: str, second: str, error: float = DRAWN) -> dict[str, Any]:
    """What a claim needs that more networks of one kind reach an error than of another: a column for each picture."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        def share(kind: str, picture: str) -> Any:
            found = of(table, kind, picture)[step(error)]
            return (found >= 0).astype(float).where(found.notna())

        return pd.DataFrame({p: share(first, p) - share(second, p) for p in pictures(table, first, second)})

    unit = f"share of networks whose error falls to {error:.0%} of the picture's variance, {first} minus {second}"
    return {"effect": effect, "over": "pictures", "above": REACHES, "unit": unit}


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
        "R with a faint wave over the picture, over R of the designed network, least picture",
        _least("R", "rippled", "designed", lambda a, b: a / b),
        at_least=0.9,
    ),
)
"""Both scores see what they should: a rotation makes maps larger, and a rough picture does not make R smaller."""
