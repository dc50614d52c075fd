"""How many combinations must be shown as modules are added?

The scaling law, hyperteacher: the modules grow, the training masks grow in proportion, and all masks as a power. The
paper searches for the number needed, with 4, 5 or 6 active modules; here a few multiples of the number of modules are
tried, each with training masks that use all modules equally.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_students.StudentSettings):
    modules: int = 16
    """modules of the largest teachers"""
    fewer: tuple[int, ...] = (8, 12)
    """modules of the smaller teachers, rising"""
    multiples: tuple[int, ...] = (2, 3, 6)
    """training masks for each module, rising"""

    @property
    def families(self) -> tuple[int, ...]:
        """Numbers of modules, rising."""
        return (*self.fewer, self.modules)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, numbers in (("fewer, then modules,", self.families), ("multiples", self.multiples)):
            if not numbers or list(numbers) != sorted(set(numbers)) or numbers[0] < 1:
                raise rc.UserError(f"{name} must be rising numbers from 1 on, got {numbers}")
        if not self.fewer or self.fewer[0] < self.hot:
            raise rc.UserError(f"fewer needs numbers of modules from {self.hot} on, got {self.fewer}")
        for modules in self.families:
            shown, there = self.multiples[-1] * modules, _students.total(modules, self.hot)
            if shown >= there:
                raise rc.UserError(f"{shown} training masks leave none unseen: {modules} modules have {there}")


QUICK = Settings(**_students.QUICK | {"modules": 5, "fewer": (4,), "hot": 3, "multiples": (2, 3)})
LAPTOP = Settings(tasks=64, steps=1500)
GPU = Settings(
    seeds=5,
    hot=4,
    fewer=(8, 16),
    multiples=(1, 2, 4, 16),
    width=1024,
    steps=10_000,
    learning_rate=1e-3,
    precision="bfloat16",
    **_students.FULL | {"modules": 32},
)
PAPER = replace(
    GPU,
    seeds=10,
    modules=28,
    fewer=tuple(range(10, 28, 2)),
    multiples=(2, 3, 4, 6, 8, 12, 16, 24),
    steps=300_000,
    learning_rate=3e-4,
    cosine=False,
)


@dataclass(frozen=True)
class Cell:
    """The students of every multiple for one number of modules and one block of seeds."""

    settings: Settings
    modules: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, modules, members) for modules in settings.families for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    settings = _students.with_changes(cell.settings, modules=cell.modules)
    task = _students.family(settings, max(cell.members) + 1)
    masks = _students.masks(task)

    def row(multiple: int, seed: int) -> dict:
        name = f"{cell.modules} modules, {multiple * cell.modules} masks"
        sizes = {"modules": cell.modules, "multiple": multiple, "total": len(masks)}
        return {"condition": name} | sizes | {"seed": seed}

    who = [row(multiple, seed) for multiple in cell.settings.multiples for seed in cell.members]
    return _students.train(
        settings,
        task,
        _students.student(settings, task),
        who=who,
        supports=[shown(masks, w["multiple"] * cell.modules, _students.support_key(settings, w["seed"])) for w in who],
        watch=watch,
        label="students",
    )


def shown(masks: np.ndarray, count: int, key) -> np.ndarray:
    """So many training masks, which use all modules equally."""
    # Half a mask more is held out, and rounded away again, lest a number a hair too small lose a whole one.
    return rc.supports.equal(masks, _students.holding_out(masks, count), key)


controls = _students.controls


def most_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The students that were shown the largest multiple."""
    rows = _show.trained(table)
    return rows[rows["multiple"] == rows["multiple"].max()]


def unseen(table: pd.DataFrame) -> list[pd.Series]:
    """R^2 on unseen tasks by seed at the largest multiple, for each number of modules, rising."""
    rows = most_shown(table)
    return [rc.by_seed(rows, "r2_unseen", modules=modules) for modules in sorted(rows["modules"].unique())]


LEVEL = 0.85
"""R^2 on unseen tasks for which the number of masks needed is asked."""


