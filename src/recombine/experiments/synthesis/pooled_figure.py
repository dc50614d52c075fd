"""The pooled figure: success on withheld pairs against coverage of pairs, and below it what the claims read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.claims.verdict import half_interval
from recombine.experiments.synthesis import pooled_forest
from recombine.experiments.synthesis.pooled_claims import (
    COVERING,
    DEEP,
    DEEPER,
    SAME,
    USUAL,
    WIDE,
    WIDER,
    flat,
    unclear,
)
from recombine.experiments.synthesis.pooled_forest import FAINT, INK, SIZES

if TYPE_CHECKING:
    import pandas as pd

    from recombine.claims.verdict import Verdict

TITLES = {
    "bumps": ("Bumps", "place x with place y", "peak in its pixel"),
    "hyperteacher": ("Hyperteacher", "modules together", "R²"),
    "preferences": ("Preferences", "likings together", "whole episode"),
    "chains": ("Chains", "adjacent functions", "exact answer"),
    "programmes": ("Dynamic programmes", "adjacent numbers", "exact answer"),
    "scan": ("SCAN", "verb with manner", "exact answer"),
}
LOW, HIGH = -0.03, 1.06


def figure(settings: Any, table: pd.DataFrame):
    """A panel per family (dots: networks; lines: means), and a forest of the claims' own effects and intervals."""
    from matplotlib.figure import Figure

    names, rows = settings.families, rc.networks(table)
    columns = min(3, len(names))
    height = -(-len(names) // columns)
    sizes = 0.85 + 2.35 * height, 1.3 + 0.46 * len(names)
    picture = Figure(figsize=(10.4, 0.4 + sum(sizes)), layout="constrained")
    upper, lower = picture.subfigures(2, 1, height_ratios=sizes, hspace=0.02)  # pyrefly: ignore
    axes = upper.subplots(height, columns, squeeze=False)
    for panel, name in zip(axes.ravel(), names, strict=False):
        _family(panel, name, rows[rows["family"] == name], settings)
    for panel in axes.ravel()[len(names) :]:
        panel.axis("off")
    upper.supxlabel("share of all pairs that training covers, and with it more rows", fontsize=9.5, color=INK)
    upper.supylabel("success on withheld pairs", fontsize=9.5, color=INK)
    claims = {"coverage": COVERING, "width": WIDER, "depth": DEEPER, "same": SAME}
    verdicts = {word: rc.judge(table, claim) for word, claim in claims.items()}
    _legend(upper, axes[0, 0], pooled_forest.counts(verdicts))
    means = {word: claim.effect(table).mean() for word, claim in claims.items()}
    pooled_forest.forest(lower, verdicts, {name: TITLES[name][0] for name in names}, settings, means)
    picture.suptitle(
        pooled_forest.headline(verdicts, len(names)), x=0.012, ha="left", fontsize=13, fontweight="bold", color=INK
    )
    lower.supxlabel(_below(verdicts["same"], table), x=0.012, ha="left", fontsize=8.5, color=FAINT)
    return picture


def _legend(figure, panel, title: str) -> None:
    """Sizes first, below a line in words."""
    handles, labels = panel.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i].startswith(("thin", "dotted")))
    how: dict[str, Any] = {"loc": "outside upper left", "ncols": 5, "frameon": False, "fontsize": 9}
    entries = [handles[i] for i in order], [labels[i] for i in order]
    figure.legend(*entries, title=title, title_fontsize=9.5, alignment="left", **how)


