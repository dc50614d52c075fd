"""The best depth of each target by its networks, and how its complexity goes with it over targets of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.do2026.targets import FEATURES, OWN

if TYPE_CHECKING:
    import pandas as pd

SHUFFLES = 200
RENDERED = 0.12
"""The share of a picture's variance that a network may miss: one that misses more looks simple inside, but is not."""
Outcome = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""From a table to a row per target: its facts, and a depth in the column "best"."""


def curves(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """A score by target and depth, the mean over networks that render it; none where fewer than half of them do."""
    rows = rc.networks(table)
    tried = rows.groupby(["goal", "depth"]).size()
    sound = rows[rows["missed"] <= RENDERED].groupby(["goal", "depth"])[score]
    number = sound.count().reindex(tried.index, fill_value=0)
    return sound.mean().reindex(tried.index).where((number > 0) & (2 * number >= tried)).unstack("depth")


def best(score: str) -> Outcome:
    """The depth of the lowest score of each target; none if it is rendered at one depth only."""

    def outcome(table: pd.DataFrame) -> pd.DataFrame:
        found = curves(table, score)
        found = found[found.notna().sum(axis=1) >= 2]
        return _facts(table, found).assign(best=found.idxmin(axis=1).astype(float))

    return outcome


def shallowest(table: pd.DataFrame) -> pd.DataFrame:
    """The least depth at which at least half of the networks render each target."""
    found = curves(table, "missed")
    found = found[found.notna().any(axis=1)]
    return _facts(table, found).assign(best=found.notna().idxmax(axis=1).astype(float))


def _facts(table: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    return rc.networks(table).drop_duplicates("goal").set_index("goal").loc[found.index, ["kind", OWN, *FEATURES]]


def interior(score: str) -> Callable[[pd.DataFrame], float]:
    """The share of targets whose best depth is neither the shallowest nor the deepest of those that render them."""

    def share(table: pd.DataFrame) -> float:
        found = curves(table, score).loc[(where := best(score)(table)).index]
        ends = [found.notna().idxmax(axis=1), found.notna().iloc[:, ::-1].idxmax(axis=1)]
        return float(((where["best"] != ends[0]) & (where["best"] != ends[1])).mean())

    return share


def pseudo_values(x: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """n r - (n - 1) r_without_i, one number per target: their mean is about r, their spread that of a jackknife.

    So a rank correlation over targets has an interval like any other mean, with the target as the unit that repeats.
    Targets are ranked among those of their kind: r = sum xy / sqrt(sum xx sum yy) over centred ranks of all kinds, so
    that a kind which is both simple and shallow makes no tendency by itself.
    """
    n = len(x)
    if n < 4:
        return np.full(n, np.nan)
    whole, without = _sums(x, y, kinds)
    return n * _ratio(whole) - (n - 1) * _ratio(without)


def within(x: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> float:
    """The rank correlation within kinds, pooled."""
    return float(_ratio(_sums(x, y, kinds)[0]))


def _ratio(sums: np.ndarray) -> np.ndarray:
    below = np.sqrt(sums[..., 0] * sums[..., 2])
    return np.divide(sums[..., 1], below, out=np.full(below.shape, np.nan), where=below > 0)


def _sums(x: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of xx, xy and yy over centred ranks within kinds: of all targets (3,), and without each (targets, 3)."""
    from scipy.stats import rankdata

    whole, changes = np.zeros(3), np.zeros((len(x), 3))
    for kind in dict.fromkeys(kinds.tolist()):
        mine = kinds == kind
        others = ~np.eye(mine.sum(), dtype=bool)
        a, b = x[mine], y[mine]
        here = _products(rankdata(a)[None], rankdata(b)[None], np.ones((1, len(a)), bool))[0]
        changes[mine] = _products(_ranks_without(a), _ranks_without(b), others) - here
        whole += here
    return whole, whole + changes


def _products(x: np.ndarray, y: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Per row, sums of xx, xy and yy of what is there, centred."""
    number = np.maximum(there.sum(axis=1, keepdims=True), 1)
    x, y = ((v - (v * there).sum(axis=1, keepdims=True) / number) * there for v in (x, y))
    return np.stack([(x * x).sum(axis=1), (x * y).sum(axis=1), (y * y).sum(axis=1)], axis=1)


def _ranks_without(values: np.ndarray) -> np.ndarray:
    """In row i the ranks of all values when value i is left out, ties sharing their mean rank."""
    from scipy.stats import rankdata

    over, same = values > values[:, None], values == values[:, None]
    return rankdata(values) - over - 0.5 * same


def tendency(found: pd.DataFrame, feature: str) -> pd.Series:
    """By target, the pseudo-values of the rank correlation of a feature with the best depth, within kinds."""
    import pandas as pd

    found = found.dropna(subset=[feature, "best"])
    numbers = pseudo_values(*_three(found, feature))
    return pd.Series(numbers, index=found.index, dtype=float)


def _three(found: pd.DataFrame, feature: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return found[feature].to_numpy(float), found["best"].to_numpy(float), found["kind"].to_numpy(str)


def halves(outcome: Outcome) -> Callable[[pd.DataFrame], float]:
    """The rank correlation, over targets within kinds, of depths by the even seeds with those by the odd ones."""

    def agree(table: pd.DataFrame) -> float:
        even, odd = (outcome(table[table["seed"] % 2 == half]) for half in (0, 1))
        both = even.index.intersection(odd.index)
        first, second, kinds = even["best"][both], odd["best"][both], even["kind"][both]
        return within(first.to_numpy(), second.to_numpy(), kinds.to_numpy(str)) if len(both) > 2 else float("nan")

    return agree


def by_chance(found: pd.DataFrame, feature: str, margin: float) -> float:
    """How often best depths shuffled over the targets of each kind go with the feature beyond the margin."""
    rng, (x, y, kinds) = np.random.default_rng(0), _three(found, feature)
    lows = []
    for _ in range(SHUFFLES if len(x) > 3 else 0):
        drawn = y.copy()
        for kind in np.unique(kinds):
            drawn[kinds == kind] = rng.permutation(y[kinds == kind])
        lows.append(rc.interval(pseudo_values(x, drawn, kinds))[0])
    return float(np.mean(np.array(lows or [0.0]) > margin))
