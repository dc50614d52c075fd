"""Does a larger student compose where a smaller one does not, in every task encoding?

Scaling the student, hyperteacher, with the paper's six task encodings, each judged by itself. The invertible one is
there twice: as released, from which constituents can be decoded almost linearly, and stronger (`nonlinear`), as the
paper reports it. Where an encoding is drawn at random, every seed has a draw of its own. By a reading note, the paper's
students of width 2048, trained for 300,000 steps, reach 0.95 to 1.00 in all of them. Encodings that are harder to learn
from are trained longer. Students that fit a laptop do not learn those: its tier has the three that they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import encodings, figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.StudentSettings):
    task_encodings: tuple[str, ...] = tuple(encodings.TASK_ENCODINGS)
    """how tasks are encoded: identity, and any others"""
    narrower: tuple[int, ...] = (32,)
    """widths of smaller students, rising; the widest have `width`"""
    shallower: tuple[int, ...] = (1,)
    """hidden layers of shallower students, rising; the deepest have `depth`"""
    shallow_width: int = 32
    """the widest shallower students: wider ones leave nothing to gain"""
    longer: tuple[tuple[str, int], ...] = ()
    """encodings that are trained longer than `steps`, and how many times"""
    shots: int = 50
    """examples that tell a task, where examples do"""

    def named(self, kinds: Iterable[str]) -> list[str]:
        """Those of some kinds of task encoding that are used."""
        return [name for name in kinds if name in self.task_encodings]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("shots")
        if unknown := set(self.task_encodings) - set(encodings.TASK_ENCODINGS):
            known = ", ".join(encodings.TASK_ENCODINGS)
            raise rc.UserError(f"no task encoding is called {', '.join(sorted(unknown))}; there are {known}")
        if len(set(self.task_encodings)) < len(self.task_encodings) or "identity" not in self.task_encodings:
            raise rc.UserError("task_encodings must be identity and others, each once")
        if unknown := {name for name, _ in self.longer} - set(encodings.TASK_ENCODINGS):
            raise rc.UserError(f"longer names no task encoding: {', '.join(sorted(unknown))}")
        for name, smaller, largest in (("width", self.narrower, self.width), ("depth", self.shallower, self.depth)):
            if not smaller or list(smaller) != sorted(set(smaller)) or not 0 < smaller[0] <= smaller[-1] < largest:
                raise rc.UserError(f"smaller students need rising numbers below {name} {largest}, got {smaller}")
        if self.modules % 2:
            raise rc.UserError(f"the invertible encoding halves the modules: their number is even, got {self.modules}")


_TWO: dict[str, Any] = {"task_encodings": ("identity", "few-shot"), "narrower": (4,), "shallower": (1,)}
_TWO |= {"shallow_width": 4, "shots": 5}
QUICK = Settings(**students.QUICK | _TWO)
_SMALL: dict[str, Any] = {"tasks": 64, "depth": 4, "shallower": (2,), "steps": 1200}
LAPTOP = Settings(seed=2, seeds=8, block=8, task_encodings=("identity", "orthogonal", "invertible"), **_SMALL)
_LONGER = (("tokens", 3), ("interval shuffle", 3), ("nonlinear", 3), ("few-shot", 5))
_SIZES: dict[str, Any] = {"narrower": (128, 256), "shallower": (2,), "shallow_width": 256, "longer": _LONGER}
GPU = Settings(**students.LARGE | _SIZES)
_WIDTHS = (128, 256, 512, 1024)
PAPER = replace(GPU, **students.LONG, width=2048, narrower=_WIDTHS, shallow_width=2048, longer=())
VARIANTS = students.VARIANTS


def sizes(settings: Settings) -> list[tuple[int, int]]:
    """The (width, depth) of the students of a task encoding, smallest first."""
    widths, depths = (*settings.narrower, settings.width), (*settings.shallower, settings.depth)
    return [(w, d) for d in depths for w in widths if d == settings.depth or w <= settings.shallow_width]


def cells(settings: Settings) -> list[rc.Cell]:
    points = [(name, size) for name in settings.named(encodings.TASK_ENCODINGS) for size in sizes(settings)]
    return rc.cells(settings, [{"task_encoding": name, "width": w, "depth": d} for name, (w, d) in points])


def run(cell: rc.Cell, monitor) -> list[dict]:
    """The rows also say how well constituents are decoded from the hidden layer that is best on training tasks."""
    settings = cell.settings
    times = dict(settings.longer).get(cell.task_encoding, 1)
    small = students.with_changes(settings, width=cell.width, depth=cell.depth, steps=times * settings.steps)
    task = family(settings, cell.task_encoding, max(cell.members) + 1)
    what = {"condition": f"{cell.task_encoding}, {cell.depth} x {cell.width}"} | dict(cell.at)
    rows = shared.train(
        small,
        task,
        shared.student(small, task),
        who=[what | {"seed": seed} for seed in cell.members],
        supports=[shared.random_support(settings, task, seed) for seed in cell.members],
        monitor=monitor,
        label="students",
    )
    return [row | hidden(row) | {"steps": float(small.steps)} for row in rows]


def hidden(row: dict) -> dict[str, float]:
    """R^2 of constituents of held-out tasks decoded from the hidden layer whose probe is best on training tasks."""
    seen = row["probes_seen"][1:]
    best = 1 + int(np.argmax(seen)) if np.isfinite(seen).all() else -1
    return {"probe_hidden": float(row["probes_unseen"][best])}


def family(settings: Settings, task_encoding: str, teachers: int) -> rc.Task:
    """The tasks of this many teachers in one task encoding."""
    encode = encodings.TASK_ENCODINGS[task_encoding](settings, rc.key(settings.seed, "encodings"), teachers)
    return shared.family(students.with_changes(settings), teachers, encode)


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, with the largest student of each task encoding at its initial weights."""
    tasks = {name: family(settings, name, 1) for name in settings.named(encodings.TASK_ENCODINGS)}
    support = shared.random_support(settings, tasks["identity"], 0)
    size = {"width": settings.width, "depth": settings.depth}
    untrained = [
        shared.untrained(settings, task, shared.student(settings, task), support, task_encoding=name, **size)
        for name, task in tasks.items()
    ]
    rows = [row | hidden(row) for row in untrained]
    return [*shared.known(settings, tasks["identity"], support), *rows]


