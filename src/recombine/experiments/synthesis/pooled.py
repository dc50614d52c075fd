"""Is held-out success a matter of what training covers, or does scale help beyond coverage, in six families of tasks?

The question that joins the papers. Half, a quarter or an eighth of all pairs of parts is withheld by lot, and every
example with such a pair is held out. Networks of a family's usual size, wider ones and deeper ones are asked examples
with a withheld pair. If coverage is all there is, success follows the coverage and not the size. If scale helps beyond
coverage, larger networks answer better at equal coverage, though they fit what they were shown equally well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.seeds import Seeded
from recombine.experiments.synthesis import families, pooled_figure

if TYPE_CHECKING:
    import pandas as pd

USUAL, WIDE, DEEP = "usual", "wide", "deep"


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    seed: int = 4
    """the number from which every random draw is derived"""
    families: tuple[str, ...] = families.NAMES
    """which families: bumps, hyperteacher, preferences, chains, programmes, scan"""
    withheld: tuple[float, ...] = (0.125, 0.5)
    """shares of pairs that are withheld by lot, rising"""
    wider: int = 2
    """how many times as wide wide networks are"""
    deeper: int = 2
    """how many times as deep deep networks are"""
    effort: float = 1.0
    """how many times the updates that each family usually takes"""
    tiny: bool = False
    """tasks as small as can be, to prove the plumbing"""
    n_eval: int = 512
    """examples of each kind on which a network is evaluated"""

    def __post_init__(self) -> None:
        self.need_positive("wider", "deeper", "n_eval")
        self.need_rates("effort")
        for name in self.families:
            families.check(name)
        if len(self.withheld) < 2 or list(self.withheld) != sorted(set(self.withheld)):
            raise rc.UserError(f"withheld must be two or more rising shares, got {self.withheld}")


QUICK = Settings(seeds=2, families=("bumps", "chains"), effort=0.01, tiny=True, n_eval=32)
LAPTOP = Settings()
GPU = Settings(seeds=8, block=8, withheld=(0.125, 0.25, 0.5, 0.75), wider=8, deeper=4, effort=4.0, n_eval=2048)
PAPER = replace(GPU, seeds=10, wider=32, effort=40.0)
VARIANTS = (
    rc.Variant("half the updates", "how long networks train is our choice", effort=lambda s: s.effort / 2),
    rc.Variant("twice the updates", "how long networks train is our choice", effort=lambda s: 2 * s.effort),
)


def cells(settings: Settings) -> list[rc.Cell]:
    points = [{"family": name, "size": size} for name in settings.families for size in (USUAL, WIDE, DEEP)]
    return rc.cells(settings, points)


def shape(settings: Settings, name: str, size: str) -> tuple[int, int]:
    """Width and depth of a family's networks of a size."""
    one = families.family(name)
    return one.width * (settings.wider if size == WIDE else 1), one.depth * (settings.deeper if size == DEEP else 1)


def rate(settings: Settings, name: str, size: str) -> float:
    """AdamW's learning rate: the family's own, smaller by the root of how much wider and deeper a network is."""
    one, (width, depth) = families.family(name), shape(settings, name, size)
    return one.learning_rate * (one.width / width * one.depth / depth) ** 0.5


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, name = cell.settings, cell.family
    one, (width, depth) = families.family(name), shape(settings, name, cell.size)
    task = families.task(name, settings.seed, max(cell.members) + 1, settings.tiny)
    where = {"condition": f"{name}, {cell.size}", "family": name, "size": cell.size, "width": width, "depth": depth}
    each = [(share, seed) for share in settings.withheld for seed in cell.members]
    who = [where | {"withheld": share, "seed": seed} for share, seed in each]
    sides = [divided(settings, task, w) for w in who]
    trained = rc.population(
        task,
        [rc.Split(task.combinations, train) for train, _, _ in sides],
        families.maker(name, task, width, depth),
        rc.member_keys(settings.seed, [seed for _, seed in each]),
        families.recipe(name, settings.effort),
        dials={"learning_rate": rate(settings, name, cell.size), "weight_decay": 1e-2},
        monitor=monitor,
        label=f"{name}-{cell.size}",
    )
    found = []
    for i, (w, (train, asked, share)) in enumerate(zip(who, sides, strict=True)):
        shown, held = (families.asked(settings, name, task, trained[i].model, rows) for rows in (train, asked))
        monitor.recorded(f"{name}-{cell.size}-{w['withheld']}-{w['seed']}", held)
        scores = {"shown": one.score(shown), "success": one.score(held), "coverage_pairs": float(share)}
        found.append(scores | {"fit": scores["shown"] / one.fits})
    return rc.rows(trained, who, found)


