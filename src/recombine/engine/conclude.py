"""What is written of a table: its verdicts, its figure and the figure's caption."""

from __future__ import annotations

import inspect
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recombine import table as tables
from recombine.core import UserError
from recombine.engine import store, words
from recombine.engine.catalogue import Experiment
from recombine.engine.missing import no_such_value

if TYPE_CHECKING:
    import pandas as pd

    from recombine.claims import Verdict

DOTS = "A dot or a faint line is one network (one training seed) unless an axis or the text above says otherwise."
DOTS_PER_INCH = 100
"""Sharp enough for a page, and small enough to keep a figure of every result."""

_PLOTTING = Lock()  # matplotlib's state belongs to the process


def conclude(experiment: Experiment, tier: str, table: pd.DataFrame, folder: Path) -> list[Verdict]:
    """Judge every claim on the table and write verdicts.json; the quick tier is never evidence."""
    from recombine.claims import judge_all

    try:
        verdicts = judge_all(table, experiment.claims, evidence=tier != "quick")
    except ValueError as error:
        if missing := no_such_value(table, error):
            raise UserError(f"{experiment.name}: a claim picks what no cell has: {missing}") from error
        raise
    store.write_json(folder / "verdicts.json", [asdict(v) for v in verdicts])
    return verdicts


def plot(
    experiment: Experiment,
    settings: Any,
    table: pd.DataFrame,
    folder: Path,
    verdicts: Sequence[Verdict],
    *,
    tier: str,
    formats: tuple[str, ...] = ("png",),
) -> list[Path]:
    """Plot the experiment's figure at its primary protocol, in each of the formats, and write its caption."""
    from recombine import plots

    primary, quick = table[table["variant"] == tables.PRIMARY], any(not v.evidence for v in verdicts)
    paths = [folder / f"figure.{kind}" for kind in formats]
    with _PLOTTING, plots.look():
        figure = experiment.module.figure(settings, primary)
        if not hasattr(figure, "savefig"):
            raise UserError(f"{experiment.name}: figure() must return a matplotlib figure, got {type(figure).__name__}")
        if quick:
            plots.note(figure, words.QUICK)
        for path in paths:
            sink, dated = io.BytesIO(), {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            figure.savefig(sink, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=dated.get(path.suffix[1:], {}))
            store.write(path, few_colours(sink.getvalue()) if path.suffix == ".png" else sink.getvalue())
    shown = [inspect.getdoc(experiment.module.figure) or "", DOTS if plots.has_dots(figure) else ""]
    label = folder.name if folder.name.split(",")[0] == tier else f"{folder.name}, {tier} tier"
    said = caption(experiment, label, primary, verdicts, shows=" ".join(filter(None, shown)))
    store.write(folder / "figure.md", said.encode())
    return paths


def _why(v: Verdict) -> str:
    """Why a claim is undecided, which the number alone does not say."""
    return f". Undecided: {v.why}" if v.evidence and v.verdict == "undecided" and v.why else ""


def few_colours(png: bytes) -> bytes:
    """The same picture in 256 colours, a third of its size: figures are kept beside every table."""
    from PIL import Image

    sink, image = io.BytesIO(), Image.open(io.BytesIO(png))
    image.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE).save(
        sink, format="png", optimize=True
    )
    return sink.getvalue()


def caption(experiment: Experiment, label: str, table: pd.DataFrame, verdicts: Sequence[Verdict], *, shows: str) -> str:
    """What a figure shows, of which run, and what is judged from the same table."""
    seeds = tables.networks(table)["seed"].nunique()
    run = f"Run: {label}, {seeds} seed{'s' * (seeds != 1)}."
    run += f" **{words.QUICK.capitalize()}.**" if any(not v.evidence for v in verdicts) else ""
    claims = [f"- {v.claim}: **{words.short(v)}** {words.in_numbers(v)}{_why(v)}" for v in verdicts]
    parts = [f"# {experiment.name}", experiment.question, run, f"Figure: {shows}" if shows else "", "\n".join(claims)]
    return "\n\n".join(filter(None, parts)) + "\n"
