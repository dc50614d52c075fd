"""The pictures whose best depth is asked for: random networks, scenes and photographs, none of them used before."""

from __future__ import annotations

from functools import cache
from itertools import count, islice, repeat
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.cppn.complexity import COMPLEXITIES
from recombine.experiments.do2026.scenes import PARTS, scene
from recombine.experiments.pictures import shared

FEATURES = ("PNG ratio", "waves", "squares")
"""Complexities that may go with a depth; the first is the paper's."""
OWN = "log of its own depth"
TILES = {
    "fold": (60, 0, 188, 128),
    "brow": (180, 60, 340, 220),
    "collar": (120, 330, 248, 458),
    "stars": (0, 60, 96, 156),
}
"""Corners of squares of the photograph that matplotlib ships, none of them one of the gallery's."""


class Goal(NamedTuple):
    """A target: its number among all, the picture to render, and what is known of it: kind, own depth, complexities."""

    number: int
    shown: shared.Goal
    facts: dict[str, Any]


@cache
def networks() -> dict[str, Any]:
    """For each depth of the gallery's random networks, the two that come next after its own."""
    found = {}
    for depth in rc.gallery.DEPTHS:
        able = (g for g in map(rc.gallery.random_genome, repeat(depth), count()) if not rc.gallery.refused(g))
        found |= {
            f"network {depth}{'cd'[i]}": g for i, g in enumerate(islice(able, rc.gallery.EACH, rc.gallery.EACH + 2))
        }
    return found


def pictures(size: int) -> list[rc.gallery.Target]:
    """All of them at this size: 20 random networks, 20 scenes and 4 tiles of a photograph."""
    drawn = [rc.gallery.of_genome(name, "network", genome, size) for name, genome in networks().items()]
    scenes = [rc.gallery.Target(f"scene {n}{'ab'[i]}", "scene", scene(n, i, size), None) for n in PARTS for i in (0, 1)]
    tiles = [rc.gallery.Target(name, "photograph", rc.gallery.tile(box, size), None) for name, box in TILES.items()]
    return drawn + scenes + tiles


@cache
def goals(settings: Any) -> list[Goal]:
    """As many targets as asked for, spread evenly over all, and after them those of evolved networks.

    Each is rendered twice: at the size of training, and at 256 pixels for its complexities.
    """
    evolved = rc.artifacts(settings.artifacts, {}) if settings.artifacts else ()
    small, large = (
        pictures(size) + [rc.gallery.of_genome(a.name, "artifact", a.genome, size) for a in evolved]
        for size in (settings.size, 256)
    )
    every = len(small) - len(evolved)
    if settings.others > every:
        raise rc.UserError(f"there are {every} targets, {settings.others} were asked for")
    chosen = [*np.linspace(0, every - 1, settings.others).round().astype(int).tolist(), *range(every, len(small))]
    return [
        Goal(i, shared.Goal(small[i].name, i >= every, None, small[i].picture, None), facts(large[i])) for i in chosen
    ]


def facts(target: Any) -> dict[str, Any]:
    """What is known of a target of 256 pixels; its own depth is that of the network that rendered it, if one did."""
    known = {"goal": target.name, "kind": target.kind, OWN: float(np.log(target.depth or np.nan))}
    return known | {name: float(COMPLEXITIES[name](target.picture)) for name in FEATURES}
