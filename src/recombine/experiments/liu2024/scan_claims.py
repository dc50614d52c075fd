"""The claims on depth and SCAN's novel commands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liu2024 import depth_claims as of_depth

if TYPE_CHECKING:
    import pandas as pd

FITS = 0.98
"""The share of trained commands that a network must answer exactly to count."""
FLOOR = 0.02
"""Where every depth answers fewer of a kind of commands, there is nothing to compare."""
MATTERS = 0.05
"""The least gain in exact answers that matters."""


def over_kinds(table: pd.DataFrame) -> pd.Series:
    """By seed, the mean over kinds of commands of what deep networks answer beyond shallow ones."""
    return by_kind(table).mean(axis=1, skipna=False)


by_kind = rc.each_of("asked", of_depth.deep_minus_shallow)


def answered(table: pd.DataFrame) -> pd.DataFrame:
    """Exact answers to novel commands: the mean over seeds, by kind (a row) and depth (a column)."""
    return rc.networks(table).groupby(["asked", "layers"])["ood"].mean().unstack()


def open_kinds(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The kinds of commands of which no depth answers enough to be compared, or shallow networks nearly all."""
    most = answered(table).max(axis=1)
    shallow = answered(table[table["layers"] <= of_depth.SHALLOW]).mean(axis=1)
    why = f"fewer than {FLOOR:.0%} are answered at every depth: there is nothing to compare"
    floor = {str(kind): ("undecided", why) for kind in most.index[most < FLOOR]}
    full = shallow[shallow > 1 - MATTERS]
    few = f"networks of up to {of_depth.SHALLOW} layers answer"
    return floor | {str(kind): ("undecided", f"{few} {share:.1%}: no room") for kind, share in full.items()}


CONTROLS = (
    rc.reads("perfect", "ood", at_least=1.0),
    rc.reads("walks", "ood", at_most=0.0),
    rc.reads("untrained", "exact_trained", at_most=0.1),
)
learnt = rc.fitted("exact_trained", at_least=FITS)
claim = partial(rc.Claim, controls=CONTROLS, preconditions=of_depth.SAME_SIZE, fits=(learnt,))
STATED = (
    claim(
        "deep and thin beats balanced on novel commands (the note)",
        "Of decoders with as many weights, those of four layers and more answer more of SCAN's novel commands than"
        " those of two.",
        "synthesis note on Liu et al. (2024)",
        effect=over_kinds,
        above=MATTERS,
        unit="exact answers, mean over kinds of novel commands: four layers and more minus two",
        preconditions=(
            *of_depth.SAME_SIZE,
            rc.Check("novel commands answered at the best depth", lambda t: answered(t).mean().max(), at_least=0.05),
        ),
    ),
    claim(
        "deep and thin beats balanced on every kind of novel commands (ours)",
        "Of decoders with as many weights, those of four layers and more answer more than those of two of each kind of"
        " novel commands.",
        "ours; what the mean of the claim before is made of",
        effect=by_kind,
        fits=(rc.each_of("asked", learnt),),
        above=MATTERS,
        unit="exact answers, novel commands: four layers and more minus two",
        unsettled=open_kinds,
        over="kinds",
    ),
)
