"""Does the number of combinations that must be trained on grow more slowly than the number there are?

Scaling law, hyperteacher: the modules grow, the training masks grow in proportion, and all masks as a power. The paper
searches for the number needed, with 4, 5 or 6 active modules; here a few multiples of the number of modules are tried,
each with training masks that use all modules equally, and the number needed is read off between them, at several
levels of R^2. Rivals: as many masks as modules (power 1), as pairs (2), as all combinations (nearly the active ones).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.redhardt2025 import architectures, figures, growth, growth_figure, shared, students
from recombine.experiments.redhardt2025.growth import COMPARED, LEVELS, powers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(architectures.WithTransformer):
    modules: int = 16
    """modules of the largest teachers"""
    fewer: tuple[int, ...] = (8, 12)
    """modules of the smaller teachers, rising"""
    max_active: int = 4
    """modules of a task, at most"""
    more_active: tuple[int, ...] = ()
    """further numbers of active modules"""
    multiples: tuple[float, ...] = (1, 2, 4, 8)
    """training masks for each module, rising"""
    transformers: tuple[int, ...] = ()
    """numbers of modules for which transformers are trained as well, on all multiples but the largest"""

    @property
    def families(self) -> tuple[int, ...]:
        """Numbers of modules, rising."""
        return (*self.fewer, self.modules)

    @property
    def actives(self) -> tuple[int, ...]:
        """Numbers of active modules."""
        return (self.max_active, *self.more_active)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, numbers in (("fewer, then modules,", self.families), ("multiples", self.multiples)):
            if not numbers or list(numbers) != sorted(set(numbers)) or numbers[0] <= 0:
                raise rc.UserError(f"{name} must be rising numbers above 0, got {numbers}")
        if not self.fewer or self.fewer[0] < max(self.actives):
            raise rc.UserError(f"fewer needs numbers of modules from {max(self.actives)} on, got {self.fewer}")
        if not set(self.transformers) <= set(self.families):
            raise rc.UserError(f"transformers are trained for some of {self.families} modules, got {self.transformers}")
        for modules in self.families:
            shown, there = round(self.multiples[-1] * modules), students.total(modules, min(self.actives))
            if shown >= there:
                raise rc.UserError(f"{shown} training masks leave none unseen: {modules} modules have {there}")


QUICK = Settings(
    **students.QUICK
    | architectures.QUICK
    | {"modules": 5, "fewer": (4,), "max_active": 3, "multiples": (1, 2, 3), "transformers": (4,)}
)
LAPTOP = Settings(seed=2, tasks=64, steps=2500, multiples=(1, 2.5, 6, 16))
_SIZES: dict[str, Any] = {"modules": 28, "fewer": (10, 16), "more_active": (6,), "multiples": (1, 3, 9, 27)}
GPU = Settings(**students.LARGE | architectures.LARGE | _SIZES | {"transformers": (28,)})
_EVERY = tuple(range(10, 30, 2))
_MULTIPLES = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24)
_LONG: dict[str, Any] = students.LONG | {"transformer_rate": 3e-4}
PAPER = replace(GPU, fewer=_EVERY[:-1], more_active=(5, 6), multiples=_MULTIPLES, transformers=_EVERY, **_LONG)
VARIANTS = students.VARIANTS


def cells(settings: Settings) -> list[rc.Cell]:
    mlps = [
        {"model": architectures.MLP, "max_active": k, "modules": m} for k in settings.actives for m in settings.families
    ]
    others = [
        {"model": architectures.TRANSFORMER, "max_active": settings.max_active, "modules": m}
        for m in settings.transformers
    ]
    return rc.cells(settings, [*mlps, *others])


def run(cell: rc.Cell, monitor) -> list[dict]:
    made, rate = architectures.KINDS[cell.model]
    changes = {"modules": cell.modules, "max_active": cell.max_active}
    settings = replace(cell.settings, learning_rate=getattr(cell.settings, rate))
    settings = students.with_changes(settings, students.WithPrecision, **changes)
    task = shared.family(settings, max(cell.members) + 1)
    sizes = {"model": cell.model, **changes, "total": len(shared.masks(task))}
    multiples = cell.settings.multiples[: None if cell.model == architectures.MLP else -1]
    who: list[dict[str, Any]] = [
        {"condition": f"{cell.model}, {cell.max_active} of {cell.modules} modules, {round(n * cell.modules)} masks"}
        | {"multiple": n, **sizes, "seed": seed}
        for n in multiples
        for seed in cell.members
    ]
    return shared.train(
        settings,
        task,
        made(cell.settings, task),
        who=who,
        supports=[shown(settings, task, w["multiple"], w["seed"]) for w in who],
        monitor=monitor,
        label="students",
    )


def shown(settings: students.SharedSettings, task: rc.Task, multiple: float, seed: int) -> np.ndarray:
    """So many training masks for each module, which use all modules equally."""
    masks = shared.masks(task)
    share = shared.holding_out(masks, round(multiple * settings.modules))
    return rc.supports.equal(masks, share, shared.support_key(settings, seed))


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, for the most modules and the most training masks."""
    small = students.with_changes(settings, students.WithPrecision)
    task = shared.family(small, 1)
    support = shown(settings, task, settings.multiples[-1], 0)
    return [*shared.known(small, task, support), shared.untrained(small, task, shared.student(small, task), support)]


