"""Turns features of swept pictures into yes or no: is this the kind of change that an evolved network makes?

Logistic regression on five features, each in standard deviations from a network that gradient descent trained on the
same picture; without that, the threshold does not carry over from one picture to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from recombine.cppn.sweep.scores import SweptFeatures
from recombine.measures.agreement import roc_area

RIDGE = 1e-2
"""How much the squared coefficients count beside the mean loss: keeps separable classes finite."""


class Judge(NamedTuple):
    """Says yes where x @ coefficients + offset > 0."""

    coefficients: np.ndarray
    offset: float

    def log_odds(self, x: np.ndarray) -> np.ndarray:
        return x @ self.coefficients + self.offset


class Pair(NamedTuple):
    """Features of two networks that draw one picture: compositional by origin, and trained from scratch."""

    evolved: SweptFeatures
    dense: SweptFeatures


class Held(NamedTuple):
    """How a judge does on a picture that it was not fitted on: shares of yes, mean error, area under the ROC curve."""

    evolved: float
    dense: float
    error: float
    area: float


def standardised(features: SweptFeatures, dense: SweptFeatures) -> np.ndarray:
    """One row a swept picture: each feature less its mean in the dense network, over its standard deviation there."""
    x, reference = (np.stack(f, axis=1) for f in (features, dense))
    reference = reference[np.isfinite(reference).all(axis=1)]
    if len(reference) < 2:
        raise ValueError(
            f"features are set against two swept pictures of the dense network or more, got {len(reference)}"
        )
    x = (x - reference.mean(axis=0)) / np.maximum(reference.std(axis=0), 1e-9)
    return x[np.isfinite(x).all(axis=1)]


def fit(yes: np.ndarray, no: np.ndarray, ridge: float = RIDGE) -> Judge:
    """The coefficients that minimise the mean of log(1 + exp(-s z)), both classes counting alike, plus ridge |w|^2."""
    from scipy.optimize import minimize

    x = np.concatenate([yes, -no])
    sign = np.concatenate([np.ones(len(yes)), -np.ones(len(no))])
    weight = np.concatenate([np.full(len(yes), 0.5 / len(yes)), np.full(len(no), 0.5 / len(no))])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = x @ w[:-1] + sign * w[-1]
        slope = -weight / (1 + np.exp(np.clip(margin, -500, 500)))
        gradient = np.append(slope @ x + 2 * ridge * w[:-1], slope @ sign)
        return float(weight @ np.logaddexp(0, -margin) + ridge * w[:-1] @ w[:-1]), gradient

    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="BFGS").x
    return Judge(found[:-1], float(found[-1]))


def share_of_yes(judge: Judge, features: SweptFeatures, dense: SweptFeatures) -> float:
    """S, the share of a network's swept pictures that look compositional, beside the dense network of its picture."""
    return float(np.mean(judge.log_odds(standardised(features, dense)) > 0))


def fit_pairs(pairs: Mapping[str, Pair]) -> Judge:
    """A judge of all these pictures together."""
    yes = np.concatenate([standardised(p.evolved, p.dense) for p in pairs.values()])
    return fit(yes, np.concatenate([standardised(p.dense, p.dense) for p in pairs.values()]))


def leave_one_out(pairs: Mapping[str, Pair]) -> dict[str, Held]:
    """For each picture, how a judge does on it that was fitted on all others."""
    if len(pairs) < 2:
        raise ValueError("to leave one picture out takes two or more")
    return {name: _held(fit_pairs({k: p for k, p in pairs.items() if k != name}), pairs[name]) for name in pairs}


def _held(judge: Judge, pair: Pair) -> Held:
    odds = [judge.log_odds(standardised(f, pair.dense)) for f in pair]
    evolved, dense = (float(np.mean(z > 0)) for z in odds)
    labels = np.repeat([1.0, 0.0], [len(z) for z in odds])
    return Held(evolved, dense, (1 - evolved + dense) / 2, roc_area(np.concatenate(odds), labels))


MATCHED = Judge(np.array([-1.458, -0.750, 0.492, -1.033, -0.171]), -2.704)
"""Fitted on three evolved networks and their trained twins (64 pixels, 60 weights), at changes of equal effect.

Fitted on two of them, it has an area under the ROC curve of .95 to .98 on the third.
"""
FIXED = Judge(np.array([-0.991, -1.389, 0.221, -0.512, -1.000]), -1.627)
"""The same at changes of every weight by 0.5, where it does worse: .66 to .96."""
