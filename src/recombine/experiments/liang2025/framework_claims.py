"""What `framework` claims, of targets of known complexity and of kernels."""

from __future__ import annotations

import recombine as rc
from recombine.experiments.liang2025 import figures

KINDS = ("bright", "dark", "cross", "OR", "slanted")
"""Those of `tasks/conjunctions.py`, which waits for JAX."""
BRIGHT_ALONE, DARK_ALONE, DONUT = "bright, stripes alone", "dark, stripes alone", "dark, whole donut"


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
FAILS_AND_COMPOSES = (*learnt(DONUT, "dark"), figures.fails(DONUT), figures.composes("dark"))
SUMS = (rc.Check("PF of kernels that are sums", lambda t: rc.by_seed(t, "pf", system="sum").min(), at_least=0.999),)


def over_targets(column: str, error: str, system: str = "network"):
    """By seed, the rank correlation over the five targets of a property with an error in the hole."""
    return rc.correlation_by_seed(column, error, lambda t: rc.pick(t, condition=list(KINDS), system=system))


def of_targets(
    name: str, says: str, source: str, column: str, *, above: float | None = None, below: float | None = None
) -> tuple[rc.Claim, rc.Claim]:
    """A claim on plain errors, and the same where an error counts as a share of the mean picture's."""
    plain = rc.Check(
        "the rank correlation with the error of the mean picture",
        lambda t: over_targets(column, "mse_interior", "mean picture")(t).iloc[0],
        at_least=-0.5,
        at_most=0.5,
    )

    def claim(ends: str, error: str, unit: str, more: tuple[rc.Check, ...]) -> rc.Claim:
        return rc.Claim(
            f"{name}{ends}",
            says,
            source,
            effect=over_targets(column, error),
            unit=f"rank correlation of {unit}, over five targets",
            fits=learnt(*KINDS),
            controls=(*ERRORS, *more),
            above=above,
            below=below,
        )

    what = {"exact_rank": "R*", "target_additive": "the additive share"}[column]
    return (
        claim("", "mse_interior", f"{what} with the squared error", (plain,)),
        claim(
            ", as a share of the mean picture's error", "unexplained_interior", f"{what} with the unexplained share", ()
        ),
    )


STATED = (
    *of_targets(
        "targets of more products compose worse after stripes (our reading)",
        "The larger the number R* of products that a target needs, the larger the error that is left in the hole after"
        " stripes and a few pairs.",
        "A.1, eq. 13; the paper trains no such targets",
        "exact_rank",
        above=0.5,
    ),
    *of_targets(
        "additive targets compose better after stripes (ours)",
        "The more of a target is a sum of a picture of x and one of y, the smaller the error that is left in the hole.",
        "ours, with the linear test of A.2 on the target",
        "target_additive",
        below=-0.5,
    ),
    rc.Claim(
        "after stripes alone bright bumps are less like crosses than dark ones (our reading)",
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
        "the failing kernel needs more products than the composing one (our reading)",
        "As a sum of products of one-part kernels, the kernel of the failing network needs more terms than that of the"
        " composing one.",
        "our reading of A.4, eq. 1, 30 and 31",
        effect=rc.difference("schmidt_rank", DONUT, "dark"),
        above=0.1,
        unit="effective Schmidt rank of the answers' cosines, donut minus stripes and pairs",
        fits=FAILS_AND_COMPOSES,
        controls=KERNELS,
    ),
    rc.Claim(
        "the composing kernel has the larger PF coefficient (our reading)",
        "More of the kernel of the composing network than of the failing one is a sum of kernels of one part.",
        "our reading of A.5, eq. 33 and 35; superposed memories have a larger one than the truth, by construction",
        effect=rc.difference("pf", "dark", DONUT),
        above=0.05,
        unit="PF coefficient, stripes and pairs minus donut",
        fits=FAILS_AND_COMPOSES,
        controls=SUMS,
    ),
)
