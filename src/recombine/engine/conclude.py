"""What is written of a table: its verdicts, its figure and the figure's caption."""

from __future__ import annotations

import inspect
import io
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recombine import table as tables
from recombine.core import UserError
from recombine.engine import store
from recombine.engine.catalogue import Experiment

if TYPE_CHECKING:
    import pandas as pd

    from recombine.claims import Verdict

DOTS = "A dot is one network (one training seed) unless an axis says otherwise; thin lines are seeds, thick ones means."
DOTS_PER_INCH = 100
"""Sharp enough for a page, and small enough to keep a figure of every result."""

_PLOTTING = Lock()  # matplotlib's state belongs to the process


def conclude(experiment: Experiment, tier: str, table: pd.DataFrame, folder: Path) -> list[Verdict]:
    """Judge every claim on the table and write verdicts.json; the quick tier is never evidence."""
    from recombine.claims import judge_all

    verdicts = judge_all(table, experiment.claims, evidence=tier != "quick")
    store.write_json(folder / "verdicts.json", [asdict(v) for v in verdicts])
    return verdicts


def plot(
    experiment: Experiment, settings: Any, table: pd.DataFrame, folder: Path, formats: tuple[str, ...] = ("png",)
) -> list[Path]:
    """Plot the experiment's figure at its primary protocol, in each of the formats."""
    from recombine import plots

    paths = [folder / f"figure.{kind}" for kind in formats]
    with _PLOTTING, plots.look():
        figure = experiment.module.figure(settings, table[table["variant"] == tables.PRIMARY])
        if not hasattr(figure, "savefig"):
            raise UserError(f"{experiment.name}: figure() must return a matplotlib figure, got {type(figure).__name__}")
        for path in paths:
            sink, dated = io.BytesIO(), {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            figure.savefig(sink, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=dated.get(path.suffix[1:], {}))
            store.write(path, sink.getvalue())
    store.write(folder / "figure.md", caption(experiment).encode())
    return paths


def caption(experiment: Experiment) -> str:
    """What a figure shows, and which claims are judged from the same table."""
    said = inspect.getdoc(experiment.module.figure) or experiment.question
    claims = [f"- {claim.name}: {claim.unit}" for claim in experiment.claims]
    lines = [f"# {experiment.name}", "", experiment.question, "", f"Figure: {said}", "", DOTS, "", "Claims:", *claims]
    return "\n".join(lines) + "\n"
