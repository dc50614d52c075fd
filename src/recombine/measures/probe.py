"""Turns activations into how well a linear map reads the parts from them (decodability, R^2).

Liang, Qian, Ziyin, Fiete (2025), figure 2a,b. Only a probe scored on other combinations than it was fitted on tells
anything; `in_sample_r2` is the released recipe.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.core import as_selection
from recombine.measures.anova import ratio


def r2(targets: np.ndarray, predictions: np.ndarray) -> float:
    """1 - sum (t - p)^2 / sum (t - mean t)^2, averaged over the columns.

    >>> r2(np.array([0, 1, 2]), np.array([0, 1, 1]))
    0.5
    """
    targets, predictions = np.asarray(targets, float), np.asarray(predictions)
    if targets.shape != predictions.shape or not targets.size:
        raise ValueError(f"R^2 compares numbers of one shape, got {targets.shape} and {predictions.shape}")
    missed, spread = np.sum((targets - predictions) ** 2, axis=0), np.sum(_centred(targets) ** 2, axis=0)
    return float(np.mean(1 - ratio(missed, spread)))


def held_out_r2(acts: np.ndarray, targets: np.ndarray, train: np.ndarray, strength: float = 1e-3) -> float:
    """R^2 on the other rows of a ridge probe fitted on the training rows; zero is what the mean would get.

    NaN where activations are not finite, as a network that diverged leaves them.

    >>> acts = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> round(held_out_r2(acts, 2 * acts, np.array([True, False, True, False])), 2)
    1.0
    """
    acts, targets = _rows(acts, targets)
    if not np.isfinite(acts).all():
        return float("nan")
    return held_out_r2_of_products(_gram(acts), targets, train, strength)


def held_out_r2_of_products(
    products: np.ndarray, targets: np.ndarray, train: np.ndarray, strength: float = 1e-3
) -> float:
    """The same from the products of all rows with each other, <alpha_i, alpha_j>, which is all that the probe needs.

    >>> acts = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> round(held_out_r2_of_products(acts @ acts.T, 2 * acts, np.array([True, False, True, False])), 2)
    1.0
    """
    products, targets = _rows(products, targets)
    train = as_selection(train, (len(targets),))
    if products.shape != (len(targets), len(targets)):
        raise ValueError(f"products of all {len(targets)} rows with each other were expected, got {products.shape}")
    if not strength > 0:
        raise ValueError(f"strength, the ridge as a share of the mean square, must be above 0, got {strength}")
    if not np.isfinite(products).all():
        return float("nan")
    rows, others = np.flatnonzero(train), np.flatnonzero(as_selection(~train, train.shape))
    return r2(targets[others], _ridge(products, targets, rows, others, strength))


def cross_validated_r2(
    acts: np.ndarray, targets: np.ndarray, rng: np.random.Generator, folds: int = 5, strength: float = 1e-3
) -> float:
    """R^2 of ridge predictions, each row's from a probe fitted on the other folds.

    Folds are random, so neighbours of every row are fitted on: this is interpolation, not composition.

    >>> acts = np.arange(6.0)[:, None]
    >>> round(cross_validated_r2(acts, 2 * acts, np.random.default_rng(0)), 2)
    1.0
    """
    gram, predictions = _gram(acts), np.empty(targets.shape)
    for others in np.array_split(rng.permutation(len(acts)), folds):
        rows = np.setdiff1d(np.arange(len(acts)), others)
        predictions[others] = _ridge(gram, targets, rows, others, strength)
    return r2(targets, predictions)


def decodability(
    fit: np.ndarray, fit_targets: np.ndarray, acts: np.ndarray, targets: np.ndarray, *, penalty: float = 1.0
) -> float:
    """R^2 on other rows of ridge with intercept: least sum of squares + penalty |w|^2, one weight vector a target.

    The mean over the targets that vary among the other rows, as Redhardt, Akram, Schug (2025) probe constituents; they
    stop after ten conjugate-gradient steps, this is exact. Far below zero if a target never varied in the fit.
    NaN where activations are not finite, or no target varies among the other rows.

    >>> rows = np.array([[-1.0], [1.0]])
    >>> round(decodability(rows, rows, rows, rows, penalty=2.0), 2)  # half the weight: 1 - 1/4
    0.75
    """
    return reader(fit, fit_targets, penalty=penalty)(acts, targets)


def reader(
    fit: np.ndarray, fit_targets: np.ndarray, *, penalty: float = 1.0
) -> Callable[[np.ndarray, np.ndarray], float]:
    """The probe of `decodability`, fitted once, as what scores any other rows.

    >>> rows = np.array([[-1.0], [1.0]])
    >>> round(reader(rows, rows, penalty=2.0)(2 * rows, rows), 2)
    1.0
    """
    predict = linear_probe(fit, fit_targets, penalty=penalty)

    def score(acts: np.ndarray, targets: np.ndarray) -> float:
        acts, targets = _rows(acts, targets)
        if (predicted := predict(acts)).shape != targets.shape:
            raise ValueError(
                f"the probe was fitted on targets {predicted.shape[1:]}, and is asked of {targets.shape[1:]}"
            )
        found = r2_by_target(targets, predicted)[np.var(targets, axis=0) > 0]
        return float(found.mean()) if found.size else float("nan")

    return score


def linear_probe(
    fit: np.ndarray, fit_targets: np.ndarray, *, penalty: float = 1.0
) -> Callable[[np.ndarray], np.ndarray]:
    """The probe of `decodability`, fitted once, as what predicts the targets of any other rows.

    With fewer rows than units the weights are sought among combinations of rows: the same ones, from fewer equations.

    >>> rows = np.array([[-1.0], [1.0]])
    >>> linear_probe(rows, rows, penalty=2.0)(rows).ravel().tolist()
    [-0.5, 0.5]
    """
    from scipy.linalg import solve

    fit, fit_targets = _rows(fit, fit_targets)
    if not penalty > 0:
        raise ValueError(f"penalty, the weight of |w|^2, must be above 0, got {penalty}")
    if not np.isfinite(fit).all():
        return lambda acts: np.full((len(acts), *fit_targets.shape[1:]), np.nan)
    fit = _flat(fit)
    centre, middle = fit.mean(axis=0), fit_targets.mean(axis=0)
    rows, wanted = fit - centre, fit_targets - middle
    if len(rows) < rows.shape[1]:
        weights = rows.T @ solve(_raised(rows @ rows.T, penalty), wanted, assume_a="pos")
    else:
        weights = solve(_raised(rows.T @ rows, penalty), rows.T @ wanted, assume_a="pos")

    def predict(acts: np.ndarray) -> np.ndarray:
        if (units := _flat(acts).shape[1]) != len(centre):
            raise ValueError(f"the probe was fitted on {len(centre)} units, and is asked of {units}")
        if not np.isfinite(_flat(acts)).all():
            return np.full((len(acts), *middle.shape), np.nan)
        return middle + (_flat(acts) - centre) @ weights

    return predict


def r2_by_target(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """1 - mean (t - p)^2 / var t of each target over the rows; NaN for a target that does not vary.

    >>> r2_by_target(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])).tolist()
    [0.5, nan]
    """
    missed, spread = np.mean((targets - predictions) ** 2, axis=0), np.var(targets, axis=0)
    varies = spread > 0
    return 1 - np.divide(missed, spread, out=np.full(len(spread), np.nan), where=varies)


def r2_by_row(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """1 - mean (t - p)^2 / var t of each row over its targets: how well one task is decoded.

    >>> r2_by_row(np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]])).tolist()
    [0.5]
    """
    return r2_by_target(np.transpose(targets), np.transpose(predictions))


def _rows(acts: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays, one row each per example; targets are the truth, so they are finite."""
    acts, targets = np.asarray(acts), np.asarray(targets, float)
    if not acts.ndim or acts.shape[:1] != targets.shape[:1] or not acts.size or acts.dtype.kind in "OSU":
        got = f"{acts.dtype}{acts.shape} and {targets.shape}"
        raise ValueError(f"a probe needs one row of activations per row of targets, and one at least; got {got}")
    if not np.isfinite(targets).all():
        raise ValueError("the targets of a probe must be finite numbers: there is a NaN or an infinity")
    return acts, targets


