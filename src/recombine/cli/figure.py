"""recombine figure: plots the figures of an experiment again, from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recombine.cli.results import Loaded, TierOptions, nothing_there, over_results, read_words


@dataclass(frozen=True)
class PlotOptions(TierOptions):
    """Where results are, and where plots of them go: looking at results leaves them as they are."""

    to: Path = Path("figures")
    """folder for the plots, one below it for each experiment and run"""

    def place(self, one: Loaded) -> Path:
        """The folder for the plots of one result."""
        return self.to / one.experiment.name / one.folder.name


@dataclass(frozen=True)
class FigureOptions(PlotOptions):
    """Where results are, and what a figure is saved as."""

    format: Literal["png", "svg", "pdf"] = "png"
    """what it is saved as: figure.png, figure.svg or figure.pdf"""


def figure(words: list[str]) -> int:
    """Plot the figures of an experiment again, from its tables."""
    from recombine import engine
    from recombine.claims import judge_all

    names, options = read_words(
        FigureOptions,
        words,
        "figure",
        "Plot it again from the table, with its caption figure.md; results stay as they are.\n"
        "Example: recombine figure liang2025/stripes --tier laptop --format svg --to figures",
    )

    def plot(one: Loaded) -> None:
        verdicts = judge_all(one.table, one.experiment.claims, evidence=one.evidence)
        what, place = (one.experiment, one.settings, one.table), options.place(one)
        print(*engine.plot(*what, place, verdicts, tier=one.tier, formats=(options.format,)), sep="\n")

    for name in names:
        if not over_results([name], options, plot):
            raise nothing_there([name], options)
    return 0
