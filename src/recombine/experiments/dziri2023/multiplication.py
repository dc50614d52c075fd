"""Is long multiplication computed, or are its pieces remembered? And do written steps carry it to larger numbers?

Multiplication is the first example of Dziri et al.: language models get steps right that they saw whole in training,
and fail on larger numbers, also with steps written out. Frequent steps are easy ones, so here endings of two digits
are withheld at random, each with a digit of the second number, though all products of two digits are trained on.
Products held out singly, whose endings were seen, stand beside products with a withheld ending, of the same size.
Networks answer at once, or write all steps, told of places plainly or so that digits worked on together share a place.

Margins are those of the design, which come before any run. A reader would care about one product or step in twenty
(.05), about one in five where a cure is promised (.2), about half of all (.5) where "drastically" or "near 0 %" is
said, and about more than nine in ten where steps are said to compose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.dziri2023 import products
from recombine.experiments.tokens import shared, worlds

if TYPE_CHECKING:
    import pandas as pd

ONCE, STEPS, COUPLED = "at once", "in steps", "in steps, coupled"
ARMS = (COUPLED, STEPS, ONCE)
"""those that take longest first, so that two cores are done at about the same time"""
LARGER = {"exact_longer": "longer first number", "exact_more": "longer second number"}
"""columns of larger products, and what they ask"""
EVERY_SIZE = ("exact_trained", "exact_smaller")
"""columns that must be learnt where larger sizes are asked: the largest trained size, and smaller ones"""


@dataclass(frozen=True, kw_only=True)
class Settings(products.Products):
    steps: int = 1800
    """updates of networks that write their steps"""
    once_steps: int = 3000
    """updates of networks that answer at once, which learn more slowly"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("once_steps")


QUICK = Settings(seeds=2, width=8, head=4, depth=1, steps=20, once_steps=20, batch=16, longer=(4,), n_eval=32)
LAPTOP = Settings(seed=4, batch=64, learning_rate=1e-2)
_SIZES = {"second": 2, "more": (3, 4), "width": 128, "depth": 4, "head": 32, "batch": 256}
_TRAINING = {"steps": 1500, "once_steps": 12_000, "learning_rate": 2e-3, "precision": "bfloat16"}
GPU = Settings(seed=3, seeds=8, block=8, **_SIZES, **_TRAINING)  # pyrefly: ignore
_LONG = {"steps": 100_000, "once_steps": 100_000, "learning_rate": 3e-4, "precision": "float32"}
PAPER = replace(GPU, seeds=10, block=5, more=(3, 4, 5), width=256, depth=8, n_eval=2000, **_LONG)  # pyrefly: ignore
VARIANTS = (rc.Variant("more withheld", "how many endings are withheld is ours", withheld=0.4),)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"arm": arm} for arm in ARMS])


def decoder(settings: Settings, arm: str):
    """How a decoder is made that is told places as the arm says."""
    from recombine.models.decoder import plain
    from recombine.tasks.multiplication import coupled

    task = products.family(settings.digits, steps=arm != ONCE)
    return shared.decoder(settings, task, places=coupled if arm == COUPLED else plain)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, arm, steps = cell.settings, cell.arm, cell.arm != ONCE
    task, make = products.family(settings.digits, steps=steps), decoder(settings, arm)
    who = [{"condition": arm, "seed": seed} for seed in cell.members]
    chosen = [products.world(settings, seed).train for seed in cell.members]
    sized = settings if steps else replace(settings, steps=settings.once_steps)
    trained = shared.fit(sized, task, make, seeds=cell.members, chosen=chosen, monitor=monitor, label=arm)
    found = []
    for i, w in enumerate(who):
        answers = products.by_model(settings, trained[i].model)
        scores, record = products.measured(settings, answers, w["seed"], steps=steps)
        monitor.recorded(f"{arm}-{w['seed']}", record)
        found.append(scores | shared.sizes(make, record.x.shape[1]) | {"depth": settings.depth})
    return rc.rows(trained, who, found)


