"""Does training on more combinations of modules lead a student to those that are held out?

Scaling the number of training tasks, hyperteacher: the same student and the same number of updates, with more or fewer
masks held out, for several numbers of modules and of modules that are active at once. Shares that leave too few masks
to tie the modules together are left out, as in the paper. In families so large that every share leaves many masks, a
few masks per module are tried as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import family_effects, figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithPrecision):
    shares: tuple[float, ...] = (0.9, 0.75, 0.5, 0.25)
    """shares of the masks that are held out, falling"""
    families: tuple[tuple[int, int], ...] = ((8, 2), (8, 3), (12, 2), (12, 3))
    """modules, and modules of a task at most, of each family; one has those of `modules` and `max_active`"""
    fewest: float = 2.0
    """masks per module that are tried as well where every share leaves more than twice as many"""
    same: float = 0.75
    """the share held out at which families are compared; two families that differ in each number have it"""
    steps: int = 800
    """updates of each student"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.shares) < 2 or list(self.shares) != sorted(set(self.shares), reverse=True):
            raise rc.UserError(f"shares must be two or more falling numbers, got {self.shares}")
        self.need_rates("fewest")
        if not all(0 < share < 1 for share in self.shares):
            raise rc.UserError(f"shares must lie between 0 and 1, got {self.shares}")
        if (self.modules, self.max_active) not in self.families or len(set(self.families)) < len(self.families):
            raise rc.UserError(f"families must be distinct, {self.modules, self.max_active} among them")
        if poor := [family for family in self.families if len(possible(self, *family)) < 2]:
            raise rc.UserError(f"fewer than two of these shares tie {poor[0][0]} modules together")


def possible(settings: Settings, modules: int, max_active: int) -> dict[float, int]:
    """The shares held out that leave a quarter more links than modules need, and how many masks they leave.

    Where even the largest share leaves more than twice `fewest` masks per module, so many are tried as well.
    """
    whole, few = students.total(modules, max_active), round(settings.fewest * modules)
    left = {share: whole - int(share * whole) for share in settings.shares}
    if 2 * few < min(left.values()):
        left = {1 - few / whole: few} | left
    return {share: count for share, count in left.items() if count * (max_active - 1) >= 1.25 * (modules - 1)}


QUICK = Settings(**students.QUICK | {"shares": (0.5, 0.25), "families": ((4, 2), (5, 2)), "same": 0.5})
LAPTOP = Settings(tasks=64, seed=2, seeds=6, block=6, shares=(0.9, 0.75, 0.25))
_GRID = ((8, 2), (8, 3), (16, 2), (16, 3), (16, 5), (32, 2), (32, 3))
_SIZES: dict[str, Any] = {"shares": (0.98, 0.9, 0.75, 0.25), "families": _GRID, "same": 0.9, "steps": 6000}
GPU = Settings(**students.LARGE | _SIZES)
_SHARES = (0.99, 0.98, 0.95, 0.9, 0.75, 0.5, 0.25, 0.125)
_WHOLE = tuple((modules, max_active) for modules in (8, 16, 24, 32) for max_active in range(2, 8))
PAPER = replace(GPU, shares=_SHARES, families=_WHOLE, **students.LONG)
VARIANTS = students.VARIANTS


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"modules": m, "max_active": k} for m, k in settings.families])


def run(cell: rc.Cell, monitor) -> list[dict]:
    family = {"modules": cell.modules, "max_active": cell.max_active}
    settings = students.with_changes(cell.settings, students.WithPrecision, **family)
    task = shared.family(settings, max(cell.members) + 1)
    name = named(cell.modules, cell.max_active)
    who = [
        {"condition": f"{name}, {n} masks", "family": name, **family, "held_out": share, "count": n, "seed": seed}
        for share, n in possible(cell.settings, cell.modules, cell.max_active).items()
        for seed in cell.members
    ]
    own = (cell.settings.modules, cell.settings.max_active) == (cell.modules, cell.max_active)
    rows = shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=who,
        supports=[shared.counted_support(settings, task, w["count"], w["seed"]) for w in who],
        monitor=monitor,
        label=f"students-{cell.modules}-{cell.max_active}",
    )
    return [row | {"own": float(own), "compared": float(row["held_out"] == cell.settings.same)} for row in rows]


def named(modules: int, max_active: int) -> str:
    return f"{max_active} of {modules} modules"


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, beside the most training masks."""
    task = shared.family(settings, 1)
    most = list(possible(settings, settings.modules, settings.max_active).values())[-1]
    support = shared.counted_support(settings, task, most, 0)
    student = shared.student(settings, task)
    return [*shared.known(settings, task, support), shared.untrained(settings, task, student, support)]


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the gain in R^2 on held-out tasks from each number of masks to the next, in the family of all claims."""
    rows = rc.pick(table, own=1.0)
    steps = {
        f"{fewer:g} to {more:g} masks": rc.difference("r2_unseen", more, fewer, by="count")
        for fewer, more in pairwise(sorted(rows["count"].unique()))
    }
    return rc.each(steps)(rows)


