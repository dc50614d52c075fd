"""The lower part of the pooled figure: what coverage, width and depth add in each family, as the claims read it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from recombine.claims.verdict import MIN_SEEDS, Verdict
from recombine.experiments.synthesis.pooled_claims import DEEP, MATTERS, USUAL, WIDE

INK, FAINT = "#2b3137", "#6f7880"
SIZES = {USUAL: "#4d5560", WIDE: "#d98200", DEEP: "#0072b2"}
"""Colours after Okabe and Ito, which colour-blind readers tell apart."""
MOVES = {"coverage": ("#00805c", "D"), "width": (SIZES[WIDE], "s"), "depth": (SIZES[DEEP], "^")}


def forest(
    figure, verdicts: Mapping[str, Verdict], titles: Mapping[str, str], settings: Any, means: Mapping[str, Any]
) -> None:
    """Families as rows; a mark and a 95 % interval for each of coverage, width and depth; `means` are of all seeds."""
    panel = figure.subplots()
    words = {
        "coverage": "coverage: most minus fewest, beyond dotted",
        "width": f"{settings.wider} × as wide",
        "depth": f"{settings.deeper} × as deep",
    }
    panel.axvspan(-MATTERS, MATTERS, color="#aeb6bd", alpha=0.28, linewidth=0)
    panel.axvline(0, color=FAINT, linewidth=0.8)
    for row, name in enumerate(titles):
        if row:
            panel.axhline(row - 0.5, color="#e6e9ec", linewidth=0.7)
        for place, (word, (colour, mark)) in enumerate(MOVES.items()):
            part = _parts(verdicts[word], name).get(name)
            if part is not None:
                learnt = _parts(verdicts["coverage"], name)[name].seeds >= MIN_SEEDS
                said = "no room" if name in verdicts[word].because else _grey(part, learnt, means[word].get(name))
                _mark(panel, row + 0.27 * (place - 1), part, colour=colour, mark=mark, said=said)
    for word, (colour, mark) in MOVES.items():
        panel.plot([], [], f"{mark}-", color=colour, ms=5.5, label=words[word])
    panel.plot([], [], "o", color=INK, mfc="white", ms=5.5, label="hollow: undecided")
    panel.fill_between([], [], [], color="#aeb6bd", alpha=0.28, linewidth=0, label="too small to matter")
    panel.set_ylim(len(titles) - 0.45, -0.55)
    panel.set_yticks(range(len(titles)), list(titles.values()), fontsize=9.5, color=INK)
    panel.tick_params(axis="x", colors=INK, labelsize=8.5, length=3)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.spines["bottom"].set_color(FAINT)
    panel.set_xlabel("gain in success on withheld pairs (95 % intervals of the claims)", fontsize=9.5, color=INK)
    panel.margins(x=0.12)
    left, right = panel.get_xlim()
    panel.set_xlim(min(left, -0.15), max(right, 0.3))
    figure.legend(loc="outside upper left", ncols=5, frameon=False, fontsize=9)


def _parts(verdict: Verdict, only: str) -> dict[str, Any]:
    """What a claim says of each family; of a single one the verdict itself."""
    return {part.name: part for part in verdict.parts} or {only: verdict}


def _mark(panel, y: float, part: Any, *, colour: str, mark: str, said: str) -> None:
    """One effect with its interval, hollow where it is undecided, and grey words behind it."""
    if isfinite(part.effect):
        if isfinite(part.low):
            panel.plot([part.low, part.high], [y, y], "-", color=colour, linewidth=1.7, solid_capstyle="round")
        inside = "white" if part.verdict == "undecided" else colour
        panel.plot(part.effect, y, mark, color=colour, mfc=inside, ms=5.5, mew=1.2)
    if said:
        ends = [number for number in (part.high, part.effect) if isfinite(number)]
        at = max([*ends[:1], MATTERS])
        panel.annotate(said, (at, y), (6, 0), textcoords="offset points", va="center", fontsize=8, color=FAINT)


def _grey(part: Any, learnt: bool, mean: float) -> str:
    """Of how many seeds an effect is the mean where some were left out, and why where these are too few.

    `mean` is what all seeds would say.
    """
    every = part.seeds + part.unfit + part.lost
    if part.seeds == every:
        return ""
    if part.seeds >= MIN_SEEDS:
        return f"{part.seeds} of {every} seeds"
    why = "fits unequally" if learnt else "not learnt"
    return f"{why}: {part.seeds} of {every} seeds count, the mean of all is {mean:+.2f}"


def _words(verdict: Verdict) -> list[str]:
    """The verdict on each family."""
    return list(verdict.groups.values()) or [verdict.verdict]


def headline(verdicts: Mapping[str, Verdict], families: int) -> str:
    """In how many families each of the three helps, by the claims."""
    held = {word: _words(verdicts[word]).count("holds") for word in MOVES}
    return (
        f"More coverage helps with new pairs in {held['coverage']} of {families} families,"
        f" more width in {held['width']}, more depth in {held['depth']}"
    )


def counts(verdicts: Mapping[str, Verdict]) -> str:
    """Of each of the three, in how many families it helps, does not, and is undecided."""
    said = []
    for word in MOVES:
        words = _words(verdicts[word])
        said.append(f"{word} {words.count('holds')} / {words.count('fails')} / {words.count('undecided')}")
    return "Families in which it helps / does not / is undecided:   " + "   ".join(said)
