"""The claims on coverage and scale: two readings of one figure, each with what makes it a fair one."""

from __future__ import annotations

from functools import partial
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
"""The least distance from the top at which something could help."""


def larger(size: str, table: pd.DataFrame) -> pd.Series:
    """By seed, the gain of a size over the usual one on withheld pairs, at equal coverage, mean over coverages."""
    shares = sorted(rc.networks(table)["withheld"].unique())
    gains = {f"{s:g}": rc.difference("success", size, USUAL, by="size", withheld=s) for s in shares}
    return rc.each(gains)(table).mean(axis=1, skipna=False)


def covering(table: pd.DataFrame) -> pd.Series:
    """By seed, how much better withheld pairs are answered where fewest are withheld than where most are, all sizes."""
    shares = rc.networks(table)["withheld"]
    ends = shares.min(), shares.max()
    gains = {s: rc.difference("success", *ends, by="withheld", size=s) for s in (USUAL, WIDE, DEEP)}
    return rc.each(gains)(table).mean(axis=1, skipna=False)


def both(effect):
    """An effect of a size and a table, a column for each family and for both larger sizes."""

    def columns(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        found = {size: rc.each_of("family", partial(effect, size))(table) for size in (WIDE, DEEP)}
        return pd.concat([each.add_suffix(f", {size}") for size, each in found.items()], axis=1)

    return columns


def fits_alike(size: str, table: pd.DataFrame) -> pd.Series:
    """By seed, 1 if both sizes learnt what they were shown, equally well at every coverage, and 0 if not."""
    rows = rc.pick(table, size=[USUAL, size])
    learnt = rc.fitted("fit", at_least=1.0)(rows)
    shown = rows.pivot_table("shown", ["seed", "withheld"], "size", dropna=False)
    apart = (shown[size] - shown[USUAL]).abs().groupby("seed").max()
    return learnt.where(learnt.isna() | (apart.reindex(learnt.index) <= ALIKE), 0.0)


def full(table: pd.DataFrame) -> dict[str, float]:
    """By family whose networks of usual size have no room to do better, their mean success."""
    means = rc.pick(table, size=USUAL).groupby("family")["success"].mean()
    return {str(name): float(level) for name, level in means.items() if level > 1 - ROOM}


def no_room(*sizes: str):
    """The families in which nothing could help, each alone or with every size: no interval can decide them."""

    def reasons(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        said = {
            name: ("undecided", f"no room: the usual size reaches {level:.2f}") for name, level in full(table).items()
        }
        return {f"{name}, {size}": why for name, why in said.items() for size in sizes} if sizes else said

    return reasons


def nothing_to_explain(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Where coverage itself does not matter it cannot be all there is; nor where nothing could help."""
    gains = rc.each_of("family", covering)(table).mean()
    flat = {str(name): gain for name, gain in gains.items() if not gain >= MATTERS}
    said = {name: ("undecided", f"coverage itself adds {gain:+.2f} only") for name, gain in flat.items()}
    return {f"{name}, {size}": why for name, why in said.items() for size in (WIDE, DEEP)} | no_room(WIDE, DEEP)(table)


def reading(system: str, how: str, **bounds: float) -> rc.Check:
    """The check of the least or the largest success of a control over all families."""
    return rc.Check(
        f"{how} success of the control {system} over families",
        lambda t: float(getattr(t[t["system"] == system]["success"], how)()),
        **bounds,
    )


CONTROLS = (
    reading("perfect", "min", at_least=0.999),
    reading("remembers", "max", at_most=0.75),
    reading("votes", "max", at_most=0.75),
    reading("untrained", "max", at_most=0.5),
)
OURS = (
    "ours: the question that joins the nine sources of a synthesis note; margins stated before any run, room, equal fit"
    " and the second reading after a look at other seeds"
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
            unsettled=no_room(),
        )
        for size, word in ((WIDE, "wider"), (DEEP, "deeper"))
    ),
    claim(
        "at equal coverage networks of all sizes answer withheld pairs alike (coverage is all there is)",
        "In every family in which success on withheld pairs rises with coverage, wider and deeper networks that fit"
        " equally well answer neither better nor worse where training covers the same pairs.",
        effect=both(larger),
        above=-MATTERS,
        below=MATTERS,
        over="families and sizes",
        unit="success on withheld pairs, larger minus usual, mean over coverages",
        fits=(both(fits_alike),),
        unsettled=nothing_to_explain,
    ),
    claim(
        "withheld pairs are answered better where more other pairs are covered (coverage helps)",
        "In every family, the more of all pairs training covers, and with it the more rows, the better examples with"
        " one withheld pair are answered.",
        effect=rc.each_of("family", covering),
        above=MATTERS,
        unit="success on withheld pairs, most pairs covered minus fewest, mean over sizes",
        fits=(rc.each_of("family", rc.fitted("fit", at_least=1.0)),),
        unsettled=no_room(),
    ),
)