def larger(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the gain in R^2 on held-out tasks from the smallest to the largest family at an equal share held out.

    Once over the modules, at each number of active ones that two families have, and once the other way round.
    """
    rows, found = rc.pick(table, compared=1.0), {}
    for grown, fixed in (("modules", "max_active"), ("max_active", "modules")):
        for value, some in rows.groupby(fixed):
            if some[grown].nunique() > 1:
                ends = some[grown].max(), some[grown].min()
                found[f"{fixed} {value:g}: {grown} {ends[1]:g} to {ends[0]:g}"] = rc.difference(
                    "r2_unseen", *ends, by=grown
                )(some)
    import pandas as pd

    return pd.DataFrame(found)


SCALING = "data scaling, hyperteacher"
OWN = (figures.fits(own=1.0),)
claim = partial(figures.claim, source=SCALING)


def enough(where: str, source: str, **rows: float) -> rc.Claim:
    """The claim that the most masks leave hardly a gap, in some families."""
    return claim(
        f"enough training combinations leave hardly a gap to held-out ones {where}",
        "After the most masks tried, a student answers held-out combinations almost as well as training ones: R2 falls"
        " by less than 0.02.",
        source=source,
        effect=lambda t: family_effects.gap(rc.pick(t, **rows)),
        below=0.02,
        unit="R2 on training minus held-out tasks, most masks",
        fits=(lambda t: family_effects.fitted(rc.pick(t, **rows)),),
        over="families",
    )


CLAIMS = (
    claim(
        "more training combinations improve answers to held-out ones in every family with room for it",
        "Trained on the most masks tried rather than the fewest, a student answers held-out combinations better, by"
        " 0.05 of R2. Families count whose fewest masks leave a gap of more than 0.05 to training tasks.",
        effect=family_effects.improved,
        above=0.05,
        unit="R2 on held-out tasks, most masks minus fewest",
        preconditions=(rc.Check("families with room", lambda t: len(family_effects.roomy(t)), at_least=2),),
        over="families",
    ),
    enough("in the default family", SCALING, own=1.0),
    enough("in every family (ours)", "ours; the source says it of no family as small as the smallest of these"),
    claim(
        "every increase in training combinations helps",
        "In the default family, R2 on held-out tasks rises with every increase in the number of training masks.",
        source=f"{SCALING} (monotone curves, by a reading note)",
        effect=gains,
        above=0.0,
        unit="gain in R2 on held-out tasks from one number of masks to the next",
        fits=OWN,
        over="increases",
    ),
    claim(
        "larger families tolerate that a larger share is held out",
        "At an equal share held out, held-out tasks are answered better with more modules, and where more are"
        " active at once, by 0.02 of R2.",
        source=f"{SCALING} (by a reading note)",
        effect=larger,
        above=0.02,
        unit="R2 on held-out tasks, largest family minus smallest, equal share held out",
        over="comparisons",
    ),
    *figures.goes_along("over families and numbers of masks", f"ours, within one experiment; {SCALING}"),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out tasks against the share held out and the pairs of modules covered; constituents by layer.

    Families whose fewest masks leave no room for improvement, which the first claim leaves out, are marked.
    """
    from matplotlib import colormaps

    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.3)
    rows = rc.networks(table)
    groups = {str(name): some for name, some in rows.groupby("family", sort=False)}
    colours = list(colormaps["viridis"](np.linspace(0.9, 0.05, len(groups))))
    room = family_effects.roomy(table)
    labelled = {name + ("" if name in room else " (no room)"): some for name, some in groups.items()}
    figures.lines(axes[0, 0], labelled, "held_out", "r2_unseen", colours)
    axes[0, 0].set(xlabel="share of the masks held out", ylabel="R2 on held-out tasks")
    figures.legend(axes[0, 0], title="active at most")
    for (name, some), colour in zip(groups.items(), colours, strict=True):
        axes[0, 1].plot(some["pairs"], some["r2_unseen"], "o", color=colour, alpha=0.6, markersize=3, label=name)
    axes[0, 1].set(xlabel="share of pairs of modules seen together", ylabel="R2 on held-out tasks")
    own = rows[rows["own"] > 0]
    for count, colour in ((own["count"].min(), rc.plots.BAD), (own["count"].max(), rc.plots.GOOD)):
        figures.by_layer(axes[0, 2], own[own["count"] == count], colour, f"{count:g} masks")
    axes[0, 2].set_ylabel("R2 of decoded constituents, held-out tasks")
    figures.legend(axes[0, 2], title=named(settings.modules, settings.max_active))
    figures.r2_limits(*axes[0, :2])
    return picture
