"""Turns two judges' answers into how far they agree: raw, beyond chance, or as a score that ranks yes above no.

Kappa is Cohen's (1960), the area under the ROC curve by Mann and Whitney's count. An answer is 1 (yes), 0 (no) or NaN
(none); what either judge leaves open does not count, and what is not defined (a judge without a no, say) is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from recombine.measures.anova import ratio


def raw_agreement(first: ArrayLike, second: ArrayLike) -> float:
    """The share of items that two judges answer alike.

    >>> raw_agreement([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    """
    counts = _counts(first, second).sum(axis=0)
    return float(ratio(counts[0] + counts[3], counts.sum()))


def kappa(first: ArrayLike, second: ArrayLike) -> float:
    """(p - e) / (1 - e): p the share answered alike, e what two judges with these shares of yes share by chance.

    >>> kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return float(_kappa(_counts(first, second).sum(axis=0)))


def kappa_interval(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None, *, draws: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of kappa from a bootstrap over items, or over whole groups of items that are alike.

    Pictures of one network are alike: give the network of each, or the interval is too narrow. Draws without a kappa
    are left out.

    >>> kappa_interval([1, 0, 1, 0], [1, 0, 1, 0])
    (1.0, 1.0)
    """
    counts = _counts(first, second)
    if groups is not None:
        _, of = np.unique(_as_long(groups, len(counts)), return_inverse=True)
        counts = np.stack([np.bincount(of, weights=column) for column in counts.T], axis=1)
    counts = counts[counts.sum(axis=1) > 0]
    if len(counts) < 2:
        return float("nan"), float("nan")
    often = np.random.default_rng(seed).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=draws)
    again = _kappa(often @ counts)
    again = again[np.isfinite(again)]
    low, high = np.quantile(again, [0.025, 0.975]) if len(again) else (np.nan, np.nan)
    return float(low), float(high)


def roc_area(score: ArrayLike, label: ArrayLike) -> float:
    """The chance that an item labelled yes scores higher than one labelled no, ties at a half.

    >>> roc_area([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    label = _answers(label)
    score = _as_long(score, len(label)).astype(float)
    both = ~np.isnan(label) & ~np.isnan(score)
    yes, ranks = label[both] == 1, rankdata(score[both])
    above = ranks[yes].sum() - yes.sum() * (yes.sum() + 1) / 2
    return float(ratio(above, yes.sum() * (~yes).sum()))


def _counts(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """One row an item: is it (no, no), (no, yes), (yes, no), (yes, yes); all zero where one has no answer."""
    first = _answers(first)
    second = _as_long(_answers(second), len(first))
    both = ~np.isnan(first) & ~np.isnan(second)
    kind = np.where(both, 2 * first + second, -1)
    return (kind[:, None] == np.arange(4)).astype(float)


def _kappa(counts: np.ndarray) -> np.ndarray:
    """Kappa of counts [..., (no, no), (no, yes), (yes, no), (yes, yes)], multiplied out so that 1 - e = 0 is exact."""
    a, b, c, d = np.moveaxis(counts, -1, 0)
    return ratio(2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d))


def _answers(values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, float)
    if values.ndim != 1 or not np.all((values == 0) | (values == 1) | np.isnan(values)):
        raise ValueError("answers are a list of 1 (yes), 0 (no) and NaN (none)")
    return values


def _as_long(values: ArrayLike, items: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (items,):
        raise ValueError(f"one value an item: {items} items, got shape {values.shape}")
    return values
