"""Turns a feature of each target and a number of each into how well the one predicts the other on targets left out.

Every prediction is made from the other targets alone and is set beside the guess of their mean: a feature is worth
something if its mean absolute error is the smaller one, and the interval of the difference says how sure that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from recombine.measures.anova import ratio
from recombine.measures.similarity import rank_correlation

Guess = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(x, y, often) -> what y is guessed to be for each target, from the others; `often[..., i]` counts target i so often.

NaN where no other target counts.
"""


def by_mean(x: np.ndarray, y: np.ndarray, often: np.ndarray) -> np.ndarray:
    """The mean of the others, whatever the feature says.

    >>> by_mean(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.ones(3)).tolist()
    [2.5, 2.0, 1.5]
    """
    return ratio(_over_others(often, y), _over_others(often, np.ones_like(y)))


def by_line(x: np.ndarray, y: np.ndarray, often: np.ndarray) -> np.ndarray:
    """a + b x, fitted to the others by least squares; their mean where all of them have the same x.

    >>> by_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), np.ones(3)).round(2).tolist()
    [1.0, 3.0, 5.0]
    """
    x = (x - x.mean()) / (np.ptp(x) or 1.0)  # a straight line stays one, and the rounding below is small
    count = _over_others(often, np.ones_like(y))
    mean_x, mean_y = (ratio(_over_others(often, v), count) for v in (x, y))
    along = ratio(_over_others(often, x * x), count) - mean_x**2
    both = ratio(_over_others(often, x * y), count) - mean_x * mean_y
    slope = np.divide(both, along, out=np.zeros_like(both), where=along > 1e-12)
    return mean_y + slope * (x - mean_x)


def by_log_line(x: np.ndarray, y: np.ndarray, often: np.ndarray) -> np.ndarray:
    """exp(a + b x), where a + b x is fitted to the logarithms of the others; y is positive.

    >>> by_log_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 10.0, 100.0]), np.ones(3)).round(2).tolist()
    [1.0, 10.0, 100.0]
    """
    if not np.all(y > 0):
        raise ValueError("only positive numbers have a logarithm to be predicted")
    return np.exp(np.clip(by_line(x, np.log(y), often), -300, 300))  # a line through two close targets may be steep


class Prediction(NamedTuple):
    """`error` and `baseline`: mean absolute errors of the predictions and of the mean; `gain` is baseline - error.

    `interval` is the 95 % interval of the gain, `rank` Spearman's correlation of the feature with what is predicted.
    """

    predicted: np.ndarray
    error: float
    baseline: float
    gain: float
    interval: tuple[float, float]
    rank: float


def predict_left_out(
    x: ArrayLike, y: ArrayLike, guess: Guess = by_line, *, draws: int = 2000, seed: int = 0
) -> Prediction:
    """Predict the number y of each target from its feature x, by the other targets.

    The interval is a bootstrap over targets. Every draw fits anew, and a target is left out with all its copies: a
    copy would give its answer away. (Drawing the errors of one fit again is simpler, and covers 76 to 97 % where this
    covers 94 to 100 %, at 10 and 30 targets.) Draws of a single target are passed over.

    >>> found = predict_left_out([0, 1, 2, 3], [1, 3, 5, 7], draws=20)
    >>> round(found.error, 2), round(found.baseline, 2), round(found.rank, 2)
    (0.0, 2.67, 1.0)
    """
    x, y = (np.asarray(values, float) for values in (x, y))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 3:
        raise ValueError(f"one feature and one number per target, at least three targets; got {x.shape} and {y.shape}")
    if not np.all(np.isfinite(x) & np.isfinite(y)):
        raise ValueError("a feature or a number is not finite: leave that target out of both")
    once = np.ones(len(x))
    predicted = guess(x, y, once)
    error, baseline = (float(np.mean(np.abs(p - y))) for p in (predicted, by_mean(x, y, once)))
    often = np.random.default_rng(seed).multinomial(len(x), once / len(x), size=draws)
    often = often[np.count_nonzero(often, axis=1) > 1].astype(float)
    gains = np.mean(often * (np.abs(by_mean(x, y, often) - y) - np.abs(guess(x, y, often) - y)), axis=1)
    low, high = np.quantile(gains, [0.025, 0.975]).tolist()
    return Prediction(predicted, error, baseline, baseline - error, (low, high), rank_correlation(x, y))


def _over_others(often: np.ndarray, values: np.ndarray) -> np.ndarray:
    """sum over j != i of often_j values_j, for each i: what is left out is not even subtracted."""
    return often @ (values[:, None] * (1 - np.eye(len(values))))
