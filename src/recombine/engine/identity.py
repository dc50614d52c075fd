"""Which code made a row: the definitions that an experiment's rows can reach, and a hash of them.

Followed are names, through imports and through `rc.NAME`, from the functions that make rows. Claims and figures are not
among these, so that an edit of a claim leaves every row as it is. Comments, docstrings and layout do not count, and the
hash is the same under every Python version.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

import recombine

ROWS = ("Settings", "cells", "run")
"""What makes the rows of a cell."""
TABLE = (*ROWS, "controls")
"""What makes a table."""
_ROOT = Path(recombine.__file__).parent
_SKIPPED = {"ctx", "kind", "type_comment", "lineno"}
_WHOLE = "*"


@dataclass(frozen=True, eq=False)
class Source:
    """A parsed module: its statements, which of them define a name, and what its imports bind."""

    name: str
    path: Path
    always: tuple[ast.stmt, ...]
    defined: dict[str, list[ast.stmt]]
    imports: dict[str, list[tuple[str, str | None]]]


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
    return hash(tuple(file.stat().st_mtime_ns for place in (_ROOT, beside) for file in sorted(place.rglob("*.py"))))


@cache
def _code_files(path: Path, roots: tuple[str, ...], stamp: int) -> tuple[tuple[str, str], ...]:
    del stamp
    start = _source(_dotted(path), path)
    reached: dict[str, tuple[Source, set[int]]] = {}
    waiting = [(start, root) for root in roots]
    for root in roots:  # a root may be imported from a file beside it
        for module, name in start.imports.get(root, ()):
            waiting.extend(_resolved(module, [name] if name else [], path.parent))
    seen = {(start.name, root) for root in roots}
    while waiting:
        source, name = waiting.pop()
        statements = _statements(source, name)
        reached.setdefault(source.name, (source, set()))[1].update(id(s) for s in statements)
        for statement in statements:
            for other in _uses(source, statement):
                if (other[0].name, other[1]) not in seen:
                    seen.add((other[0].name, other[1]))
                    waiting.append(other)
    return tuple(sorted((name, _digest(source, chosen)) for name, (source, chosen) in reached.items()))


def _statements(source: Source, name: str) -> list[ast.stmt]:
    """The statements that make a name what it is, and those that always run."""
    chosen = [s for many in source.defined.values() for s in many] if name == _WHOLE else source.defined.get(name, [])
    return [*source.always, *chosen]


def _digest(source: Source, chosen: set[int]) -> str:
    """A hash of the chosen statements, in the order of the file."""
    every = {id(s): s for s in [*source.always, *(s for many in source.defined.values() for s in many)]}
    ordered = sorted((every[i] for i in chosen), key=lambda s: s.lineno)
    return _short("\n".join(map(_canonical_once, ordered)), 12)


def canonical(node: ast.AST) -> str:
    """A statement as text that does not depend on layout, docstrings or the Python version."""
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__}:{node.value!r}"
    parts = []
    for name in node._fields:
        value = getattr(node, name, None)
        if name in _SKIPPED or value is None or value == []:
            continue
        if name == "body" and isinstance(value, list):
            value = [n for n in value if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
        if isinstance(node, ast.JoinedStr):  # some versions end a format with an empty word
            value = [n for n in value if not (isinstance(n, ast.Constant) and n.value == "")]
        if isinstance(value, list):
            value = "[" + ",".join(canonical(v) if isinstance(v, ast.AST) else repr(v) for v in value) + "]"
        parts.append(f"{name}={canonical(value) if isinstance(value, ast.AST) else value}")
    return f"{type(node).__name__}({';'.join(parts)})"


_canonical_once = cache(canonical)


def _source(name: str, path: Path) -> Source:
    return _parsed(name, path, path.stat().st_mtime_ns)


@cache
def _parsed(name: str, path: Path, stamp: int) -> Source:
    del stamp
    return read_source(name, path, path.read_text())


def read_source(name: str, path: Path, text: str) -> Source:
    """A module's text, taken apart."""
    always: list[ast.stmt] = []
    defined: dict[str, list[ast.stmt]] = {}
    imports: dict[str, list[tuple[str, str | None]]] = {}
    for statement in ast.parse(text).body:
        names = _defines(statement)
        for one in names:
            defined.setdefault(one, []).append(statement)
        for local, places in _bound(statement, name, path).items() if not names else ():
            imports.setdefault(local, []).extend(places)
        if not names and not _idle(statement):
            always.append(statement)
    return Source(name, path, tuple(always), defined, imports)


def _idle(statement: ast.stmt) -> bool:
    """An import, a docstring, or what only type checkers read."""
    if isinstance(statement, ast.If) and not statement.orelse:
        return ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, ast.Import | ast.ImportFrom)


def _defines(statement: ast.stmt) -> list[str]:
    """The names that a statement defines or changes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        targets = [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign) else []
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


@cache
def _bound(tree: ast.AST, module: str, path: Path) -> dict[str, list[tuple[str, str | None]]]:
    """What the imports anywhere in a tree bind: a local name to modules, or to names in modules; "*" to all."""
    found: dict[str, list[tuple[str, str | None]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                found.setdefault(alias.asname or first, []).append((alias.name if alias.asname else first, None))
        elif isinstance(node, ast.ImportFrom):
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*up, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                place = (base, None if alias.name == _WHOLE else alias.name)
                found.setdefault(alias.asname or alias.name, []).append(place)
    return found


def _uses(source: Source, statement: ast.stmt) -> Iterator[tuple[Source, str]]:
    """The definitions, here and in other modules of ours, that a statement names."""
    own = _bound(statement, source.name, source.path)
    chains = [*_chains(statement), *([_WHOLE] for _ in own.get(_WHOLE, ())), [_WHOLE]]
    for chain in chains:
        for module, name in [*source.imports.get(chain[0], ()), *own.get(chain[0], ())]:
            yield from _resolved(module, ([name] if name else []) + chain[1:], source.path.parent)
        if chain[0] in source.defined:
            yield source, chain[0]


@cache
def _chains(tree: ast.AST) -> list[list[str]]:
    """Every name in a tree with the attributes that follow it: `rc.plots.bare` as [rc, plots, bare]."""
    waiting, found = [tree], []
    while waiting:
        node, words = waiting.pop(), []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            found.append([node.id, *reversed(words)])
        waiting.extend(ast.iter_child_nodes(node))
    return found


def _resolved(module: str, words: list[str], near: Path) -> Iterator[tuple[Source, str]]:
    """A name in a module of ours, wherever it really lives; the whole module if it is used as an object."""
    if module == "recombine":
        if not words:
            return
        home, rest = _public(words)
        yield from _resolved(home, rest, near)
        return
    path = _file(module, near)
    if path is None:
        return
    if words and path.stem == "__init__" and _file(f"{module}.{words[0]}", near):
        yield from _resolved(f"{module}.{words[0]}", words[1:], near)
        return
    source = _source(module, path)
    if not words:
        yield source, _WHOLE
    elif words[0] in source.defined:
        yield source, words[0]
    elif words[0] in source.imports:
        for there, name in source.imports[words[0]]:
            yield from _resolved(there, ([name] if name else []) + words[1:], path.parent)
    else:  # made in some other way: by a branch, a loop, another module's star
        yield source, _WHOLE


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
