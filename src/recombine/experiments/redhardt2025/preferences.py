"""Does it hold for choosing actions: does a student act rightly on held-out mixtures of preferences?

Scaling the number of training tasks, and the task supports, on the compositional preference grid: a student sees a
mixture, encoded, and a map with objects, and imitates a planner. Every seed has preferences of its own. The learning
rate falls along a cosine where the paper's stays constant, so that fewer steps are needed; the `paper` tier keeps it
constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import figures, preference_students, shared, students

if TYPE_CHECKING:
    import pandas as pd

RANDOM = "random"
SUPPORTS = ("equal", "popular", "unpopular", "disconnected", "non_compositional")
EPISODES = preference_students.EPISODES


@dataclass(frozen=True, kw_only=True)
class Settings(preference_students.PreferenceSettings):
    held_out: float = 0.25
    """share of the mixtures that is never trained on, by every support"""
    counts: tuple[int, ...] = (12, 30)
    """smaller numbers of random training mixtures, rising"""
    supports: tuple[str, ...] = ("disconnected", "non_compositional")
    """further supports: equal, popular, unpopular, disconnected, non_compositional"""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = students.total(self.modules, self.max_active)
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        if (
            not self.counts
            or list(self.counts) != sorted(set(self.counts))
            or self.counts[-1] >= whole - int(self.held_out * whole)
        ):
            raise rc.UserError(f"counts must be rising numbers below those of held_out, got {self.counts}")
        if 1 + (self.max_active - 1) * self.counts[0] < self.modules:
            raise rc.UserError(f"{self.counts[0]} mixtures of {self.max_active} cannot tie {self.modules} together")
        if unknown := set(self.supports) - set(SUPPORTS):
            raise rc.UserError(f"no support is called {', '.join(sorted(unknown))}; there are {', '.join(SUPPORTS)}")


QUICK = Settings(**preference_students.TINY | {"counts": (4,), "supports": ("non_compositional",)})
LAPTOP = Settings(seed=2, seeds=6, block=6)
GPU = Settings(**preference_students.LARGE | {"counts": (14, 70, 174), "supports": SUPPORTS})
PAPER = replace(GPU, features=32, counts=(14, 35, 70, 174, 348), **preference_students.LONG)
VARIANTS = students.VARIANTS


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def shown(settings: Settings, masks: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The training mixtures of a seed in each condition."""
    key = shared.support_key(settings, seed)
    drawn = {f"{n} mixtures": rc.supports.random(masks, shared.holding_out(masks, n), key) for n in settings.counts}
    kinds = {name: getattr(rc.supports, name)(masks, settings.held_out, key) for name in settings.supports}
    return drawn | {RANDOM: rc.supports.random(masks, settings.held_out, key)} | kinds


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = cell.settings
    task = preference_students.family(settings, max(cell.members) + 1)
    sets = {seed: shown(settings, shared.masks(task), seed) for seed in cell.members}
    who = [{"condition": name, "seed": seed} for name in sets[cell.members[0]] for seed in cell.members]
    return preference_students.train(
        settings,
        task,
        preference_students.student(settings, task),
        who=who,
        supports=[sets[w["seed"]][w["condition"]] for w in who],
        monitor=monitor,
        label="students",
    )


def controls(settings: Settings) -> list[dict]:
    return preference_students.controls(settings, settings.held_out)


