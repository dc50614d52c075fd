"""What can be said against a result: its code has changed, its commit is unknown, a claim of it cannot be judged so.

Three faults of a claim can be seen in its table: a control that is misread whatever is trained, a margin that even
perfect networks could hardly exceed, and a margin that an untrained network keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import table as tables
from recombine.claims import failed, judge
from recombine.core import Claim
from recombine.engine import store
from recombine.engine.catalogue import Experiment
from recombine.engine.run import code_changes

if TYPE_CHECKING:
    import pandas as pd

PERFECT = "perfect"
UNTRAINED = "untrained"
WITH_CHANGES = "with changes"
BEFORE = "initial_"
"""Columns of networks whose names begin so were read before training: an untrained network needs none of its own."""


@dataclass(frozen=True)
class Audit:
    """What was found about one result; `changed` is None where the result does not say what made it."""

    name: str
    folder: Path
    commits: tuple[str, ...]
    changed: list[str] | None
    warnings: list[str]

    @property
    def stale(self) -> bool:
        return self.changed is None or bool(self.changed)

    @property
    def clean(self) -> bool:
        """Whether every cell comes from a commit that is known and had no changes."""
        return bool(self.commits) and not any(c in ("None", "") or c.endswith(WITH_CHANGES) for c in self.commits)


def audit(experiment: Experiment, folder: Path, table: pd.DataFrame) -> Audit:
    """Everything that can be said against one result, whose table was read."""
    facts = store.read_json(folder / "settings.json")
    primary = table[table["variant"] == tables.PRIMARY]
    commits = facts.get("commit") or facts.get("git") or []
    seen = Seen(primary)
    said = [f"{claim.name}: {word}" for claim in experiment.claims for word in against(claim, seen)]
    return Audit(experiment.name, folder, tuple(map(str, commits)), code_changes(experiment, folder), said)


class Seen:
    """A table, and what its claims share: controls that are read, and the table with a control for networks."""

    def __init__(self, table: pd.DataFrame):
        self.table, self.systems = table, set(table["system"])
        self.failed = cache(partial(failed, table))
        self.with_control = cache(partial(in_place, table))
        self.without = cache(lambda system: in_place(table, system, blank=True))


def against(claim: Claim, seen: Seen) -> list[str]:
    """The faults of a claim that its table shows."""
    with np.errstate(all="ignore"):  # a control may have no error at all, whose logarithm is none
        return [*_misread(claim, seen), *_unreachable(claim, seen), *_trivial(claim, seen)]


def _misread(claim: Claim, seen: Seen) -> list[str]:
    """Controls that read what they should not: no training can change that."""
    said = map(seen.failed, claim.controls)
    return [f"a control is misread, whatever is trained: {word}" for word in said if word]


def _unreachable(claim: Claim, seen: Seen) -> list[str]:
    """Whether perfect networks in place of one kind would clear the margin by less than half of the interval."""
    bare = replace(claim, controls=(), preconditions=())
    if claim.above is None or PERFECT not in seen.systems:
        return []
    table, found = seen.table, judge(seen.table, bare)
    if found.verdict == "holds":
        return []
    kinds = tables.networks(table)["condition"].dropna().unique() if "condition" in table else []
    reached = np.array([judge(seen.with_control(PERFECT, condition=kind), bare).effect for kind in kinds])
    best, half = reached.max(initial=found.effect), (found.high - found.low) / 2
    if not np.isfinite(reached).all() or best <= found.effect or best - claim.above >= half:
        return []
    return [f"the margin {_bounds(claim)} lies at the ceiling: perfect networks of one kind would give {best:.3g}"]


def _trivial(claim: Claim, seen: Seen) -> list[str]:
    """Whether untrained networks would keep the margin as well; whether they fit matters if small is good."""
    bare = replace(claim, controls=(), preconditions=(), fits=claim.fits if claim.above is None else ())
    if UNTRAINED not in seen.systems:
        return []
    try:
        found, without = (judge(one(UNTRAINED), bare) for one in (seen.with_control, seen.without))
    except (ValueError, KeyError, IndexError):  # it rests on columns that tell networks apart
        return []
    if found.verdict != "holds" or found.effect == judge(seen.table, bare).effect:  # else it has no such number
        return []
    if without.verdict != "holds":  # it rests on numbers of trained networks, too
        return []
    return [f"the margin {_bounds(claim)} is kept by untrained networks in place of all trained ones"]


def _bounds(claim: Claim) -> str:
    bounds = {">": claim.above, "<": claim.below}
    return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds.items() if bound is not None)


def in_place(table: pd.DataFrame, system: str, *, blank: bool = False, **where: Any) -> pd.DataFrame:
    """The table with the numbers of a control in place of those of the networks that match.

    Where a control has a row for each picture, each network gets that of its own; else all get those of the first.
    With `blank` measures that the control lacks are NaN; else they stay those of the networks.
    """
    changed, controls = table.copy(), table[table["system"] == system]
    by = "goal" if "goal" in controls and controls["goal"].notna().all() else None
    for kind, mine in controls.groupby(by) if by else [("", controls)]:
        found = tables.pick(table, **where)
        rows = found[found[by] == kind].index if by else found.index
        for column in _measures(table):
            if mine[column].notna().all():
                changed.loc[rows, column] = float(mine[column].iloc[0])
            elif blank and not column.startswith(BEFORE):
                changed.loc[rows, column] = np.nan
    return changed


def _measures(table: pd.DataFrame) -> list[str]:
    """The columns of plain numbers, without those that say what a network is, such as its depth.

    Those are whole numbers, some of them above 1.
    """
    networks = tables.networks(table)
    numbers = [str(c) for c in table.select_dtypes("number") if c not in ("seed", "diverged_at")]
    values = {c: networks[c].dropna() for c in numbers}
    design = {c for c, v in values.items() if len(v) and (v % 1 == 0).all() and v.abs().max() > 1}
    return [c for c in numbers if c not in design]
