"""The claims on coverage and scale: two readings of one figure, each with what makes it a fair one."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING

import recombine as rc

if TYPE_CHECKING:
    import pandas as pd

USUAL, WIDE, DEEP = "usual", "wide", "deep"
MATTERS = 0.05
"""The least difference in success that matters."""
ALIKE = 0.02
"""How far success on shown rows may differ between networks that fit equally well."""
ROOM = 0.1
"""The least distance of withheld pairs from shown rows at which something could help."""
LEARNT = rc.fitted("fit", at_least=1.0)
"""By seed, whether the networks learnt what they were shown."""


def larger(size: str, table: pd.DataFrame) -> pd.Series:
    """By seed, the gain of a size over the usual one on withheld pairs, at equal coverage, mean over coverages."""
    gains = {f"{s:g}": rc.difference("success", size, USUAL, by="size", withheld=s) for s in shares(table)}
    return rc.each(gains)(table).mean(axis=1, skipna=False)


def shares(table: pd.DataFrame) -> list[float]:
    """The shares of pairs that are withheld, rising."""
    return sorted(rc.networks(table)["withheld"].unique())


def ends(column: str, table: pd.DataFrame) -> pd.Series:
    """By seed, a column where fewest pairs are withheld minus where most are, mean over sizes."""
    least, *_, most = shares(table)
    gains = {s: rc.difference(column, least, most, by="withheld", size=s) for s in (USUAL, WIDE, DEEP)}
    return rc.each(gains)(table).mean(axis=1, skipna=False)


def covering(table: pd.DataFrame) -> pd.Series:
    """By seed, how much more than the best without composing is answered where fewest pairs are withheld."""
    return ends("success", table) - ends("floor", table)


def by_coverage(effect):
    """An effect of a size and a table, a column for each family that may rise with coverage, size and share withheld.

    Where none can all stay, and `nothing_to_explain` says so.
    """

    def columns(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        left = table if not rises(table) else table[~table["family"].isin(flat(table))]
        found = {
            f", {size}, {share:g} withheld": rc.each_of("family", partial(effect, size))(rc.pick(left, withheld=share))
            for size in (WIDE, DEEP)
            for share in shares(left)
        }
        return pd.concat([each.add_suffix(name) for name, each in found.items()], axis=1)

    return columns


def fits_alike(size: str, table: pd.DataFrame) -> pd.Series:
    """By seed, 1 if both sizes learnt what they were shown, equally well at every coverage, and 0 if not."""
    rows = rc.pick(table, size=[USUAL, size])
    learnt = LEARNT(rows)
    shown = rows.pivot_table("shown", ["seed", "withheld"], "size", dropna=False)
    apart = (shown[size] - shown[USUAL]).abs().groupby("seed").max()
    return learnt.where(learnt.isna() | (apart.reindex(learnt.index) <= ALIKE), 0.0)


def rise(table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """By family, the interval of what learnt networks gain from coverage; boundless where fewer than two learnt."""
    gains = rc.each_of("family", covering)(table).where(rc.each_of("family", LEARNT)(table) == 1)
    known = {str(name): gains[name].dropna().to_numpy() for name in gains}
    return {name: rc.interval(each) if len(each) > 1 else (-inf, inf) for name, each in known.items()}


def flat(table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The families that gain less from coverage than matters, with the interval of what they gain."""
    return {name: ends for name, ends in rise(table).items() if ends[1] < MATTERS}


