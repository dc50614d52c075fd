"""What `framework` claims, of targets of known complexity and of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liang2025 import figures

if TYPE_CHECKING:
    import pandas as pd


KINDS = ("bright", "dark", "cross", "OR", "slanted")
"""Those of `tasks/conjunctions.py`, which waits for JAX."""
BRIGHT_ALONE, DARK_ALONE, DONUT = "bright, stripes alone", "dark, stripes alone", "dark, whole donut"


def after_stripes(table: pd.DataFrame) -> pd.DataFrame:
    """The networks that were shown stripes and a few pairs, one for each kind of target."""
    return rc.pick(table, condition=list(KINDS))


def bump_not_cross(condition: str):
    return figures.minus("r_bright", "r_cross", condition=condition)


def learnt(*conditions: str):
    return (rc.fitted("unexplained_trained", at_most=0.1, condition=list(conditions)),)


def known(system: str, condition: str, **bounds: float) -> rc.Check:
    return rc.reads(system, "unexplained_interior", condition=condition, **bounds)


ERRORS = tuple(
    check
    for kind in KINDS
    for check in (known("perfect", kind, at_most=0.0), known("mean picture", kind, at_least=0.5))
)
KERNELS = (
    rc.reads("perfect", "schmidt_rank", condition="dark", at_most=1.1),
    rc.Check(
        "Schmidt rank of the OR kernels less that of the AND kernels",
        lambda t: (rc.by_seed(t, "schmidt_rank", system="OR") - rc.by_seed(t, "schmidt_rank", system="AND")).min(),
        at_least=0.2,
    ),
)
SUMS = (rc.Check("PF of kernels that are sums", lambda t: rc.by_seed(t, "pf", system="sum").min(), at_least=0.999),)

STATED = (
    rc.Claim(
        "targets of more products compose worse after stripes (our reading)",
        "The larger the number R* of products that a target needs, the larger the error that is left in the hole after"
        " stripes and a few pairs.",
        "A.1, eq. 13; the paper trains no such targets",
        effect=rc.correlation_by_seed("exact_rank", "unexplained_interior", after_stripes),
        above=0.5,
        unit="rank correlation of R* with the unexplained share, over five targets",
        fits=learnt(*KINDS),
        controls=ERRORS,
    ),
    rc.Claim(
        "additive targets compose better after stripes (ours)",
        "The more of a target is a sum of a picture of x and one of y, the smaller the error that is left in the hole.",
        "ours, with the linear test of A.2 on the target",
        effect=rc.correlation_by_seed("target_additive", "unexplained_interior", after_stripes),
        below=-0.5,
        unit="rank correlation of the additive share with the unexplained share, over five targets",
        fits=learnt(*KINDS),
        controls=ERRORS,
    ),
    rc.Claim(
        "stripes alone teach bright bumps sooner than dark ones (our reading)",
        "After stripes alone, answers are more like bumps and less like crosses where bumps are bright,"
        " and one product, than where they are dark, and two.",
        "A.1 and Fig. 4b",
        effect=lambda t: bump_not_cross(BRIGHT_ALONE)(t) - bump_not_cross(DARK_ALONE)(t),
        above=0.1,
        unit="correlation with a bump less that with a cross, bright minus dark",
        fits=learnt(BRIGHT_ALONE, DARK_ALONE),
        controls=(
            rc.reads("perfect", "r_bright", condition="dark", at_least=0.999),
            rc.reads("perfect", "r_cross", condition="cross", at_least=0.999),
        ),
    ),
    rc.Claim(
        "the failing kernel needs more products",
        "As a sum of products of one-part kernels, the kernel of the failing network needs more terms.",
        "A.4, eq. 1, 30 and 31",
        effect=rc.difference("schmidt_rank", DONUT, "dark"),
        above=0.1,
        unit="effective Schmidt rank of the answers' cosines, donut minus stripes and pairs",
        fits=learnt(DONUT, "dark"),
        controls=KERNELS,
    ),
    rc.Claim(
        "the composing kernel has the larger PF coefficient (the paper)",
        "More of the kernel of the composing network is a sum of kernels of one part.",
        "A.5, eq. 33 and 35",
        effect=rc.difference("pf", "dark", DONUT),
        above=0.05,
        unit="PF coefficient, stripes and pairs minus donut",
        fits=learnt(DONUT, "dark"),
        controls=SUMS,
    ),
    rc.Claim(
        "the two definitions of a factorised kernel agree (the paper)",
        "The kernel that eq. 30 calls factorised, a single product (AND), has a larger PF coefficient than one that it"
        " does not (OR).",
        "eq. 30 against A.5, where one term of all factors is called memorisation",
        effect=lambda t: rc.by_seed(t, "pf", system="AND") - rc.by_seed(t, "pf", system="OR"),
        above=0.0,
        unit="PF coefficient of the AND kernel minus that of the OR kernel",
        controls=(*KERNELS, *SUMS),
        repeats="grid sizes",
    ),
)
