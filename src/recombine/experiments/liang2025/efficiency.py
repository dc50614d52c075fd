"""How does the number of pictures needed grow with the size of the grid: bumps only against stripes?

Fig. 4c. The paper does not state its protocol (which pictures, how many steps, what counts as right), so this is a
reconstruction: an MLP on local bump codes is trained for a fixed number of steps on M pictures, either bumps drawn from
the whole square or stripes alone, as many of each axis, and must place 90 % of all N x N bumps within one pixel. With
whole cells bumps alone can never need more than N^2 pictures, so an exponent above 2 is one of a finite range of N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from math import isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
    """Grids of several sides, training sets of several sizes, and an MLP."""

    sides: tuple[int, ...] = (8, 12, 16)
    """sides N of the grids, ascending"""
    sizes: int = 5
    """training sets of each kind, from too small to all there is; equal ones are trained once"""
    width: int = 256
    """units of a hidden layer"""
    depth: int = 2
    """hidden layers"""
    steps: int = 800
    """updates of each network, however many pictures it has"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""

    def __post_init__(self) -> None:
        if list(self.sides) != sorted(set(self.sides)) or len(self.sides) < 2 or self.sides[0] < 6:
            raise rc.UserError(f"sides must be at least two ascending numbers from 6 on, got {self.sides}")
        if self.sizes < 3:
            raise rc.UserError(f"a threshold needs at least 3 sizes around it, got {self.sizes}")
        self.need_positive("width", "depth", "steps")
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            raise rc.UserError(f"learning_rate must be a number above 0, got {self.learning_rate}")


QUICK = Settings(seeds=2, sides=(6, 10), sizes=4, width=8, depth=1, steps=20)
LAPTOP = Settings()
GPU = Settings(seeds=8, block=8, sides=tuple(range(12, 41, 4)), sizes=12, steps=2000)
PAPER = Settings(seeds=20, sides=tuple(range(12, 41, 4)), sizes=16, steps=5000)

GOAL = 0.9
"""the share of all bumps that must be placed within one pixel"""
DRAWS = 20
"""training sets over which a control's accuracy is averaged"""
BUMPS, STRIPES = "bumps only", "stripes only"
MEMORISER, COMPOSER = "control: memoriser", "control: composer"


@dataclass(frozen=True)
class Cell:
    """The networks of both kinds and all sizes on one grid, for one block of seeds."""

    settings: Settings
    side: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, side, members) for side in settings.sides for members in _seeds.blocks(settings)]


@cache
def grid(side: int) -> rc.Task:
    """Bumps and stripes; one object a side, to compile once."""
    return rc.stripes(rc.bumps(side, rc.local_bump(side)))


def bump_sizes(side: int, count: int) -> np.ndarray:
    """From N to N^2, evenly in the logarithm."""
    return np.unique(np.geomspace(side, side**2, count).round().astype(int))


def stripe_sizes(side: int, count: int) -> np.ndarray:
    """From about N / 2 to 2 N, evenly in the logarithm, as many of each axis."""
    return 2 * np.unique(np.geomspace(side / 4, side, count).round().astype(int))


def some_bumps(task: rc.Task, size: int, key) -> np.ndarray:
    return rc.draw(rc.whole(task.combinations), size, key)


