"""Shows how a run goes and what it found: bars on a terminal, plain lines in a log."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from recombine.engine import Report

if TYPE_CHECKING:
    from recombine.claims import Verdict
    from recombine.watch import Progress as Chunk

COLOURS = {"holds": "green", "fails": "red", "undecided": "yellow", "not evidence": "dim"}
_LINE_EVERY = 10.0  # seconds between lines in a log


class Shown(Report):
    """Cell x of y, steps a second and the time left."""

    def __init__(self, console: Console, title: str):
        self.console, self.title = console, title
        self.live = console.is_terminal
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), console=console, transient=True,
        )  # fmt: skip
        self.cells, self.began, self.said, self.first, self.last = 0, 0.0, 0.0, -1, 0
        self.task: TaskID | None = None
        self.interrupted = False
        self.before: Any = None

    def begin(self, cells: int, finished: int) -> None:
        self.cells = cells
        with suppress(ValueError):  # not the main thread
            self.before = signal.signal(signal.SIGINT, self._interrupt)
        left = f", {finished} already finished" if finished else ""
        self.console.print(f"[bold]{escape(self.title)}[/]: {cells} cell{'s' * (cells != 1)}{left}", highlight=False)
        if self.live:
            self.bar.start()

    def _interrupt(self, *_: object) -> None:
        self.interrupted = True
        raise KeyboardInterrupt

    def _heed(self) -> None:
        """Stop if an interrupt was lost: one that comes while a library cleans up is swallowed there."""
        if self.interrupted:
            raise KeyboardInterrupt

    def cell(self, number: int, label: str) -> None:
        self._heed()
        self.first, self.began, self.said = -1, time.monotonic(), time.monotonic()
        self.name = f"cell {number} of {self.cells}" + (f" ({label})" if label else "")
        if self.live:
            if self.task is not None:
                self.bar.remove_task(self.task)
            self.task = self.bar.add_task(escape(self.name), total=None, rate="compiling")
        else:
            self.console.print(f"  {escape(self.name)}", highlight=False)

    def chunk(self, progress: Chunk) -> None:
        self._heed()
        now = time.monotonic()
        if self.first < 0 or progress.done <= self.last:  # a run's first chunk compiles: measure from its end
            self.first, self.began = progress.done, now
        self.last = progress.done
        rate = (progress.done - self.first) / max(now - self.began, 1e-9)
        said = f"{rate:,.1f} steps/s x {progress.members} networks, loss {progress.loss:.2g}" if rate else "compiled"
        if self.live and self.task is not None:
            self.bar.update(self.task, total=progress.steps, completed=progress.done, rate=said)
        elif now - self.said > _LINE_EVERY or progress.done == progress.steps:
            left = f", {(progress.steps - progress.done) / rate:.0f} s left" if rate else ""
            self.console.print(f"    step {progress.done} of {progress.steps}, {said}{left}", highlight=False)
            self.said = now

    def measured(self, done: int, networks: int) -> None:
        self._heed()
        now = time.monotonic()
        if self.live and self.task is not None:
            self.bar.update(self.task, total=networks, completed=done, rate="networks measured")
        elif now - self.said > _LINE_EVERY:
            self.console.print(f"    measured {done} of {networks} networks", highlight=False)
            self.said = now

    def note(self, text: str) -> None:
        self.console.print(f"[yellow]note:[/] {escape(text)}", highlight=False)

    def end(self) -> None:
        self.bar.stop()
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """The verdicts of one run: each claim, its numbers and what they are, and why an undecided one is so."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for v in verdicts:
        word = v.verdict if v.evidence else "not evidence"
        why = f"\n[yellow]{escape(v.why)}[/]" if v.verdict == "undecided" and v.evidence else ""
        asked = f"{escape(numbers(v))}, asked for > {v.margin:.3g}, {_repeats([v])}"
        said = f"{escape(v.claim)}\n{asked}: [dim]{escape(v.unit)}[/]{why}"
        table.add_row(f"  [{COLOURS[word]}]{word}[/]", said)
    return table


def numbers(v: Verdict) -> str:
    """Effect and interval, with so many digits that one sees on which side of the margin they lie."""
    if v.seeds < 2:
        return "no number" if v.seeds == 0 else f"{v.effect:.2f} [-]"
    ends, digits = (v.low, v.high), 2
    while digits < 4 and any(round(end, digits) == round(v.margin, digits) for end in ends):
        digits += 1
    return f"{v.effect:.{digits}f} [{v.low:.{digits}f}, {v.high:.{digits}f}]"


def show(console: Console, results: list[tuple[str, Path, list[Verdict]]]) -> None:
    """The verdicts of some runs, why the undecided ones are so, and where the figures are."""
    console.print("\n[dim]effect \\[95 % interval], what was asked for, what is measured[/]", highlight=False)
    for name, _, verdicts in results:
        console.print(f"\n[bold]{escape(name)}[/]", highlight=False)
        console.print(verdict_table(verdicts), highlight=False)
    console.print()
    for name, folder, _ in results:
        console.print(f"{name}: figure and table in {folder}", highlight=False, soft_wrap=True)


def markdown(results: list[tuple[str, Path, list[Verdict]]]) -> str:
    """The same as tables for a document, one an experiment: every claim in full, one column a run."""
    runs: dict[str, dict[str, list[Verdict]]] = {}
    for name, folder, verdicts in results:
        runs.setdefault(name.split(", ")[0], {})[folder.name] = verdicts
    return "\n\n".join(_document_table(name, columns) for name, columns in runs.items())


def _document_table(name: str, columns: dict[str, list[Verdict]]) -> str:
    claims = {v.claim: v for verdicts in columns.values() for v in verdicts}
    said = {run: {v.claim: _in_words(v) for v in verdicts} for run, verdicts in columns.items()}
    rows = [
        f"| {c.claim} | {c.says} ({c.source}) | {c.unit} (> {c.margin:.3g}) | "
        + " | ".join(words.get(c.claim, "not run") for words in said.values())
        + " |"
        for c in claims.values()
    ]
    seeds = [f"{run}, {_repeats(verdicts)}" for run, verdicts in columns.items()]
    head = ["claim", "what is said", "effect (margin)", *seeds]
    return "\n".join([f"### {name}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def _repeats(verdicts: list[Verdict]) -> str:
    """How many seeds, or what else an effect has one number of."""
    most = max(verdicts, key=lambda v: v.seeds)
    return f"{most.seeds} {most.repeats if most.seeds != 1 else most.repeats.removesuffix('s')}"


def _in_words(v: Verdict) -> str:
    """A verdict with its numbers, and in short why it is none."""
    why = f"; {v.why.split(':')[0]}" if v.verdict == "undecided" and ":" in v.why else ""
    return f"**{v.verdict if v.evidence else 'not evidence'}** {numbers(v)}{why}"


def kernels_wanted(environment: Mapping[str, str]) -> bool:
    """Whether a GPU may use the project's kernels: RECOMBINE_KERNELS=off asks for plain programs."""
    return environment.get("RECOMBINE_KERNELS", "").lower() != "off"


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where compiled programs are kept between runs: RECOMBINE_CACHE moves it, `off` switches it off."""
    wanted = environment.get("RECOMBINE_CACHE", "")
    if wanted.lower() == "off":
        return None
    home = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(wanted) if wanted else home / "recombine" / "compiled"
