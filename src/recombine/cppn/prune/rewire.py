"""Turns a wiring into a network with fresh weights on it, into another wiring as large, into a dense one as large.

These are the controls of pruning: is it the wiring, the weights that were kept, or only that there are fewer of them?
A wiring is one matrix (units before, units after) a layer, whose entries that are not 0 are links.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recombine.cppn.prune.magnitude import checked_target, shares, weights_of, with_weights

if TYPE_CHECKING:
    from recombine.cppn.network import CPPN, Mix

Wiring = Sequence[np.ndarray]


def wired(
    model: CPPN,
    wiring: Wiring,
    *,
    copies_at_one: bool = False,
    at_one: Wiring | None = None,
    by_fan_in: bool = False,
    signs: bool = False,
) -> CPPN:
    """The weights of a fresh network where the wiring has links, and 0 elsewhere.

    `signs` takes over the signs of the wiring's own numbers, `by_fan_in` multiplies the weights into a unit by
    sqrt(units before / its parents), so that its sum varies as in the dense network, and `copies_at_one` sets to 1 what
    leads into a `cache` unit or an output with one parent, which only hand a value on; `at_one` names other links.
    """
    weights, links = weights_of(model), [np.asarray(m) for m in wiring]
    if [m.shape for m in links] != [w.shape for w in weights]:
        shapes = [w.shape for w in weights], [m.shape for m in links]
        raise ValueError("a network of shapes {} cannot have a wiring of shapes {}".format(*shapes))
    chosen = copies(model.mix, links) if copies_at_one else at_one or [np.zeros(m.shape, bool) for m in links]
    new = []
    for weight, link, ones in zip(weights, links, chosen, strict=True):
        parents = np.count_nonzero(link, axis=0)
        fresh = np.abs(weight) * np.sign(link) if signs else weight
        fresh = fresh * np.sqrt(len(link) / np.maximum(parents, 1)) if by_fan_in else fresh
        new.append(np.where(link != 0, np.where(ones, 1, fresh), 0))
    return with_weights(model, new)


def copies(mix: Mix, wiring: Wiring) -> list[np.ndarray]:
    """Which links only hand a value on: the one link into a `cache` unit, or into an output."""
    carries = np.concatenate([np.full(number, kind == "cache") for kind, number in mix])
    hands = [(np.count_nonzero(m, axis=0) == 1) & carries for m in wiring[:-1]]
    hands.append(np.count_nonzero(wiring[-1], axis=0) == 1)
    return [(np.asarray(m) != 0) & only for m, only in zip(wiring, hands, strict=True)]


def as_many_copies(mix: Mix, wiring: Wiring, other: Wiring, rng: np.random.Generator) -> list[np.ndarray]:
    """As many links of another wiring, layer by layer, as are copies in the first: its own copies before any others.

    Where a wiring starts with copies at their value, another must start with as many weights at that value.
    """
    chosen = []
    for wanted, own, link in zip(copies(mix, wiring), copies(mix, other), other, strict=True):
        there = np.asarray(link) != 0
        turn = rng.random(there.shape) + np.where(own, 0, np.where(there, 1, 2))
        first = np.argsort(turn, axis=None)[: min(int(wanted.sum()), int(there.sum()))]
        chosen.append(np.isin(np.arange(there.size), first).reshape(there.shape))
    return chosen


def rewired(wiring: Wiring, rng: np.random.Generator, *, same_units: bool = False) -> list[np.ndarray]:
    """Another wiring with as many links in each layer, placed at random, and as many of them live.

    A link is live on a path from an input to an output. As many units of each layer are used as have live links in the
    wiring given: drawn at random, or the very same (`same_units`); inputs and outputs are always the same. Every used
    unit is first joined to one before and one after it, then live links are added between used units. Links that
    were not live go where neither end is used, or where only one is.
    """
    links = [np.asarray(m) != 0 for m in wiring]
    if not links or any(m.ndim != 2 for m in links) or any(a.shape[1] != len(b) for a, b in pairwise(links)):
        raise ValueError(f"layers of shapes {[m.shape for m in links]} do not make a wiring")
    used = _live(links)
    if not used[-1].any():
        raise ValueError("no path leads from an input to an output of this wiring")
    live = [int(m[before][:, after].sum()) for m, (before, after) in zip(links, pairwise(used), strict=True)]
    if not same_units:
        used = [used[0], *(rng.permutation(u) for u in used[1:-1]), used[-1]]
    return [_placed(m, n, *ends, rng=rng) for m, n, ends in zip(links, live, pairwise(used), strict=True)]


def narrowed(model: CPPN, target: int) -> Mix:
    """The unit counts of a dense network of the same depth with about so many weights; its types in proportion.

    inputs W + (depth - 1) W^2 + outputs W is as near to the target as a whole width W allows. Every type keeps a unit
    while W allows it; below that the most frequent types do.
    """
    weights = weights_of(model)
    depth, ends = len(weights) - 1, len(weights[0]) + weights[-1].shape[1]
    checked_target(target, sum(w.size for w in weights))
    width = min(range(1, weights[-1].shape[0] + 1), key=lambda w: abs(ends * w + (depth - 1) * w**2 - target))
    frequent = sorted(model.mix, key=lambda pair: -pair[1])[:width]
    kinds = sorted(frequent)
    units = shares([number for _, number in kinds], width)
    return tuple((kind, number) for (kind, _), number in zip(kinds, units, strict=True))


def _live(links: list[np.ndarray]) -> list[np.ndarray]:
    """Which units of each layer, with the inputs and outputs, are on a path from an input to an output."""
    fed, heard = [np.ones(len(links[0]), bool)], [np.ones(links[-1].shape[1], bool)]
    for link in links:
        fed.append(fed[-1] @ link)
    for link in reversed(links):
        heard.append(link @ heard[-1])
    return [f & h for f, h in zip(fed, reversed(heard), strict=True)]


def _placed(
    link: np.ndarray, live: int, before: np.ndarray, after: np.ndarray, *, rng: np.random.Generator
) -> np.ndarray:
    """As many links as there are: live ones that cover the used units and then join any of them, others elsewhere."""
    rows, columns = (rng.permutation(np.flatnonzero(u)) for u in (before, after))
    longer = max(len(rows), len(columns))
    ends = [np.append(u, rng.choice(u, longer - len(u))) for u in (rows, columns)]
    first = np.zeros(link.shape, bool)
    first[tuple(ends)] = True
    inside, outside = before[:, None] & after, ~before[:, None] & ~after
    turn = rng.random(link.shape) + np.where(first, 0, np.where(inside, 1, np.where(outside, 2, 3)))
    order = np.argsort(turn, axis=None)
    new = np.zeros(link.size, bool)
    new[order[:live]] = True
    new[order[inside.sum() :][: np.count_nonzero(link) - live]] = True
    return new.reshape(link.shape)
