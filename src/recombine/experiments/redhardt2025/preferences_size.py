"""Does a larger student act better on held-out mixtures of preferences, in every task encoding?

Scaling the student on the compositional preference grid, with the task encodings that this task allows: an episode has
no examples of a task to show, so that few-shot is left out, as the released code refuses it. The invertible encoding is
there as released and stronger (`nonlinear`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import encodings, figures, preference_students, shared, students
from recombine.experiments.redhardt2025.size import hidden

if TYPE_CHECKING:
    import pandas as pd

TASK_ENCODINGS = {name: made for name, made in encodings.TASK_ENCODINGS.items() if name != "few-shot"}
NONLINEAR = ("interval shuffle", "nonlinear")
EPISODES = preference_students.EPISODES


@dataclass(frozen=True, kw_only=True)
class Settings(preference_students.PreferenceSettings):
    held_out: float = 0.25
    """share of the mixtures that is never trained on"""
    task_encodings: tuple[str, ...] = ("identity", "interval shuffle")
    """how mixtures are encoded: identity, and any others but few-shot"""
    narrower: tuple[int, ...] = (32,)
    """widths of smaller students, rising; the widest have `width`"""
    deeper: tuple[int, ...] = ()
    """hidden layers of deeper students, of the width before the widest; the others have `depth`"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := set(self.task_encodings) - set(TASK_ENCODINGS):
            raise rc.UserError(f"no task encoding of mixtures is called {', '.join(sorted(unknown))}")
        if "identity" not in self.task_encodings or not 0 < self.held_out < 1:
            raise rc.UserError("identity must be among the task_encodings, and held_out between 0 and 1")
        smaller = self.narrower
        if not smaller or list(smaller) != sorted(set(smaller)) or not 0 < smaller[0] <= smaller[-1] < self.width:
            raise rc.UserError(f"smaller students need rising numbers below width {self.width}, got {smaller}")
        if not all(depth > self.depth for depth in self.deeper):
            raise rc.UserError(f"deeper students have more than {self.depth} hidden layers, got {self.deeper}")
        if self.modules % 2:
            raise rc.UserError(f"the invertible encoding halves the modules: their number is even, got {self.modules}")


QUICK = Settings(**preference_students.TINY | {"narrower": (4,), "deeper": (3,)})
LAPTOP = Settings(seed=2, task_encodings=("identity", "orthogonal"))
_ASKED = ("identity", "tokens", "interval shuffle", "nonlinear")
_SIZES: dict[str, Any] = {"task_encodings": _ASKED, "narrower": (16, 256), "deeper": (4,), "steps": 12_000}
GPU = Settings(**preference_students.LARGE | _SIZES)
_WIDTHS = (16, 32, 64, 128, 256, 512, 1024)
PAPER = replace(GPU, width=2048, narrower=_WIDTHS, task_encodings=tuple(TASK_ENCODINGS), **preference_students.LONG)


def cells(settings: Settings) -> list[rc.Cell]:
    sizes = [(width, settings.depth) for width in (*settings.narrower, settings.width)]
    sizes += [(settings.narrower[-1], depth) for depth in settings.deeper]
    points = [(name, size) for name in settings.task_encodings for size in sizes]
    return rc.cells(settings, [{"task_encoding": name, "width": w, "depth": d} for name, (w, d) in points])


def run(cell: rc.Cell, monitor) -> list[dict]:
    sizes = {"width": cell.width, "depth": cell.depth}
    settings = students.with_changes(cell.settings, preference_students.PreferenceSettings, **sizes)
    task = family(settings, cell.task_encoding, max(cell.members) + 1)
    what = {"condition": f"{cell.task_encoding}, {cell.depth} x {cell.width}"} | dict(cell.at)
    keys = [shared.support_key(settings, seed) for seed in cell.members]
    rows = preference_students.train(
        settings,
        task,
        preference_students.student(settings, task),
        who=[what | {"seed": seed} for seed in cell.members],
        supports=[rc.supports.random(shared.masks(task), cell.settings.held_out, key) for key in keys],
        monitor=monitor,
        label="students",
    )
    return [row | hidden(row) for row in rows]


def family(settings: preference_students.PreferenceSettings, task_encoding: str, worlds: int) -> rc.Task:
    """The mixtures of this many worlds in one task encoding."""
    encode = TASK_ENCODINGS[task_encoding](settings, rc.key(settings.seed, "encodings"), worlds)
    return preference_students.family(settings, worlds, encode)


def controls(settings: Settings) -> list[dict]:
    return preference_students.controls(settings, settings.held_out)


def each(of, width: str = "max", among=tuple(TASK_ENCODINGS)):
    """An effect of the widest or narrowest students of the usual depth, one column per task encoding."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        rows = rc.networks(table)
        rows = rows[(rows["depth"] == rows["depth"].min()) & rows["task_encoding"].isin(among)]
        return rc.each_of("task_encoding", of)(rows[rows["width"] == rows["width"].agg(width)])

    return effect


def depth_gain(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, log10 of the share of wrong episodes of deep students over that of shallow ones of the same width."""
    rows = rc.networks(table).assign(wrong=lambda t: np.log10(1 - t[EPISODES]))
    both = rows.pivot_table(index=["task_encoding", "seed", "width"], columns="depth", values="wrong").dropna()
    if both.shape[1] < 2:
        return both.iloc[:, :0]
    gain = both[both.columns.max()] - both[both.columns.min()]
    return gain.groupby(["task_encoding", "seed"]).mean().unstack("task_encoding")