def needed(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and number of all masks, how many are needed for R^2 of LEVEL on unseen tasks.

    Between two numbers of masks that were tried, R^2 is taken as straight over their logarithms; beyond them nothing is
    said.
    """
    rows = _show.trained(table)

    def meet(some: pd.DataFrame) -> float:
        some = some.sort_values("masks")
        known = np.maximum.accumulate(some["r2_unseen"].to_numpy())
        return float(np.exp(np.interp(LEVEL, known, np.log(some["masks"]), left=np.nan, right=np.nan)))

    found = {key: meet(some) for key, some in rows.groupby(["seed", "total"])}
    return rows.drop_duplicates(["seed", "total"])[["seed", "total", "modules"]].assign(
        needed=lambda t: [found[key] for key in zip(t["seed"], t["total"], strict=True)]
    )


def growth(table: pd.DataFrame, over: str) -> pd.Series:
    """By seed, the power of some number with which the masks needed grow."""
    return needed(table).groupby("seed")[[over, "needed"]].apply(lambda some: _power(some[over], some["needed"]))


def _power(x: pd.Series, y: pd.Series) -> float:
    return float("nan") if y.isna().any() else float(np.polyfit(np.log(x), np.log(y), 1)[0])


FITTED = (
    rc.Check(
        "shown the most, every student's R2 on tasks it was shown is at least 0.9",
        lambda t: most_shown(t)["r2_seen"].min(),
        at_least=0.9,
    ),
)
CLAIMS = (
    rc.Claim(
        "so many masks a module keep unseen ones answered",
        "At the largest number of training masks a module, unseen masks are answered up to the most modules tried.",
        "scaling law, hyperteacher",
        effect=lambda t: _show.least(unseen(t)),
        margin=0.8,
        unit="R2 on unseen tasks, largest multiple, worst number of modules",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "though the combinations grow as a power",
        "With as many training masks for each module, adding modules costs less than 0.1, though a smaller and smaller"
        " share of all masks is shown.",
        "scaling law, hyperteacher",
        effect=lambda t: 0.1 - (unseen(t)[0] - unseen(t)[-1]),
        margin=0.0,
        unit="0.1 minus the loss of R2 on unseen tasks from fewest to most modules, largest multiple",
        preconditions=FITTED,
        controls=_show.R2_CONTROLS,
    ),
    rc.Claim(
        "the masks needed grow slower than all masks",
        "As modules are added, the training masks needed for the same R2 grow as a power of all masks below 0.9: an"
        " ever smaller share of them is enough. (One that stores every mask needs a power of 1.)",
        "scaling law, hyperteacher (sub-exponential in the paper's words)",
        effect=lambda t: 0.9 - growth(t, "total"),
        margin=0.0,
        unit="0.9 minus the power of all masks with which the masks needed grow",
        preconditions=(
            *FITTED,
            rc.Check(
                f"R2 of {LEVEL} lies between the fewest and the most masks of every student's kind",
                lambda t: -float(needed(t)["needed"].isna().sum()),
                at_least=0.0,
            ),
        ),
        controls=_show.R2_CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on unseen and seen tasks against the number of modules, the share shown, and the masks that are needed."""
    from matplotlib import colormaps

    figure, axes = rc.plots.panels(rows=1, columns=4, side=3.1)
    rows = _show.trained(table)
    groups = {f"{n} {'mask' if n == 1 else 'masks'} a module": rows[rows["multiple"] == n] for n in settings.multiples}
    colours = list(colormaps["viridis"](np.linspace(0.85, 0.1, len(groups))))
    for place, column in zip(axes[0, :3], ("r2_unseen", "r2_seen", "share"), strict=True):
        _show.lines(place, groups, "modules", column, colours)
        place.set_xlabel("modules (all their masks)")
        place.set_xticks(settings.families, [f"{m}\n({_students.total(m, settings.hot)})" for m in settings.families])
    axes[0, 0].set_ylabel("R2 on unseen tasks")
    axes[0, 1].set_ylabel("R2 on seen tasks")
    for place in axes[0, :2]:
        _show.r2_limits(place, rows["r2_unseen"])
    axes[0, 2].set(ylabel="share of all masks that was shown", yscale="log")
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1) if tick > rows["share"].min() / 3]
    axes[0, 2].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0, 2].minorticks_off()
    axes[0, 0].legend(fontsize=7, frameon=False, loc="lower left")
    show_needed(axes[0, 3], table)
    return figure


def show_needed(axes, table: pd.DataFrame) -> None:
    """Masks needed against all masks, with a line along which every mask must be stored."""
    found = needed(table).dropna()
    if found.empty:
        axes.set_title(f"R2 of {LEVEL} was not met between\nthe fewest and the most masks")
        return
    _show.lines(axes, {f"for R2 of {LEVEL} on unseen tasks": found}, "total", "needed", [rc.plots.GOOD])
    totals = np.sort(found["total"].unique())
    axes.plot(totals, totals, "--", color=rc.plots.BAD, linewidth=0.9, label="all of them")
    rc.plots.decades(axes, xlabel="all masks", ylabel="training masks needed")
    powers = [growth(table, over).mean() for over in ("total", "modules")]
    axes.set_title(f"grow as all masks to the {powers[0]:.2f},\nas the modules to the {powers[1]:.2f}")
    axes.legend(fontsize=6.5, frameon=False)
