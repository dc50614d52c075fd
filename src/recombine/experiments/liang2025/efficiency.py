"""How does the number of pictures needed grow with the side N of the grid: bumps only against stripes?

Fig. 4c: about N^3 bumps against about N stripes. The paper states no protocol. Its released scripts that count data
draw real-valued positions, ask in a central box and train a decoder of eight blocks; those choices are primary here.
They also leave the box out of training. Bumps alone then never suffice, which is a claim of its own, so that numbers
needed are of bumps from the whole square. What is right depends on a ruler: where a network is asked, and how far its
peak may be off. Every ruler is read from the same networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import recombine as rc
from recombine.experiments.liang2025 import efficiency_claims
from recombine.experiments.liang2025 import pictures_needed as needed
from recombine.experiments.liang2025.efficiency_claims import COMPOSER, CUBIC, MEMORISER, said
from recombine.experiments.liang2025.pictures_needed import BUMPS, OUTSIDE, PRIMARY, RULERS, STRIPES
from recombine.experiments.seeds import Seeded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    sides: tuple[int, ...] = (8, 12, 16)
    """sides N of the grids, ascending"""
    sizes: int = 6
    """training sets of each kind, from too small to more than enough; equal ones are trained once"""
    law: Literal["real", "whole"] = "real"
    """where bumps may lie: at places drawn once from the whole square, or at pixels"""
    network: Literal["CNN", "MLP"] = "MLP"
    """the released decoder, or one without convolutions"""
    width: int = 256
    """channels, or units of a hidden layer"""
    depth: int = 2
    """ReLU blocks, or hidden layers"""
    steps: int = 2000
    """updates of each network"""
    epochs: int = 0
    """passes over the training set after which a network stops before its steps are over; 0: it does not"""
    batch: int = 32
    """pictures per step"""
    learning_rate: float = 1e-3
    """AdamW's learning rate"""

    def __post_init__(self) -> None:
        if list(self.sides) != sorted(set(self.sides)) or len(self.sides) < 2 or self.sides[0] < 8:
            raise rc.UserError(f"sides must be at least two ascending numbers from 8 on, got {self.sides}")
        if self.network == "CNN" and any(side % 4 for side in self.sides):
            raise rc.UserError(f"the sides of a convolutional decoder are multiples of 4, got {self.sides}")
        if self.sizes < 3 or self.epochs < 0:
            raise rc.UserError("a threshold needs at least 3 sizes around it, and epochs are at least 0")
        self.need_positive("width", "depth", "steps", "batch")
        self.need_rates("learning_rate")


QUICK = Settings(seeds=2, sides=(8, 12), sizes=4, width=8, depth=1, steps=20)
LAPTOP = Settings()
GPU = Settings(seed=1, seeds=10, block=5, sides=(12, 16, 20, 28), sizes=7, steps=1000, network="CNN", depth=8, width=32)
_LARGE = (24, 28, 32, 36, 40)
_RELEASED: dict[str, Any] = {"network": "CNN", "depth": 8, "width": 128, "epochs": 20, "steps": 4000}
"""20 passes over the largest set, of 6,400 pictures, are 4,000 steps; the others stop earlier."""
PAPER = Settings(seed=1, seeds=20, block=2, sides=_LARGE, sizes=12, **_RELEASED)
_MLP = {"network": "MLP", "width": 256, "depth": 2, "steps": 2000}


def _fewer(settings: Settings) -> int:
    """Seeds of a variant that costs as much as the primary protocol."""
    return min(settings.seeds, 5)