R2 = rc.value("r2_unseen")


def each(of: Callable = R2, *, among: Iterable[str] = encodings.TASK_ENCODINGS, width: str = "max", depth: str = "max"):
    """The effect of students of the largest ("max") or smallest ("min") width and depth, one column per encoding."""

    def effect(table: pd.DataFrame) -> pd.DataFrame:
        rows = rc.networks(table)
        rows = rows[(rows["depth"] == rows["depth"].agg(depth)) & rows["task_encoding"].isin(list(among))]
        return rc.each_of("task_encoding", of)(rows[rows["width"] == rows["width"].agg(width)])

    return effect


def made_linear(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, R^2 decoded from a hidden layer of the largest students minus that from a non-linear encoding."""
    hidden, code = (each(rc.value(f"probe_{of}"), among=encodings.NONLINEAR)(table) for of in ("hidden", "code"))
    return hidden - code


def suffices(name: str) -> rc.Claim:
    """The claim that the largest students compose in one task encoding, above 0.9."""
    return figures.claim(
        f"large students given the {name} task encoding answer held-out combinations",
        f"Given the {name} task encoding, the largest students answer held-out combinations with an R2 above 0.9.",
        f"{SCALING} ({encodings.REPORTED[name]:g} by a reading note{encodings.NOT_THE_PAPERS.get(name, '')})",
        effect=each(among=[name]),
        above=0.9,
        unit="R2 on held-out tasks, largest students",
        fits=(each(figures.fits(), among=[name]),),
    )


TRIED = rc.Check(
    "how many task encodings were tried, of seven",
    lambda t: rc.networks(t)["task_encoding"].nunique(),
    at_least=len(encodings.TASK_ENCODINGS),
)
LARGEST_FIT = each(figures.fits())
"""Whether the largest students of an encoding have learnt: where not, it is not learnt at this size."""
SCALING = "model scaling, six encodings, hyperteacher"
CLAIMS = (
    figures.claim(
        "wider students answer held-out combinations better, in every task encoding",
        "In every task encoding, the widest students answer held-out combinations better than the narrowest, by 0.05 of"
        " R2. These also learn less of what they are trained on: what size does, not a pure gap.",
        SCALING,
        effect=lambda t: each()(t) - each(width="min")(t),
        above=0.05,
        unit="R2 on held-out tasks, widest minus narrowest",
        preconditions=(TRIED,),
        fits=(LARGEST_FIT,),
        over="task encodings",
    ),
    figures.claim(
        "deeper students miss less of held-out combinations, in every task encoding",
        "At widths that leave something to gain, deep students miss less of the variance of held-out tasks than shallow"
        " ones, by a fifth or more.",
        SCALING,
        effect=figures.depth_gain,
        below=-0.1,
        unit="log10 of 1 - R2 on held-out tasks, deep minus shallow, narrow students",
        preconditions=(TRIED,),
        fits=(LARGEST_FIT,),
        over="task encodings",
    ),
    *(suffices(name) for name in encodings.TASK_ENCODINGS),
    figures.claim(
        "hidden layers make linear what was encoded non-linearly",
        "From shuffled intervals, a nonlinear code or examples, constituents of held-out tasks are decoded better from"
        " a hidden layer of the largest students (the best on training tasks) than from the encoding, by 0.1 more than"
        " in an untrained student.",
        "table of encodings, hyperteacher (0.94 to 0.90 against 0.73 to -0.23, by a reading note); untrained students"
        " were set against it after a look at the gpu table",
        effect=figures.beyond_untrained(made_linear, "probe_hidden", "probe_code", "task_encoding"),
        above=0.1,
        unit="R2 of decoded constituents, hidden layer minus task encoding, trained minus untrained",
        preconditions=(rc.reads("untrained", "probe_code", at_least=0.95, task_encoding="identity"),),
        fits=(each(figures.fits(), among=encodings.NONLINEAR),),
        over="task encodings",
    ),
    *figures.goes_along(
        "over task encodings and sizes",
        f"ours, within one experiment; {SCALING}",
        preconditions=(figures.mostly_fit(),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out tasks against width, against depth, and against how well the encoding shows the constituents."""
    figure, axes = rc.plots.panels(rows=1, columns=3, side=3.3)
    wider, deeper, by_code = axes[0]
    rows = rc.networks(table)
    deep, thin = rows[rows["depth"] == settings.depth], rows[rows["width"] == settings.narrower[-1]]
    wide = deep[deep["width"] == settings.width]
    for i, name in enumerate(settings.named(encodings.TASK_ENCODINGS)):
        own, low, large = (t[t["task_encoding"] == name] for t in (deep, thin, wide))
        colour, aside = f"C{i}", 0.03 * (i - 3)  # some would lie on one another
        figures.lines(wider, {name: own.assign(width=own["width"] * (1 + aside))}, "width", "r2_unseen", [colour])
        figures.lines(deeper, {name: low.assign(depth=low["depth"] + aside)}, "depth", "r2_unseen", [colour])
        for fit, fill in ((large["r2_seen"] >= figures.FIT, colour), (large["r2_seen"] < figures.FIT, "none")):
            x, y = large.loc[fit, "probe_code"].clip(lower=-1), large.loc[fit, "r2_unseen"]
            by_code.plot(x, y, "o", color=colour, markerfacecolor=fill, markersize=max(4, 8 - 2 * i))
    widths, depths = (*settings.narrower, settings.width), (*settings.shallower, settings.depth)
    wider.set(xscale="log", xlabel=f"width, {settings.depth} hidden layers")
    deeper.set(xlabel=f"hidden layers, width {settings.narrower[-1]}")
    by_code.set(xlabel="R2 of constituents decoded\nfrom the encoding")
    by_code.set_title(f"largest students (open: R2 on\ntraining tasks below {figures.FIT})", fontsize=8)
    for place, numbers in ((wider, widths), (deeper, depths)):
        place.set_xticks(numbers, [str(n) for n in numbers])
        place.minorticks_off()
    for place in axes[0]:
        place.set_ylabel("R2 on held-out tasks")
    figures.r2_limits(*axes[0])
    handles = wider.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=7, fontsize=6.5, frameon=False)
    return figure