def controls(settings: Settings) -> list[dict]:
    """A perfect solver, a rememberer of products and of steps, and an untrained network that writes steps."""
    born = shared.untrained(settings, decoder(settings, STEPS))
    scores, _ = products.measured(settings, products.by_model(settings, born), 0, steps=True)
    return [*products.known_systems(settings), {"system": "untrained", "seed": 0} | scores]


def by_direction(effect):
    """An effect of a column taken apart by which number is longer, for those that were asked."""

    def apart(table: pd.DataFrame):
        asked = {name: column for column, name in LARGER.items() if column in table}
        return rc.each({name: partial(effect, column=column) for name, column in asked.items()})(table)

    return apart


def falls(table: pd.DataFrame, column: str) -> pd.Series:
    """By seed, exact answers to trained products minus those to larger ones, with steps and plain places."""
    return rc.value("exact_trained", condition=STEPS)(table) - rc.value(column, condition=STEPS)(table)


def gains(table: pd.DataFrame, column: str) -> pd.Series:
    """By seed, exact answers to larger products with coupled places minus those with plain ones."""
    return rc.difference(column, COUPLED, STEPS)(table)


def less(first: str, second: str, arm: str):
    """By seed, one column minus another, of one arm."""
    return lambda t: rc.value(first, condition=arm)(t) - rc.value(second, condition=arm)(t)


def fits(at_least: float, *arms: str, sizes: tuple[str, ...] = ("exact_trained",)) -> tuple:
    return tuple(rc.fitted(column, at_least=at_least, condition=list(arms)) for column in sizes)


