"""What figures of picture networks share: maps of units, pictures in which a weight is changed, small pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import recombine as rc

THUMB = 16
"""Pixels per side of unit maps, and twice as many of pictures, that are kept for a figure."""
SHOWN = 6
"""Units of a layer that are shown where all would be too many."""


def looks(model: Any, seed: int, *, weights: int = 4, values: int = 5) -> dict[str, np.ndarray]:
    """What a figure shows of a network: its unit maps (layers, units), and pictures in which one weight is changed.

    The largest change of a weight alters the picture by twice what a score takes, less where it cannot.
    """
    from recombine.cppn.sweep.matching import matched
    from recombine.cppn.sweep.scores import unit_maps
    from recombine.cppn.sweep.sweep import every_weight, sweep

    where = every_weight(model, weights, seed)
    most = matched(model, where, 2 * THUMB, target=0.2).deltas
    shares = np.linspace(-1, 1, values)
    deltas = np.where(shares < 0, -shares * most[:, :1], shares * most[:, 1:])
    strip = sweep(model, where, deltas, 2 * THUMB).reshape(len(deltas), values, 2 * THUMB, 2 * THUMB, 3)
    return {"maps": np.round(np.clip(unit_maps(model, THUMB), -9, 9), 2), "strip": np.round(np.asarray(strip), 3)}


def show_maps(axes: Any, maps: np.ndarray, title: str) -> None:
    """A sheet of unit maps, one row per layer: red is -1 and below, white 0, blue 1 and above."""
    layers, units, side, _ = maps.shape
    sheet = np.full((layers * (side + 1), units * (side + 1)), np.nan)
    for i, row in enumerate(maps):
        for j, one in enumerate(row):
            sheet[i * (side + 1) : i * (side + 1) + side, j * (side + 1) : j * (side + 1) + side] = one
    axes.imshow(sheet, cmap="RdBu", vmin=-1, vmax=1, interpolation="nearest")
    rc.plots.bare(axes, title)
    axes.set_ylabel("layers, first on top", fontsize=7)


def show_strip(axes: Any, strip: np.ndarray, title: str) -> None:
    """One row per weight, from its most negative change to its most positive; the picture itself in the middle."""
    rows = [np.concatenate(list(row), axis=1) for row in strip]
    axes.imshow(np.concatenate(rows, axis=0), interpolation="nearest")
    rc.plots.bare(axes, title)


def same_units(models: list[Any], size: int) -> np.ndarray:
    """For each network maps (layers, units, rows, columns) of the same units: those that vary most over all."""
    from recombine.cppn.sweep.scores import unit_maps

    every = np.stack([unit_maps(model, min(size, 2 * THUMB)) for model in models])
    most = np.argsort(-every.std(axis=(0, 3, 4)), axis=1)[:, :SHOWN]
    shown = np.take_along_axis(every, most[None, :, :, None, None], axis=2)
    return np.round(np.clip(shown, -1, 1).astype(float), 2)


def dots(axes: Any, rows: Any, column: str, *, by: str, kinds: Sequence[Any], names: Sequence[str] = ()) -> None:
    """A dot per network: one colour per picture and, side by side, one place per kind."""
    goals = sorted(rows["goal"].unique())
    for k, goal in enumerate(goals):
        for i, kind in enumerate(kinds):
            mine = rows[(rows["goal"] == goal) & (rows[by] == kind)]
            x = np.full(len(mine), i + 0.6 * ((k + 0.5) / len(goals) - 0.5))
            axes.plot(x, mine[column], "o", color=f"C{k}", markersize=3.5)
        axes.plot([], [], "o", color=f"C{k}", markersize=3.5, label=goal)
    axes.set_xticks(range(len(kinds)), names or kinds, rotation=30, ha="right", fontsize=7)


def on_scale(
    axes: Any,
    table: Any,
    score: str,
    kinds: Sequence[str],
    *,
    dense: str,
    names: Sequence[str] = (),
    born: Mapping[str, str] | None = None,
) -> None:
    """The scale C, 0 dense and 1 designed: a dot per living network, and mean and 95 % interval by kind.

    A cross is a network of a kind at its initial weights: `born` says which control that is.
    """
    from recombine.experiments.pictures import closeness, moments

    goals = moments.pictures(table, dense)
    for k, goal in enumerate(goals):
        scale = closeness.closeness(dense)(table, score, goal)
        for i, kind in enumerate(kinds):
            found = moments.of(table, kind, goal)
            values = scale(found[moments.alive(found) == 1]).to_numpy(float)
            values = values[np.isfinite(values)]
            x = i + 0.7 * ((k + 0.5) / len(goals) - 0.5)
            if kind in (born or {}):
                first = scale(table[(table["system"] == (born or {})[kind]) & (table["goal"] == goal)])
                axes.plot(np.full(len(first), x), first, "x", color=f"C{k}", markersize=6)
            axes.plot(np.full(len(values), x), values, "o", color=f"C{k}", markersize=2, alpha=0.25)
            if len(values) > 1:
                axes.plot([x, x], rc.interval(values), color=f"C{k}", linewidth=2)
                axes.plot(x, values.mean(), "_", color=f"C{k}", markersize=9)
        axes.plot([], [], "o", color=f"C{k}", markersize=3.5, label=goal)
    for level in (0, 1):
        axes.axhline(level, color="black", linestyle=":", linewidth=0.9)
    axes.set_xticks(range(len(kinds)), names or kinds, rotation=35, ha="right", fontsize=7)


def log_scale(axes: Any) -> None:
    """A logarithmic axis of values, if there is one above 0 to show."""
    values = [np.asarray(line.get_ydata(), float) for line in axes.get_lines()]
    if any((one > 0).any() for one in values):
        axes.set_yscale("log")


def lines(axes: Any, values: dict[str, float], style: str = "-") -> None:
    """A line for each picture, in its colour: what a measure reads on a network whose answer is known."""
    for k, (_, value) in enumerate(sorted(values.items())):
        axes.axhline(value, color=f"C{k}", linewidth=0.8, linestyle=style)


MARKS = (("o", "full"), ("o", "none"), ("s", "full"), ("s", "none"))
"""Shape and filling of dots, by score and moment."""


def judged(axes: Any, table: Any, claims: Mapping[str, rc.Claim]) -> None:
    """What claims judge: the mean of each of their parts over seeds, its 95 % interval, and the bounds asked for.

    A line is a rival, picture or depth; where several scores must agree, they stand on it above each other.
    """
    colours = {"holds": rc.plots.GOOD, "fails": rc.plots.BAD, "undecided": rc.plots.NEUTRAL}
    names: list[str] = []
    marks: dict[str, tuple[str, str]] = {}
    for label, claim in claims.items():
        verdict, first = rc.judge(table, claim), len(names)
        for group, parts in by_group(verdict).items():
            for k, (column, part) in enumerate(parts.items()):
                shape, filled = marks.setdefault(column, MARKS[len(marks) % len(MARKS)])
                y = len(names) + 0.7 * ((k + 0.5) / len(parts) - 0.5)
                axes.plot([part.low, part.high], [y, y], color=colours[part.verdict], linewidth=1.2)
                axes.plot(part.effect, y, shape, fillstyle=filled, color=colours[part.verdict], markersize=3.5)
            names.append(", ".join(word for word in (label, group) if word))
        for bound in (claim.above, claim.below):
            if bound is not None:
                axes.plot([bound] * 2, [first - 0.5, len(names) - 0.5], "k:", linewidth=0.9)
    for column, (shape, filled) in marks.items() if len(marks) > 1 else ():
        axes.plot([], [], shape, fillstyle=filled, color="black", markersize=3.5, label=column)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_ylim(len(names) - 0.5, -0.5)


def by_group(verdict: Any) -> dict[str, dict[str, Any]]:
    """The parts of a verdict by group, and in it by score and moment; a claim about one thing is one part."""
    found: dict[str, dict[str, Any]] = {}
    for part in verdict.parts or (verdict,):
        name = getattr(part, "name", "")
        group, _, column = name.partition(": ") if verdict.agree else (name, "", "")
        found.setdefault(group, {})[column] = part
    return found


def thumb(picture: np.ndarray, most: int = 64) -> np.ndarray:
    """A picture of at most so many pixels per side, to be kept in a table."""
    step = -(-len(picture) // most)
    return np.round(np.asarray(picture, float)[::step, ::step], 3)


def mosaic(maps: np.ndarray) -> np.ndarray:
    """Maps side by side with a white line between, a column for each layer."""
    framed = np.pad(maps, ((0, 0), (0, 0), (0, 2), (0, 2)))
    return np.concatenate([np.concatenate(list(layer), axis=0) for layer in framed], axis=1)
