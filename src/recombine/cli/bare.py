"""Reads flags with argparse alone, for machines on which nothing but the numerical libraries is installed."""

from __future__ import annotations

import argparse
import types
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from recombine.core import UserError


class _OneLine(argparse.ArgumentParser):
    """A parser whose complaints are errors of the user's, not the end of the process."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help shows all)")


def parse_plainly(kind: type, words: list[str], prog: str, description: str, default: Any) -> Any:
    """An object of a dataclass from the words of a command line; fields that are dataclasses have their own flags."""
    usual = default if default is not None else kind()
    parser = _OneLine(prog=prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    _add(parser, usual)
    given = vars(parser.parse_args(words))
    return _filled(usual, given)


def _add(parser: argparse.ArgumentParser, usual: Any) -> None:
    types_of = {} if type(usual).__module__ == "types" else get_type_hints(type(usual))
    for field in fields(usual):
        now, kind = getattr(usual, field.name), types_of.get(field.name, field.type)
        if is_dataclass(now):
            _add(parser, now)
            continue
        flag, shown = f"--{field.name.replace('_', '-')}", "" if now in (None, "", ()) else f"(now {now})"
        if isinstance(now, bool):
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=MISSING, help=shown)
        elif isinstance(now, tuple):
            parser.add_argument(flag, nargs="*", type=_reader(_inner(kind), now), default=MISSING, help=shown)
        else:
            parser.add_argument(flag, type=_reader(kind, now), choices=_choices(kind), default=MISSING, help=shown)


def _filled(usual: Any, given: dict[str, Any]) -> Any:
    """The usual values with those that were given in their place."""
    changes = {}
    for field in fields(usual):
        now = getattr(usual, field.name)
        if is_dataclass(now):
            changes[field.name] = _filled(now, given)
        elif given.get(field.name, MISSING) is not MISSING:
            value = given[field.name]
            changes[field.name] = tuple(value) if isinstance(now, tuple) else value
    return replace(usual, **changes) if changes else usual


def _inner(kind: Any) -> Any:
    return get_args(kind)[0] if get_args(kind) else str


def _alternatives(kind: Any) -> list[Any]:
    """The types that a field may have, without None."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return [part for part in parts if part is not types.NoneType]


def _choices(kind: Any) -> list[Any] | None:
    """The words that a field may have, where its type lists them."""
    parts = _alternatives(kind)
    found = [choice for part in parts if get_origin(part) is Literal for choice in get_args(part)]
    return found or None


def _reader(kind: Any, now: Any) -> Callable[[str], Any]:
    """What turns a word into a field's value."""
    first = _alternatives(kind)[0]
    if get_origin(first) is Literal:
        return type(get_args(first)[0])
    return first if isinstance(first, type) else type(now) if now is not None else str
