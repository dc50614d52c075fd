"""The claims on depth at a fixed number of weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.liu2024.trades import FLAT, THIN
from recombine.experiments.tokens import worlds

if TYPE_CHECKING:
    import pandas as pd

DEEP, SHALLOW = 4, 2
"""From so many layers on a network is deep, and up to so many it is shallow.

Where one deep network is compared, it has four layers: fixed by a laptop table of other seeds than those judged.
"""


def by_depth(table: pd.DataFrame, column: str, trade: str = THIN) -> dict[int, pd.Series]:
    """By depth, and by seed, a column of the networks of one trade: of all, where there is no other trade."""
    where = {"trade": trade} if "trade" in table else {}
    depths = sorted(int(n) for n in rc.pick(table, **where)["layers"].unique())
    return {n: rc.by_seed(table, column, layers=n, **where) for n in depths}


def deep_minus_shallow(table: pd.DataFrame) -> pd.Series:
    """By seed, the mean `ood` of deep networks minus that of shallow ones."""
    found = by_depth(table, "ood")
    deep, shallow = [found[n] for n in found if n >= DEEP], [found[n] for n in found if n <= SHALLOW]
    return sum(deep[1:], deep[0]) / len(deep) - sum(shallow[1:], shallow[0]) / len(shallow)


def in_distribution(table: pd.DataFrame) -> pd.Series:
    found = by_depth(table, "iid")
    return found[DEEP] - found[SHALLOW]


def by_composing(table: pd.DataFrame) -> pd.Series:
    """By seed, the gain from the fewest layers to four on withheld pairs minus that on rows held out singly.

    Voters of a seed are the same at every depth, so that gains above them are gains.
    """
    novel, single = by_depth(table, "ood"), by_depth(table, "iid")
    least = min(novel)
    return (novel[DEEP] - novel[least]) - (single[DEEP] - single[least])


def by_trade(effect: Callable[..., pd.Series]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """An effect of a trade, a column for each of two that was trained.

    Deep is thin in Liu et al.; in Petty et al. it has as wide tokens and smaller inner networks (flat).
    """

    def columns(table: pd.DataFrame) -> pd.DataFrame:
        there = set(rc.networks(table)["trade"])
        return rc.each({trade: partial(effect, trade=trade) for trade in (THIN, FLAT) if trade in there})(table)

    return columns


def fading(table: pd.DataFrame, trade: str) -> pd.Series:
    found = by_depth(table, "ood", trade)
    return (found[DEEP] - found[1]) - (found[max(found)] - found[DEEP])


def at_equal_loss(table: pd.DataFrame, trade: str) -> pd.Series:
    found = by_depth(table, "ood_reached", trade)
    return found[DEEP] - found[1]


def learnt(table: pd.DataFrame, trade: str) -> pd.Series:
    return worlds.fits(trade=trade)(table)


def came_down(table: pd.DataFrame, trade: str) -> pd.Series:
    """By seed, 1 if networks of one layer and of four reached the loss at which they are compared."""
    return rc.fitted("reached", at_least=1.0, trade=trade, layers=[1, DEEP])(table)


def inside(table: pd.DataFrame) -> pd.DataFrame:
    """By seed, `ood` at four layers minus that at either end."""
    import pandas as pd

    found = by_depth(table, "ood")
    ends = [min(found), max(found)]
    return pd.DataFrame({f"{end} layer{'s' * (end > 1)}": found[DEEP] - found[end] for end in ends})


def spread_of_weights(table: pd.DataFrame) -> float:
    """The most weights of a network over the fewest, beside the embedding."""
    weights = rc.networks(table)["layer_parameters"]
    return float(weights.max() / weights.min())


CONTROLS = (*worlds.CONTROLS, rc.reads("perfect", "ood", at_least=1.0), rc.reads("untrained", "ood", at_most=0.3))
SAME_SIZE = (rc.Check("weights of the largest over the smallest network", spread_of_weights, at_most=1.02),)
claim = partial(rc.Claim, controls=CONTROLS, preconditions=SAME_SIZE, fits=(worlds.fits(trade=THIN),))
STATED = (
    claim(
        "deep and thin beats balanced on novel pairs (the note)",
        "Of decoders with as many weights, those of four layers and more answer more chains with a withheld pair than"
        " those of one and two.",
        "synthesis note on Liu et al. (2024); margin suggested by calibration",
        effect=deep_minus_shallow,
        above=0.05,
        unit="exact answers, withheld pairs: four layers and more minus one and two",
    ),
    claim(
        "deep and thin beats balanced in distribution (the paper)",
        "Of decoders with as many weights, one of four layers answers more chains held out singly than one of two.",
        "Liu et al. (2024), known by its abstract: deep and thin models are better; second-hand: depth alone gives 0.9"
        " points there",
        effect=in_distribution,
        above=0.01,
        unit="exact answers, held out singly: four layers minus two",
    ),
    claim(
        "depth helps by composing (the note)",
        "From one layer to four, answers to chains with a withheld pair gain more than those held out singly.",
        "synthesis note on Liu et al. (2024); margin suggested by calibration",
        effect=by_composing,
        above=0.05,
        unit="gain from one layer to four: withheld pairs minus held out singly",
    ),
    claim(
        "returns of depth fade (Petty et al.)",
        "From one layer to four, answers to chains with a withheld pair gain more than from four to the most.",
        "Petty et al. (2023), known by its abstract: the benefit of additional layers diminishes rapidly",
        effect=by_trade(fading),
        above=0.05,
        over="trades",
        fits=(by_trade(learnt),),
        unit="exact answers, withheld pairs: gain up to four layers minus gain after",
    ),
    claim(
        "depth helps at equal loss (Petty et al.)",
        "At the first step with the same low training loss, four layers answer more chains with a withheld pair than"
        " one.",
        "Petty et al. (2023), known by its abstract: the gain is not explained by a lower loss alone",
        effect=by_trade(at_equal_loss),
        above=0.03,
        over="trades",
        unit="exact answers, withheld pairs, at equal loss: four layers minus one",
        fits=(by_trade(came_down),),
    ),
    claim(
        "a depth between one layer and the most is best (ours)",
        "Decoders of four layers answer more chains with a withheld pair than those of one layer, and than those of"
        " the most.",
        "ours, as do2026/depth asks of pictures; that it is four layers was fixed by a table of other seeds",
        effect=inside,
        above=0.05,
        over="ends",
        unit="exact answers, withheld pairs: four layers minus the end",
    ),
)
