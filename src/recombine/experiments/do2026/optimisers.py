"""Does Muon render a picture better than Adam, and does the optimiser govern what similarity-based pruning leaves?

Each optimiser gets the learning rate at which its error is lowest on seeds of their own, from a grid that reaches
beyond the paper's four rates. At that rate dense networks are trained, pruned by similarity (SP, by units) and
retrained, in two rounds, all by the same optimiser. Errors are compared at the end of dense training; structure by both
scores, as they are and adjusted for error, after the second round. The paper's section on optimisers could not be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import optimisers_figure, pruning
from recombine.experiments.do2026.optimisers_figure import ADAM, DENSE, FEW, FIRST, MANY, NAMES, SECOND, TRIAL, of
from recombine.experiments.pictures import closeness, moments, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

FRESH = 1000
"""The number of the first seed of the trials: none of them is judged."""


@dataclass(frozen=True, kw_only=True)
class Settings(pruning.Settings):
    rates: tuple[float, ...] = (4e-2, 2e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4)
    """learning rates that every optimiser is tried at; the last four are the paper's"""
    tried: int = 4
    """seeds of the trials at each rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("tried")
        if len(self.rates) < 3 or len(set(self.rates)) < len(self.rates) or not all(0 < r < 1 for r in self.rates):
            raise rc.UserError(f"rates must be three or more different numbers between 0 and 1, got {self.rates}")
        if len(self.shares) != 2:
            raise rc.UserError(f"networks are pruned in two rounds, got shares {self.shares}")


QUICK = Settings(**shared.QUICK | {"rates": (1e-2, 5e-3, 1e-3), "tried": 2, "retraining": 5})
LAPTOP = Settings(size=24, steps=800, retraining=500, n_weights=24, rates=(2e-2, 1e-2, 5e-3, 1e-3), tried=2)
# As many seeds as trials, and equal updates: one program for each optimiser and picture.
GPU = Settings(
    seed=1,
    evolved=("skull", "butterfly"),
    seeds=28,
    block=28,
    size=64,
    steps=5000,
    retraining=5000,
    n_weights=120,
)
PAPER = replace(GPU, size=256, steps=100_000, retraining=100_000, n_weights=1000)

cells = shared.cells


def optimisers() -> dict[str, Any]:
    return {ADAM: rc.unit_adam, FEW: rc.muon, MANY: partial(rc.muon, newton=20)}


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, goal = cell.settings, shared.goals(cell.settings)[cell.goal]
    rows: list[dict] = []
    found: list[scoring.Entry] = []
    for name in NAMES:
        tried = trials(cell, goal, name, monitor)
        rate = best(tried)
        rows += tried
        found += stages(cell, goal, name, rate, monitor=monitor)
    return rows + scoring.scored(settings, goal, found, monitor=monitor)


def trials(cell: rc.Cell, goal: shared.Goal, name: str, monitor: Any) -> list[dict]:
    """Dense networks at every rate, of seeds that are not judged: their errors, and how these fell."""
    settings = cell.settings
    each = [(rate, FRESH + i) for rate in settings.rates for i in range(settings.tried)]
    trained = train(cell, goal, name, each, label=of(name, TRIAL), monitor=monitor)
    who = [{"kind": of(name, TRIAL), "goal": goal.name, "optimiser": name, "rate": r, "seed": s} for r, s in each]
    ends = [
        scoring.off(float(loss)) | {"curve": curve}
        for loss, curve in zip(trained.losses[:, -1], trained.losses, strict=True)
    ]
    return rc.rows(trained, [{"condition": f"{w['kind']}, rate {w['rate']:g}, {goal.name}"} | w for w in who], ends)


def best(rows: list[dict]) -> float:
    """The rate of the lowest mean log error; none of a rate at which a network diverged."""
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    errors = [np.mean([row["log_mse"] for row in rows if row["rate"] == rate]) for rate in rates]
    return rates[int(np.argmin(np.nan_to_num(errors, nan=np.inf)))]


def stages(cell: rc.Cell, goal: shared.Goal, name: str, rate: float, *, monitor: Any) -> list[scoring.Entry]:
    """Networks at the best rate: dense, and after each of two rounds of pruning and retraining."""
    settings, each = cell.settings, [(rate, seed) for seed in cell.members]
    trained = train(cell, goal, name, each, label=of(name, DENSE), monitor=monitor)
    size, found = shared.size(trained), described(trained, goal, name, DENSE, each)
    for stage, target in zip((FIRST, SECOND), pruning.targets(settings, goal, size), strict=True):
        start = shared.stacked(pruned(settings, trained, target))
        more: dict[str, Any] = {"steps": settings.retraining, "start": start, "label": of(name, stage)}
        trained = train(cell, goal, name, each, monitor=monitor, **more)
        found += described(trained, goal, name, stage, each)
    return found


def train(cell: rc.Cell, goal: shared.Goal, name: str, each: list[tuple[float, int]], **more: Any) -> Any:
    """Networks of a goal's units, each at a rate and of a seed."""
    rates, seeds = zip(*each, strict=True)
    names = [f"{more['label']}, rate {rate:g}, {seed}" for rate, seed in each]
    how: dict[str, Any] = {"optimiser": optimisers()[name], "rates": rates, "names": names}
    return shared.train(cell.settings, goal, shared.dense(goal), seeds, **how, **more)


