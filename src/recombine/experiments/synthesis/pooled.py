"""Is held-out success a matter of what training covers, or does scale help beyond coverage, in six families of tasks?

The question that joins the papers. A share of all pairs of parts is withheld at random; every example with such a pair
is held out. Networks of a family's usual size, wider ones and deeper ones are asked examples with one withheld pair. If
coverage is all there is, success follows the coverage, and the size moves it by less than a twentieth either way. If
scale helps beyond coverage, larger networks answer more at equal coverage. Either reading needs networks that learnt
what they were shown, equally well to a fiftieth, and a tenth of room between shown rows and withheld pairs. The nearest
memory and the best voter answer some rows without composing: they are asked the same rows as each network. Where fewer
pairs are withheld training has more rows as well, except in a variant with equally many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import recombine as rc
from recombine.experiments.seeds import Seeded
from recombine.experiments.synthesis import families, floors, pooled_claims, pooled_figure
from recombine.experiments.synthesis.pooled_claims import DEEP, USUAL, WIDE


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    seed: int = 6
    """the number from which every random draw is derived"""
    families: tuple[str, ...] = families.NAMES
    """which families: bumps, hyperteacher, preferences, chains, programmes, scan"""
    withheld: tuple[float, ...] = (0.125, 0.3, 0.5)
    """shares of pairs that are withheld at random, rising"""
    wider: int = 2
    """how many times as wide wide networks are"""
    deeper: int = 2
    """how many times as deep deep networks are"""
    effort: float = 1.0
    """how many times the updates that each family usually takes"""
    equal_rows: bool = False
    """whether a seed trains on equally many rows at every coverage: as many as where most pairs are withheld"""
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
GPU = Settings(seeds=8, block=8, withheld=(0.125, 0.25, 0.375, 0.5), wider=8, deeper=4, effort=2.5, n_eval=2048)
PAPER = replace(GPU, seeds=10, wider=32, effort=40.0)
VARIANTS = (
    rc.Variant("half the updates", "how long networks train is our choice", effort=lambda s: s.effort / 2),
    rc.Variant("equally many rows", "fewer withheld pairs leave more rows to train on", equal_rows=True),
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
        [rc.Split(task.combinations, side.train) for side in sides],
        families.maker(name, task, width, depth),
        rc.member_keys(settings.seed, [seed for _, seed in each]),
        families.recipe(name, settings.effort),
        dials={"learning_rate": rate(settings, name, cell.size), "weight_decay": 1e-2},
        monitor=monitor,
        label=f"{name}-{cell.size}",
    )
    found = []
    for i, (w, side) in enumerate(zip(who, sides, strict=True)):
        shown, held = (families.asked(settings, name, task, trained[i].model, rows) for rows in side[:2])
        monitor.recorded(f"{name}-{cell.size}-{w['withheld']}-{w['seed']}", held)
        scores = {"shown": one.score(shown), "success": one.score(held), "fit": one.score(shown) / one.fits}
        scores |= {"coverage_pairs": side.coverage, "rows": float(side.train.sum())}
        found.append(scores | floor(settings, task, name, w["withheld"], w["seed"]))
    return rc.rows(trained, who, found)


def divided(settings: Settings, task: rc.Task, who: dict) -> families.Sides:
    """Rows to train on and to ask, and coverage; the same for all sizes of a family, seed and share."""

    def at(share: float) -> families.Sides:
        lot = rc.rng(settings.seed, "pairs", who["family"], str(share), who["seed"])
        return families.sides(who["family"], task, who["seed"], share, lot)

    side = at(who["withheld"])
    if not settings.equal_rows:
        return side
    rng = rc.rng(settings.seed, "rows", who["family"], str(who["withheld"]), who["seed"])
    fewest = int(at(settings.withheld[-1]).train.sum())
    return side._replace(train=families.thinned(who["family"], task, side.train, fewest, rng))


@cache
def floor(settings: Settings, task: rc.Task, name: str, share: float, seed: int) -> dict[str, float]:
    """What is right without composing where a share is withheld from a seed: the same for all sizes."""
    side = divided(settings, task, {"family": name, "withheld": share, "seed": seed})
    return floors.floors(settings, name, task, side)


def controls(settings: Settings) -> list[dict]:
    """In each family: one that never errs, one that remembers the nearest row, the best voter, an untrained network."""
    rows = []
    for name in settings.families:
        task = families.task(name, settings.seed, 1, settings.tiny)
        side = divided(settings, task, {"family": name, "withheld": settings.withheld[-1], "seed": 0})
        make = families.maker(name, task, *shape(settings, name, USUAL))
        known = floors.known(settings, name, task, side, make)
        rows += [{"system": system, "seed": 0, "family": name, "success": success} for system, success in known.items()]
    return rows


CLAIMS = pooled_claims.STATED
figure = pooled_figure.figure
