"""Which factors of a layer can be taken apart, and does mixing them destroy that?

A.2 and A.3: a layer is factorised if some invertible map gives each factor units of its own; partly, if blocks of
factors stay apart. Decoders draw bumps of several grades of brightness, with a hole in (x, y) held out at every grade,
or at the brightest alone. Known codes are mixed reversibly and irreversibly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures, shared, targets
from recombine.measures.additive import generally_factorised
from recombine.tasks.conjunctions import graded_bumps

if TYPE_CHECKING:
    import pandas as pd

EVERY, TOP = "hole at every grade", "hole at the top grade"
PAIRINGS = {"xy | grade": ((0, 1), (2,)), "x grade | y": ((0, 2), (1,)), "y grade | x": ((1, 2), (0,))}
REVERSIBLE, IRREVERSIBLE = ("rotated", "rotated and bent"), ("pooled", "saturated")
UNITS = 512


@dataclass(frozen=True, kw_only=True)
class Settings(shared.SmallSettings):
    grades: int = 3
    """grades of brightness"""
    steps: int = 1000
    """updates of each network"""
    mixings: int = 8
    """random mixings of a known code"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("mixings")
        if self.grades < 2:
            raise rc.UserError(f"grades must be at least 2, got {self.grades}")


QUICK = Settings(seeds=2, size=8, low=2, high=5, rim=1, width=4, depth=2, steps=20, mixings=2)
LAPTOP = Settings()
FULL = {"size": 28, "low": 6, "high": 22, "rim": 4, "width": 64, "depth": 4, "learning_rate": 1e-3}
GPU = Settings(seeds=8, block=8, steps=3125, cosine=False, **FULL)
PAPER = Settings(seeds=20, block=10, steps=12_500, cosine=False, **FULL)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


@cache
def grid(settings: Settings) -> rc.Task:
    """One object for equal settings, to compile once."""
    code = rc.local_bump(settings.size, settings.sigma)
    return graded_bumps(settings.size, settings.grades, code, sigma=settings.sigma)


def training_sets(settings: Settings) -> dict[str, rc.Split]:
    z = grid(settings).combinations
    inside = rc.square(z[:, :2], settings.low, settings.high).held_out
    return {EVERY: rc.Split(z, ~inside), TOP: rc.Split(z, ~(inside & (z[:, 2] == settings.grades - 1)))}


