"""What `layers` claims, of failing and composing networks, and the checks on its measures."""

from __future__ import annotations

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.liang2025.stripes import DONUT, STRIPES

VOLUME = (
    figures.output_reads("perfect", "hole_depth", at_least=-0.1, at_most=0.1),
    figures.output_reads("nearest memory", "hole_depth", at_most=-0.6),
    figures.output_reads("superposition", "hole_depth", at_least=-0.6),
)
ADDITIVE = (
    figures.output_reads("additive", "additive", at_least=0.999),
    figures.output_reads("noise", "additive", at_most=0.3),
)
ROUGH = (
    figures.output_reads("perfect", "roughness", at_most=0.1),
    figures.output_reads("nearest memory", "roughness", at_least=0.5),
)
# Noise is not asked for a low score: random directions in many dimensions are nearly orthogonal, so that it reads .98.
FACTORS = (figures.output_reads("perfect", "factorisation", at_least=0.99),)
PROBE = (
    figures.output_reads("noise", "probe", at_most=0.2),
    rc.Check(
        "probe of the control perfect minus that of noise",
        lambda t: figures.output_of(t, "perfect", "probe") - figures.output_of(t, "noise", "probe"),
        at_least=0.2,
    ),
)


def fall(measure: str, **where):
    """From the input to the last hidden layer, less that of the same network before training.

    The input reads the same before and after, 1 for factorisation and decodability, and so cancels.
    """
    last = figures.learnt_layer(measure, -2, **where)
    return lambda t: -last(t)


def whole_fall(measure: str, **where):
    """From the input, which reads 1, to the last hidden layer, as the paper's curves show it."""
    last = figures.layer(measure, -2, **where)
    return lambda t: 1 - last(t)


def contrast(measure: str):
    """The last hidden layer of the composing network minus that of the failing one."""
    composing, failing = (figures.layer(measure, -2, condition=name) for name in (STRIPES, DONUT))
    return lambda t: composing(t) - failing(t)


def even(place: int):
    return lambda t: figures.learnt_layer("hole_depth", place, condition=STRIPES)(t).abs()


_FAILS = figures.close(condition=(DONUT,)), figures.fails(DONUT)
_COMPOSES = figures.close(condition=(STRIPES,)), figures.composes(STRIPES)
FAILING, COMPOSING, BOTH = ({"fits": fits} for fits in (_FAILS, _COMPOSES, (*_FAILS, *_COMPOSES)))
STATED = (
    rc.Claim(
        "the volume collapses in the hole",
        "In the failing network's last hidden layer, training takes more than 0.6 decades of volume from the hole.",
        "Fig. 2e",
        effect=figures.learnt_layer("hole_depth", -2, condition=DONUT),
        below=-0.6,
        unit="decades of volume in the hole over the donut that training adds, last hidden layer",
        controls=VOLUME,
        **FAILING,
    ),
    rc.Claim(
        "the volume of the picture collapses in the hole (ours)",
        "In the picture that the failing network draws, training takes more than 0.6 decades of volume from the hole.",
        "ours: the paper's panels end with the hidden layers",
        effect=figures.learnt_layer("hole_depth", -1, condition=DONUT),
        below=-0.6,
        unit="decades of volume in the hole over the donut that training adds, picture",
        controls=VOLUME,
        **FAILING,
    ),
    rc.Claim(
        "the volume stays even where the network composes",
        "With stripes the volume element of the last hidden layer stays within 0.35 decades through the hole.",
        "Fig. 4d",
        effect=even(-2),
        below=0.35,
        unit="decades of volume that training adds to or takes from the hole, last hidden layer",
        controls=VOLUME,
        **COMPOSING,
    ),
    rc.Claim(
        "the volume of the picture stays even where the network composes (ours)",
        "With stripes the volume element of the picture stays within 0.35 decades through the hole.",
        "ours: Fig. 4d, at the picture",
        effect=even(-1),
        below=0.35,
        unit="decades of volume that training adds to or takes from the hole, picture",
        controls=VOLUME,
        **COMPOSING,
    ),
    rc.Claim(
        "stripes make the volume smoother",
        "With stripes the volume element of the last hidden layer varies less from cell to cell than on the donut.",
        "Fig. 4d (smooth)",
        effect=lambda t: -contrast("roughness")(t),
        above=0.1,
        unit="standard deviation over cells of log10 of the volume, donut minus stripes, last hidden layer",
        controls=ROUGH,
        **BOTH,
    ),
    rc.Claim(
        "factorisation degrades with depth (the paper)",
        "The factorisation score of the failing network falls from the input, where it is 1, to the last hidden layer,"
        " more than before training.",
        "Fig. 2c",
        effect=fall("factorisation", condition=DONUT),
        above=0.01,
        unit="factorisation, input minus last hidden layer, trained minus initial",
        controls=FACTORS,
        **FAILING,
    ),
    rc.Claim(
        "factorisation tells failure from success (our reading)",
        "The composing network keeps a higher factorisation score in its last hidden layer.",
        "the reading that Fig. 2 and 4 suggest",
        effect=contrast("factorisation"),
        above=0.01,
        unit="factorisation of the last hidden layer, stripes minus donut",
        controls=FACTORS,
        **BOTH,
    ),
    rc.Claim(
        "decodability degrades with depth (the paper)",
        "In the failing network, linear decodability of x and y in the hole falls from the input to the last hidden"
        " layer, more than before training.",
        "Fig. 2a, with a probe scored where it was not fitted",
        effect=fall("probe", condition=DONUT),
        above=0.05,
        unit="R2 in the hole of a probe fitted outside it, input minus last hidden layer, trained minus initial",
        controls=PROBE,
        **FAILING,
    ),
    rc.Claim(
        "decodability degrades more where the network composes (ours)",
        "From the input to the last hidden layer, linear decodability falls more in the composing network than in the"
        " failing one, so that its fall is no sign of failure.",
        "ours, of Fig. 2a; stated after other seeds were seen",
        effect=lambda t: fall("probe", condition=STRIPES)(t) - fall("probe", condition=DONUT)(t),
        above=0.05,
        unit="fall of R2 in the hole from the input to the last hidden layer, stripes minus donut",
        controls=PROBE,
        **BOTH,
    ),
    rc.Claim(
        "the additive share tells failure from success (ours)",
        "In the last hidden layer x and y add up in the composing network, and not in the failing one.",
        "our measure",
        effect=contrast("additive"),
        above=0.25,
        unit="additive share of the last hidden layer, stripes minus donut",
        controls=ADDITIVE,
        **BOTH,
    ),
)
