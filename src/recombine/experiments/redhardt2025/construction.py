"""How many neurons does a network need to compose, if it is built rather than trained?

Theorem 3.1: O(1 / sqrt(error) + modules) neurons are enough. Networks are written down from a teacher's weights, one
teacher per seed; beside them stand students of several sizes, and networks that store combinations one by one. The
latter store modules at full strength alone, z in {0, 1}; built networks and students answer all magnitudes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import built_networks, figures, shared, students
from recombine.theory.construction import construct

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(students.StudentSettings):
    numbers: tuple[int, ...] = (4, 8, 16, 32, 64)
    """numbers of modules to build for"""
    pieces: tuple[int, ...] = (2, 4, 8, 16, 32)
    """straight pieces that stand for a square, and so a built network's ReLUs for each; 16 is among them"""
    points: int = 10_000
    """tasks on which a built network is evaluated, one input each"""
    modules: int = 8
    """modules of the teachers for which built and trained networks are compared"""
    width: int = 176
    """units of the widest students' hidden layers; the laptop's have as many in all as a built network of 4 pieces"""
    narrower: tuple[int, ...] = (91,)
    """widths of the other students, of which some should have as many units as a built network"""
    steps: int = 2000
    """updates of each student"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("points")
        for name in ("numbers", "pieces"):
            values = getattr(self, name)
            if len(values) < 2 or list(values) != sorted(set(values)) or values[0] < 1:
                raise rc.UserError(f"{name} must be two or more rising numbers, got {values}")
        if built_networks.AT not in self.pieces or self.modules not in self.numbers:
            raise rc.UserError(f"pieces must include {built_networks.AT}, and numbers {self.modules}")
        if self.max_active > self.numbers[0]:
            raise rc.UserError(f"a task cannot have {self.max_active} of {self.numbers[0]} modules")
        if not all(0 < width < self.width for width in self.narrower):
            raise rc.UserError(f"narrower students have fewer than {self.width} units, got {self.narrower}")


QUICK = Settings(**students.QUICK | {"numbers": (4, 6), "pieces": (4, 16), "points": 200, "narrower": (4,)})
LAPTOP = Settings(tasks=64, seed=2)
_SIZES: dict[str, Any] = {"numbers": (4, 8, 16, 32, 64, 128), "pieces": (2, 4, 8, 16, 32), "points": 10_000}
GPU = Settings(**students.LARGE | _SIZES | {"width": 1024, "narrower": (256, 512)})
PAPER = replace(GPU, **students.LONG)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"modules": modules} for modules in settings.numbers])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings = cell.settings
    rows = [row for seed in cell.members for row in built_networks.built(settings, cell.modules, seed, monitor)]
    rows += [built_networks.memorizing(settings, cell.modules, seed) for seed in cell.members]
    if cell.modules == settings.modules:
        for width in (*settings.narrower, settings.width):
            rows += trained(settings, cell, width, monitor)
    return rows


def trained(settings: Settings, cell: rc.Cell, width: int, monitor) -> list[dict]:
    """Students of one width, on held-out tasks."""
    mine = students.with_changes(settings, modules=cell.modules, width=width)
    task = shared.family(mine, max(cell.members) + 1)
    rows = shared.train(
        mine,
        task,
        shared.student(mine, task),
        who=[{"condition": "trained", "modules": cell.modules, "width": width, "seed": seed} for seed in cell.members],
        supports=[shared.random_support(mine, task, seed) for seed in cell.members],
        monitor=monitor,
        label=f"{cell.modules}-modules-{width}-wide",
    )
    return [sized(mine, row) for row in rows]


def sized(settings: students.StudentSettings, row: dict) -> dict:
    """A student's row with its size, and its error as that of built networks is counted."""
    hidden = settings.depth * settings.width
    size = {"hidden": hidden, "neurons": settings.modules + settings.size + hidden}
    return row | size | {"missed": float(np.sqrt(1 - row["pooled_unseen"]))}


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments; networks built from modules in a wrong order; and the teacher as students hear it."""
    import jax
    import jax.numpy as jnp

    it = built_networks.teacher(settings, settings.modules, 0)
    z, x = built_networks.questions(settings, settings.modules, 0)
    y, said = it(z, x), rc.teacher_of(shared.family(settings, 1))
    heard = jax.jit(jax.vmap(said.teach, (None, 0, 0)))(0, jnp.asarray(z, jnp.float32), jnp.asarray(x, jnp.float32))
    wrong = replace(it, modules=np.roll(it.modules, 1, axis=0))
    mixed_up = [
        {"system": "modules mixed up", "modules": settings.modules, "hidden": network.hidden, "seed": 0}
        | built_networks.errors(rc.Record(z, x, y[:, None], network(z, x)[:, None]))
        for network in (construct(wrong, n) for n in settings.pieces)
    ]
    exact = {"system": "the teacher", "seed": 0, "error": float(np.abs(np.asarray(heard) - y).max())}
    *known, untrained = shared.controls(settings)
    untrained |= {"modules": settings.modules, "width": settings.width}
    return [*known, sized(settings, untrained), *mixed_up, exact]


def exponents(rows: pd.DataFrame) -> pd.Series:
    """By seed, the slope of the logarithm of the largest error over that of hidden neurons, averaged over modules."""
    logs = rows.assign(hidden=np.log(rows["hidden"].astype(float)), error=np.log(rows["error"]))
    slopes = logs.groupby(["seed", "modules"])[["hidden", "error"]].apply(
        lambda some: np.polyfit(some["hidden"], some["error"], 1)[0] if np.isfinite(some).all(axis=None) else np.nan
    )
    return slopes.groupby("seed").mean()


def growth(table: pd.DataFrame) -> pd.Series:
    """By seed, log10 of how much larger the error with most modules is than with fewest, at as many pieces."""
    numbers = rc.pick(table, condition="built")["modules"]
    return rc.log_ratio(
        "error", numbers.max(), numbers.min(), by="modules", condition="built", pieces=built_networks.AT
    )(table)


CONTROLS = (
    rc.Check(
        "exponent of the error of networks built from modules in a wrong order",
        lambda t: exponents(rc.pick(t, system="modules mixed up")).iloc[0],
        at_least=-0.5,
    ),
    rc.reads("the teacher", "error", at_most=1e-4),
    rc.Check(
        "largest error of a built network over its proven bound",
        lambda t: (rc.pick(t, condition="built")["error"] / rc.pick(t, condition="built")["bound"]).max(),
        at_most=1.0,
    ),
)
SEVERAL = rc.Check("sizes that both have", lambda t: len(built_networks.matched(t)), at_least=2)
AS_MANY = rc.Check(
    "different numbers of hidden neurons of built networks of as many pieces, over the modules",
    lambda t: rc.pick(t, condition="built").groupby("pieces")["hidden"].nunique().max(),
    at_most=1,
)
MEMORY = (
    rc.Check(
        "largest error of memorizing networks on what they store",
        lambda t: rc.pick(t, condition="memorizing")["error_stored"].max(),
        at_most=1e-6,
    ),
    rc.Check(
        "largest R2 of memorizing networks on what they do not store",
        lambda t: rc.pick(t, condition="memorizing")["r2_others"].max(),
        at_most=0.05,
    ),
)
FROM = 16  # modules of the paper's teachers
claim = partial(rc.Claim, source="theorem 3.1", controls=CONTROLS)
CLAIMS = (
    claim(
        "a built network's error falls with the square of its neurons",
        "A built network's largest error falls as its hidden neurons to the power -2, within 0.5.",
        effect=lambda t: exponents(rc.pick(t, condition="built")),
        above=-2.5,
        below=-1.5,
        unit="exponent of the largest error over the hidden neurons",
    ),
    claim(
        "more modules cost a built network inputs alone",
        "With as many hidden neurons, the largest error with most modules is less than twice that with fewest.",
        effect=growth,
        below=float(np.log10(2)),
        unit="log10 of the largest error with most modules over that with fewest",
        preconditions=(AS_MANY,),
    ),
    claim(
        "a trained student errs less than a built network of as many neurons, at every size",
        "At every size that both have, a student errs less on held-out tasks than a built network, by a factor of 1.26"
        " or more.",
        source="ours; stated after a first run, in which it held at the smallest size alone",
        effect=built_networks.excess,
        above=0.1,
        unit="log10 of the root mean square error, built minus trained",
        preconditions=(SEVERAL,),
        controls=CONTROLS + figures.R2_CONTROLS,
        fits=(lambda t: built_networks.at_sizes(t, lambda _, student: figures.fits(**student)(t)),),
        over="sizes",
    ),
    claim(
        f"from {FROM} modules on, storing combinations needs more neurons than a built network with a student's error",
        "A network that stores every combination one by one has more hidden neurons than a built network with the error"
        f" of the widest student from fewer than {FROM} modules on.",
        source="ours; theorem 3.1 against storing all combinations; stated after two claims that were arithmetic",
        effect=built_networks.crossing,
        below=float(np.log2(FROM)),
        unit="log2 of the modules from which on storing needs more hidden neurons",
        preconditions=(AS_MANY,),
        controls=CONTROLS + MEMORY + figures.R2_CONTROLS,
        fits=(built_networks.widest_fit,),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The largest error against hidden neurons and against modules; built and trained networks side by side."""
    plots = rc.plots
    picture, axes = plots.panels(rows=1, columns=3, side=3.2)
    rows = rc.pick(table, condition="built")
    for place, modules in enumerate(settings.numbers):
        mine = {f"{modules} modules": rows[rows["modules"] == modules]}
        figures.lines(axes[0, 0], mine, "hidden", "error", [f"C{place}"])
    sizes = np.sort(rows["hidden"].unique())
    reference = 1.6 * rows.loc[rows["hidden"] == sizes[0], "error"].max() * (sizes / sizes[0]) ** -2.0
    axes[0, 0].plot(sizes, reference, "--", color="black", linewidth=0.8, label="slope of power -2")
    plots.decades(axes[0, 0], xlabel="hidden neurons of built networks", ylabel="largest error")
    axes[0, 0].set_xticks(sizes, [f"{size:g}" for size in sizes])
    for place, pieces in enumerate(settings.pieces):
        mine = {f"{pieces} pieces": rows[rows["pieces"] == pieces]}
        figures.lines(axes[0, 1], mine, "modules", "error", [f"C{place}"])
    plots.decades(axes[0, 1], xlabel="modules", ylabel="largest error")
    axes[0, 1].set_xticks(settings.numbers, settings.numbers)
    kinds = {
        "built": rows[rows["modules"] == settings.modules],
        "trained": rc.pick(table, condition="trained", modules=settings.modules),
    }
    figures.lines(axes[0, 2], kinds, "hidden", "missed", [plots.NEUTRAL, plots.GOOD])
    plots.decades(axes[0, 2], xlabel="hidden neurons", ylabel="RMS error / standard deviation of answers")
    stored = rc.pick(table, condition="memorizing", modules=settings.modules)["hidden"].max()
    axes[0, 2].axvline(stored, color=plots.BAD, linestyle=":", linewidth=0.9, label="stores every combination")
    power, more = (claim.effect(table).mean() for claim in CLAIMS[:2])
    axes[0, 0].set_title(f"the error falls as the hidden neurons\nto the power {power:.2f}")
    axes[0, 1].set_title(f"error with most modules over fewest,\nat {built_networks.AT} pieces: {10**more:.2f}")
    axes[0, 2].set_title(f"{settings.modules} modules")
    axes[0, 1].set_ylim(bottom=rows["error"].min() / 6)
    figures.legend(axes[0, 0])
    figures.legend(axes[0, 1], title="straight pieces per square", loc="lower center", ncols=2)
    figures.legend(axes[0, 2])
    return picture
