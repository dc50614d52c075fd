"""Turns pictures, and the maps that units make over their pixels, into how simple, symmetric, alike or shared they are.

Compressed size stands for how much there is to say about a picture. Pictures and maps are (..., rows, columns).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from recombine.measures.anova import ratio
from recombine.measures.spectrum import effective_rank

LIGHT = (0.299, 0.587, 0.114)
"""How bright red, green and blue look."""
SAME = 0.995
"""Two maps whose correlation is this large, with either sign, are one map."""
CLIP = 3.0
"""Standardised maps are cut at so many standard deviations."""
STILL = 1e-4
"""A map whose standard deviation is no larger is constant."""


def luminance(colours: np.ndarray) -> np.ndarray:
    """0.299 r + 0.587 g + 0.114 b, along the last axis."""
    return np.asarray(colours, float) @ np.array(LIGHT)


def zip_size(picture: np.ndarray, low: float, high: float) -> float:
    """Bytes of one picture, its values rounded to 255 levels from low to high, after zlib at level 9.

    The number is odd, so that no change at all is a level: between two levels, rounding would look like noise. What
    holds anything but numbers has no size (NaN).
    """
    steps = np.round(254 * np.clip((np.asarray(picture, float) - low) / (high - low), 0, 1))
    if np.isnan(steps).any():
        return float("nan")
    return len(zlib.compress(steps.astype(np.uint8).tobytes(), 9))


def picture_zip(pictures: np.ndarray) -> np.ndarray:
    """The compressed size of each picture of values in 0..1, bytes per pixel."""
    return _each(pictures, lambda one: zip_size(one, 0, 1) / one.size)


def change_zip(changes: np.ndarray) -> np.ndarray:
    """The compressed size of each difference of two pictures, values in -1..1, bytes per pixel."""
    return _each(changes, lambda one: zip_size(one, -1, 1) / one.size)


def map_zip(maps: np.ndarray) -> np.ndarray:
    """The compressed size of each map, less its mean, over its standard deviation, cut at +-3; bytes per pixel."""
    return _each(maps, lambda one: zip_size(_standard(one), -CLIP, CLIP) / one.size)


def change_ratio(sizes: np.ndarray, picture: np.ndarray) -> float:
    """R, the mean compressed size of changes (`change_zip`) over that of a picture; low where they are simple."""
    mean = np.mean(sizes) if len(sizes) else np.nan
    return float(ratio(mean, picture_zip(picture[None])[0]))


def even_share(maps: np.ndarray) -> np.ndarray:
    """The share of a map's variance that its left and right half have in common: |m + m'|^2 / 4 |m|^2, mean removed."""
    centred = _centred(maps)
    even = (centred + centred[..., ::-1]) / 2
    return ratio(np.sum(even**2, axis=(-2, -1)), np.sum(centred**2, axis=(-2, -1)))


def parity_purity(maps: np.ndarray) -> np.ndarray:
    """The larger of the even and the odd share: 1 where a map is symmetric or antisymmetric, 1/2 where it is both."""
    share = even_share(maps)
    return np.maximum(share, 1 - share)


def symmetry_kept(changed: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """The even share of each changed picture, over that of the picture itself."""
    return ratio(even_share(changed), even_share(picture))


def mutual_information(picture: np.ndarray, changed: np.ndarray, bins: int = 16) -> float:
    """2 I(a; b) / (H(a) + H(b)) of the values of two pictures in 0..1 at the same pixel, in equal bins."""
    a, b = (np.clip((np.asarray(p, float).ravel() * bins).astype(int), 0, bins - 1) for p in (picture, changed))
    joint = np.bincount(a * bins + b, minlength=bins**2).reshape(bins, bins)
    apart = _entropy(joint.sum(axis=1)) + _entropy(joint.sum(axis=0))
    return float(ratio(2 * (apart - _entropy(joint)), apart))


def picture_rank(pictures: np.ndarray) -> np.ndarray:
    """The effective rank of each picture as a matrix of rows and columns."""
    return effective_rank(np.linalg.svd(np.asarray(pictures, float), compute_uv=False))


def varying(maps: np.ndarray) -> np.ndarray:
    """Which maps are finite and not constant; an unwired gaussian unit is 1 everywhere, and says nothing."""
    flat = _flat(maps)
    return np.where(np.isfinite(flat), flat, 0).std(axis=1) * np.isfinite(flat).all(axis=1) > STILL


def distinct(maps: np.ndarray, given: np.ndarray | None = None, same: float = SAME) -> np.ndarray:
    """Which maps vary and repeat neither an earlier one nor an input given: none with |correlation| >= same."""
    before = 0 if given is None else len(given)
    every = maps if given is None else np.concatenate([given, maps])
    alike = np.abs(_correlations(every)) >= same
    new = varying(every)
    for i in range(len(every)):
        new[i] = new[i] and not np.any(alike[i, :i] & new[:i])
    return new[before:]


def distinct_share(maps: np.ndarray, given: np.ndarray | None = None, same: float = SAME) -> float:
    """Distinct maps that are no input, over maps that vary: low where a network carries on and reuses what it has."""
    return float(ratio(distinct(maps, given, same).sum(), varying(maps).sum()))


def alike(maps: np.ndarray) -> np.ndarray:
    """The |correlation| of each two maps that vary."""
    found = np.abs(_correlations(maps[varying(maps)]))
    return found[np.triu_indices(len(found), 1)]


def redundancy(maps: np.ndarray) -> float:
    """The mean |correlation| of the pairs of maps that vary; NaN if there are fewer than two."""
    pairs = alike(maps)
    return float(pairs.mean()) if pairs.size else float("nan")


def additive_shares(maps: np.ndarray) -> np.ndarray:
    """The share of each map's variance that is a sum of a term for the row and one for the column."""
    centred = _centred(maps)
    rows, columns = (centred.mean(axis=axis, keepdims=True) for axis in (-1, -2))
    return ratio(((rows + columns) ** 2).sum(axis=(-2, -1)), (centred**2).sum(axis=(-2, -1)))


