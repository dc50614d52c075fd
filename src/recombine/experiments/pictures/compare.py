"""How picture networks are compared: at one error, picture by picture and rival by rival.

A network that does not draw its picture is an outcome of its own: scores are compared where the networks that are
compared reach the gate, and a verdict needs half of the seeds to do so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import recombine as rc
from recombine.table import NoSuchRow

if TYPE_CHECKING:
    import pandas as pd

GATE = 5e-3
"""Mean squared error at which networks are compared where a claim names one error for all pictures."""
DRAWN = 1e-2
"""The same at the end of training, where networks are set beside designed ones, which are not off at all."""
SLACK = 0.2
"""How much more still counts as drawn: a loss of a part of the pixels is not the error of all."""
PICTURES = "pictures"
R = "R (compressed size of changes, relative to the target)"
"""What units call it: the mean compressed size of a weight's changes over that of the target."""

Table = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""From a table to some of its rows, or to numbers by seed in several columns."""


Kind = Any
"""The value that networks of one kind have in some column, or a function of the table that gives it."""


def everything(table: pd.DataFrame) -> pd.DataFrame:
    return table


def by_picture(effect: Callable[[Any], Any], among: Table = everything) -> Table:
    """An effect with a column for each picture, of some rows of a table."""
    return lambda table: rc.each_of("goal", effect)(among(table))


def reached(by: str, *kinds: Kind, among: Table = everything, **where: Any) -> Table:
    """By seed and picture, whether networks of all these kinds reach the gate."""

    def fits(table: pd.DataFrame) -> pd.Series:
        named = tuple(_of(kind, table) for kind in kinds)
        return rc.fitted("draws", at_least=1.0, **{by: named}, **where)(table)  # pyrefly: ignore

    return by_picture(fits, among)


def drawn(among: Table = everything, **where: Any) -> Table:
    """By seed and picture, whether all networks that match draw it at the end of training."""
    return by_picture(rc.fitted("mse", at_most=DRAWN, **where), among)


def minus(column: str, first: Kind, second: Kind, /, *, by: str, among: Table = everything, **where: Any) -> dict:
    """What a claim needs that compares a score of networks of one kind with another's, picture by picture.

    The effect is the first kind's score minus the second's, at seeds of which both reach the gate.
    """

    def effect(table: pd.DataFrame) -> pd.Series:
        return rc.difference(column, _of(first, table), _of(second, table), by=by, **where)(table)

    fits = (reached(by, first, second, among=among, **where),)
    return {"effect": by_picture(effect, among), "fits": fits, "over": PICTURES}


def each_minus(rivals: Mapping[str, Kind], kind: Kind, /, *, over: str = "rivals and pictures", **more: Any) -> dict:
    """The same for R of several rivals minus that of one kind: a column "rival, picture" for each."""
    each = {name: minus("R", rival, kind, **more) for name, rival in rivals.items()}
    effect = _joined({name: one["effect"] for name, one in each.items()})
    return {"effect": effect, "fits": (_joined({name: one["fits"][0] for name, one in each.items()}),), "over": over}


def _of(kind: Kind, table: pd.DataFrame) -> Any:
    return kind(table) if callable(kind) else kind


def _joined(effects: Mapping[str, Table]) -> Table:
    """Several effects as one, with a column "name, picture" for each of their columns."""
    import pandas as pd

    def every(table: pd.DataFrame) -> pd.DataFrame:
        found = {name: effect(table) for name, effect in effects.items()}
        return pd.DataFrame({f"{name}, {picture}": one[picture] for name, one in found.items() for picture in one})

    return every


def known(table: pd.DataFrame, system: str, column: str) -> dict[str, float]:
    """What a measure reads for each picture on a system whose answer is known: designed, rotated, plain, ..."""
    rows = rc.pick(table, system=system)
    if rows.empty:
        raise NoSuchRow(f"the table has no row of the control {system!r}: run it again")
    return dict(zip(rows["goal"], rows[column], strict=True))


def _reuse_lost(table: pd.DataFrame) -> float:
    rotated, designed = (known(table, system, "distinct_share") for system in ("rotated", "designed"))
    return min(rotated[goal] - share for goal, share in designed.items())


CONTROLS = (
    rc.Check(
        "mean squared error of the designed networks, worst picture",
        lambda t: max(known(t, "designed", "mse").values()),
        at_most=1e-6,
    ),
    rc.Check(
        "mean squared error of the designed networks, rotated, worst picture",
        lambda t: max(known(t, "rotated", "mse").values()),
        at_most=1e-6,
    ),
    rc.Check("share of unit maps that are distinct, rotated minus designed, least picture", _reuse_lost, at_least=0.0),
)
