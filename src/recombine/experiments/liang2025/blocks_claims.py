"""What `blocks` claims, of networks that draw bumps of several grades and of codes that are mixed."""

from __future__ import annotations

from math import log10

import recombine as rc
from recombine.experiments.liang2025 import figures

EVERY, TOP = "hole at every grade", "hole at the top grade"
REVERSIBLE, IRREVERSIBLE = ("rotated", "rotated and bent"), ("pooled", "saturated")

FIRST, OTHERS = "share xy | grade", ("x grade | y", "y grade | x")
PLACED = figures.peak_controls("accuracy0_interior", ("blind",), at_most=0.1)
GRADED = (
    rc.reads("perfect", "grade_gain", at_least=1.0),
    rc.reads("grade-blind", "grade_gain", at_most=0.1),
    rc.reads("blind", "grade_gain", at_most=0.1),
)
VACUOUS = (
    rc.reads("blind", "factorised", at_most=0.0),
    rc.Check(
        "a separate code is factorised", lambda t: rc.by_seed(t, "factorised", system="separate").min(), at_least=1
    ),
)


def fits(*conditions: str):
    return (rc.fitted("accuracy0_donut", at_least=0.95, condition=list(conditions)),)


def beyond_picture(other: str):
    """How much more blocks of position and grade explain than other blocks, less the same of the true pictures."""
    layer = figures.minus(FIRST, f"share {other}", condition=TOP)
    return lambda t: layer(t) - (rc.control(t, "perfect", FIRST) - rc.control(t, "perfect", f"share {other}"))


def mixing(name: str, says: str, systems: tuple[str, ...], *, still: bool) -> rc.Claim:
    """A claim about known codes: after each kind of mixing they are still factorised, or no longer."""

    def share(system: str):
        return lambda t: (rc.by_seed(t, "factorised", system=system) == float(still)).astype(float)

    return rc.Claim(
        name,
        says,
        "A.3: reversible and irreversible mixing; the definition asks that a code can be undone, and no more",
        effect=rc.each({system: share(system) for system in systems}),
        above=0.9,
        unit=f"share of random mixings after which a code is {'still' if still else 'no longer'} factorised",
        controls=VACUOUS,
        over="mixings",
        repeats="random mixings",
    )


STATED = (
    rc.Claim(
        "a decoder draws a known place at a new grade (our reading)",
        "Asked for positions at a grade at which it never saw them, a decoder that saw them at others errs less than a"
        " third as much as a right answer at the grade below would.",
        "our reading of A.3: partial factorisation of (x, y) and a third factor; graded bumps are ours",
        effect=rc.value("grade_gain", condition=TOP),
        above=log10(3),
        unit="log10 of the error of the grade below over that of the answers, top grade, interior",
        fits=fits(TOP),
        controls=GRADED,
    ),
    rc.Claim(
        "positions seen at other grades are placed at a new one, unseen ones are not (our reading)",
        "A decoder places bumps at the top grade in the hole if it saw their positions at other grades, and fails if it"
        " saw them at none. (A decoder that ignores the grade would place them too.)",
        "our reading of A.3: partial factorisation of (x, y) and a third factor; graded bumps are ours",
        effect=rc.difference("accuracy0_interior", TOP, EVERY),
        above=0.5,
        unit="exact accuracy at the top grade in the interior, hole at that grade alone minus hole at every grade",
        fits=fits(TOP, EVERY),
        controls=PLACED,
    ),
    rc.Claim(
        "the last hidden layer keeps the grade apart more than the picture does (ours)",
        "More of the last hidden layer is a sum of a part for the position and one for the grade than of any other two"
        " blocks, beyond what is so in the true pictures.",
        "ours, with the linear test of A.2 on blocks as in A.3; the picture itself has .86 in its blocks",
        effect=rc.each({name: beyond_picture(name) for name in OTHERS}),
        above=0.05,
        unit="additive share of (x, y) and grade minus that of other blocks, last hidden layer minus picture",
        fits=fits(TOP),
        controls=(
            rc.reads("(x, grade) apart from y", "share x grade | y", at_least=0.999),
            rc.reads("(x, grade) apart from y", "share xy | grade", at_most=0.9),
        ),
        over="blocks",
    ),
    rc.Claim(
        "the general definition calls failing networks factorised (ours; by definition)",
        "The last hidden layer of networks that fail in the hole is factorised by the definition with any invertible"
        " map, which therefore tells nothing.",
        "ours, of A.2, eq. 24; true by definition of every layer that tells all pairs apart",
        effect=rc.value("factorised", condition=EVERY),
        above=0.9,
        unit="share of failing networks that the definition calls factorised",
        fits=(*fits(EVERY), figures.fails(EVERY)),
        controls=VACUOUS,
    ),
    rc.Claim(
        "the failing kernel of three parts is farther from one product (our reading)",
        "The kernel of a network that fails in the hole is less of a single product of kernels of x, y and grade than"
        " that of one which saw every position.",
        "our reading of A.4, eq. 30 for three parts",
        effect=rc.difference("not_one_product", EVERY, TOP),
        above=0.05,
        unit="distance of the answers' cosines from the nearest product, as a share, every grade minus top grade",
        fits=(*fits(TOP, EVERY), figures.fails(EVERY)),
        controls=(rc.reads("perfect", "not_one_product", at_most=0.01),),
    ),
    mixing(
        "mixing that can be undone leaves a code factorised (by definition)",
        "By the general definition a code of x and y stays factorised under maps that can be undone.",
        REVERSIBLE,
        still=True,
    ),
    mixing(
        "mixing that cannot be undone destroys factorisation (by definition)",
        "By the general definition a code of x and y is no longer factorised after pooling or saturation.",
        IRREVERSIBLE,
        still=False,
    ),
)
