"""Shows how a run goes: bars on a terminal, plain lines in a log."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from recombine.cli import report, streams
from recombine.core import UserError
from recombine.engine import Result, RunRequest, execute
from recombine.table import networks
from recombine.train.monitor import Monitor
from recombine.train.monitor import Progress as Chunk

if TYPE_CHECKING:
    import pandas as pd


_LINE_EVERY = 10.0  # seconds between lines in a log


class ProgressMonitor(Monitor):
    """Cell x of y, steps per second and the time left."""

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

    def chunk(self, label: str, progress: Chunk, state: Callable[[], Any]) -> None:
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


class Diverged(NamedTuple):
    """How many trained networks a table has, how many of them diverged, and the first and the last step of those."""

    networks: int
    lost: int = 0
    first: int = -1
    last: int = -1

    @property
    def all(self) -> bool:
        return 0 < self.networks == self.lost


def diverged(table: pd.DataFrame) -> Diverged:
    """Which networks of a table diverged, read from `diverged_at`: a step, -1 for none, NaN where none was trained."""
    if "diverged_at" not in table:
        return Diverged(0)
    trained = networks(table)
    trained = trained[trained["diverged_at"].notna()]
    steps = trained["diverged_at"][trained["diverged_at"] >= 0].astype(int)
    return Diverged(len(trained), len(steps), steps.min(), steps.max()) if len(steps) else Diverged(len(trained))


def what_diverged(found: Diverged, settings: Any) -> str:
    """A sentence about networks that diverged, with what to change; nothing if none did."""
    if not found.lost:
        return ""
    when = f"first at step {found.first}" + (f", last at step {found.last}" if found.last > found.first else "")
    rate = getattr(settings, "learning_rate", None)
    advice = "a lower learning rate" if rate is None else f"a lower --learning-rate (now {rate:g})"
    return f"{found.lost} of {found.networks} networks diverged, {when}: try {advice}"


def execute_all(orders: list[RunRequest]) -> int:
    """Run experiments one after the other and show what they found; the exit code is 3 if one has no network left."""
    console, finished = streams.console(), []
    try:
        try:
            for order in orders:
                title = f"{order.experiment.name}, {order.tier} tier"
                finished.append((order, execute(order, ProgressMonitor(console, title))))
        finally:
            if finished:
                _show_finished(console, finished)
    except BrokenPipeError as error:
        told = "what was finished is kept, and the same command goes on from there"
        raise UserError(f"stopped, since nobody reads the output any more; {told}") from error
    return streams.DIVERGED if any(diverged(result.table).all for _, result in finished) else 0


def _show_finished(console: Console, finished: list[tuple[RunRequest, Result]]) -> None:
    report.show(
        console,
        [report.Shown(o.experiment.name, r.folder, r.verdicts, source=o.experiment.source) for o, r in finished],
    )
    for order, result in finished:
        if said := what_diverged(diverged(result.table), order.settings):
            console.print(f"[red]{escape(order.experiment.name)}[/]: {escape(said)}", highlight=False, soft_wrap=True)
