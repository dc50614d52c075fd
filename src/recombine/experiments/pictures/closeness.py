"""How networks of two kinds are compared: by two scores, as they are and at equal error, on one scale, by picture.

The scale is C = 1 - |x - designed| / (dense - designed): 0 for dense networks, 1 for the designed one, and less on
either side of it. What is primary is the end of training. Since errors differ and scores go with errors, the same is
judged again adjusted for error: less slope * (difference of log10 error), with the slope over networks of one kind.
A picture's verdict needs both scores, as they are and adjusted, to agree, and both kinds to render the picture with
errors that overlap: an adjustment beyond the errors seen is a guess. R may decide only where R over the networks' own
pictures does not say the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures.moments import SCORES, alive, filled, of, pictures, reading
from recombine.table import NETWORK

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.10
"""The least difference on the scale C."""
RENDERED = 0.1
"""The share of a picture's variance that the median network of a kind may leave, if the kind renders the picture."""
OVERLAP = 0.1
"""The least share of networks of two kinds whose error lies in the range of the other kind, if it is adjusted for."""
END, ADJUSTED = "at the end", "adjusted for error"
BOTH = (END, ADJUSTED)
UNIT = "C (0: dense network, 1: designed network)"
Values = Callable[["pd.DataFrame"], Any]
"""From rows of one kind and picture, by seed, to what is compared of each network."""
Scale = Callable[["pd.DataFrame", str, str], Values]
"""From a table, a column and a picture to the values that are compared."""
Reasons = dict[str, tuple[str, str]]
"""By group, undecided or mixed, and why."""


def gap(table: pd.DataFrame, dense: str, score: str, picture: str) -> float:
    """Dense minus designed: the mean over all living networks at the end of training, so that no seed has a denominator
    of its own; NaN where dense networks are not above the designed one."""
    rows = of(table, dense, picture)
    found = rows[score][alive(rows) == 1].mean() - reading(table, "designed", score, picture)
    return float(found) if found > 0 else float("nan")


def closeness(dense: str) -> Scale:
    """C, beside dense networks of a kind."""

    def scale(table: pd.DataFrame, score: str, picture: str) -> Values:
        designed, wide = reading(table, "designed", score, picture), gap(table, dense, score, picture)
        return lambda rows: 1 - (rows[score] - designed).abs() / wide

    return scale


def slope(table: pd.DataFrame, picture: str, values: Values) -> float:
    """Least squares of values on log10 of the error over living networks, centred within each kind; 0 if all are equal.

    What a kind is makes no difference to it: only networks of one kind are compared with each other.
    """
    rows = filled(table[(table["goal"] == picture) & (table["system"] == NETWORK)])
    x, y = (np.asarray(a, float) for a in (rows["log_mse"], values(rows)))
    there = (alive(rows) == 1).to_numpy() & np.isfinite(x) & np.isfinite(y)
    kinds = np.unique(rows["kind"][there].astype(str), return_inverse=True)[1]
    x, y = (a[there] - (np.bincount(kinds, a[there]) / np.bincount(kinds))[kinds] for a in (x, y))
    square, product = float(x @ x), float(x @ y)
    return product / square if square > 0 else 0.0


def compared(table: pd.DataFrame, pair: tuple[str, str], picture: str, values: Values) -> dict[str, pd.Series]:
    """By seed, what is compared of one kind minus that of another: as it is, and adjusted for error."""
    one, other = (of(table, kind, picture) for kind in pair)
    plain = values(one) - values(other)
    farther = one["log_mse"] - other["log_mse"]
    return {END: plain, ADJUSTED: plain - slope(table, picture, values) * farther}


def fitted(table: pd.DataFrame, pair: tuple[str, str], picture: str, values: Values) -> dict[str, pd.Series]:
    """By seed 1 where both networks are alive and have a value, else 0; adjusted only if both kinds render."""
    both = [of(table, kind, picture) for kind in pair]
    there = alive(both[0]) * alive(both[1])
    known = np.isfinite(np.asarray(values(both[0]) - values(both[1]), float))
    found = there.where(known | there.isna(), 0.0)
    return {END: found, ADJUSTED: found * float(not unrendered(table, pair, picture))}


def unrendered(table: pd.DataFrame, kinds: Sequence[str], picture: str) -> list[str]:
    """The kinds whose median network does not render a picture; those not trained here have no say."""
    return [kind for kind in kinds if of(table, kind, picture)["share_left"].median() >= RENDERED]