def unclear(table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The families of which it is open whether they gain from coverage, with the interval of what they gain."""
    return {name: ends for name, ends in rise(table).items() if ends[0] <= MATTERS <= ends[1]}


def rises(table: pd.DataFrame) -> bool:
    """Whether coverage may matter in some family."""
    return len(flat(table)) < rc.networks(table)["family"].nunique()


def size_room(table: pd.DataFrame) -> float:
    """What a larger size could add: success on shown rows less that on withheld pairs, usual size."""
    rows = rc.pick(table, size=USUAL)
    return float((rows["shown"] - rows["success"]).mean())


def coverage_room(table: pd.DataFrame) -> float:
    """What coverage could add beyond the floor: what is missing where most are withheld, less the floor's rise."""
    rows = rc.pick(table, withheld=shares(table)[-1])
    return float((rows["shown"] - rows["success"]).mean() - ends("floor", table).mean())


def no_room(room, table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The families in which nothing could help: no interval can decide them."""
    found = {str(name): room(table[table["family"] == name]) for name in rc.networks(table)["family"].unique()}
    return {
        name: ("undecided", f"no room: withheld pairs lie {max(0, left):.2f} below what could be reached")
        for name, left in found.items()
        if left < ROOM
    }


def nothing_to_explain(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Where coverage matters in no family it cannot be all there is; nor is a family decided that may not rise with it.

    Nor is a family without room.
    """
    said = f"it is open whether success beyond memory rises with coverage by {MATTERS:g}"
    why = {name: ("undecided", f"{said}: by {_span(ends)}") for name, ends in unclear(table).items()}
    why |= no_room(size_room, table)
    if not rises(table):
        said = f"in no family does success beyond memory rise with coverage by {MATTERS:g}"
        why = {name: ("undecided", f"{said}: here by {_span(ends)}") for name, ends in flat(table).items()}
    names = [f", {size}, {share:g} withheld" for size in (WIDE, DEEP) for share in shares(table)]
    return {f"{family}{name}": reason for family, reason in why.items() for name in names}


def _span(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def reading(system: str, how: str, **bounds: float) -> rc.Check:
    """The check of the least or the largest success of a control over all families."""
    return rc.Check(
        f"{how} success of the control {system} over families",
        lambda t: float(getattr(t[t["system"] == system]["success"], how)()),
        **bounds,
    )


CONTROLS = (
    reading("perfect", "min", at_least=0.999),
    reading("remembers", "max", at_most=0.9),
    reading("votes", "max", at_most=0.9),
    reading("untrained", "max", at_most=0.5),
)
OURS = (
    "ours: the question that joins the nine sources of a synthesis note; margins stated before any run; room, equal"
    " fit, floors and the second reading after a look at other seeds"
)
claim = partial(rc.Claim, source=OURS, controls=CONTROLS, over="families")
STATED = (
    *(
        claim(
            f"{word} networks answer withheld pairs better at equal coverage (scale helps beyond coverage)",
            f"In every family, networks that are {word} and fit equally well answer examples with a withheld pair"
            " better, though training covers the same pairs.",
            effect=rc.each_of("family", partial(larger, size)),
            above=MATTERS,
            unit=f"success on withheld pairs, {size} minus usual, mean over coverages",
            fits=(rc.each_of("family", partial(fits_alike, size)),),
            unsettled=partial(no_room, size_room),
        )
        for size, word in ((WIDE, "wider"), (DEEP, "deeper"))
    ),
    claim(
        "at equal coverage networks of all sizes answer withheld pairs alike (coverage is all there is)",
        "In every family in which success beyond memory surely rises with coverage, at every coverage, wider and deeper"
        " networks that fit equally well answer withheld pairs neither better nor worse.",
        effect=by_coverage(larger),
        above=-MATTERS,
        below=MATTERS,
        over="families, sizes and coverages",
        unit="success on withheld pairs, larger minus usual, at one coverage; families that rise with coverage",
        fits=(by_coverage(fits_alike),),
        unsettled=nothing_to_explain,
    ),
    claim(
        "withheld pairs are answered better beyond memory where more other pairs are covered (coverage helps)",
        "In every family, the share of examples with one withheld pair that is answered, less the share that the"
        " nearest memory or the best voter answers, is larger where training covers most pairs (and has the most rows)"
        " than where it covers fewest.",
        effect=rc.each_of("family", covering),
        above=MATTERS,
        unit="success on withheld pairs less the best without composing, most covered minus fewest, mean over sizes",
        fits=(rc.each_of("family", LEARNT),),
        unsettled=partial(no_room, coverage_room),
    ),
)
WIDER, DEEPER, SAME, COVERING = STATED