def participation_ratio(columns: ArrayLike) -> float:
    """(sum s^2)^2 / sum s^4 of columns scaled to length one: how many directions they share out among them."""
    columns = np.asarray(columns, float)
    lengths = np.linalg.norm(columns, axis=0)
    sound = np.isfinite(lengths) & (lengths > 0)
    unit = columns[:, sound] / lengths[sound]
    gram = unit.T @ unit
    return float(ratio(np.trace(gram) ** 2, np.sum(gram**2)))


def _each(pictures: np.ndarray, size: Callable[[np.ndarray], float]) -> np.ndarray:
    return np.array([size(one) for one in pictures.reshape(-1, *pictures.shape[-2:])]).reshape(pictures.shape[:-2])


def _flat(maps: np.ndarray) -> np.ndarray:
    return np.asarray(maps, float).reshape(len(maps), int(np.prod(np.shape(maps)[1:])))


def _centred(maps: np.ndarray) -> np.ndarray:
    maps = np.asarray(maps, float)
    return maps - maps.mean(axis=(-2, -1), keepdims=True)


def _standard(one: np.ndarray) -> np.ndarray:
    centred = _centred(one)
    return centred / centred.std() if centred.any() else centred


def _correlations(maps: np.ndarray) -> np.ndarray:
    """All pairs; zero where a map is constant."""
    flat = _flat(maps) - _flat(maps).mean(axis=1, keepdims=True)
    lengths = np.where(varying(maps), np.linalg.norm(flat, axis=1), np.inf)[:, None]
    return (flat / lengths) @ (flat / lengths).T


def _entropy(counts: np.ndarray) -> float:
    from scipy.special import entr

    return float(entr(counts / counts.sum()).sum())
