"""Turns words into a dataclass, whose fields are the flags; complaints become one line.

With tyro where it is installed, and with argparse on bare machines: the same flags, plainer help.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, make_dataclass
from importlib.util import find_spec
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from recombine.cli.streams import NARROWEST, check_name
from recombine.core import UserError

Parsed = TypeVar("Parsed")


def parse(kind: type[Parsed], words: list[str], prog: str, description: str, default: Parsed | None = None) -> Parsed:
    """An object of a dataclass from the words of a command line."""
    if find_spec("tyro") is None:
        from recombine.cli.bare import parse_plainly

        got = parse_plainly(kind, words, prog, description, default)
    else:
        got = _with_tyro(kind, words, prog, description, default)
    _check_paths(got)
    return got


def parse_both(first: Any, second: Any, words: list[str], prog: str, description: str) -> tuple[Any, Any]:
    """Two objects from one list of words, each with its usual values where no flag changes them."""
    names = {"run": first, "experiment": second}  # the titles of two groups of flags
    flat: Any = lambda kind: kind  # noqa: E731
    if find_spec("tyro") is not None:
        import tyro

        flat = lambda kind: tyro.conf.OmitArgPrefixes[kind]  # noqa: E731
    both = make_dataclass("Both", [(name, flat(type(value))) for name, value in names.items()])
    got: Any = parse(both, words, prog, description, default=both(first, second))
    return got.run, got.experiment


def _with_tyro(kind: type[Parsed], words: list[str], prog: str, description: str, default: Parsed | None) -> Parsed:
    import tyro

    more: dict[str, Any] = {} if default is None else {"default": default}
    said = io.StringIO()
    for each in (kind, *(type(value) for value in getattr(default, "__dict__", {}).values() if is_dataclass(value))):
        _say_no_empty_default(each)
    description = description.replace("\nExample", "\n\nExample")  # tyro joins single lines
    try:
        with contextlib.redirect_stderr(said), _wide_enough():
            return tyro.cli(kind, args=words, prog=prog, description=description, **more)
    except SystemExit as end:
        if not end.code:
            raise
        raise UserError(f"{_one_line(said.getvalue())} ({prog} --help shows all)") from end


def _say_no_empty_default(kind: Any) -> None:
    """Have tyro's help leave out None and empty words, both as defaults and among the choices."""
    import tyro

    for field in fields(kind) if is_dataclass(kind) else ():
        if field.default not in (None, "", ()):
            continue
        hint = get_type_hints(kind)[field.name]
        parts = [part for part in get_args(hint) if part is not types.NoneType] if field.default is None else []
        choices = [f"{{{','.join(map(str, get_args(part)))}}}" for part in parts if get_origin(part) is Literal]
        names = choices or [part.__name__.upper() for part in parts if isinstance(part, type)]
        told = tyro.conf.arg(metavar="|".join(names) or None, help_behavior_hint="")
        kind.__annotations__[field.name] = Annotated[hint, told]


def _check_paths(got: Any) -> None:
    """Refuse paths that the file system cannot hold, before they are used for anything."""
    for field in fields(got):
        value = getattr(got, field.name)
        if isinstance(value, Path):
            check_name(value)
        elif is_dataclass(value):
            _check_paths(value)


@contextlib.contextmanager
def _wide_enough() -> Iterator[None]:
    """For as long as it lasts, a terminal of NARROWEST columns in place of a narrower one, where tyro may not end."""
    if shutil.get_terminal_size().columns >= NARROWEST:
        yield
        return
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(NARROWEST)
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        os.environ.update({} if before is None else {"COLUMNS": before})


def _one_line(box: str) -> str:
    """The substance of one of tyro's boxes: its first sentence, and the flag it suggests."""
    lines = [line.strip("│| \t") for line in box.splitlines()[1:]]  # the first is a title
    inside = list(dropwhile(_rule, lines))
    body = " ".join(takewhile(lambda line: not _rule(line), inside)).rstrip(".") or "the arguments could not be read"
    suggestion = re.search(r"Perhaps you meant:\W+(--[\w-]+)", " ".join(inside))
    if wrong := re.fullmatch(
        r"Error parsing (--[\w-]+): (?:invalid literal for int|could not convert string).*: (.*)", body
    ):
        whole = "whole number" if "for int" in body else "number"
        body = f"{wrong[1]} takes a {whole}, got {wrong[2]}"
    if choice := re.fullmatch(r"invalid choice (.*) for argument '(--[\w-]+)'\. Expected one of \((.*)\)", body):
        words = sorted(set(re.findall(r"'([^']*)'", choice[3])) - {"None"})  # None: the flag is left out
        body = f"{choice[2]} takes one of {', '.join(words)}; got {choice[1]}"
    return body + (f" (did you mean {suggestion.group(1)}?)" if suggestion else "")


def _rule(line: str) -> bool:
    return not line.strip("─-╭╮╰╯ ")
