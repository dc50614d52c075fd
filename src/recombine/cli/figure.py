"""recombine figure: plots the figures of an experiment again, from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recombine.cli.options import parse
from recombine.cli.results import Loaded, TierOptions, name_and_flags, nothing_there, over_results
from recombine.engine import catalogue


@dataclass(frozen=True)
class FigureOptions(TierOptions):
    """Where results are, and what a figure is saved as."""

    format: Literal["png", "svg", "pdf"] = "png"
    """the file to write beside the table: figure.png, figure.svg or figure.pdf"""


def figure(words: list[str]) -> int:
    """Plot the figures of an experiment again, from its tables."""
    from recombine import engine

    names, flags = name_and_flags(words, "figure")
    options = parse(
        FigureOptions,
        flags,
        "recombine figure NAME",
        "Plot it again from the table.\nExample: recombine figure liang2025/stripes --tier laptop --format svg",
    )

    def plot(one: Loaded) -> None:
        print(*engine.plot(one.experiment, one.settings, one.table, one.folder, (options.format,)), sep="\n")

    for name in catalogue.chosen(names):
        if not over_results([name], options, plot):
            raise nothing_there([name], options)
    return 0
