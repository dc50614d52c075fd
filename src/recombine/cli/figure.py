"""recombine figure: plots the figures of an experiment again, from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recombine.cli.options import parse
from recombine.cli.results import TierOptions, folders, load, name_and_flags, passing_over, try_running
from recombine.core import UserError
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
    catalogue.check_tier(options.tier)
    for name in catalogue.chosen(names):
        experiment = catalogue.find(name)
        plotted, there = 0, folders(options.out / experiment.name)
        for folder in there:
            with passing_over(folder):
                tier, settings, table = load(experiment, folder)
                if options.tier in ("", tier):
                    print(*engine.plot(experiment, settings, table, folder, (options.format,)), sep="\n")
                    plotted += 1
        if not plotted:
            said = "has no results that can be plotted" if there else "has not been run"
            raise UserError(f"{name} {said} in {options.out}: {try_running(name, options.tier)}")
    return 0
