"""What `tuning` claims, of networks trained on stripes and some bumps and of those trained on the whole donut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.liang2025.stripes import DONUT

if TYPE_CHECKING:
    import pandas as pd

PIXELS = "pixel_stripes"


def stripe_conditions(table: pd.DataFrame) -> list[str]:
    """The conditions with stripes, from no bumps to the most."""
    names = [c for c in rc.networks(table)["condition"].unique() if c.startswith("stripes + ")]
    return sorted(names, key=lambda name: int(name.removeprefix("stripes + ")))


def some_bumps(table: pd.DataFrame) -> str:
    """The condition with the second smallest number of bumps, of which the claims speak."""
    return stripe_conditions(table)[1]


def composing(column: str, layer: int):
    """A share of one layer of the networks trained on stripes and some bumps, by seed."""
    return lambda t: figures.layer(column, layer, condition=some_bumps(t))(t)


def gained(column: str, layer: int = 0):
    """A share of one layer less what the same network reads before training, by seed."""
    return lambda t: composing(column, layer)(t) - composing(f"initial_{column}", layer)(t)


def fall(column: str):
    """What training adds to a share in the first hidden layer minus in the last, by seed."""
    return lambda t: gained(column)(t) - gained(column, -2)(t)


def sharpened(table: pd.DataFrame) -> pd.Series:
    """The bump share of the last hidden layer with the most bumps minus with none, by seed."""
    none, *_, most = stripe_conditions(table)
    return rc.difference("late", most, none)(table.assign(late=table["bump_share"].str[-2]))


def failing(column: str, layer: int):
    """A share of one layer of the networks trained on the whole donut, by seed."""
    return figures.layer(column, layer, condition=DONUT)


def learnt(*kinds: str) -> tuple:
    """What networks must have learnt, as in `amounts`; a kind is a condition, or SOME for stripes and some bumps."""

    def fitted(column: str, **bounds: float):
        return lambda t: rc.fitted(column, condition=[some_bumps(t) if k == SOME else k for k in kinds], **bounds)(t)

    return fitted("loss", at_most=0.005), fitted("accuracy1_trained", at_least=0.95)


SOME = "some bumps"
STRIPE = (
    figures.output_reads("one coordinate", "stripe_share", at_least=0.99),
    figures.output_reads("a sum", "stripe_share", at_most=0.1),
    figures.output_reads("bumps", "stripe_share", at_most=0.5),
)
BUMP = (
    figures.output_reads("bumps", "bump_share", at_least=0.5),
    figures.output_reads("a sum", "bump_share", at_most=0.1),
)


STATED = (
    rc.Claim(
        "training makes the first hidden layer more additive",
        "With stripes in training, the first hidden layer is more nearly a sum over x and y than before training.",
        "Appendix E.4, Fig. 15: additive conjunctions of stripes early; untrained networks are additive by nine tenths",
        effect=lambda t: -gained("bump_share")(t),
        above=0.02,
        unit="additive share of the first hidden layer, trained minus initial",
        fits=learnt(SOME),
        controls=BUMP,
    ),
    rc.Claim(
        "tuning is more stripe-like early than late (the paper)",
        "With stripes, training makes units follow one coordinate more than the other in the first hidden layer, and"
        " less so in the last.",
        "Appendix E.4, Fig. 4f and Fig. 15",
        effect=fall("stripe_share"),
        above=0.05,
        unit="stripe share, first minus last hidden layer, trained minus initial, stripes + bumps",
        fits=learnt(SOME),
        controls=STRIPE,
    ),
    rc.Claim(
        "conjunctions grow with depth (the paper)",
        "With stripes, training makes conjunctions of x and y grow from the first hidden layer to the last.",
        "Fig. 4f; Fig. 15",
        effect=lambda t: -fall("bump_share")(t),
        above=0.05,
        unit="bump share, last minus first hidden layer, trained minus initial, stripes + bumps",
        fits=learnt(SOME),
        controls=BUMP,
    ),
    rc.Claim(
        "more bumps sharpen late tuning (the paper)",
        "Conjunctions in the last hidden layer are stronger with the most bumps than with stripes alone.",
        "Appendix E.4, Fig. 15: more focused tuning as bumps accumulate",
        effect=sharpened,
        above=0.05,
        unit="bump share of the last hidden layer, most bumps minus none",
        fits=(rc.fitted("loss", at_most=0.005),),
        controls=BUMP,
    ),
    rc.Claim(
        "the first hidden layer's maps are stripes over pixels (the paper)",
        "With stripes in training, what the channels of the first hidden layer show for one bump is at least half of"
        " the way from its untrained maps to sums of stripes.",
        "Fig. 4e",
        effect=lambda t: gained(PIXELS)(t) / (1 - composing(f"initial_{PIXELS}", 0)(t)),
        above=0.5,
        unit="share of the way from untrained maps to stripes, first hidden layer",
        fits=learnt(SOME),
        controls=(
            figures.output_reads("a sum", PIXELS, at_least=0.99),
            figures.output_reads("bumps", PIXELS, at_most=0.5),
        ),
    ),
    rc.Claim(
        "the first hidden layer is tuned to single coordinates (ours)",
        "With stripes in training, the first hidden layer follows one coordinate at a time.",
        "Fig. 4e and Fig. 15, read as units that vary along one coordinate only; a sum of stripes reads 0 here",
        effect=composing("stripe_share", 0),
        above=0.5,
        unit="stripe share of the first hidden layer, stripes + bumps",
        fits=learnt(SOME),
        controls=STRIPE,
    ),
    rc.Claim(
        "a failing network's first hidden layer is tuned to single coordinates (ours)",
        "The first hidden layer of the failing network follows one coordinate at a time too.",
        "our contrast",
        effect=failing("stripe_share", 0),
        above=0.5,
        unit="stripe share of the first hidden layer, whole donut",
        fits=learnt(DONUT),
        controls=STRIPE,
    ),
    rc.Claim(
        "late conjunctions are stronger in the failing network than in the one that composes (ours)",
        "Conjunctions in the last hidden layer are stronger in the network that fails than in the one that composes.",
        "our contrast",
        effect=lambda t: failing("bump_share", -2)(t) - composing("bump_share", -2)(t),
        above=0.1,
        unit="bump share of the last hidden layer, donut minus stripes + bumps",
        fits=(*learnt(SOME, DONUT), figures.fails(DONUT), lambda t: figures.composes(some_bumps(t))(t)),
        controls=BUMP,
    ),
)