def _flat(acts: np.ndarray) -> np.ndarray:
    return np.asarray(acts, float).reshape(len(acts), -1)


def _raised(square: np.ndarray, penalty: float) -> np.ndarray:
    return square + penalty * np.eye(len(square))


def in_sample_r2(acts: np.ndarray, targets: np.ndarray) -> float:
    """R^2 of least squares with intercept on the very rows it was fitted on, as the released code computes it.

    It is vacuous where a layer has as many units as there are rows: any layer, noise also, then scores one.

    >>> round(in_sample_r2(np.array([[0], [1], [2]]), np.array([[0], [2], [1]])), 2)
    0.25
    """
    flat, wanted = _centred(_flat(acts)), _centred(np.asarray(targets, float))
    weights = np.linalg.lstsq(flat, wanted, rcond=None)[0]
    return r2(wanted, flat @ weights)


def _ridge(gram: np.ndarray, targets: np.ndarray, rows: np.ndarray, others: np.ndarray, strength: float) -> np.ndarray:
    """Predictions for `others` of ridge with intercept in dual form, lambda = strength * mean diagonal of the Gram."""
    from scipy.linalg import solve

    near, far = gram[np.ix_(rows, rows)], gram[np.ix_(others, rows)]
    mean = near.mean(axis=0)
    near = near - near.mean(axis=1, keepdims=True) - mean + mean.mean()
    far = far - far.mean(axis=1, keepdims=True) - mean + mean.mean()
    centre = targets[rows].mean(axis=0)
    penalty = strength * np.mean(np.diag(near))
    if not penalty > np.finfo(float).eps * np.mean(np.abs(np.diag(gram))):  # a layer that is constant tells the mean
        return np.broadcast_to(centre, (len(others), len(centre)))
    weights = solve(near + penalty * np.eye(len(rows)), targets[rows] - centre, assume_a="pos")
    return centre + far @ weights


def _gram(acts: np.ndarray) -> np.ndarray:
    """<alpha_i, alpha_j> of the centred activations; once for all folds, since it costs n^2 D."""
    flat = _centred(np.asarray(acts).reshape(len(acts), -1))
    return (flat @ flat.T).astype(float)


def _centred(rows: np.ndarray) -> np.ndarray:
    return rows - rows.mean(axis=0)
