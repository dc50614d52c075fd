"""The best depth of each target by its networks, and how well a feature of the other targets predicts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026.targets import FEATURES, OWN
from recombine.measures.prediction import by_log_line, by_mean

if TYPE_CHECKING:
    import pandas as pd

AGAIN = "log of the best depth by other seeds"
ALL, RANDOM, EVERYWHERE = "any target", "drawn by a random network", "drawn at every depth"
MEANS = ("mean", "mean of logarithms")
"""What a prediction must beat: a line in logarithms without any feature guesses the mean of logarithms."""
SHUFFLES = 100


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """R by target and depth, the mean over networks that draw it; none where fewer than half of the seeds do."""
    rows = rc.networks(table)
    tried = rows.groupby(["number", "depth"]).size()
    drawn = rows[rows["drawn"] == 1].groupby(["number", "depth"])["R"]
    count = drawn.count().reindex(tried.index, fill_value=0)
    return drawn.mean().reindex(tried.index).where((count > 0) & (2 * count >= tried)).unstack("depth")


def best(table: pd.DataFrame) -> pd.DataFrame:
    """For each target its facts and its best depth, that of the lowest R; no row if fewer than two depths draw it."""
    r = curves(table)
    r = r[r.notna().sum(axis=1) >= 2]
    known = (
        rc.networks(table).drop_duplicates("number").set_index("number").loc[r.index, ["goal", "kind", OWN, *FEATURES]]
    )
    return sorts(known.assign(best=r.idxmin(axis=1).astype(float)), r.notna().all(axis=1))


def sorts(found: pd.DataFrame, everywhere: Any = True) -> pd.DataFrame:
    """With columns that say among which targets each is."""
    every = found["best"] > 0
    return found.assign(**{ALL: every, RANDOM: found["kind"] == "network", EVERYWHERE: every & everywhere})


def made_up(table: pd.DataFrame, feature: str) -> pd.DataFrame:
    """The same for a control, which brings its best depths along."""
    rows = rc.pick(table, system=f"line in {feature}").set_index("number")
    return sorts(rows.assign(best=rows["made_up"]))


def halves(table: pd.DataFrame) -> pd.DataFrame:
    """The best depth by the odd seeds and, as a feature beside it, the logarithm of that by the even ones."""
    even, odd = (best(table[table["seed"] % 2 == half]) for half in (0, 1))
    return odd.assign(**{AGAIN: np.log(even["best"].reindex(odd.index))})


def gains(found: pd.DataFrame, feature: str) -> pd.DataFrame:
    """By target and mean, |error of the mean| - |error of the prediction|, both made from the other targets alone."""
    import pandas as pd

    found = found.dropna(subset=[feature])
    if len(found) < 3:
        return pd.DataFrame(np.nan, index=found.index, columns=list(MEANS))
    x, y, once = found[feature].to_numpy(float), found["best"].to_numpy(float), np.ones(len(found))
    guesses = by_log_line(x, y, once), by_mean(x, y, once), by_log_line(0 * x, y, once)
    line, *means = (np.abs(guess - y) for guess in guesses)
    return pd.DataFrame({name: mean - line for name, mean in zip(MEANS, means, strict=True)}, index=found.index)


def surely(gained: pd.DataFrame) -> float:
    """The lower end of the interval of the mean gain, over the mean by which it is less."""
    lows = [rc.interval(values)[0] for values in gained.to_numpy().T] if len(gained) > 2 else [np.nan]
    return float(np.min(lows))


def by_chance(found: pd.DataFrame, feature: str) -> float:
    """How often best depths, shuffled over the targets, are predicted."""
    rng, depths = np.random.default_rng(0), found["best"].to_numpy()
    again = (found.assign(best=depths[rng.permutation(len(depths))]) for _ in range(SHUFFLES))
    return float(np.mean([surely(gains(one, feature)) > 0 for one in again]))
