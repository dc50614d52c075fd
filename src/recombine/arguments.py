"""Turns words into a dataclass with tyro, and tyro's complaints into one line."""

from __future__ import annotations

import contextlib
import io
import re
from itertools import dropwhile, takewhile
from typing import Any, TypeVar

import tyro

from recombine.core import UserError

Parsed = TypeVar("Parsed")


def parse(kind: type[Parsed], words: list[str], prog: str, description: str, default: Parsed | None = None) -> Parsed:
    """tyro's parser, whose complaints become one line."""
    more: dict[str, Any] = {} if default is None else {"default": default}
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(kind, args=words, prog=prog, description=description, **more)
    except SystemExit as end:
        if not end.code:
            raise
        raise UserError(f"{_one_line(said.getvalue())} ({prog} --help shows all)") from end


def _one_line(box: str) -> str:
    """The substance of one of tyro's boxes: its first sentence, and the flag it suggests."""
    lines = [line.strip("│| \t") for line in box.splitlines()[1:]]  # the first is a title
    inside = list(dropwhile(_rule, lines))
    body = " ".join(takewhile(lambda line: not _rule(line), inside)).rstrip(".") or "the arguments could not be read"
    suggestion = re.search(r"Perhaps you meant:\W+(--[\w-]+)", " ".join(inside))
    return body + (f" (did you mean {suggestion.group(1)}?)" if suggestion else "")


def _rule(line: str) -> bool:
    return not line.strip("─-╭╮╰╯ ")