LAW = "scaling law, hyperteacher"
GAP = growth.by_family(lambda t: rc.by_seed(t, "r2_seen") - rc.by_seed(t, "r2_unseen"))
COMPARED_AT = f"gpu tier: {GPU.transformers[0]} modules alone"
claim = partial(figures.claim, source=LAW)


def slower(level: float) -> rc.Claim:
    """The claim that the masks needed for a level grow more slowly than all masks do."""
    return claim(
        f"the masks needed for an R2 of {level:g} grow as a power of the modules below 2.5",
        f"As modules are added, the training masks needed for an R2 of {level:g} grow as a power of the modules below"
        " 2.5. All masks grow nearly as the power of the active modules, pairs as 2.",
        source=f"{LAW} (sub-exponential, in the abstract; the levels are ours)",
        effect=lambda t: powers(t, level),
        below=2.5,
        unit="power of the modules with which the masks needed grow",
        over="numbers of active modules",
    )


CLAIMS = (
    claim(
        "a fixed number of masks per module leaves hardly a gap",
        "At the largest number of training masks per module, held-out masks are answered almost as well as these, for"
        " every number of modules and of active ones, within 0.05.",
        effect=GAP,
        below=0.05,
        unit="R2 on training minus held-out tasks, largest multiple",
        fits=(growth.by_family(figures.fits()),),
        over="families",
    ),
    claim(
        "adding modules costs little at a fixed number of masks per module",
        "With as many training masks per module, the gap from training to held-out masks grows by less than 0.05 as"
        " modules are added, though a smaller and smaller share of all masks is trained on.",
        effect=growth.cost,
        below=0.05,
        unit="R2 on training minus held-out tasks, most modules minus fewest, largest multiple",
        fits=(lambda t: growth.by_kind(figures.fits(), growth.most_shown(t)),),
        over="numbers of active modules",
    ),
    *(slower(level) for level in LEVELS),
    claim(
        f"the masks needed to keep {COMPARED:g} of the R2 on training tasks grow as a power of the modules below 2.5",
        f"As modules are added, the training masks needed for {COMPARED:g} of the R2 on training tasks, which falls"
        " with the modules too, grow as a power of the modules below 2.5.",
        source=f"ours; {LAW}",
        effect=lambda t: powers(growth.relative(t), COMPARED, "kept"),
        below=2.5,
        unit="power of the modules with which the masks needed grow",
        over="numbers of active modules",
    ),
    claim(
        "the masks needed for an R2 of 0.9 grow about as pairs of modules do",
        "The training masks needed for an R2 of 0.9 grow as a power of the modules between 1.5 and 2.5; pairs grow as"
        " 2.",
        source=f"ours, a rival explanation; {LAW}",
        effect=lambda t: powers(t, COMPARED),
        above=1.5,
        below=2.5,
        unit="power of the modules with which the masks needed grow",
        over="numbers of active modules",
    ),
    claim(
        "the masks needed for an R2 of 0.9 grow faster than the modules",
        "The training masks needed for an R2 of 0.9 grow as a power of the modules above 1: a fixed number per module"
        " is not quite enough.",
        source=f"ours; {LAW}",
        effect=lambda t: powers(t, COMPARED),
        above=1.0,
        unit="power of the modules with which the masks needed grow",
        over="numbers of active modules",
    ),
    claim(
        "the share of pairs seen explains R2 beyond numbers of masks",
        "Over all families, R2 on held-out tasks rises with the share of pairs of modules seen together, also given the"
        " masks per module, or the share of all masks: partial rank correlations above 0.3.",
        source=f"ours, a rival explanation; {LAW}",
        effect=growth.pairs_explain,
        above=0.3,
        unit="partial rank correlation of R2 on held-out tasks with the share of pairs",
        over="rivals",
    ),
    claim(
        "numbers of masks explain R2 beyond the share of pairs seen (ours)",
        "Over all families, R2 on held-out tasks rises with the masks per module, and with the share of all masks, also"
        " given the share of pairs of modules seen together: partial rank correlations above 0.3.",
        source=f"ours, the converse of a rival explanation, stated after a look at the gpu tables; {LAW}",
        effect=growth.masks_explain,
        above=0.3,
        unit="partial rank correlation of R2 on held-out tasks with a number of masks, given the share of pairs",
        over="numbers of masks",
    ),
    claim(
        f"a transformer needs fewer training masks than an MLP, with {GPU.max_active} active modules ({COMPARED_AT})",
        "For an R2 of 0.9 on held-out tasks, a transformer needs fewer training masks than an MLP, by a factor of 1.4"
        f" or more, with the fewest active modules, where both are trained ({COMPARED_AT}). Its fewest count if"
        " enough.",
        source=f"{LAW}, MLP against transformer (by a reading note)",
        effect=growth.fewer_needed,
        above=0.5,
        unit="log2 of masks needed, MLP over transformer",
        over="numbers of modules",
    ),
    *figures.goes_along("over modules and training masks", f"ours, within one experiment; {LAW}", growth.readable_mlps),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out tasks against masks per module and against pairs seen, and the masks needed at each level.

    An arrow down marks a number that is at most so high, since the fewest masks tried suffice in some seed.
    """
    return growth_figure.law(table, settings.multiples)