VARIANTS = (
    rc.Variant(
        "whole cells",
        "The released decoders of all other figures are trained at pixels.",
        law="whole",
        sizes=5,
        seeds=_fewer,
    ),
    rc.Variant("MLP", "Ours: a cheaper network, for which more was tried.", **_MLP),
    rc.Variant("MLP on whole cells", "Our first reading, of which N^1.9 was reported.", law="whole", **_MLP),
    rc.Variant(
        "CNN for 20 epochs",
        "The released scripts train for 20 passes over the pictures.",
        network="CNN",
        depth=8,
        width=lambda s: s.width if s.network == "CNN" else 32,
        epochs=20,
        seeds=_fewer,
        steps=lambda s: -(-20 * 4 * s.sides[-1] ** 2 // s.batch),  # enough for the largest set
    ),
    rc.Variant("MLP for 20 epochs", "Both: a cheaper network, for as many passes as released.", epochs=20, **_MLP),
)
KINDS = (BUMPS, OUTSIDE, STRIPES)
KNOWN = {(MEMORISER, BUMPS): "--", (COMPOSER, BUMPS): "-.", (COMPOSER, STRIPES): ":"}
"""The solvers that are right by a rule, what they are shown, and how they are drawn."""


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"side": side} for side in settings.sides])


def decoder(settings: Settings, side: int):
    make = rc.CNNDecoder if settings.network == "CNN" else rc.MLPDecoder
    return lambda key: make(2 * side, side, width=settings.width, depth=settings.depth, key=key)


def train(cell: rc.Cell, who: list[tuple[str, int, int]], monitor):
    """One network for each (kind, size, seed), each with weights and pictures of its own."""
    import jax
    import jax.numpy as jnp

    from recombine.train.optimizers import adamw_stopping

    settings, side = cell.settings, cell.side
    task = needed.pictures(side, settings.law, settings.seed)
    own = jnp.stack([rc.key(settings.seed, seed, side, KINDS.index(kind), size) for kind, size, seed in who])
    data, life = jax.vmap(jax.random.split, out_axes=1)(own)
    masks = [needed.some(task, kind, side, size, key) for (kind, size, _), key in zip(who, data, strict=True)]
    splits = [rc.Split(task.combinations, mask) for mask in masks]
    dials: dict = {"learning_rate": settings.learning_rate}
    if settings.epochs:
        dials["stop"] = jnp.array([settings.epochs * size / settings.batch for _, size, _ in who])
    # Few chunks, since so many networks make long checkpoints.
    recipe = rc.Recipe(settings.steps, settings.batch, adamw_stopping if settings.epochs else rc.adamw, chunks=5)
    return rc.population(
        task, splits, decoder(settings, side), life, recipe, dials=dials, monitor=monitor, label=f"side-{side}"
    )


def answers(settings: Settings, side: int, models) -> list[rc.Record]:
    """What each network does on the bumps that it is asked for."""
    where = side, settings.law, settings.seed
    return rc.records(models, needed.pictures(*where), needed.asked(*where), key=rc.key(settings.seed, "test"))


def run(cell: rc.Cell, monitor) -> list[dict]:
    """One row per kind and seed. A network that diverged has no accuracy, and its row no threshold."""
    side, settings = cell.side, cell.settings
    sizes = {kind: needed.sizes(kind, side, settings.law, settings.sizes) for kind in KINDS}
    who = [(kind, int(size), seed) for kind in KINDS for size in sizes[kind] for seed in cell.members]
    trained = train(cell, who, monitor)
    found = []
    for one, at, answer in zip(who, trained.diverged_at, answers(settings, side, trained.model), strict=True):
        monitor.recorded("-".join(map(str, (side, *one))), answer)
        found.append(rc.nan_if_diverged(needed.right(answer, side), int(at)))

    def row(kind: str, seed: int) -> dict:
        own = [who.index((kind, size, seed)) for size in sizes[kind]]
        at = min((int(m) for m in trained.diverged_at[own] if m >= 0), default=-1)
        meta = {"system": "network", "condition": kind, "side": side, "seed": seed, "diverged_at": at}
        return meta | needed.curve(sizes[kind], [found[i] for i in own])

    return [row(kind, seed) for kind in KINDS for seed in cell.members]


def untrained(settings: Settings, side: int) -> dict:
    """The row of a network at its initial weights: as accurate with few pictures as with many."""
    born = rc.initial_models(decoder(settings, side), rc.key(settings.seed, "untrained")[None])
    numbers = needed.sizes(BUMPS, side, settings.law, settings.sizes)
    found = needed.right(answers(settings, side, born)[0], side)
    return {"system": "untrained", "side": side, "seed": 0} | needed.curve(numbers, [found] * len(numbers))


