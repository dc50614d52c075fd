"""The pooled figure: success on withheld pairs against coverage of pairs, a panel per family, sizes as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.synthesis.pooled_claims import DEEP, ROOM, USUAL, WIDE

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {USUAL: "#6f7b88", WIDE: "#d98a1f", DEEP: "#2f6db3"}
MARKS = {USUAL: "o", WIDE: "s", DEEP: "^"}
INK, FAINT = "#333a41", "#9aa3ab"
TITLES = {
    "bumps": "bumps · place x with place y",
    "hyperteacher": "hyperteacher · modules together",
    "preferences": "preferences · likings together",
    "chains": "chains · adjacent functions",
    "programmes": "programmes · adjacent numbers",
    "scan": "SCAN · verb with manner",
}


def figure(settings: Any, table: pd.DataFrame):
    """One dot per network, a line through the means of each size; hollow: on shown rows; dotted: without composing."""
    rows, columns = rc.networks(table), min(3, len(settings.families))
    height = -(-len(settings.families) // columns)
    picture, axes = rc.plots.panels(rows=height, columns=columns, side=3.1)
    for panel in axes.ravel()[len(settings.families) :]:
        panel.axis("off")
    words = {USUAL: "usual size", WIDE: f"{settings.wider} × as wide", DEEP: f"{settings.deeper} × as deep"}
    left = float(rows["coverage_pairs"].min()) if rows["coverage_pairs"].notna().any() else 0.2
    for panel, name in zip(axes.ravel(), settings.families, strict=False):
        mine = rows[rows["family"] == name]
        known = table[(table["family"] == name) & table["system"].isin(["remembers", "votes"])]["success"]
        _frame(panel, name, mine, known)
        _sizes(panel, mine, words)
        panel.set_xlim(min(0.45, left - 0.07), 1.02)
    for panel in axes[-1]:
        panel.set_xlabel("share of all pairs that training covers")
    for panel in axes[:, 0]:
        panel.set_ylabel("success on withheld pairs")
    headline, small = _headline(rows, settings)
    picture.suptitle(headline, fontsize=13, fontweight="bold", color=INK)
    entries = axes[0, 0].get_legend_handles_labels()
    picture.legend(*entries, loc="outside lower center", ncols=5, frameon=False, title=small, title_fontsize=8.5)
    return picture


def _frame(panel, name: str, rows: pd.DataFrame, known: pd.Series) -> None:
    """Title, what moves success, what is right without composing, and a grey ground where nothing can be told."""
    panel.set_title(TITLES[name], loc="left", fontsize=10, fontweight="bold", color=INK, pad=19)
    panel.text(0, 1.025, _summary(rows), transform=panel.transAxes, fontsize=8.5, va="bottom", color=INK)
    panel.set(ylim=(-0.04, 1.06), yticks=np.linspace(0, 1, 6))
    panel.grid(axis="y", alpha=0.25, linewidth=0.6)
    panel.tick_params(colors=INK, length=3)
    floor = float(known.max()) if len(known) else 0.0
    panel.axhline(floor, color="black", linestyle=(0, (1, 2)), linewidth=1.1, label="best without composing")
    panel.axhspan(-0.04, floor, color=FAINT, alpha=0.12, linewidth=0)
    if why := _untold(rows):
        panel.set_facecolor("#ececec")
        panel.text(
            0.5, 0.28, why, transform=panel.transAxes, ha="center", fontsize=9.5, color="#8a4b3c", style="italic"
        )


def _untold(rows: pd.DataFrame) -> str:
    """Why neither reading can be had from a family, or nothing."""
    if not rows.groupby(["size", "withheld"])["fit"].mean().min() >= 1:
        return "not learnt"
    return "no room above the usual size" if rows[rows["size"] == USUAL]["success"].mean() > 1 - ROOM else ""


def _sizes(panel, rows: pd.DataFrame, words: dict[str, str]) -> None:
    """The networks of a family: jittered dots, means with their standard errors, and hollow what was shown."""
    for place, (size, colour) in enumerate(COLOURS.items()):
        mine = rows[rows["size"] == size]
        shift, mark = (place - 1) * 0.014, MARKS[size]
        panel.plot(mine["coverage_pairs"] + shift, mine["success"], mark, color=colour, alpha=0.4, ms=4, mew=0)
        by = mine.groupby("withheld")
        means = by[["coverage_pairs", "success", "shown"]].mean().sort_values("coverage_pairs")
        x, errors = means["coverage_pairs"] + shift, by["success"].sem().reindex(means.index)
        panel.plot(x, means["shown"], mark, color=colour, mfc="none", ms=6, mew=1.2, clip_on=False)
        panel.errorbar(
            x, means["success"], yerr=errors, fmt=f"{mark}-", color=colour, ms=7.5, mec="white", mew=1,
            linewidth=2, label=words[size], zorder=3,
        )  # fmt: skip
    panel.plot([], [], "o", color=INK, mfc="none", ms=6, mew=1.2, label="hollow: on shown rows")


def _moves(rows: pd.DataFrame) -> dict[str, float]:
    """What coverage adds at equal size, and what width and depth add at equal coverage; nothing if one is missing."""
    means = rows.groupby(["size", "withheld"])["success"].mean().unstack("withheld")
    if not set(COLOURS) <= set(means.index) or means.isna().to_numpy().any():
        return {}
    shares = sorted(means.columns)
    found = {"coverage": float((means[shares[0]] - means[shares[-1]]).mean())}
    return found | {
        word: float((means.loc[size] - means.loc[USUAL]).mean()) for word, size in (("width", WIDE), ("depth", DEEP))
    }


def _signed(number: float) -> str:
    """A signed number with two decimals; no minus before zero."""
    return f"{round(number, 2) + 0.0:+.2f}".replace("-", "−")


def _summary(rows: pd.DataFrame) -> str:
    return "   ".join(f"{word} {_signed(gain)}" for word, gain in _moves(rows).items())


def _headline(rows: pd.DataFrame, settings: Any) -> tuple[str, str]:
    """What moves success on average over the families that learnt and have room, and what that is a mean of."""
    told = [_moves(mine) for _, mine in rows.groupby("family") if not _untold(mine) and _moves(mine)]
    if not told:
        return "No family learnt what it was shown and has room for more", ""
    means = {word: float(np.mean([moves[word] for moves in told])) for word in told[0]}
    kinds = f"mean of the {len(told)} of {rows['family'].nunique()} families that learnt and have room"
    return (
        "What moves success on new pairs: " + ", ".join(f"{word} {_signed(gain)}" for word, gain in means.items()),
        f"coverage: most minus fewest pairs covered; width and depth: {settings.wider} ×, {settings.deeper} ×, at equal"
        f" coverage; {kinds}",
    )
