"""How does the number of pictures needed grow with the side of the grid: bumps only against stripes?

Fig. 4c. The paper does not state its protocol (which pictures, how many steps, what counts as right), so this is a
reconstruction. An MLP on local bump codes is trained for a fixed number of steps on M pictures: bumps at whole cells
drawn from the whole square, or stripes alone, as many of each axis. It must place 90 % of all N x N bumps, those of
training included, within one pixel. With whole cells bumps alone can never need more than N^2 pictures, so an exponent
above 2 is one of a finite range of N.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import pictures_needed
from recombine.experiments.liang2025.pictures_needed import BUMPS, KINDS, STRIPES, curve, exponents, grid, thresholds
from recombine.experiments.seeds import Seeded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
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
        self.need_rates("learning_rate")


QUICK = Settings(seeds=2, sides=(6, 10), sizes=4, width=8, depth=1, steps=20)
LAPTOP = Settings()
GPU = Settings(seeds=8, block=8, sides=tuple(range(12, 41, 4)), sizes=12, steps=2000)
PAPER = Settings(seeds=20, sides=tuple(range(12, 41, 4)), sizes=16, steps=5000)

DRAWS = 20
"""training sets over which a control's accuracy is averaged"""
MEMORISER, COMPOSER = "memoriser", "composer"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"side": side} for side in settings.sides])


def mlp(settings: Settings, side: int):
    return lambda key: rc.MLPDecoder(2 * side, side, width=settings.width, depth=settings.depth, key=key)


def train(cell: rc.Cell, who: list[tuple[str, int, int]], monitor):
    """One network for each (kind, size, seed), each with weights and pictures of its own."""
    import jax
    import jax.numpy as jnp

    settings, side, task = cell.settings, cell.side, grid(cell.side)
    kinds = list(KINDS)
    own = jnp.stack([rc.key(settings.seed, seed, side, kinds.index(kind), size) for kind, size, seed in who])
    data, life = jax.vmap(jax.random.split, out_axes=1)(own)
    drawn = [KINDS[name][1](task, size, key) for (name, size, _), key in zip(who, data, strict=True)]
    splits = [rc.Split(task.combinations, mask) for mask in drawn]
    # Few chunks, since so many networks make long checkpoints.
    recipe, dials = rc.Recipe(settings.steps, chunks=5), {"learning_rate": settings.learning_rate}
    made = mlp(settings, side)
    return rc.population(task, splits, made, life, recipe, dials=dials, monitor=monitor, label=f"side-{side}")


def answers(settings: Settings, side: int, models) -> list[rc.Record]:
    """What each network does on all N x N bumps."""
    task = grid(side)
    return rc.records(models, task, task.combinations[rc.whole(task.combinations)], key=rc.key(settings.seed, "test"))


def run(cell: rc.Cell, monitor) -> list[dict]:
    """One row per kind and seed. A network that diverged has no accuracy, and its row no threshold."""
    sizes = {name: many(cell.side, cell.settings.sizes) for name, (many, _) in KINDS.items()}
    who = [(name, int(size), seed) for name in KINDS for size in sizes[name] for seed in cell.members]
    trained = train(cell, who, monitor)
    right, diverged = np.full(len(who), np.nan), trained.diverged_at
    for i, answer in enumerate(answers(cell.settings, cell.side, trained.model)):
        monitor.recorded("-".join(map(str, (cell.side, *who[i]))), answer)
        right[i] = rc.peak_accuracy(answer, 1) if diverged[i] < 0 else np.nan

    def row(name: str, seed: int) -> dict:
        own = [who.index((name, size, seed)) for size in sizes[name]]
        meta = {"system": "network", "condition": name, "side": cell.side, "seed": seed}
        at = min((int(m) for m in diverged[own] if m >= 0), default=-1)
        return meta | {"diverged_at": at} | curve(sizes[name], right[own])

    return [row(name, seed) for name in KINDS for seed in cell.members]


def control(settings: Settings, name: str, side: int) -> dict:
    """The row of a system that is right by a rule; its accuracies are means over DRAWS training sets."""
    kind, rule = {MEMORISER: (BUMPS, pictures_needed.remembered), COMPOSER: (STRIPES, pictures_needed.composed)}[name]
    (many, some), task = KINDS[kind], grid(side)

    def right(size: int) -> float:
        keys = [rc.key(settings.seed, name, side, size, i) for i in range(DRAWS)]
        return float(np.mean([rule(side, task.combinations[some(task, size, k)]) for k in keys]))

    sizes = many(side, settings.sizes)
    return {"system": name, "side": side, "seed": 0} | curve(sizes, np.array([right(int(m)) for m in sizes]))


def untrained(settings: Settings, side: int) -> dict:
    """The row of an MLP at its initial weights: as accurate with few pictures as with many."""
    born = rc.initial_models(mlp(settings, side), rc.key(settings.seed, "untrained")[None])
    right, sizes = (
        rc.peak_accuracy(answers(settings, side, born)[0], 1),
        pictures_needed.bump_sizes(side, settings.sizes),
    )
    return {"system": "untrained", "side": side, "seed": 0} | curve(sizes, np.full(len(sizes), right))


def controls(settings: Settings) -> list[dict]:
    """One system remembers pairs and needs about N^2 pictures, one composes and needs about N; untrained MLPs."""
    rules = [control(settings, name, side) for name in (MEMORISER, COMPOSER) for side in settings.sides]
    return rules + [untrained(settings, side) for side in settings.sides]


