"""What a command line owes to the process it runs in: words that can be names, and streams that may be closed."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recombine.core import UserError

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
PATIENCE = 1.0
"""Seconds until a bar shows how far a command is."""
NARROWEST = 60
"""Columns that output is laid out for at least."""
FAILED, MISTAKEN, DIVERGED, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: an error of the program or of a study, one that the user can mend, no network left, a user's stop."""
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def check_words(words: Sequence[str]) -> None:
    """Refuse a word with a null character or without a meaning in UTF-8: it cannot name a file, or be printed."""
    for word in words:
        try:
            os.fsencode(word).decode("utf-8")
        except UnicodeError as error:
            raise UserError(f"{word[:80]!a} is not text: it has bytes that are not UTF-8") from error
        if "\0" in word:
            raise UserError(f"{word[:80]!a} has a null character")


def check_name(path: Path) -> None:
    """Refuse a path that the file system cannot hold, before anything is computed for it."""
    check_words([str(path)])
    try:
        there = next(p for p in (path, *path.absolute().parents) if p.exists())
        longest, whole = os.pathconf(there, "PC_NAME_MAX"), os.pathconf(there, "PC_PATH_MAX")
        fits = all(len(os.fsencode(part)) <= longest for part in path.parts)
    except OSError as error:
        raise UserError(f"no file can be called {str(path)[:80]!a}..: {error.strerror}") from error
    if not fits or len(os.fsencode(path.absolute())) >= whole:
        raise UserError(f"no file can be called {str(path)[:80]!a}..: File name too long")


def complain(text: str) -> None:
    """One line on standard error, if anybody listens there."""
    try:
        print(f"recombine: {text}", file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def explain(error: Exception) -> tuple[str, int]:
    """What is said of an error in one line, and the exit code: 2 for what the user can mend."""
    said = (str(error).strip().splitlines() or [""])[0]
    if isinstance(error, UserError):
        return said, MISTAKEN
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {str(error.filename)[:200]}: {error.strerror}", MISTAKEN
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        return f"cannot write the output: {error.strerror}", MISTAKEN
    return f"{type(error).__name__}: {said} (--debug shows where)", FAILED


def entered(command: Callable[[], int]) -> int:
    """Run a command and deliver its output: exit code 0 if nobody reads on, 2 if it cannot be written."""
    missing = sys.stdout is None
    _occupy()
    if missing:
        complain("standard output is closed: send it to a file, or to /dev/null")
        return MISTAKEN
    try:
        code = command()
    except SystemExit as end:  # a parser's help
        code = end.code if isinstance(end.code, int) else MISTAKEN if end.code else 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        if code != MISTAKEN:  # else the reason was given already
            complain(explain(error)[0])
        code = MISTAKEN
    return code


def leave(code: int) -> None:
    """End the process; an interrupted JAX may crash while the interpreter shuts down, so then it ends at once."""
    os._exit(code) if code == INTERRUPTED else sys.exit(code)


def _occupy() -> None:
    """Put the null device where a standard stream is closed, lest the next file opened take its place."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)


def _silence(stream: object) -> None:
    """Send what is still to be written nowhere, lest Python fail on it while it shuts down."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())  # type: ignore[attr-defined]
    os.close(nowhere)


def with_progress(items: Sequence[T], doing: str) -> Iterator[T]:
    """Some items one by one, with a bar on a terminal once they have taken longer than a second."""
    from rich.progress import Progress

    out = console()
    with Progress(console=out, transient=True, auto_refresh=False, disable=not out.is_terminal) as bar:
        task, began = bar.add_task(doing, total=len(items), visible=False), time.monotonic()
        for done, item in enumerate(items):
            bar.update(task, completed=done, visible=time.monotonic() - began > PATIENCE, refresh=True)
            yield item


def console() -> Console:
    """Rich's console, which leaves it to us what to do when nobody reads on."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def print(self, *objects: Any, **how: Any) -> None:
            """A log has long lines rather than broken ones."""
            how.setdefault("soft_wrap", not self.is_terminal)
            super().print(*objects, **how)

    made = Piped()
    # A log has no width of its own; where one is claimed that no word fits into, words would be lost.
    return made if made.is_terminal or made.width >= NARROWEST else Piped(width=NARROWEST)
