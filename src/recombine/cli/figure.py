"""recombine figure: plots the figures of an experiment again, from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recombine.cli.results import Loaded, TierOptions, nothing_there, over_results, read_words


@dataclass(frozen=True)
class FigureOptions(TierOptions):
    """Where results are, and what a figure is saved as."""

    format: Literal["png", "svg", "pdf"] = "png"
    """the file to write beside the table: figure.png, figure.svg or figure.pdf"""


def figure(words: list[str]) -> int:
    """Plot the figures of an experiment again, from its tables."""
    from recombine import engine

    names, options = read_words(
        FigureOptions,
        words,
        "figure",
        "Plot it again from the table.\nExample: recombine figure liang2025/stripes --tier laptop --format svg",
    )

    def plot(one: Loaded) -> None:
        print(*engine.plot(one.experiment, one.settings, one.table, one.folder, (options.format,)), sep="\n")

    for name in names:
        if not over_results([name], options, plot):
            raise nothing_there([name], options)
    return 0