def divided(settings: Settings, task: rc.Task, who: dict) -> tuple[np.ndarray, ...]:
    """Training rows, rows with a withheld pair, and coverage; the same for all sizes of a family, seed and share."""
    lot = rc.rng(settings.seed, "pairs", who["family"], str(who["withheld"]), who["seed"])
    return families.sides(who["family"], task, who["seed"], who["withheld"], lot)


def controls(settings: Settings) -> list[dict]:
    """In each family: a system that never errs, one that remembers the nearest example, and an untrained network."""
    rows = []
    for name in settings.families:
        task = families.task(name, settings.seed, 1, settings.tiny)
        train, asked, _ = divided(settings, task, {"family": name, "withheld": settings.withheld[-1], "seed": 0})
        make = families.maker(name, task, *shape(settings, name, USUAL))
        systems = families.known(settings, name, task, train=train, out=asked, make=make)
        score = families.family(name).score
        rows += [
            r | {"family": name} for r in rc.control_rows(lambda one, score=score: {"success": score(one)}, systems)
        ]
    return rows


def larger(size: str):
    """By seed and family, the gain of a size over the usual one on withheld pairs, at equal coverage."""

    def effect(table: pd.DataFrame) -> pd.Series:
        shares = sorted(rc.networks(table)["withheld"].unique())
        gains = {f"{s:g}": rc.difference("success", size, USUAL, by="size", withheld=s) for s in shares}
        return rc.each(gains)(table).mean(axis=1, skipna=False)

    return rc.each_of("family", effect)


def covering(table: pd.DataFrame) -> pd.Series:
    """By seed, how much better withheld pairs are answered where fewest are withheld than where most are, all sizes."""
    shares = rc.networks(table)["withheld"]
    ends = shares.min(), shares.max()
    gains = {s: rc.difference("success", *ends, by="withheld", size=s) for s in (USUAL, WIDE, DEEP)}
    return rc.each(gains)(table).mean(axis=1, skipna=False)


def reading(system: str, how: str, **bounds: float) -> rc.Check:
    """The check of the least or the largest success of a control over all families."""
    return rc.Check(
        f"{how} success of the control {system} over families",
        lambda t: float(getattr(t[t["system"] == system]["success"], how)()),
        **bounds,
    )


FITS = (rc.each_of("family", rc.fitted("fit", at_least=1.0)),)
CONTROLS = (
    reading("perfect", "min", at_least=0.999),
    reading("remembers", "max", at_most=0.75),
    reading("untrained", "max", at_most=0.5),
)
OURS = "ours: the question that joins the nine sources of a synthesis note; stated before any run"


def claim(name: str, says: str, effect, unit: str) -> rc.Claim:
    """A claim over all families, each judged by an interval of its own."""
    return rc.Claim(
        name, says, OURS, effect=effect, above=0.05, unit=unit, controls=CONTROLS, fits=FITS, over="families"
    )


CLAIMS = (
    claim(
        "wider networks answer withheld pairs better at equal coverage (scale helps beyond coverage)",
        "In every family, networks that are wider answer examples with a withheld pair better, though training covers"
        " the same pairs.",
        larger(WIDE),
        "success on withheld pairs, wide minus usual, mean over coverages",
    ),
    claim(
        "deeper networks answer withheld pairs better at equal coverage (scale helps beyond coverage)",
        "In every family, networks that are deeper answer examples with a withheld pair better, though training covers"
        " the same pairs.",
        larger(DEEP),
        "success on withheld pairs, deep minus usual, mean over coverages",
    ),
    claim(
        "withheld pairs are answered better where more other pairs are covered (coverage helps)",
        "In every family, the more of all pairs training covers, the better examples with a withheld one are answered.",
        rc.each_of("family", covering),
        "success on withheld pairs, most pairs covered minus fewest, mean over sizes",
    ),
)
figure = pooled_figure.figure