def deep_fit(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and task encoding, whether the deepest students have learnt what they were trained on."""
    rows = rc.networks(table)
    return rc.each_of("task_encoding", preference_students.fits())(rows[rows["depth"] == rows["depth"].max()])


SCALING = "model scaling, preference"
GAP = each(lambda t: rc.by_seed(t, "episode_seen") - rc.by_seed(t, EPISODES))
TRIED = rc.Check(
    "how many task encodings were tried, of six", lambda t: rc.networks(t)["task_encoding"].nunique(), at_least=4
)
claim = partial(rc.Claim, source=f"{SCALING}; margins are ours", controls=preference_students.CONTROLS)
CLAIMS = (
    claim(
        "wider students act better on held-out mixtures, in every task encoding",
        "In each task encoding that is tried, the widest students are right in more whole episodes of held-out mixtures"
        " than the narrowest, by more than 0.05. These also learn less of what they are trained on.",
        effect=lambda t: each(rc.value(EPISODES))(t) - each(rc.value(EPISODES), "min")(t),
        above=0.05,
        unit="share of right episodes on held-out mixtures, widest minus narrowest",
        preconditions=(TRIED,),
        fits=(each(preference_students.fits()),),
        over="task encodings",
    ),
    claim(
        "deeper students act better on held-out mixtures, in every task encoding",
        "In each task encoding that is tried, deep students are wrong in fewer episodes of held-out mixtures than"
        " shallow ones of the same width, by a tenth or more.",
        effect=depth_gain,
        below=-0.05,
        unit="log10 of the share of wrong episodes on held-out mixtures, deep minus shallow",
        preconditions=(TRIED,),
        fits=(deep_fit,),
        over="task encodings",
    ),
    claim(
        "the largest students act almost as well on held-out mixtures, in every task encoding",
        "The widest students are right in almost as many whole episodes of held-out mixtures as of training ones,"
        " within 0.05.",
        effect=GAP,
        below=0.05,
        unit="share of right episodes, training minus held-out mixtures",
        preconditions=(TRIED,),
        fits=(each(preference_students.fits()),),
        over="task encodings",
    ),
    claim(
        "hidden layers make linear what was encoded non-linearly, on the preference grid",
        "From shuffled intervals or a nonlinear code, preferences of held-out mixtures are decoded better from a hidden"
        " layer of the widest students (the best on training mixtures) than from the encoding, by more than"
        " 0.1.",
        source="decodability, which the released code also computes here",
        effect=lambda t: (
            each(rc.value("probe_hidden"), among=NONLINEAR)(t) - each(rc.value("probe_code"), among=NONLINEAR)(t)
        ),
        above=0.1,
        unit="R2 of decoded preferences, hidden layer minus task encoding",
        fits=(each(preference_students.fits(), among=NONLINEAR),),
        over="task encodings",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Right episodes on held-out mixtures against width, and decodability of encoding and hidden layer.

    Memory plans for the nearest training mixture. Students of different task encodings are drawn a little apart in
    width, and as rings of different sizes, since some of them coincide.
    """
    picture, axes = rc.plots.panels(rows=1, columns=2, side=3.6)
    rows = rc.networks(table)
    memory = preference_students.control(table, "nearest mixture", EPISODES)
    axes[0, 0].axhline(memory, color="0.4", linestyle=":", linewidth=1.2, label=f"memory ({memory:.2f})")
    names, last = settings.task_encodings, len(settings.task_encodings) - 1
    for place, name in enumerate(names):
        mine, colour = rows[rows["task_encoding"] == name], f"C{place}"
        mine = mine.assign(at=mine["width"] * np.exp(0.06 * (place - last / 2)))
        shallow, deep = mine[mine["depth"] == settings.depth], mine[mine["depth"] > settings.depth]
        figures.lines(axes[0, 0], {name: shallow}, "at", EPISODES, [colour])
        axes[0, 0].plot(deep["at"], deep[EPISODES], "^", color=colour, markersize=4, alpha=0.6)
        large = shallow[shallow["width"] == shallow["width"].max()]
        both = (large[column].clip(lower=-1) for column in ("probe_code", "probe_hidden"))
        how = {"markersize": 4 + 8 * (last - place) / max(last, 1), "markerfacecolor": "none", "markeredgewidth": 1.4}
        axes[0, 1].plot(*both, "o", color=colour, **how)
    widths = (*settings.narrower, settings.width)
    axes[0, 0].set(xscale="log", xlabel="width (triangles: deeper)", ylabel="right episodes on held-out mixtures")
    axes[0, 0].set_xticks(widths, [str(width) for width in widths])
    axes[0, 0].minorticks_off()
    entries, _ = axes[0, 0].get_legend_handles_labels()
    picture.legend(handles=entries, loc="outside upper left", ncols=5, fontsize=7.5, frameon=False)
    axes[0, 1].axline((0, 0), slope=1, color=rc.plots.BAD, linestyle=":", linewidth=0.9)
    axes[0, 1].set(xlabel="R2 of preferences, encoding (-1 where lower)", ylabel="R2 of preferences, best hidden layer")
    return picture