def counted(table: pd.DataFrame) -> list[str]:
    """The conditions that differ in the number of random mixtures alone, rising."""
    rows = rc.networks(table)
    rows = rows[(rows["condition"] == RANDOM) | rows["condition"].str.endswith(" mixtures")]
    return list(rows.groupby("condition")["masks"].mean().sort_values().index)


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, the gain in right episodes from each number of random mixtures to the next."""
    return rc.each({f"{few} to {more}": rc.difference(EPISODES, more, few) for few, more in pairwise(counted(table))})(
        table
    )


def present(table: pd.DataFrame, *kinds: str) -> list[str]:
    """Those of some supports that were trained on."""
    return [kind for kind in kinds if (rc.networks(table)["condition"] == kind).any()]


def ahead(other: str, margin: float, column: str = EPISODES, *, name: str, says: str) -> rc.Claim:
    """The claim that a support leads less far than random mixtures."""
    asked = "mixtures" if column == EPISODES else "mixtures that hold the rarest preference beside others"

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        return rc.each({kind: rc.difference(column, RANDOM, kind) for kind in present(table, other)})(table)

    return claim(
        name,
        says,
        "task support, preference",
        effect=effect,
        above=margin,
        unit=f"share of right episodes on held-out {asked}, random minus {other}",
        preconditions=(BEYOND_MEMORY,),
        fits=(lambda t: rc.each({k: preference_students.fits(condition=[RANDOM, k]) for k in present(t, other)})(t),),
    )


def over_memory(table: pd.DataFrame) -> pd.Series:
    """By seed, right episodes of students minus those of a planner for the nearest training mixture in its world."""
    return rc.by_seed(table, EPISODES, condition=RANDOM) - rc.by_seed(table, "memory", condition=RANDOM)


BEYOND_MEMORY = rc.Check(
    "share of right episodes of held-out mixtures, students minus a planner for the nearest training mixture",
    lambda t: over_memory(t).mean(),
    at_least=0.0,
)
SCALING, OWN = "data scaling, preference", (preference_students.fits(condition=RANDOM),)
claim = partial(rc.Claim, controls=preference_students.CONTROLS)
CLAIMS = (
    claim(
        "held-out mixtures of preferences are acted on better than from memory",
        "Trained on three quarters of the mixtures, a student is right in more whole episodes of the others, by"
        " 0.05 of them, than a planner that takes each for the nearest training mixture.",
        SCALING,
        effect=over_memory,
        above=0.05,
        unit="share of right episodes on held-out mixtures, student minus planner for the nearest mixture",
        fits=OWN,
    ),
    claim(
        "held-out mixtures of preferences are acted on almost as well as training ones",
        "Trained on three quarters of the mixtures, a student is right in almost as many whole episodes of the others,"
        " fewer by at most 0.05 of them.",
        SCALING,
        effect=lambda t: rc.by_seed(t, "episode_seen", condition=RANDOM) - rc.by_seed(t, EPISODES, condition=RANDOM),
        below=0.05,
        unit="share of right episodes, training minus held-out mixtures",
        fits=OWN,
    ),
    claim(
        "students of fewer training mixtures of preferences act worse on held-out ones",
        "Trained on the fewest mixtures, a student is right in fewer whole episodes of held-out ones, by 0.1 of them.",
        SCALING,
        effect=lambda t: rc.difference(EPISODES, RANDOM, counted(t)[0])(t),
        above=0.1,
        unit="share of right episodes on held-out mixtures, most training mixtures minus fewest",
        preconditions=(BEYOND_MEMORY,),
        fits=(lambda t: preference_students.fits(condition=[RANDOM, counted(t)[0]])(t),),
    ),
    claim(
        "every increase in training mixtures of preferences helps on held-out ones",
        "The share of right episodes on held-out mixtures rises with every increase in the number of training ones.",
        f"{SCALING} (by a reading note)",
        effect=gains,
        above=0.0,
        unit="gain in the share of right episodes on held-out mixtures",
        over="increases",
    ),
    ahead(
        "non_compositional",
        0.1,
        name="mixtures with a preference never trained on are acted on worse",
        says="Where one preference was in no training mixture, the share of right episodes with it is lower by 0.1.",
    ),
    ahead(
        "disconnected",
        0.05,
        "episode_rarest",
        name="mixtures across the cut of a disconnected support are acted on worse",
        says="Where no training mixture joins a preference to others, the share of right episodes that do"
        " is lower by 0.05.",
    ),
    ahead(
        "unpopular",
        0.02,
        name="students act worse on held-out mixtures where some preferences are rare in training",
        says="Where some preferences are in few training mixtures, the share of right held-out episodes"
        " is lower by 0.02.",
    ),
    claim(
        "popular preferences and equal use of all change little in how students act",
        "Where some preferences are in many more mixtures than others, or all in as many, held-out mixtures are acted"
        " on as after random ones, within 0.03.",
        "task support, preference",
        effect=lambda t: rc.each({k: rc.difference(EPISODES, RANDOM, k) for k in present(t, "equal", "popular")})(t),
        above=-0.03,
        below=0.03,
        unit="share of right episodes on held-out mixtures, random minus other",
        over="supports",
    ),
    *figures.goes_along(
        "over supports and numbers of mixtures on the preference grid",
        "decodability, which the released code also computes here",
        wanted=EPISODES,
        answers="the share of right episodes on held-out mixtures",
        controls=preference_students.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Right episodes on training and held-out mixtures, one dot per student, with controls; and decodability."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=4.2)
    names = [*counted(table), *(kind for kind in settings.supports)]
    for part, colour in (("seen", plots.NEUTRAL), ("unseen", plots.GOOD)):
        groups = {name: rows.loc[rows["condition"] == name, f"episode_{part}"].to_numpy() for name in names}
        plots.dots(axes[0, 0], groups, colour=colour)
    for place, name in enumerate(names):
        height = rows.loc[rows["condition"] == name, "memory"].mean()
        axes[0, 0].plot([place - 0.35, place + 0.35], [height] * 2, color=plots.BAD, linestyle=":", linewidth=1.2)
    axes[0, 0].set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes[0, 0].set(xlabel="training mixtures", ylabel="share of right episodes")
    axes[0, 0].set_title("grey: training mixtures; green: held-out;\ndotted: planner for the nearest mixture, held-out")
    readable = figures.readable(table)
    for place, name in enumerate(names):
        mine = readable[readable["condition"] == name]
        if len(mine):  # of a preference that was never trained on, not even the encoding tells
            told = figures.floored(mine, "probe_deepest", figures.FLOOR)
            axes[0, 1].plot(told, mine[EPISODES], "o", color=f"C{place}", label=name, alpha=0.7)
    axes[0, 1].set(xlabel="R2 of preferences (below 0 as 0), deepest layer", ylabel="right episodes, held-out mixtures")
    figures.legend(axes[0, 1])
    return picture