def pruned(settings: Settings, run: Any, target: int) -> list[Any]:
    """Every network with so many weights left; one that diverged as it is."""
    from recombine.cppn.prune.similarity import similar_units

    x = rc.grid(settings.size)
    every = zip(shared.members(run), run.diverged_at, strict=True)
    return scoring.in_threads(lambda one: similar_units(one[0], x, target=target) if one[1] < 0 else one[0], every)


def described(run: Any, goal: shared.Goal, name: str, stage: str, each: list[tuple[float, int]]) -> list[scoring.Entry]:
    kind = of(name, stage)
    facts = {"condition": f"{kind}, {goal.name}", "kind": kind, "optimiser": name, "stage": stage}
    return scoring.entries(run, [{**facts, "rate": rate, "seed": seed} for rate, seed in each])


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and the error of a plain picture of the mean colour."""
    goals = shared.goals(settings).items()
    made = [{"system": "plain", "goal": name, "seed": 0, "mse": moments.variance(g.picture)} for name, g in goals]
    return scoring.controls(settings) + made


def log_error(first: str, second: str) -> dict[str, Any]:
    """By seed and picture, log10 of the error of one optimiser's dense networks over that of another's."""
    pair = of(first, DENSE), of(second, DENSE)

    def every(take: Callable[..., dict]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        def columns(table: pd.DataFrame) -> pd.DataFrame:
            import pandas as pd

            found = {p: take(table, pair, p, lambda rows: rows["log_mse"]) for p in moments.pictures(table, *pair)}
            return pd.DataFrame({p: one[closeness.END] for p, one in found.items()})

        return columns

    return {"effect": every(closeness.compared), "fits": (every(closeness.fitted),), "over": "pictures"}


def inner(table: pd.DataFrame) -> float:
    """The share of optimisers and pictures whose best rate is neither the largest nor the smallest tried."""
    tried = table[table["kind"].isin([of(name, TRIAL) for name in NAMES])]["rate"]
    chosen = table[table["kind"].isin([of(name, DENSE) for name in NAMES])].drop_duplicates(["kind", "goal"])["rate"]
    return float(((chosen < tried.max()) & (chosen > tried.min())).mean())


def left(table: pd.DataFrame) -> float:
    """The largest share of a picture's variance that dense networks of an optimiser leave (geometric mean)."""
    rows = table[table["kind"].isin([of(name, DENSE) for name in NAMES])]
    logs = rows.assign(log_left=np.log(rows["share_left"])).groupby(["kind", "goal"])["log_left"].mean()
    return float(np.exp(logs.max()))


LEARNT = (
    rc.Check("share of best learning rates that are inside of the grid", inner, at_least=1.0),
    rc.Check("largest share of the variance that is left, over optimisers and pictures", left, at_most=0.1),
)
DECADE = 0.1
"""The least difference of errors: a tenth of a decade is a factor of 1.26."""


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    return rc.Claim(name, says, source, controls=moments.CONTROLS, **more)


CLAIMS = (
    claim(
        "Muon reaches a lower error than Adam (the paper)",
        "After as many updates, each at its best learning rate, dense networks render the picture with a smaller error"
        " by Muon than by Adam.",
        "figures 13 and 38-41",
        **log_error(ADAM, FEW),
        above=DECADE,
        unit="log10 of the error, Adam over Muon with 5 steps",
        preconditions=LEARNT,
    ),
    claim(
        "more Newton-Schulz steps reach a lower error still (the paper)",
        "With 20 Newton-Schulz steps in place of 5, the error is smaller still.",
        "figure 13",
        **log_error(FEW, MANY),
        above=DECADE,
        unit="log10 of the error, Muon with 5 steps over Muon with 20",
        preconditions=LEARNT,
    ),
    *(
        claim(
            f"two rounds of SP with {name} bring networks closer to the designed one (our reading)",
            f"Trained by {name}, networks after two rounds of SP by units are closer to the designed one than dense.",
            f"figures {figure}, whose captions name no direction",
            **closeness.closer(of(name, SECOND), of(name, DENSE), dense=of(name, DENSE)),
        )
        for name, figure in zip(NAMES, ("18 and 21", "19 and 22", "20 and 23"), strict=True)
    ),
    claim(
        "after two rounds of SP networks by Muon are closer to the designed one than by Adam (our reading)",
        "The optimiser governs what SP leaves: networks by Muon are closer to the designed one.",
        "figures 13 and 18-23: the optimiser still governs the fracture, they say, and not in which direction",
        **closeness.each_closer(of(FEW, SECOND), {ADAM: of(ADAM, SECOND)}, dense=of(ADAM, DENSE)),
    ),
    claim(
        "after two rounds of SP more Newton-Schulz steps leave networks closer to the designed one (our reading)",
        "Networks by Muon with 20 steps are closer to the designed one than with 5, and than by Adam.",
        "figures 13 and 18-23",
        **closeness.each_closer(
            of(MANY, SECOND), {ADAM: of(ADAM, SECOND), FEW: of(FEW, SECOND)}, dense=of(ADAM, DENSE)
        ),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The error on the way of the trials by rate; at the best rates errors and both scores by stage; what is judged."""
    return optimisers_figure.figure(settings, table, CLAIMS)
