"""Shows how a run goes: bars on a terminal, plain lines in a log."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from recombine.cli import report, streams
from recombine.core import UserError
from recombine.engine import Flight, Result, RunRequest, execute
from recombine.engine.overlap import together
from recombine.table import networks
from recombine.train.monitor import Monitor
from recombine.train.monitor import Progress as Chunk

if TYPE_CHECKING:
    import pandas as pd


_LINE_EVERY = 10.0  # seconds between lines in a log


class Screen:
    """Where runs are shown, one or several side by side, and whether they are to stop."""

    def __init__(self, console: Console):
        self.console, self.live = console, console.is_terminal
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), console=console, transient=True,
        )  # fmt: skip
        self.stopping = False
        self.before: Any = None

    def __enter__(self) -> Screen:
        with suppress(ValueError):  # not the main thread
            self.before = signal.signal(signal.SIGINT, self._interrupt)
        if self.live:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

    def _interrupt(self, *_: object) -> None:
        self.stopping = True
        raise KeyboardInterrupt

    def heed(self) -> None:
        """Stop if told to: a signal reaches one thread only, and a library that cleans up may swallow it."""
        if self.stopping:
            raise KeyboardInterrupt


class ProgressMonitor(Monitor):
    """Which cells of a run are computed."""

    def __init__(self, screen: Screen, title: str, before: str = ""):
        self.screen, self.title, self.before, self.cells = screen, title, before, 0

    def begin(self, cells: int, finished: int) -> None:
        self.cells = cells
        left = f", {finished} already finished" if finished else ""
        said = f"[bold]{escape(self.title)}[/]: {cells} cell{'s' * (cells != 1)}{left}"
        self.screen.console.print(said, highlight=False)

    def cell(self, number: int, label: str) -> Monitor:
        self.screen.heed()
        which = f"{self.before}cell {number} of {self.cells}"
        return CellProgress(self.screen, which + (f" ({label})" if label else ""))

    def note(self, text: str) -> None:
        self.screen.console.print(f"[yellow]note:[/] {escape(text)}", highlight=False)


class CellProgress(Monitor):
    """How one cell goes: steps per second, the time left, networks measured."""

    def __init__(self, screen: Screen, name: str):
        self.screen, self.short = screen, name.partition(" of ")[0]  # lines of several cells may be mixed
        self.began = self.said = time.monotonic()
        self.first, self.last = -1, 0
        self.task: TaskID | None = None
        if screen.live:
            self.task = screen.bar.add_task(escape(name), total=None, rate="compiling")
        else:
            self._say(name, indent=2)

    def chunk(self, label: str, progress: Chunk, state: Callable[[], Any]) -> None:
        self.screen.heed()
        now = time.monotonic()
        if self.first < 0 or progress.done <= self.last:  # a run's first chunk compiles: measure from its end
            self.first, self.began = progress.done, now
        self.last = progress.done
        rate = (progress.done - self.first) / max(now - self.began, 1e-9)
        said = f"{rate:,.1f} steps/s x {progress.members} networks, loss {progress.loss:.2g}" if rate else "compiled"
        if self.task is not None:
            self.screen.bar.update(self.task, total=progress.steps, completed=progress.done, rate=said)
        elif now - self.said > _LINE_EVERY or progress.done == progress.steps:
            left = f", {(progress.steps - progress.done) / rate:.0f} s left" if rate else ""
            self._say(f"{self.short}: step {progress.done} of {progress.steps}, {said}{left}")

    def measured(self, done: int, networks: int) -> None:
        self.screen.heed()
        if self.task is not None:
            self.screen.bar.update(self.task, total=networks, completed=done, rate="networks measured")
        elif time.monotonic() - self.said > _LINE_EVERY:
            self._say(f"{self.short}: measured {done} of {networks} networks")

    def note(self, text: str) -> None:
        self.screen.console.print(f"[yellow]note:[/] {escape(text)}", highlight=False)

    def finished(self) -> None:
        if self.task is not None:
            self.screen.bar.remove_task(self.task)

    def _say(self, text: str, indent: int = 4) -> None:
        self.screen.console.print(" " * indent + escape(text), highlight=False)
        self.said = time.monotonic()


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


def time_split(taken: float, training: float) -> str:
    """What runs took, beside the time in which something trained."""
    return f"took {taken:.0f} s, in {training:.0f} s of which networks trained (ratio {taken / training:.1f})"


def execute_all(orders: list[RunRequest]) -> int:
    """Run experiments and show what they found; the exit code is 3 if one has no network left.

    One that fails does not stop the others; the first failure is raised when all are done.
    """
    console, finished, troubles = streams.console(), {}, []
    flight, began = Flight(), time.perf_counter()

    def one(screen: Screen, number: int, order: RunRequest) -> None:
        name = order.experiment.name
        monitor = ProgressMonitor(screen, f"{name}, {order.tier} tier", f"{name} " if len(orders) > 1 else "")
        try:
            screen.heed()
            finished[number] = order, execute(order, monitor, flight)
        except BrokenPipeError:
            screen.stopping = True
            raise
        except Exception as error:
            if len(orders) > 1:
                monitor.note(f"{name} failed: {error}")
            troubles.append(error)

    try:
        try:
            with Screen(console) as screen:
                jobs = [partial(one, screen, number, order) for number, order in enumerate(orders)]
                together(jobs, min(len(jobs), flight.cells))
        finally:
            if finished:
                _show_finished(console, [finished[number] for number in sorted(finished)])
            if flight.clock.training >= 1:
                console.print(time_split(time.perf_counter() - began, flight.clock.training), highlight=False)
    except BrokenPipeError as error:
        told = "what was finished is kept, and the same command goes on from there"
        raise UserError(f"stopped, since nobody reads the output any more; {told}") from error
    if troubles:
        raise troubles[0]
    return streams.DIVERGED if any(diverged(result.table).all for _, result in finished.values()) else 0


def _show_finished(console: Console, finished: list[tuple[RunRequest, Result]]) -> None:
    shown = []
    for order, result in finished:
        mine = order.experiment
        named = {"source": mine.source, "deciding": mine.deciding}
        shown.append(report.Shown(mine.name, result.folder, result.verdicts, **named))
    report.show(console, shown)
    for order, result in finished:
        if said := what_diverged(diverged(result.table), order.settings):
            console.print(f"[red]{escape(order.experiment.name)}[/]: {escape(said)}", highlight=False, soft_wrap=True)