CONTROLS = (
    rc.reads("perfect", "exact_withheld", at_least=1.0),
    rc.reads("perfect", "exact_longer", at_least=1.0),
    rc.reads("perfect", "step_withheld", at_least=1.0),
    rc.reads("rememberer", "exact_trained", at_least=1.0),
    # none of the products that are asked has the answer of a trained one by chance: there are no voters to beat
    rc.reads("rememberer", "exact_row", at_most=0.05),
    rc.reads("rememberer", "exact_withheld", at_most=0.05),
    rc.reads("rememberer", "exact_longer", at_most=0.05),
    rc.reads("rememberer", "step_seen", at_least=0.95),
    rc.reads("rememberer", "step_withheld", at_most=0.2),
    rc.reads("untrained", "exact_trained", at_most=0.05),
    rc.reads("untrained", "exact_longer", at_most=0.05),
)
claim = partial(rc.Claim, controls=CONTROLS, preconditions=(worlds.enough("row", "withheld"),))
CLAIMS = (
    claim(
        "success on products is remembered (the note)",
        "Answering at once, decoders are right on products held out singly more often than on products of the same size"
        " with a withheld ending.",
        "synthesis note on Dziri et al. (2023): memorises computation subgraphs; margin of the design",
        effect=less("exact_row", "exact_withheld", ONCE),
        above=0.05,
        unit="exact products at once, held out singly minus with a withheld ending",
        fits=fits(0.99, ONCE),
    ),
    claim(
        "products with a withheld ending fail drastically (the note)",
        "Answering at once, decoders are right on trained products and wrong on most with an ending that was withheld.",
        "synthesis note on Dziri et al. (2023): fail drastically on novel compositions; margin of the design",
        effect=less("exact_trained", "exact_withheld", ONCE),
        above=0.5,
        unit="exact products at once, trained minus with a withheld ending",
        fits=fits(0.99, ONCE),
    ),
    claim(
        "steps written out compose products (ours)",
        "Writing every step, decoders are right on nearly all products with an ending that was withheld.",
        "ours; margin of the design, where chains of functions suggested it",
        effect=rc.value("exact_withheld", condition=STEPS),
        above=0.9,
        unit="exact products in steps, with a withheld ending",
        fits=fits(0.99, STEPS),
    ),
    claim(
        "steps of multiplication with withheld endings are wrong more often (ours)",
        "Given right steps before, the step of two digits is wrong more often where its ending was withheld at random"
        " than where it was seen.",
        "ours; the causal form of the correlation that Dziri et al. (2023) report",
        effect=less("step_seen", "step_withheld", STEPS),
        above=0.05,
        unit="right steps of two digits, seen endings minus withheld ones",
        fits=fits(0.95, STEPS),
    ),
    claim(
        "steps written out do not carry to larger products (the paper)",
        "With all steps written out, decoders are right on products of trained sizes and mostly wrong on larger ones.",
        "Dziri et al. (2023): near 100 % in distribution, near 0 % on larger, also with scratchpads (second-hand)",
        effect=by_direction(falls),
        above=0.5,
        over="directions",
        unit="exact products in steps and plain places, trained minus larger ones",
        fits=fits(0.95, STEPS, sizes=EVERY_SIZE),
    ),
    claim(
        "shared places carry long multiplication to larger products (ours)",
        "Where digits that are worked on together share a place, decoders are right on larger products more often.",
        "ours, after Cho et al. (2024, arXiv 2405.20671) on addition",
        effect=by_direction(gains),
        above=0.2,
        over="directions",
        unit="exact larger products in steps, coupled minus plain places",
        fits=fits(0.95, STEPS, COUPLED, sizes=EVERY_SIZE),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact products by group; right steps of two digits by ending; exact products and tokens by size."""
    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.8)
    groups = {"trained": "exact_trained", "held out\nsingly": "exact_row", "withheld\nending": "exact_withheld"}
    _by_group(axes[0, 0], table, groups, ARMS)
    _by_group(axes[0, 1], table, {"seen": "step_seen", "withheld": "step_withheld"}, ARMS[:2])
    _by_size(axes[0, 2], settings, rc.networks(table))
    axes[0, 0].set(title="trained sizes", ylabel="exact products")
    axes[0, 1].set(title="single steps", xlabel="ending of two digits", ylabel="right steps, given right ones before")
    axes[0, 2].set(title="larger sizes", ylabel="share that is right")
    for place in axes[0]:
        place.set_ylim(-0.03, 1.05)
        place.grid(axis="y", alpha=0.2, linewidth=0.6)
        place.legend(fontsize=7, frameon=False)
    return picture


def _colour(arm: str) -> str:
    return {COUPLED: "tab:purple", STEPS: rc.plots.GOOD, ONCE: rc.plots.BAD}[arm]


def _by_group(place, table: pd.DataFrame, kinds: dict[str, str], arms: tuple[str, ...]) -> None:
    """One dot per network and a line through the means of each arm, beside a system that only remembers."""
    for i, arm in enumerate(arms):
        mine, colour = rc.pick(rc.networks(table), condition=arm), _colour(arm)
        at = [0.15 * (i - (len(arms) - 1) / 2) + k for k in range(len(kinds))]
        for x, column in zip(at, kinds.values(), strict=True):
            place.plot([x] * len(mine), mine[column], "o", ms=4, alpha=0.5, color=colour)
        place.plot(at, mine[list(kinds.values())].mean(), color=colour, label=arm)
    memory = [rc.control(table, "rememberer", column) for column in kinds.values()]
    place.plot(range(len(kinds)), memory, ":", color="black", linewidth=1, label="a rememberer")
    place.set_xticks(range(len(kinds)), kinds)
    place.set_xlim(-0.4, len(kinds) - 0.6)


def _by_size(place, settings: Settings, rows: pd.DataFrame) -> None:
    """Means of exact products and tokens by size, the first held out singly; a line per number that grows."""
    first, directions = "{}x{}".format(*settings.digits), [[f"{a}x{b}" for a, b in e] for e in settings.larger.values()]
    lines = [{first: "row"} | {name: name for name in directions[0]}, *({n: n for n in e} for e in directions[1:])]
    for arm, mine in rows.groupby("condition"):
        for kind, style in (("exact", "o-"), ("tokens", "^:")):
            for line in lines:
                level = [mine[f"{kind}_{column}"].mean() for column in line.values()]
                place.plot(list(line), level, style, color=_colour(str(arm)), ms=4)
    for arm in (name for name in ARMS if name in set(rows["condition"])):
        place.plot([], [], color=_colour(arm), label=arm)
    for label, style in (("whole products", "o-"), ("single tokens", "^:")):
        place.plot([], [], style, color="black", ms=4, label=label)
    place.set(xlabel="digits of both numbers (first: trained size)")
