"""Which code made a row: the definitions that an experiment's rows can reach, and a hash of them.

Followed are names, through imports and through `rc.NAME`, from the functions that make rows. Claims and figures are not
among these, so that an edit of a claim leaves every row as it is. Comments, docstrings and layout do not count, nor do
checks that only refuse bad input, unless the code may go on after a refusal (`engine/sources.py`). The hash is the same
under every Python version.
"""

from __future__ import annotations

import hashlib
import json
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import recombine
from recombine.engine.sources import STAR, Source, bound, canonical, chains, goes_on, read_source

if TYPE_CHECKING:
    import ast

ROWS = ("Settings", "cells", "run")
"""What makes the rows of a cell."""
TABLE = (*ROWS, "controls")
"""What makes a table."""
_ROOT = Path(recombine.__file__).parent
_READING = Lock()  # parsed files are cached, and definitions known by their place in memory


def code_files(module: Any, roots: tuple[str, ...] = TABLE) -> dict[str, str]:
    """For each module that the roots of an experiment reach, a hash of its definitions that they reach."""
    path = Path(str(module.__file__)).resolve()
    with _READING:
        return dict(_code_files(path, roots, _stamp(path.parent)))


def code_hash(files: dict[str, str]) -> str:
    """One hash of all files."""
    return _short("\n".join(f"{name} {digest}" for name, digest in sorted(files.items())), 12)


