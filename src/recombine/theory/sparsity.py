"""Turns a wiring into how sparse a composition it is: who depends on what, on how many, and through how many steps.

Danhofer, D'Ascenzo, Dubach and Poggio (2025) call a target compositionally sparse if it is a composition of few
functions, each of few variables. Counting that on the links of a network, as here, is our own reading of it.

A wiring is one matrix (units before, units after) a layer, whose entries that are not 0 are links. A unit is live if an
input reaches it and it reaches an output; a link is live if both its ends are. `copies` may mark, for each layer after
the inputs, units that only hand a value on: with one live parent they are no step of a composition. Links say
what a unit may depend on, not that effects along several paths do not cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

Wiring = Sequence[np.ndarray]


def live_units(wiring: Wiring) -> list[np.ndarray]:
    """Which units are live, one boolean a unit, for the inputs and each layer after them."""
    links = _links(wiring)
    fed, heard = [np.ones(len(links[0]), bool)], [np.ones(links[-1].shape[1], bool)]
    for link in links:
        fed.append(fed[-1] @ link)
    for link in reversed(links):
        heard.append(link @ heard[-1])
    return [f & h for f, h in zip(fed, reversed(heard), strict=True)]


def live_links(wiring: Wiring) -> list[np.ndarray]:
    """The links between live units, as boolean matrices."""
    live = live_units(wiring)
    return [
        link & before[:, None] & after for link, (before, after) in zip(_links(wiring), pairwise(live), strict=True)
    ]


def inputs_reaching(wiring: Wiring) -> list[np.ndarray]:
    """On how many inputs each unit of each layer after the inputs depends through live links; 0 if it is not live."""
    reach = np.eye(len(wiring[0]), dtype=bool)
    counts = []
    for link in live_links(wiring):
        reach = reach @ link
        counts.append(reach.sum(axis=0))
    return counts


def fan_in(wiring: Wiring, copies: Sequence[np.ndarray] | None = None) -> np.ndarray:
    """How many live parents each live unit after the inputs has, layer by layer in one row, without copies."""
    links = live_links(wiring)
    parents = [link.sum(axis=0) for link in links]
    return np.concatenate([p[(p > 0) & ~c] for p, c in zip(parents, _copies(links, copies), strict=True)])


def effective_depth(wiring: Wiring, copies: Sequence[np.ndarray] | None = None) -> int:
    """The longest live path from an input to an output, in steps: units after the inputs that are no copies.

    0 if there is no live path. Without `copies` every live path goes through all layers and this is their number.
    """
    links = live_links(wiring)
    longest = np.zeros(len(links[0]))
    for link, copy in zip(links, _copies(links, copies), strict=True):
        longest = np.where(link, longest[:, None], -np.inf).max(axis=0) + ~copy
    return int(np.maximum(longest.max(), 0))


def sparsity(wiring: Wiring, copies: Sequence[np.ndarray] | None = None, *, few: int = 3) -> dict[str, float]:
    """One row for a table; means over live units after the inputs that are no copies, NaN if there are none.

    `few_parents` is the share of them with at most `few` live parents, `inputs_each` the mean number of inputs that
    they depend on.
    """
    links = live_links(wiring)
    parents = fan_in(wiring, copies)
    counted = [link.any(axis=0) & ~c for link, c in zip(links, _copies(links, copies), strict=True)]
    reached = np.concatenate([n[u] for n, u in zip(inputs_reaching(wiring), counted, strict=True)])
    return {
        "live_units": sum(int(link.any(axis=0).sum()) for link in links),
        "live_links": sum(int(link.sum()) for link in links),
        "steps": len(parents),
        "fan_in": float(parents.mean()) if len(parents) else np.nan,
        "few_parents": float(np.mean(parents <= few)) if len(parents) else np.nan,
        "inputs_each": float(reached.mean()) if len(reached) else np.nan,
        "depth": effective_depth(wiring, copies),
    }


def _links(wiring: Wiring) -> list[np.ndarray]:
    matrices = [np.asarray(m) for m in wiring]
    if not matrices or any(m.ndim != 2 or not m.size for m in matrices):
        raise ValueError(f"a wiring is one matrix a layer, got shapes {[m.shape for m in matrices]}")
    if any(a.shape[1] != len(b) for a, b in pairwise(matrices)):
        raise ValueError(f"layers of shapes {[m.shape for m in matrices]} do not follow each other")
    if any(np.isnan(m).any() for m in matrices):
        raise ValueError("a wiring has weights that are not a number")
    return [m != 0 for m in matrices]


def _copies(links: list[np.ndarray], copies: Sequence[np.ndarray] | None) -> list[np.ndarray]:
    """Units marked as copies that do have one live parent."""
    if copies is None:
        return [np.zeros(link.shape[1], bool) for link in links]
    marks = [np.asarray(c, bool) for c in copies]
    if [m.shape for m in marks] != [(link.shape[1],) for link in links]:
        raise ValueError(f"copies of shapes {[m.shape for m in marks]} do not fit {len(links)} layers")
    return [mark & (link.sum(axis=0) == 1) for mark, link in zip(marks, links, strict=True)]