def controls(settings: Settings) -> list[dict]:
    """A memoriser of bumps, a composer from bumps and one from stripes, and untrained networks: what can be read."""
    rules = [
        {"system": name, "condition": kind, "side": side, "seed": 0}
        | needed.solver(settings, side, kind, needed.composed if name == COMPOSER else needed.remembered)
        for name, kind in KNOWN
        for side in settings.sides
    ]
    return rules + [untrained(settings, side) for side in settings.sides]


CLAIMS = efficiency_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """Pictures needed against the side; the exponent by each ruler; and the accuracies that it is read from."""
    plots, (figure, axes) = rc.plots, rc.plots.panels(rows=1, columns=4, side=3.1)
    for kind, colour in ((BUMPS, plots.BAD), (STRIPES, plots.GOOD)):
        rows = rc.pick(table, condition=kind)
        axes[0, 0].loglog(settings.sides, needed.thresholds(rows, PRIMARY).T, base=2, color=colour, alpha=0.6)
        axes[0, 0].lines[-1].set_label(kind)
        for place, ruler in enumerate(RULERS):
            _exponents(axes[0, 1], place, rows, ruler, colour)
    _known(axes[0], settings, table)
    axes[0, 0].set(title=f"needed for {needed.GOAL:.0%}\n({said(PRIMARY)})", xlabel="side N", ylabel="pictures needed")
    axes[0, 1].set_xticks(range(len(RULERS)), [said(ruler).replace(", ", ",\n") for ruler in RULERS], rotation=90)
    axes[0, 1].set(
        title="exponent by ruler\n(hollow: of bounds; shaded: N³)",
        ylabel="exponent over the side",
        ylim=(0, 5),
        xlim=(-0.6, 5.6),
    )
    axes[0, 1].axhspan(*CUBIC, color=plots.NEUTRAL, alpha=0.15, linewidth=0)
    for axis, kind, colour in zip(axes[0, 2:], (BUMPS, STRIPES), (plots.BAD, plots.GOOD), strict=True):
        for i, side in enumerate(settings.sides, start=1):
            rows = rc.pick(table, condition=kind, side=side)
            for sizes, right in zip(rows["sizes"], rows[f"right_{PRIMARY}"], strict=True):
                axis.semilogx(sizes, right, base=2, color=colour, alpha=i / len(settings.sides), linewidth=0.8)
            axis.lines[-1].set_label(f"N = {side}")
        axis.axhline(needed.GOAL, color=plots.NEUTRAL, linestyle=":")
        axis.set(ylim=(-0.03, 1.03), title=f"{kind}: right ({said(PRIMARY)})", xlabel="pictures shown")
        axis.legend(fontsize=7, frameon=False)
    axes[0, 0].set_xticks(settings.sides, settings.sides)
    axes[0, 0].minorticks_off()
    axes[0, 0].legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return figure


def _exponents(axis, place: int, rows: pd.DataFrame, ruler: str, colour: str) -> None:
    """One dot per seed, hollow where a number that it is read from is only a bound."""
    bounds = needed.censored(rows, ruler).any(axis=1)
    for exponent, bound in zip(needed.exponents(rows, ruler), bounds, strict=True):
        fill = "none" if bound else colour
        axis.plot(place, exponent, "o", color=colour, markerfacecolor=fill, alpha=0.6, markersize=4)


def _known(axes, settings: Settings, table: pd.DataFrame) -> None:
    """What a memoriser and a composer need, as lines in the first two panels."""
    for (name, kind), style in KNOWN.items():
        rows, look = (
            rc.pick(table, system=name, condition=kind),
            {"color": rc.plots.NEUTRAL, "label": f"{name}, {kind}"},
        )
        axes[0].loglog(settings.sides, needed.thresholds(rows, PRIMARY).iloc[0], style, base=2, **look)
        axes[1].plot([needed.exponents(rows, ruler).iloc[0] for ruler in RULERS], style, **look)
