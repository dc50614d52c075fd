"""How many combinations must be trained on as modules are added?

The scaling law, hyperteacher: the modules grow, the training masks grow in proportion, and all masks as a power. The
paper searches for the number needed, with 4, 5 or 6 active modules; here a few multiples of the number of modules are
tried, each with training masks that use all modules equally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.WithPrecision):
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
        if not self.fewer or self.fewer[0] < self.max_active:
            raise rc.UserError(f"fewer needs numbers of modules from {self.max_active} on, got {self.fewer}")
        for modules in self.families:
            shown, there = self.multiples[-1] * modules, students.total(modules, self.max_active)
            if shown >= there:
                raise rc.UserError(f"{shown} training masks leave none unseen: {modules} modules have {there}")


QUICK = Settings(**students.QUICK | {"modules": 5, "fewer": (4,), "max_active": 3, "multiples": (2, 3)})
LAPTOP = Settings(tasks=64, steps=1500)
GPU = Settings(**students.LARGE | {"modules": 32, "max_active": 4, "fewer": (8, 16), "multiples": (1, 2, 4, 16)})
PAPER = replace(GPU, modules=28, fewer=tuple(range(10, 28, 2)), multiples=(2, 3, 4, 6, 8, 12, 16, 24), **students.LONG)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"modules": modules} for modules in settings.families])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = students.with_changes(cell.settings, students.WithPrecision, modules=cell.modules)
    task = shared.family(settings, max(cell.members) + 1)
    sizes = {"modules": cell.modules, "total": len(shared.masks(task))}
    who = [
        {"condition": f"{cell.modules} modules, {n * cell.modules} masks", "multiple": n, **sizes, "seed": seed}
        for n in cell.settings.multiples
        for seed in cell.members
    ]
    return shared.train(
        settings,
        task,
        shared.student(settings, task),
        who=who,
        supports=[shown(settings, task, w["multiple"], w["seed"]) for w in who],
        monitor=monitor,
        label="students",
    )


def shown(settings: students.WithPrecision, task: rc.Task, multiple: int, seed: int) -> np.ndarray:
    """So many training masks for each module, which use all modules equally."""
    masks = shared.masks(task)
    share = shared.holding_out(masks, multiple * settings.modules)
    return rc.supports.equal(masks, share, shared.support_key(settings, seed))


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, for the most modules and the most training masks."""
    task = shared.family(settings, 1)
    support = shown(settings, task, settings.multiples[-1], 0)
    untrained = shared.untrained(settings, task, shared.student(settings, task), support)
    return [*shared.known(settings, task, support), untrained]


def most_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The students that were trained on the largest multiple."""
    rows = rc.networks(table)
    return rows[rows["multiple"] == rows["multiple"].max()]


LEVEL = 0.85
"""R^2 on held-out tasks at which the number of masks needed is read off."""


def needed(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and number of all masks, how many are needed for R^2 of LEVEL on held-out tasks.

    Between two numbers of masks that were tried, R^2 is taken as straight over their logarithms; beyond them nothing is
    said.
    """
    rows = rc.networks(table)

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


def by_modules(of: Callable[[pd.DataFrame], pd.Series]):
    """What an effect is at the largest multiple, one column per number of modules, rising."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        rows = most_shown(table).sort_values("modules")
        return rc.each_of("condition", of)(rows)[list(rows["condition"].unique())]

    return effect


UNSEEN = by_modules(rc.value("r2_unseen"))
FITS = (lambda t: figures.fits()(most_shown(t)),)
LAW = "scaling law, hyperteacher"
claim = partial(figures.claim, source=LAW)
CLAIMS = (
    claim(
        "a fixed number of masks per module keeps held-out ones answered",
        "At the largest number of training masks per module, held-out masks are answered with an R2 above 0.8, for"
        " every number of modules tried.",
        effect=UNSEEN,
        above=0.8,
        unit="R2 on held-out tasks, largest multiple",
        fits=(by_modules(figures.fits()),),
        over="numbers of modules",
    ),
    claim(
        "adding modules costs little at a fixed number of masks per module",
        "With as many training masks per module, adding modules costs less than 0.1, though a smaller and smaller"
        " share of all masks is trained on.",
        effect=lambda t: UNSEEN(t).iloc[:, 0] - UNSEEN(t).iloc[:, -1],
        below=0.1,
        unit="R2 on held-out tasks, fewest modules minus most, largest multiple",
        fits=FITS,
    ),
    claim(
        "the masks needed grow slower than all masks",
        "As modules are added, the training masks needed for the same R2 grow as a power of all masks below 0.9: an"
        " ever smaller share of them is enough. (One that stores every mask needs a power of 1.)",
        source=f"{LAW} (sub-exponential in the paper's words)",
        effect=lambda t: growth(t, "total"),
        below=0.9,
        unit=f"power of all masks with which the masks needed for R2 of {LEVEL} grow",
        preconditions=(
            rc.Check(
                f"groups of students whose R2 does not meet {LEVEL} between the fewest and the most masks tried",
                lambda t: float(needed(t)["needed"].isna().sum()),
                at_most=0.0,
            ),
        ),
        fits=FITS,
        null=1.0,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out and training tasks against the modules, the share trained on, and the masks needed."""
    from matplotlib import colormaps

    figure, axes = rc.plots.panels(rows=1, columns=4, side=3.1)
    rows = rc.networks(table)
    names = {n: f"{n} {'mask' if n == 1 else 'masks'} per module" for n in settings.multiples}
    groups = {name: rows[rows["multiple"] == n] for n, name in names.items()}
    colours = list(colormaps["viridis"](np.linspace(0.85, 0.1, len(groups))))
    for place, column in zip(axes[0, :3], ("r2_unseen", "r2_seen", "share"), strict=True):
        figures.lines(place, groups, "modules", column, colours)
        place.set_xlabel("modules (all their masks)")
        place.set_xticks(
            settings.families, [f"{m}\n({students.total(m, settings.max_active)})" for m in settings.families]
        )
    axes[0, 0].set_ylabel("R2 on held-out tasks")
    axes[0, 1].set_ylabel("R2 on training tasks")
    figures.r2_limits(*axes[0, :2])
    axes[0, 2].set(ylabel="share of all masks trained on", yscale="log")
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1) if tick > rows["share"].min() / 3]
    axes[0, 2].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0, 2].minorticks_off()
    figures.legend(axes[0, 1], loc="lower left")
    show_needed(axes[0, 3], table)
    return figure


def show_needed(axes, table: pd.DataFrame) -> None:
    """Masks needed against all masks, with a line along which every mask must be stored."""
    found = needed(table).dropna()
    if found.empty:
        axes.set_title(f"R2 of {LEVEL} was not met between\nthe fewest and the most masks")
        return
    powers = [growth(table, over).mean() for over in ("total", "modules")]
    figures.lines(axes, {f"needed: all masks to the power {powers[0]:.2f}": found}, "total", "needed", [rc.plots.GOOD])
    totals = np.sort(found["total"].unique())
    axes.plot(totals, totals, "--", color=rc.plots.BAD, linewidth=0.9, label="one that stores every mask: power 1")
    rc.plots.decades(axes, xlabel="all masks", ylabel=f"training masks needed for R2 of {LEVEL}")
    axes.set_title(f"the masks needed grow as the number\nof modules to the power {powers[1]:.2f}")
    figures.legend(axes, loc="upper left")