def _short(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def cell_identity(name: str, module: Any, cell: Any, backend: str) -> str:
    """A short hash of all that determines a cell's rows: its content, the code, the numerical libraries, the device.

    How many seeds the whole run has is left out, since a cell names its own: a longer run uses the cells of a shorter.
    """
    content = asdict(cell)
    content["settings"] = {k: v for k, v in content.get("settings", {}).items() if k != "seeds"}
    libraries = {name: version(name) for name in ("jax", "jaxlib", "numpy", "optax", "equinox")}
    return _short(json.dumps([name, code_version(module), libraries, backend, content], sort_keys=True), 16)


def code_version(module: Any, roots: tuple[str, ...] = ROWS) -> str:
    """The hash of the code that makes an experiment's rows."""
    return code_hash(code_files(module, roots))


def _stamp(beside: Path) -> int:
    """Changes when a file of ours does, or one beside the experiment, within a process too."""
    places = (_ROOT,) if beside.is_relative_to(_ROOT) else (_ROOT, beside)
    return hash(tuple(file.stat().st_mtime_ns for place in places for file in sorted(place.rglob("*.py"))))


@cache
def _code_files(path: Path, roots: tuple[str, ...], stamp: int) -> tuple[tuple[str, str], ...]:
    reached, whole = (_closure(path, roots, stamp, checks=checks) for checks in (False, True))
    if any(_may_catch(source) or any(map(goes_on, chosen)) for source, chosen in reached):
        reached = whole
    elif begun := [_source(each.name, each.path, False) for each, _ in whole if each.always]:
        reached = _closure(path, roots, stamp, checks=False, begun=begun)
    return tuple(sorted((source.name, _digest(chosen)) for source, chosen in reached))


def _may_catch(source: Source) -> bool:
    """Whether a module imports what catches exceptions, under whatever name."""
    return any(place == ("contextlib", "suppress") for places in source.imports.values() for place in places)


def _closure(
    path: Path, roots: tuple[str, ...], stamp: int, *, checks: bool, begun: Sequence[Source] = ()
) -> list[tuple[Source, list[ast.stmt]]]:
    """The modules that the roots reach, and of each the statements, in the order of the file.

    Modules that have `begun` count by what they do when imported, and by what that reaches: checks alone may name them.
    """
    start = _source(_dotted(path), path, checks)
    reached: dict[str, tuple[Source, dict[int, ast.stmt]]] = {}
    waiting = [(start, root) for root in roots] + [(source, "") for source in begun]
    for root in roots:  # a root may be imported from a file beside it
        for module, name in start.imports.get(root, ()):
            waiting.extend(_resolved(module, [name] if name else [], start))
    seen = {(start.name, root) for root in roots}
    while waiting:
        source, name = waiting.pop()
        statements = _statements(source, name)
        reached.setdefault(source.name, (source, {}))[1].update({id(s): s for s in statements})
        for statement in statements:
            for other in _used(source, statement, stamp):
                if (other[0].name, other[1]) not in seen:
                    seen.add((other[0].name, other[1]))
                    waiting.append(other)
    return [(source, sorted(of.values(), key=lambda s: (s.lineno, s.col_offset))) for source, of in reached.values()]


def _statements(source: Source, name: str) -> list[ast.stmt]:
    """The statements that make a name what it is, and those that always run."""
    chosen = [s for many in source.defined.values() for s in many] if name == STAR else source.defined.get(name, [])
    return [*source.always, *chosen]


def _digest(chosen: list[ast.stmt]) -> str:
    return _short("\n".join(map(_canonical_once, chosen)), 12)


_canonical_once = cache(canonical)


def _source(name: str, path: Path, checks: bool) -> Source:
    return _parsed(name, path, path.stat().st_mtime_ns, checks)


@cache
def _parsed(name: str, path: Path, stamp: int, checks: bool) -> Source:
    del stamp
    return read_source(name, path, path.read_text(), checks=checks)


@cache
def _used(source: Source, statement: ast.stmt, stamp: int) -> tuple[tuple[Source, str], ...]:
    """What a statement uses, read once while no file changes: experiments reach the same statements."""
    del stamp
    return tuple(dict.fromkeys(_uses(source, statement)))


def _uses(source: Source, statement: ast.stmt) -> Iterator[tuple[Source, str]]:
    """The definitions, here and in other modules of ours, that a statement names."""
    own = bound(statement, source.name, source.path)
    for chain in [*chains(statement), *([STAR] for _ in own.get(STAR, ())), [STAR]]:
        for module, name in [*source.imports.get(chain[0], ()), *own.get(chain[0], ())]:
            yield from _resolved(module, ([name] if name else []) + chain[1:], source)
        if chain[0] in source.defined:
            yield source, chain[0]


def _resolved(module: str, words: list[str], asked: Source) -> Iterator[tuple[Source, str]]:
    """A name in a module of ours, wherever it really lives; the whole module if it is used as an object."""
    if module == "recombine":
        if not words:
            return
        home, rest = _public(words)
        yield from _resolved(home, rest, asked)
        return
    near = asked.path.parent
    path = _file(module, near)
    if path is None:
        return
    if words and path.stem == "__init__" and _file(f"{module}.{words[0]}", near):
        yield from _resolved(f"{module}.{words[0]}", words[1:], asked)
        return
    source = _source(module, path, asked.checks)
    if not words:
        yield source, STAR
    elif words[0] in source.defined:
        yield source, words[0]
    elif words[0] in source.imports:
        for there, name in source.imports[words[0]]:
            yield from _resolved(there, ([name] if name else []) + words[1:], source)
    else:  # made in some other way: by a branch, a loop, another module's star
        yield source, STAR


def _public(words: list[str]) -> tuple[str, list[str]]:
    """Where `rc.NAME` lives, or `recombine.module`."""
    if words[0] in recombine._MODULES:
        return f"recombine.{recombine._MODULES[words[0]]}", words[1:]
    if words[0] in recombine._WHERE:
        return f"recombine.{recombine._WHERE[words[0]]}", words
    return f"recombine.{words[0]}", words[1:]


def _dotted(path: Path) -> str:
    """The module name of a file of ours; a user's own file is called study, whatever its name."""
    if not path.is_relative_to(_ROOT):
        return "study"
    parts = ["recombine", *path.relative_to(_ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _file(module: str, near: Path) -> Path | None:
    """The file of a module of ours or of the user's, or nothing for installed libraries."""
    if module.split(".", maxsplit=1)[0] == "recombine":
        stem = _ROOT.joinpath(*module.split(".")[1:])
        return next((f for f in (stem.with_suffix(".py"), stem / "__init__.py") if f.is_file()), None)
    found, places = None, [str(near), *sys.path]
    for part in module.split("."):
        found = PathFinder.find_spec(part, places)
        if found is None or not (found.origin or found.submodule_search_locations):
            return None
        places = list(found.submodule_search_locations or [])
    origin = Path(found.origin) if found and found.origin else None
    return origin if origin and origin.suffix == ".py" and not _installed(origin) else None


def _installed(path: Path) -> bool:
    """Whether a file belongs to Python or to an installed library, whose versions are part of an identity anyway."""
    kept = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return "site-packages" in path.parts or any(map(path.is_relative_to, kept))


def changed_files(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The modules whose code differs between two closures."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
