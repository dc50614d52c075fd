"""What can be said against a result: its code has changed, its commit is unknown, a claim of it cannot be judged so.

Three faults of a claim can be seen in its table: a control that is misread whatever is trained, a margin that even
perfect networks could hardly exceed, and a margin that an untrained network keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import table as tables
from recombine.claims import failed, judge
from recombine.core import Claim
from recombine.engine import store
from recombine.engine.catalogue import Experiment
from recombine.engine.run import code_changes, load

if TYPE_CHECKING:
    import pandas as pd

PERFECT = "perfect"
WEAKEST = ("untrained", "blind", "mean")
"""Systems that know nothing of what the parts are, where an experiment has them."""
WITH_CHANGES = "with changes"


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


def audit(experiment: Experiment, folder: Path) -> Audit:
    """Everything that can be said against one result."""
    facts = store.read_json(folder / "settings.json")
    _, _, table = load(experiment, folder)
    primary = table[table["variant"] == tables.PRIMARY]
    commits = facts.get("commit") or facts.get("git") or []
    said = [f"{claim.name}: {word}" for claim in experiment.claims for word in against(claim, primary)]
    return Audit(experiment.name, folder, tuple(map(str, commits)), code_changes(experiment, folder), said)


def against(claim: Claim, table: pd.DataFrame) -> list[str]:
    """The faults of a claim that its table shows."""
    misread = [word for check in claim.controls if (word := failed(table, check))]
    said = [f"a control is misread, whatever is trained: {word}" for word in misread]
    bare = replace(claim, controls=(), preconditions=())
    room = _headroom(bare, table)
    if room is not None:
        said.append(room)
    for system in WEAKEST:
        if system in set(table["system"]) and _holds(bare, in_place(table, system)):
            said.append(f"the margin {_bounds(claim)} is kept if every network is replaced by the control {system}")
    return said


def _headroom(claim: Claim, table: pd.DataFrame) -> str | None:
    """A warning if perfect networks in place of one kind would clear the margin by less than the interval's half."""
    found = judge(table, claim)
    if claim.above is None or PERFECT not in set(table["system"]) or not np.isfinite(found.low):
        return None
    kinds = tables.networks(table)["condition"].dropna().unique() if "condition" in table else []
    reached = [judge(in_place(table, PERFECT, condition=kind), claim).effect for kind in kinds]
    best = max([r for r in reached if np.isfinite(r)], default=float("nan"))
    half = (found.high - found.low) / 2
    if np.isfinite(best) and best - claim.above < half and found.verdict != "holds":
        return f"the margin {_bounds(claim)} lies at the ceiling: perfect networks of one kind would give {best:.3g}"
    return None


def _bounds(claim: Claim) -> str:
    low, high = claim.bounds
    return " and ".join([f"> {low:g}"] * np.isfinite(low) + [f"< {high:g}"] * np.isfinite(high))


def _holds(claim: Claim, table: pd.DataFrame) -> bool:
    with np.errstate(all="ignore"):
        return judge(table, claim).verdict == "holds"


def in_place(table: pd.DataFrame, system: str, **where: Any) -> pd.DataFrame:
    """The table with the numbers of a control in place of those of the networks that match, picture by picture."""
    changed, controls = table.copy(), table[table["system"] == system]
    several = "goal" in controls and controls["goal"].notna().any()
    for _, mine in controls.groupby("goal") if several else [("", controls)]:
        here = where | ({"goal": mine["goal"].iloc[0]} if several else {})
        rows = tables.pick(table, **here).index
        for column in _measures(mine):
            changed.loc[rows, column] = float(mine[column].iloc[0])
    return changed


def _measures(controls: pd.DataFrame) -> list[str]:
    """The columns of plain numbers that a control has."""
    numbers = controls.select_dtypes("number").columns
    return [c for c in numbers if c not in ("seed", "diverged_at") and controls[c].notna().all()]