def decoder(settings: Settings):
    inputs = 2 * settings.size + settings.grades
    return lambda key: rc.CNNDecoder(inputs, settings.size, width=settings.width, depth=settings.depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    import jax.numpy as jnp

    settings, task, sets = cell.settings, grid(cell.settings), training_sets(cell.settings)
    who = [{"condition": name, "seed": seed} for name in sets for seed in cell.members]
    recipe = rc.Recipe(settings.steps, settings.batch, rc.adamw_cosine if settings.cosine else rc.adamw)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    keys = jnp.concatenate([rc.member_keys(settings.seed, cell.members)] * len(sets))
    splits = [split for split in sets.values() for _ in cell.members]
    trained = rc.population(task, splits, decoder(settings), keys, recipe, dials=dials, monitor=monitor)
    answers = recorded(settings, trained.model)
    for one, answer in zip(who, answers, strict=True):
        monitor.recorded("-".join(map(str, one.values())), rc.Record(answer.z, answer.x, answer.y, answer.y_hat))
    return rc.rows(trained, who, [measures(settings, answer) for answer in answers])


def recorded(settings: Settings, models) -> list[rc.Record]:
    """The answers to every combination, with some units of the last hidden layer."""
    from recombine.experiments.liang2025 import unit_model

    task, key = grid(settings), rc.key(settings.seed, "test")
    x, _ = task.sample(task.combinations[0], key)
    some = unit_model.some(models, f"layer{settings.depth}", UNITS, x, rc.key(settings.seed, "units"))
    return rc.records(some, task, task.combinations, key=key, keep=["units"])


def measures(settings: Settings, answer: rc.Record) -> dict:
    """Placement at the top grade on the donut and in the interior of the hole; what the last hidden layer keeps apart.

    Without units, it is the pictures that are taken apart.
    """
    place = answer.z[:, :2]
    inside = rc.interior(rc.square(place, settings.low, settings.high), settings.rim)
    outside = rc.square(place, settings.low, settings.high).train
    top = answer.z[:, 2] == settings.grades - 1
    at = rc.Record(place, answer.x, answer.y, answer.y_hat)
    units = answer.acts.get("units", answer.y_hat.reshape(len(answer), -1)).astype(float)
    layer = rc.on_grid(answer, units) if np.isfinite(units).all() else np.zeros((2, 2, 2, 1))
    return {
        "accuracy0_donut": rc.peak_accuracy(at.where(outside & top), 0),
        "accuracy0_interior": rc.peak_accuracy(at.where(inside & top), 0),
        "not_one_product": targets.not_one_product(answer),
        **{f"share {name}": rc.additive_share(layer, pairing) for name, pairing in PAIRINGS.items()},
        "factorised": float(generally_factorised(layer, factors=3)),
        "samples": at.y_hat[np.flatnonzero(inside & top)[0]],
    }


def controls(settings: Settings) -> list[dict]:
    """The truth, one picture for all, a layer that keeps (x, grade) and y apart, untrained networks, mixed codes."""
    task = grid(settings)
    truth = rc.truth(task, task.combinations, key=rc.key(settings.seed, "test"))
    (untrained,) = recorded(settings, rc.initial_models(decoder(settings), rc.key(settings.seed, "untrained")[None]))
    noise = rc.rng(settings.seed, "noise").normal(size=(settings.size, settings.size * settings.grades, 64))
    x, y, grade = truth.z.T
    apart = {"units": noise[0][grade * settings.size + x] + noise[1][y]}
    systems = {
        "perfect": truth,
        "blind": rc.blind(truth, len(truth) // 2),
        "(x, grade) apart from y": rc.Record(truth.z, truth.x, truth.y, truth.y, apart),
        "untrained": untrained,
    }
    known = rc.control_rows(lambda system: measures(settings, system), systems)
    return known + [row for seed in range(settings.mixings) for row in targets.mixed_codes(settings, seed)]


FIRST, OTHERS = "share xy | grade", ("x grade | y", "y grade | x")
PLACED = figures.peak_controls("accuracy0_interior", ("blind",), at_most=0.1)
VACUOUS = (
    rc.reads("blind", "factorised", at_most=0.0),
    rc.Check(
        "a separate code is factorised", lambda t: rc.by_seed(t, "factorised", system="separate").min(), at_least=1
    ),
)


def fits(*conditions: str):
    return (rc.fitted("accuracy0_donut", at_least=0.95, condition=list(conditions)),)


def mixing(name: str, says: str, systems: tuple[str, ...], *, still: bool) -> rc.Claim:
    """A claim about known codes: after each kind of mixing they are still factorised, or no longer."""

    def share(system: str):
        return lambda t: (rc.by_seed(t, "factorised", system=system) == float(still)).astype(float)

    return rc.Claim(
        name,
        says,
        "A.3: reversible and irreversible mixing",
        effect=rc.each({system: share(system) for system in systems}),
        above=0.9,
        unit=f"share of random mixings after which a code is {'still' if still else 'no longer'} factorised",
        controls=VACUOUS,
        over="mixings",
        repeats="random mixings",
    )


CLAIMS = (
    rc.Claim(
        "a decoder that cannot join x and y joins position and grade",
        "A decoder that fails where a hole of positions was never shown places the same bumps, at a grade at which they"
        " were never shown, once it has seen the positions at others.",
        "A.3: partial factorisation of (x, y) and a third factor",
        effect=rc.difference("accuracy0_interior", TOP, EVERY),
        above=0.5,
        unit="exact accuracy at the top grade in the interior, hole at that grade alone minus hole at every grade",
        fits=fits(TOP, EVERY),
        controls=PLACED,
    ),
    rc.Claim(
        "the last hidden layer keeps the grade apart rather than x or y (ours)",
        "More of the last hidden layer is a sum of a part for the position and one for the grade than of any other two"
        " blocks.",
        "ours, with the linear test of A.2 on blocks as in A.3",
        effect=rc.each({name: figures.minus(FIRST, f"share {name}", condition=TOP) for name in OTHERS}),
        above=0.1,
        unit="additive share of the blocks (x, y) and grade, minus that of other blocks",
        fits=fits(TOP),
        controls=(
            rc.reads("(x, grade) apart from y", "share x grade | y", at_least=0.999),
            rc.reads("(x, grade) apart from y", "share xy | grade", at_most=0.9),
        ),
        over="blocks",
    ),
    rc.Claim(
        "the general definition calls failing networks factorised (ours)",
        "The last hidden layer of networks that fail in the hole is factorised by the definition with any invertible"
        " map, which therefore tells nothing.",
        "ours, of A.2, eq. 24",
        effect=rc.value("factorised", condition=EVERY),
        above=0.9,
        unit="share of failing networks that the definition calls factorised",
        fits=fits(EVERY),
        controls=VACUOUS,
    ),
    rc.Claim(
        "the failing kernel of three parts is farther from one product",
        "The kernel of a network that fails in the hole is less of a single product of kernels of x, y and grade than"
        " that of one which saw every position.",
        "A.4, eq. 30 for three parts",
        effect=rc.difference("not_one_product", EVERY, TOP),
        above=0.05,
        unit="distance of the answers' cosines from the nearest product, as a share, every grade minus top grade",
        fits=fits(TOP, EVERY),
        controls=(rc.reads("perfect", "not_one_product", at_most=0.01),),
    ),
    mixing(
        "mixing that can be undone leaves a code factorised",
        "By the general definition a code of x and y stays factorised under maps that can be undone.",
        REVERSIBLE,
        still=True,
    ),
    mixing(
        "mixing that cannot be undone destroys factorisation",
        "By the general definition a code of x and y is no longer factorised after pooling or saturation.",
        IRREVERSIBLE,
        still=False,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """An answer at the top grade in the hole, placement, what blocks explain, and what mixing leaves."""
    plots = rc.plots
    figure, axes = plots.panels(rows=2, columns=4, side=2.2)
    for row, (condition, colour) in zip(axes, ((EVERY, plots.BAD), (TOP, plots.GOOD)), strict=True):
        rows = rc.pick(table, condition=condition).sort_values("seed")
        plots.picture(row[0], rows.iloc[0]["samples"], title=f"{condition}:\nan answer inside it")
        columns = {"donut": "accuracy0_donut", "interior": "accuracy0_interior"}
        plots.dots(row[1], {name: rows[c].to_numpy() for name, c in columns.items()}, colour=colour)
        row[1].set_title("placed exactly\nat the top grade")
        shares = {name.replace(" | ", "\n| "): rows[f"share {name}"].to_numpy() for name in PAIRINGS}
        plots.dots(row[2], shares, colour=colour)
        row[2].set_title("share of the last hidden\nlayer that blocks explain")
        row[2].tick_params(axis="x", labelsize=6)
    targets.draw_mixed(axes[:, 3], table, ("separate", *REVERSIBLE, *IRREVERSIBLE))
    return figure
