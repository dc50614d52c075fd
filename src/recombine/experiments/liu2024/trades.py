"""How a number of weights is spent on layers: fewer and wide, or more and thin, or with smaller inner networks."""

from __future__ import annotations

import recombine as rc

THIN, FLAT, LOOPED = "thin", "flat", "looped"
"""Deep is thin; deep has as wide tokens and smaller inner networks; one layer is passed several times."""


def inner_units(weights: int, depth: int, width: int) -> int:
    """The units of the inner network with which `depth` layers have so many weights: 4 W^2 + 2 W inner each."""
    inner = round((weights / depth - 4 * width**2) / (2 * width))
    if inner < 1:
        raise rc.UserError(f"{depth} layers of width {width} have more than {weights} weights without inner networks")
    return inner
