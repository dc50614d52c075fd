"""The best depth of each target by its networks, and how its complexity goes with it over targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.do2026.targets import FEATURES, OWN
from recombine.measures.similarity import pearson, rank_correlation

if TYPE_CHECKING:
    import pandas as pd

SHUFFLES = 200
RENDERED = 0.12
"""The share of a picture's variance that a network may miss: one that misses more looks simple inside, but is not."""


def curves(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """A score by target and depth, the mean over networks that render it; none where fewer than half of them do."""
    rows = rc.networks(table)
    tried = rows.groupby(["goal", "depth"]).size()
    sound = rows[rows["missed"] <= RENDERED].groupby(["goal", "depth"])[score]
    number = sound.count().reindex(tried.index, fill_value=0)
    return sound.mean().reindex(tried.index).where((number > 0) & (2 * number >= tried)).unstack("depth")


def best(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """For each target its facts and its best depth, that of the lowest score; none if it has only one."""
    found = curves(table, score)
    found = found[found.notna().sum(axis=1) >= 2]
    facts = rc.networks(table).drop_duplicates("goal").set_index("goal").loc[found.index, ["kind", OWN, *FEATURES]]
    return facts.assign(best=found.idxmin(axis=1).astype(float))


def pseudo_values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """n r - (n - 1) r_without_i, one number per target: their mean is about r, their spread that of a jackknife.

    So a rank correlation over targets has an interval like any other mean, with the target as the unit that repeats.
    """
    n = len(x)
    if n < 4:
        return np.full(n, np.nan)
    others = ~np.eye(n, dtype=bool)
    without = pearson(*(_ranks_without(values)[others].reshape(n, n - 1) for values in (x, y)))
    return n * rank_correlation(x, y) - (n - 1) * without


def _ranks_without(values: np.ndarray) -> np.ndarray:
    """In row i the ranks of all values when value i is left out, ties sharing their mean rank."""
    from scipy.stats import rankdata

    over, same = values > values[:, None], values == values[:, None]
    return rankdata(values) - over - 0.5 * same


def tendency(found: pd.DataFrame, feature: str) -> pd.Series:
    """By target, the pseudo-values of the rank correlation of a feature with the best depth."""
    import pandas as pd

    found = found.dropna(subset=[feature, "best"])
    numbers = pseudo_values(found[feature].to_numpy(float), found["best"].to_numpy(float))
    return pd.Series(numbers, index=found.index, dtype=float)


def halves(score: str) -> Callable[[pd.DataFrame], float]:
    """The rank correlation, over targets, of best depths by the even seeds with those by the odd ones."""

    def agree(table: pd.DataFrame) -> float:
        even, odd = (best(table[table["seed"] % 2 == half], score)["best"] for half in (0, 1))
        both = even.index.intersection(odd.index)
        return rank_correlation(even[both], odd[both]) if len(both) > 2 else float("nan")

    return agree


def by_chance(found: pd.DataFrame, feature: str, margin: float) -> float:
    """How often best depths shuffled over the targets go with the feature beyond the margin."""
    rng, x, y = np.random.default_rng(0), found[feature].to_numpy(float), found["best"].to_numpy(float)
    lows = [rc.interval(pseudo_values(x, rng.permutation(y)))[0] for _ in range(SHUFFLES)] if len(x) > 3 else [0.0]
    return float(np.mean(np.array(lows) > margin))
