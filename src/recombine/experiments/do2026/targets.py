"""The pictures whose best depth is asked for: designed, evolved, and others, with what is known of each."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.cppn.complexity import COMPLEXITIES
from recombine.experiments.pictures import shared

FEATURES = ("PNG ratio", "waves", "squares")
"""Complexities that may predict a depth; the first is the paper's."""
OWN = "log of its own depth"


class Goal(NamedTuple):
    """A target: its number among all, the picture to draw, and what is known of it: kind, own depth, complexities."""

    number: int
    shown: shared.Goal
    facts: dict[str, Any]


@cache
def goals(settings: Any) -> list[Goal]:
    """The targets, each drawn twice: at the size of training, and at 256 pixels for its complexities."""
    evolved = rc.artifacts(settings.artifacts, {}) if settings.artifacts else ()
    small, large = (rc.gallery.targets(size, artifacts=evolved) for size in (settings.size, 256))
    named = [i for i, t in enumerate(small) if t.kind == "artifact" or t.name in settings.targets]
    others = [i for i, t in enumerate(small) if t.kind not in ("artifact", "designed")]
    if settings.others > len(others):
        raise rc.UserError(f"there are {len(others)} other targets, {settings.others} were asked for")
    chosen = np.linspace(0, len(others) - 1, settings.others).round().astype(int)
    shown = [shared.Goal(t.name, t.kind == "artifact", None, t.picture, None) for t in small]
    return [Goal(i, shown[i], facts(large[i])) for i in sorted(named + [others[j] for j in chosen])]


def facts(target: Any) -> dict[str, Any]:
    """What is known of a target of 256 pixels; its own depth is that of the network that drew it, if one did."""
    known = {"goal": target.name, "kind": target.kind, OWN: float(np.log(target.depth or np.nan))}
    return known | {name: float(COMPLEXITIES[name](target.picture)) for name in FEATURES}
