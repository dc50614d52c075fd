"""Turns a picture network into one without what is drawn twice: of units, or of links, with similar maps one is kept.

"Compositionality Emerges in a Narrow Depth-Connectivity Regime" (2026, arXiv 2606.19941) prunes by similarity. How is
not known to us beyond the weights that it leaves (skull: 1404, then about 473). Both ways here are our own
reconstructions, and what the source leaves open is an option: which similarity, which of two is kept, whether weights
are merged, whether layers compete. Whether weights go on from where they are or from the start is the caller's.

The map F_i of a unit is its value at every pixel, and s = <F_i, F_j> / <F_i, F_i> is the least-squares factor with
which F_i stands in for F_j. Maps are taken once, before anything is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.cppn.prune.magnitude import Matrices, checked_target, count, maps_of, weights_of, with_weights
from recombine.cppn.prune.units import Among, everywhere, nearest, shrinking, units_read, without_unit

if TYPE_CHECKING:
    from recombine.cppn.network import CPPN

Alike = Callable[[np.ndarray], np.ndarray]
"""Maps (pixels, units) -> how alike each two units are, in 0..1."""
Size = Callable[[np.ndarray], np.ndarray]
"""Maps (pixels, units) -> one number per unit; times its weights it says how much the unit matters."""
Merge = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The weights that are kept, and s times those that go with the units that are lost -> the new weights."""
_CONSTANT = 1e-6


def cosine(maps: np.ndarray) -> np.ndarray:
    """|<F_i, F_j>| / (|F_i| |F_j|); a map that is 0 everywhere is like any other, since any can stand in for it."""
    norms = np.linalg.norm(maps, axis=0)
    scale = np.outer(norms, norms)
    return np.minimum(np.divide(np.abs(_products(maps)), scale, out=np.ones(scale.shape), where=scale > 0), 1.0)


def centred_cosine(maps: np.ndarray) -> np.ndarray:
    """|Pearson's correlation|; a constant map (an unwired gaussian is 1) is like every constant, and like no other."""
    centred = maps - maps.mean(axis=0)
    constant = np.linalg.norm(centred, axis=0) <= _CONSTANT * np.linalg.norm(maps, axis=0)
    return np.where(constant[:, None] | constant, np.equal.outer(constant, constant), cosine(centred))


def spread(maps: np.ndarray) -> np.ndarray:
    """The standard deviation of each map: a constant one matters least."""
    return maps.std(axis=0)


def strength(maps: np.ndarray) -> np.ndarray:
    """The root mean square of each map: a constant one matters as much as it is far from 0."""
    return np.sqrt(np.mean(maps**2, axis=0))


def evenly(maps: np.ndarray) -> np.ndarray:
    """1 for each map: only weights matter."""
    return np.ones(maps.shape[1])