def of(kind: str, number=exponents):
    """A number by seed of the networks of one kind."""
    return lambda t: number(rc.pick(t, condition=kind))


def on_largest(rows: pd.DataFrame) -> pd.Series:
    """log10 of the pictures needed on the largest grid, by seed."""
    return np.log10(thresholds(rows)[rows["side"].max()])


def bracketed(kind: str) -> rc.Check:
    """A threshold outside the sizes tried is no number; and sets that the steps do not suffice for never reach it."""
    return rc.Check(
        f"{kind}: the share of grids and seeds whose smallest set falls short of 90 % and whose larger ones reach it",
        lambda t: float(np.isfinite(rc.pick(t, condition=kind)["threshold"]).mean()),
        at_least=1.0,
    )


def reads(system: str, low: float, high: float) -> rc.Check:
    says = f"the exponent of the control {system}"
    return rc.Check(says, lambda t: float(exponents(rc.pick(t, system=system)).iloc[0]), low, high)


def claim(name: str, says: str, *, kinds: tuple[str, ...] = (BUMPS, STRIPES), **judged) -> rc.Claim:
    says = f"{says} (Whole cells, right within one pixel, over all cells of the grid, for an MLP.)"
    known = (reads(MEMORISER, 1.7, 2.3), reads(COMPOSER, 0.7, 1.3))
    more = {"preconditions": tuple(map(bracketed, kinds)), "controls": known}
    return rc.Claim(name, says, "Fig. 4c; section 4.2", **more, **judged)


CLAIMS = (
    claim(
        "bumps alone need about N^3 pictures (the paper)",
        "The number of bumps needed grows about as the third power of the side: the exponent is between 2 and 4.",
        effect=of(BUMPS),
        above=2.0,
        below=4.0,
        unit="exponent of the bumps needed over the side",
        kinds=(BUMPS,),
    ),
    claim(
        "stripes alone need about N pictures",
        "The number of stripes needed grows about as the side: the exponent is between 0.5 and 1.5.",
        effect=of(STRIPES),
        above=0.5,
        below=1.5,
        unit="exponent of the stripes needed over the side",
        kinds=(STRIPES,),
    ),
    claim(
        "bumps needed grow with a larger power of N than stripes",
        "The number of bumps needed grows with a larger power of the side than the number of stripes.",
        effect=lambda t: of(BUMPS)(t) - of(STRIPES)(t),
        above=0.8,
        unit="exponent of bumps minus exponent of stripes",
    ),
    claim(
        "fewer stripes than bumps are needed on the largest grid",
        "On the largest grid more than four times as many bumps as stripes are needed.",
        effect=lambda t: of(BUMPS, on_largest)(t) - of(STRIPES, on_largest)(t),
        above=log10(4),
        unit="log10 of bumps needed over stripes needed, largest side",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Pictures needed against the side, with the fitted powers; and the accuracies that they are read from."""
    plots, (figure, axes) = rc.plots, rc.plots.panels(rows=1, columns=3, side=3.1)
    needed, *beside = axes[0]
    for name, style in ((MEMORISER, "--"), (COMPOSER, ":")):
        rows = rc.pick(table, system=name)
        label = f"control: {name}, N^{exponents(rows).iloc[0]:.2f}"
        needed.loglog(settings.sides, thresholds(rows).iloc[0], style, base=2, color=plots.NEUTRAL, label=label)
    for axis, name, colour in zip(beside, KINDS, (plots.BAD, plots.GOOD), strict=True):
        _powers(needed, rc.pick(table, condition=name), name, colour)
        for i, side in enumerate(settings.sides, start=1):
            rows = rc.pick(table, condition=name, side=side)
            for sizes, right in zip(rows["sizes"], rows["accuracies"], strict=True):
                axis.semilogx(sizes, right, base=2, color=colour, alpha=i / len(settings.sides), linewidth=0.8)
            axis.lines[-1].set_label(f"N = {side}")
        axis.axhline(pictures_needed.GOAL, color=plots.NEUTRAL, linestyle=":")
        axis.set(ylim=(-0.03, 1.03), title=name, xlabel="pictures shown")
    beside[0].set_ylabel("share of all bumps placed within 1 pixel")
    needed.set(xlabel="side N of the grid", ylabel="pictures needed for 90 %")
    needed.set_xticks(settings.sides, [str(side) for side in settings.sides])
    for axis, scale in zip(axes[0], (needed.yaxis, *(a.xaxis for a in beside)), strict=True):
        scale.set_major_formatter("{x:g}")
        axis.legend(fontsize=7, frameon=False)
    return figure


def _powers(axes, rows: pd.DataFrame, name: str, colour: str) -> None:
    """One thin line per seed, and the mean power law over the seeds that have one, with its interval."""
    found, powers = thresholds(rows), exponents(rows)
    sides, sound = found.columns.to_numpy(float), np.isfinite(powers)
    axes.plot(sides, found.T, color=colour, alpha=0.5, linewidth=0.8)
    if sound.any():
        power, middle = powers[sound].mean(), np.log(found[sound].to_numpy()).mean()
        line = np.exp(middle + power * (np.log(sides) - np.log(sides).mean()))
        axes.plot(sides, line, color=colour, linewidth=2, label=f"{name}: N^{power:.2f}")
    else:
        axes.lines[-1].set_label(f"{name}: no seed has all thresholds")