def overlap(table: pd.DataFrame, pair: tuple[str, str], picture: str) -> float:
    """The share of the living networks of two kinds whose error lies in the range of the other kind's errors."""
    rows = [of(table, kind, picture) for kind in pair]
    one, other = (each["log_mse"][alive(each) == 1].dropna() for each in rows)
    inside = [a.between(b.min(), b.max()) for a, b in ((one, other), (other, one))]
    return float(np.concatenate(inside).mean()) if len(one) and len(other) else 0.0


def opposed(table: pd.DataFrame, pair: tuple[str, str], picture: str, scale: Scale) -> bool:
    """Whether R over the target and R over the own picture have effects of opposite signs, both beyond chance."""
    if "r_own" not in table:
        return False
    signs = []
    for column in ("R", "r_own"):
        values = scale(table, column, picture)
        one, other = (values(of(table, kind, picture)) for kind in pair)
        effect = (one - other)[fitted(table, pair, picture, values)[END] == 1]
        low, high = rc.interval(effect.to_numpy(float)) if len(effect) > 1 else (-1.0, 1.0)
        signs.append(int(low > 0) - int(high < 0))
    return signs[0] * signs[1] < 0


def reasons(table: pd.DataFrame, pair: tuple[str, str], scale: Scale | None, moments: Sequence[str]) -> Reasons:
    """By picture, why it cannot be decided: a kind does not render it, errors do not overlap, or both kinds of R
    contradict each other."""
    found: Reasons = {}
    for picture in pictures(table, *pair):
        if missing := unrendered(table, pair, picture):
            found[picture] = "undecided", f"not rendered by {' and '.join(dict.fromkeys(missing))}"
        elif ADJUSTED in moments and overlap(table, pair, picture) < OVERLAP:
            found[picture] = "undecided", "errors do not overlap"
        elif scale and opposed(table, pair, picture, scale):
            found[picture] = "mixed", "R over the own picture says the opposite"
    return found


def against(pair: tuple[str, str], scale: Scale, moments: Sequence[str] = BOTH, *, signed: bool = True) -> dict:
    """What a claim needs that compares two kinds: a column for each picture, score and moment.

    A picture holds or fails only if all of its columns do. `signed` asks both kinds of R for their signs as well.
    """

    def every(table: pd.DataFrame, take: Callable[..., Mapping[str, Any]]) -> pd.DataFrame:
        import pandas as pd

        found = {}
        for picture in pictures(table, *pair):
            for score, name in SCORES.items():
                each = take(table, pair, picture, scale(table, score, picture))
                found |= {f"{picture}: {name} {moment}": each[moment] for moment in moments}
        return pd.DataFrame(found)

    return {
        "effect": lambda table: every(table, compared),
        "fits": (lambda table: every(table, fitted),),
        "unsettled": lambda table: reasons(table, pair, scale if signed else None, moments),
        "over": "pictures",
        "agree": True,
    }


def closer(first: str, second: str, *, dense: str, moments: Sequence[str] = BOTH, signed: bool = True) -> dict:
    """What a claim needs that one kind of network is closer to the designed one than another: C minus C, by seed."""
    return against((first, second), closeness(dense), moments, signed=signed) | {"above": MARGIN, "unit": UNIT}


def larger(first: str, second: str, factor: float = 1.1) -> dict:
    """What a claim needs that scores of one kind are larger than another's by a factor: log10 of the ratio, by seed.

    At the end alone: the error of a network that was not trained is nothing to adjust for.
    """

    def scale(table: pd.DataFrame, score: str, picture: str) -> Values:
        return lambda rows: np.log10(rows[score])

    asked = {"above": float(np.log10(factor)), "unit": f"log10 of the score, {first} over {second}"}
    return against((first, second), scale, (END,)) | asked


def each_closer(first: str, rivals: Mapping[str, str], **more: Any) -> dict:
    """The same as `closer` against several rivals: a group "rival, picture" for each."""
    each = {name: closer(first, rival, **more) for name, rival in rivals.items()}

    def joined(pick: Callable[[dict], Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        def every(table: pd.DataFrame) -> pd.DataFrame:
            import pandas as pd

            found = {name: pick(one)(table) for name, one in each.items()}
            return pd.DataFrame({f"{name}, {column}": one[column] for name, one in found.items() for column in one})

        return every

    def unsettled(table: pd.DataFrame) -> Reasons:
        found = {name: one["unsettled"](table) for name, one in each.items()}
        return {f"{name}, {group}": why for name, one in found.items() for group, why in one.items()}

    effect, fits = joined(lambda one: one["effect"]), joined(lambda one: one["fits"][0])
    shared = {"over": "rivals and pictures", "agree": True, "above": MARGIN, "unit": UNIT}
    return {"effect": effect, "fits": (fits,), "unsettled": unsettled, **shared}