def folded(kept: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Add where there is a weight already: what is 0 stays 0."""
    return np.where(kept != 0, kept + added, 0)


def moved(kept: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Add everywhere, so that the kept unit takes over links that it did not have; for sparse networks."""
    return kept + added


def dropped(kept: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Add nothing: no merging."""
    return kept


def similar_units(
    model: CPPN,
    x: np.ndarray,
    *,
    target: int | None = None,
    threshold: float | None = None,
    alike: Alike = cosine,
    size: Size = spread,
    merge: Merge = folded,
    among: Among = everywhere,
) -> CPPN:
    """SP-N: merge the two most similar units of a layer again and again, to a target count or down to a threshold.

    Of all layers (`among`) the most similar pair is taken; the one with the larger size(F) ||weights out of it|| stays,
    and the weights out of it become `merge` of themselves and s times those out of the other, which loses all its
    weights. Units that nothing reads any more go too. With a target the count ends as near to it as whole units allow;
    with a threshold no pair more similar than that is left. `among=widest` gives every layer the same number of units.
    """
    _one_of(target, threshold, count(model))
    maps = maps_of(model, x)[1:]
    pairs = np.stack([np.where(np.tri(f.shape[1], k=-1, dtype=bool).T, alike(f), -1.0) for f in maps])
    factors, sizes = [_factors(f) for f in maps], [(size(f), strength(f)) for f in maps]
    least = -0.5 if threshold is None else threshold

    def smaller(weights: Matrices) -> Matrices | None:
        there = units_read(weights)
        open_ = there & among(there.sum(axis=1))[:, None]
        left = np.where(open_[:, :, None] & open_[:, None, :], pairs, -1.0)
        layer, *pair = (int(i) for i in np.unravel_index(left.argmax(), left.shape))
        if left.max() <= least:
            return None
        out = weights[layer + 1]
        kept, lost = sorted(pair, key=lambda u: [-s[u] * np.linalg.norm(out[u]) for s in sizes[layer]])
        new = without_unit(weights, layer, lost)
        new[layer + 1][kept] = merge(out[kept], factors[layer][kept, lost] * out[lost])
        return new

    states = shrinking([w.astype(float) for w in weights_of(model)], smaller)
    return with_weights(model, list(states)[-1] if target is None else nearest(states, target))


def similar_links(
    model: CPPN,
    x: np.ndarray,
    *,
    target: int | None = None,
    threshold: float | None = None,
    alike: Alike = cosine,
    size: Size = spread,
    merge: Merge = folded,
) -> CPPN:
    """SP-C: every unit keeps only parents whose maps are less alike than a threshold.

    A unit visits its parents in order of |w| size(F), and keeps one if it is less like each kept one than the
    threshold; otherwise s times its weight is merged into that of the kept parent that it is most like. With a target
    the threshold is searched for. Where one value leaves too many links and the next lower too few, units take the
    lower in order until the count is nearest to the target. Each unit keeps at least one parent.
    """
    _one_of(target, threshold, count(model))
    weights = [w.astype(float) for w in weights_of(model)]
    maps = maps_of(model, x)
    pairs = [alike(f) for f in maps]
    orders = [
        np.lexsort((-np.abs(w), -np.abs(w) * size(f)[:, None]), axis=0) for w, f in zip(weights, maps, strict=True)
    ]
    visits = list(zip(weights, pairs, orders, strict=True))
    limits = [np.full(w.shape[1], threshold) for w in weights] if target is None else _limits(visits, target)

    new = []
    for (weight, pair, order), limit, f in zip(visits, limits, maps, strict=True):
        kept, host = _distinct(weight, pair, order, limit)
        parent, unit = np.nonzero((weight != 0) & ~kept)
        added = np.zeros(weight.shape)
        factor = _factors(f)[host[parent, unit], parent]
        np.add.at(added, (host[parent, unit], unit), factor * weight[parent, unit])
        new.append(merge(np.where(kept, weight, 0), added))
    return with_weights(model, new)


Visits = Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""For each layer: weights, how alike the parents are, and in which order each unit visits them."""


def _distinct(weight: np.ndarray, alike: np.ndarray, order: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, ...]:
    """Which links each unit keeps, and for the others the kept parent that they are most like."""
    kept, host = np.zeros(weight.shape, bool), np.zeros(weight.shape, int)
    units = np.arange(weight.shape[1])
    for parent in order:
        near = np.where(kept, alike[:, parent], -1.0)
        host[parent, units] = near.argmax(axis=0)
        kept[parent, units] = (weight[parent, units] != 0) & (near.max(axis=0) < limit)
    return kept, host


def _limits(visits: Visits, target: int) -> list[np.ndarray]:
    """For each unit of each layer the threshold with which the count comes nearest to the target."""

    def left(limit: float) -> np.ndarray:
        every = [_distinct(w, a, o, np.full(w.shape[1], limit))[0].sum(axis=0) for w, a, o in visits]
        return np.concatenate(every)

    values = np.unique(np.concatenate([a[~np.eye(len(a), dtype=bool)] for _, a, _ in visits]))
    values = np.append(values, 2.0)
    low, high = 0, len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if left(values[middle]).sum() <= target else (low, middle)
    few, many = left(values[low]), left(values[high])
    totals = many.sum() + np.cumsum([0, *(few - many)])
    apart = np.abs(totals - target)
    lower = np.arange(len(few)) < np.flatnonzero(apart == apart.min())[-1]
    return np.split(np.where(lower, values[low], values[high]), np.cumsum([w.shape[1] for w, _, _ in visits])[:-1])


def _factors(maps: np.ndarray) -> np.ndarray:
    """s[i, j] = <F_i, F_j> / <F_i, F_i>, 0 where F_i is 0 everywhere."""
    products = _products(maps)
    own = np.broadcast_to(np.diag(products)[:, None], products.shape)
    return np.divide(products, own, out=np.zeros(products.shape), where=own > 0)


def _products(maps: np.ndarray) -> np.ndarray:
    # maps.T @ maps, but its threads wait for each other on a busy machine, up to a hundred times as long.
    return np.einsum("pi,pj->ij", maps, maps)


def _one_of(target: int | None, threshold: float | None, there: int) -> None:
    if (target is None) == (threshold is None):
        raise ValueError("pruning by similarity goes to a target count or to a threshold: give one of them")
    if target is not None:
        checked_target(target, there)
    elif threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"a threshold of similarity lies between 0 and 1, got {threshold}")