def some_stripes(task: rc.Task, size: int, key) -> np.ndarray:
    """Half of them vertical, half horizontal."""
    import jax

    horizontal, vertical = (task.combinations == rc.ABSENT).T
    first, second = jax.random.split(key)
    return rc.draw(vertical, size // 2, first) | rc.draw(horizontal, size // 2, second)


KINDS = {BUMPS: (bump_sizes, some_bumps), STRIPES: (stripe_sizes, some_stripes)}
"""How many pictures the training sets of a kind have, for a side and a count of sets; and which pictures those are."""


def folded(key, *numbers: int):
    """The key of one condition: it has nothing in common with that of any other."""
    import jax

    return reduce(jax.random.fold_in, numbers, key)


def train(cell: Cell, who: list[tuple[str, int, int]], watch):
    """One network for each (kind, size, seed), each with weights and pictures of its own."""
    import jax
    import jax.numpy as jnp

    settings, side, task = cell.settings, cell.side, grid(cell.side)
    seeds = dict(zip(cell.members, rc.member_keys(settings.seed, cell.members), strict=True))
    own = jnp.stack([folded(seeds[seed], side, list(KINDS).index(name), size) for name, size, seed in who])
    data, life = jax.vmap(jax.random.split, out_axes=1)(own)
    drawn = [KINDS[name][1](task, size, key) for (name, size, _), key in zip(who, data, strict=True)]
    splits = [rc.Split(task.combinations, mask) for mask in drawn]

    def make(key):
        return rc.MLPDecoder(2 * side, side, width=settings.width, depth=settings.depth, key=key)

    # Few chunks, since so many networks make long checkpoints.
    recipe, dials = rc.Recipe(settings.steps, chunks=5), {"learning_rate": settings.learning_rate}
    return rc.population(task, splits, make, life, recipe, dials=dials, watch=watch, label=f"side-{side}")


def run(cell: Cell, watch) -> list[dict]:
    """A row for each kind and seed. A network that diverged has no accuracy, and its row no threshold."""
    import jax

    task, sizes = grid(cell.side), {n: many(cell.side, cell.settings.sizes) for n, (many, _) in KINDS.items()}
    who = [(name, int(size), seed) for name in KINDS for size in sizes[name] for seed in cell.members]
    trained = train(cell, who, watch)
    asked = jax.random.fold_in(jax.random.key(cell.settings.seed), 2**31 - 1)
    answers = rc.records(trained.model, task, task.combinations[rc.whole(task.combinations)], key=asked)
    right, lost = np.full(len(who), np.nan), trained.diverged_at
    for i, answer in enumerate(answers):
        watch.recorded("-".join(map(str, (cell.side, *who[i]))), answer)
        right[i] = rc.peak_accuracy(answer, 1) if lost[i] < 0 else np.nan

    def row(name: str, seed: int) -> dict:
        own = [who.index((name, size, seed)) for size in sizes[name]]
        mark = min((int(m) for m in lost[own] if m >= 0), default=-1)
        return curve(sizes[name], right[own], condition=name, side=cell.side, seed=seed, diverged_at=mark)

    return [row(name, seed) for name in KINDS for seed in cell.members]


def curve(sizes: np.ndarray, accuracies: np.ndarray, **who) -> dict:
    return who | {"sizes": sizes, "accuracies": accuracies, "threshold": threshold(sizes, accuracies)}


def threshold(sizes: np.ndarray, accuracies: np.ndarray) -> float:
    """The smallest M with accuracy GOAL, linear in log M between the two sizes around it.

    Accuracies count as the best that so many pictures or fewer gave. NaN unless the smallest set falls short of GOAL
    and a larger one reaches it: such a seed is lost.
    """
    best = np.maximum.accumulate(accuracies)
    if not best[0] < GOAL <= best[-1]:
        return float("nan")
    i = int(np.argmax(best >= GOAL))
    return float(np.exp(np.interp(GOAL, best[i - 1 : i + 1], np.log(sizes[i - 1 : i + 1]))))


def remembered(side: int, shown: np.ndarray) -> float:
    """The share of cells within one pixel of a cell that was shown."""
    seen = np.zeros((side + 2, side + 2), bool)
    for step in product(range(3), repeat=2):
        seen[tuple((shown + step).T)] = True
    return float(seen[1:-1, 1:-1].mean())


def composed(side: int, shown: np.ndarray) -> float:
    """The share of cells whose x and y are each within one pixel of one that was shown."""
    near = [np.isin(np.arange(side), [v[v != rc.ABSENT] + step for step in (-1, 0, 1)]) for v in shown.T]
    return float(np.mean(near, axis=1).prod())


def control(settings: Settings, name: str, side: int) -> dict:
    """The row of a made-up system that is right by a rule; its accuracies are means over DRAWS training sets."""
    import jax

    kind, rule = {MEMORISER: (BUMPS, remembered), COMPOSER: (STRIPES, composed)}[name]
    (many, some), task = KINDS[kind], grid(side)
    sizes, key = many(side, settings.sizes), folded(jax.random.key(settings.seed), 2**31 - 2, side)

    def right(size: int) -> float:
        keys = jax.random.split(folded(key, size), DRAWS)
        return float(np.mean([rule(side, task.combinations[some(task, size, k)]) for k in keys]))

    return curve(sizes, np.array([right(int(m)) for m in sizes]), condition=name, side=side, seed=0, diverged_at=-1)


def controls(settings: Settings) -> list[dict]:
    """A system that remembers pairs, which needs about N^2 pictures, and one that composes, which needs about N."""
    return [control(settings, name, side) for name in (MEMORISER, COMPOSER) for side in settings.sides]


def thresholds(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    """One row a seed, one column a side."""
    return table[table.condition == condition].pivot(index="seed", columns="side", values="threshold")


def exponents(table: pd.DataFrame, condition: str) -> pd.Series:
    """The slope of log threshold over log N by least squares, by seed; NaN where a threshold is missing."""
    found = thresholds(table, condition).map(np.log)
    side = np.log(found.columns.to_numpy(float))
    side -= side.mean()
    return found.mul(side).sum(axis=1, skipna=False) / np.sum(side**2)


def advantage(table: pd.DataFrame) -> pd.Series:
    """log10 of how many times more bumps than stripes the largest grid needs, by seed."""
    largest = table["side"].max()
    return (thresholds(table, BUMPS)[largest] / thresholds(table, STRIPES)[largest]).apply(log10)


def bracketed(condition: str) -> rc.Check:
    """A threshold outside the sizes tried is no number; and sets that the steps do not suffice for never reach it."""
    return rc.Check(
        f"{condition}: on every grid, for every seed, the smallest set falls short of 90 % and a larger one reaches it",
        lambda t: float(np.isfinite(thresholds(t, condition).to_numpy()).mean()),
        at_least=1.0,
    )


def reads(condition: str, exponent: float) -> rc.Check:
    return rc.Check(
        f"the {condition.removeprefix('control: ')} reads an exponent within 0.3 of {exponent:g}",
        lambda t: 0.3 - abs(float(exponents(t, condition).iloc[0]) - exponent),
        at_least=0.0,
    )


def claim(name: str, says: str, *, effect, unit: str, margin: float = 0.0, kinds: tuple[str, ...] = (BUMPS, STRIPES)):
    known = (reads(MEMORISER, 2.0), reads(COMPOSER, 1.0))
    return rc.Claim(name, says, "Fig. 4c; section 4.2", effect, margin, unit, tuple(map(bracketed, kinds)), known)


CLAIMS = (
    claim(
        "bumps alone need about N^3 (the paper)",
        "Counted on whole cells within one pixel, the bumps needed grow about as the side's third power (2 to 4).",
        effect=lambda t: 1 - (exponents(t, BUMPS) - 3).abs(),
        unit="1 minus the exponent's distance from 3",
        kinds=(BUMPS,),
    ),
    claim(
        "stripes need about N",
        "The number of stripes needed grows about as the side: the exponent is between 0.5 and 1.5.",
        effect=lambda t: 0.5 - (exponents(t, STRIPES) - 1).abs(),
        unit="0.5 minus the exponent's distance from 1",
        kinds=(STRIPES,),
    ),
    claim(
        "stripes scale better",
        "The number of bumps needed grows with a larger power of the side than the number of stripes.",
        effect=lambda t: exponents(t, BUMPS) - exponents(t, STRIPES),
        margin=0.8,
        unit="exponent of bumps minus exponent of stripes",
    ),
    claim(
        "and need fewer pictures",
        "On the largest grid more than four times as many bumps as stripes are needed.",
        effect=advantage,
        margin=log10(4),
        unit="log10 of bumps needed over stripes needed, largest side",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Pictures needed against the side, with the fitted powers; and the accuracies that they are read from."""
    plots, (figure, axes) = rc.plots, rc.plots.panels(rows=1, columns=3, side=3.1)
    needed, *beside = axes[0]
    for name, style in ((MEMORISER, "--"), (COMPOSER, ":")):
        label = f"made up: {name.removeprefix('control: ')}, N^{exponents(table, name).iloc[0]:.1f}"
        needed.loglog(settings.sides, thresholds(table, name).iloc[0], style, base=2, color=plots.NEUTRAL, label=label)
    for axis, name, colour in zip(beside, KINDS, (plots.BAD, plots.GOOD), strict=True):
        _powers(needed, table, name, colour)
        for i, side in enumerate(settings.sides, start=1):
            rows = table[(table.condition == name) & (table.side == side)]
            for sizes, right in zip(rows["sizes"], rows["accuracies"], strict=True):
                axis.semilogx(sizes, right, base=2, color=colour, alpha=i / len(settings.sides), linewidth=0.8)
            axis.lines[-1].set_label(f"N = {side}")
        axis.axhline(GOAL, color=plots.NEUTRAL, linestyle=":")
        axis.set(ylim=(-0.03, 1.03), title=name, xlabel="pictures shown")
    beside[0].set_ylabel("share of all bumps placed within 1 pixel")
    needed.set(xlabel="side N of the grid", ylabel="pictures needed for 90 %")
    needed.set_xticks(settings.sides, [str(side) for side in settings.sides])
    for axis, scale in zip(axes[0], (needed.yaxis, *(a.xaxis for a in beside)), strict=True):
        scale.set_major_formatter("{x:g}")
        axis.legend(fontsize=7, frameon=False)
    return figure


def _powers(axes, table: pd.DataFrame, name: str, colour: str) -> None:
    """One thin line a seed, and the mean power law over the seeds that have one."""
    found, powers = thresholds(table, name), exponents(table, name)
    sides, sound = found.columns.to_numpy(float), np.isfinite(powers)
    axes.plot(sides, found.T, color=colour, alpha=0.5, linewidth=0.8)
    if sound.any():
        power, middle = powers[sound].mean(), np.log(found[sound].to_numpy()).mean()
        line = np.exp(middle + power * (np.log(sides) - np.log(sides).mean()))
        axes.plot(sides, line, color=colour, linewidth=2, label=f"{name}: N^{power:.1f}")
    else:
        axes.lines[-1].set_label(f"{name}: no seed has all thresholds")