def _family(panel, name: str, rows: pd.DataFrame, settings: Any) -> None:
    """One family: what it composes, how it is scored, its networks and what is right without composing."""
    title, pairs, score = TITLES[name]
    panel.set_title(title, loc="left", fontsize=10.5, fontweight="bold", color=INK, pad=17)
    panel.text(0, 1.03, f"{pairs} · {score}", transform=panel.transAxes, fontsize=8.5, va="bottom", color=FAINT)
    panel.set(ylim=(LOW, HIGH), yticks=(ticks := np.linspace(0, 1, 5)), yticklabels=[f"{t:g}" for t in ticks])
    panel.grid(axis="y", color="#e6e9ec", linewidth=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(colors=INK, length=3, labelsize=8.5)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(FAINT)
    rows = rows[rows["coverage_pairs"].notna()]
    if rows.empty:
        panel.text(0.5, 0.5, "all networks diverged", transform=panel.transAxes, ha="center", color=FAINT)
        return
    places = rows.groupby("withheld")["coverage_pairs"].mean().sort_values()
    pad = max(0.04, 0.14 * float(places.max() - places.min()))
    panel.set_xlim(places.min() - pad, places.max() + pad)
    panel.set_xticks(places, [f"{place:.2f}" for place in places])
    words = {USUAL: "usual size", WIDE: f"{settings.wider} × as wide", DEEP: f"{settings.deeper} × as deep"}
    for place, size in enumerate((USUAL, WIDE, DEEP)):
        _size(panel, rows[rows["size"] == size], 0.13 * pad * (place - 1) * 2, SIZES[size], words[size])
    panel.plot([], [], "-", color=INK, linewidth=0.9, alpha=0.7, label="thin: on shown rows")
    _floor(panel, rows, places)
    if not rows.groupby(["size", "withheld"])["fit"].mean().min() >= 1:
        panel.text(0.03, 0.9, "not learnt by all sizes", transform=panel.transAxes, fontsize=8.5, color=FAINT)


def _floor(panel, rows: pd.DataFrame, places: pd.Series) -> None:
    """What the better of nearest memory and best voter answers at each coverage, on average over seeds."""
    level = rows.groupby("withheld")["floor"].mean().reindex(places.index)
    left, right = panel.get_xlim()
    x, y = [left, *places, right], [level.iloc[0], *level, level.iloc[-1]]
    panel.fill_between(x, LOW, y, color="#aeb6bd", alpha=0.2, linewidth=0)
    panel.plot(
        x, y, color=INK, linestyle=(0, (1, 1.6)), linewidth=1.3, label="dotted: best without composing", zorder=1.5
    )


def _size(panel, rows: pd.DataFrame, shift: float, colour: str, label: str) -> None:
    """Networks of one size: small dots, means with 95 % intervals, and a thin line for shown rows."""
    by = rows.groupby("withheld")
    means = by[["coverage_pairs", "success", "shown"]].mean().sort_values("coverage_pairs")
    x = means["coverage_pairs"] + shift
    spread = (rows["seed"] - rows["seed"].mean()) / max(1, rows["seed"].max()) * 0.6 * abs(shift or 0.004)
    panel.plot(x, means["shown"], "-", color=colour, linewidth=0.9, alpha=0.7, zorder=2)
    at = rows["withheld"].map(means["coverage_pairs"]) + shift + spread
    panel.plot(at, rows["success"], "o", color=colour, alpha=0.35, ms=3, mew=0, zorder=2.5)
    half = by["success"].apply(half_interval).reindex(means.index)
    panel.errorbar(
        x, means["success"], yerr=half, fmt="o-", color=colour, ms=5.5, mec="white", mew=0.8, linewidth=1.7,
        elinewidth=1.3, label=label, zorder=3,
    )  # fmt: skip


def _below(verdict: Verdict, table: pd.DataFrame) -> str:
    """How the claim that coverage is all there is came out, and of which families it does not speak."""
    names, open_ = ([TITLES[name][0] for name in of(table)] for of in (flat, unclear))
    asked = {name: word for name, word in verdict.groups.items() if name not in verdict.because}
    held = list(asked.values()).count("holds")
    said = f"“Coverage is all there is”: {verdict.verdict}"
    if asked:
        said += f"; alike in {held} of {len(asked)} comparisons that it can ask (one family, size and coverage)"
    if unlike := [name.rsplit(", ", 1)[0] for name, word in asked.items() if word == "fails"]:
        said += f", unlike in {len(unlike)} ({'; '.join(dict.fromkeys(unlike))})"
    said += f".\nIt leaves out families flat in coverage: {', '.join(names)}" if names else ""
    return said + (f".\nWhether these rise with coverage is open: {', '.join(open_)}." if open_ else ".")
