"""Reads a file of code as what its names are made of, for the hash of what made a row.

A check is an `if` that only refuses bad input: it ends in a raised UserError or ValueError, has no other branch, binds
no name by `:=`, and leaves its function in no other way. Its condition calls nothing but functions that are known to
look and not to touch. It makes no row, unless somebody catches what it raises and goes on. Not seen are: a condition
that uses up an iterator or fills a defaultdict, a job handed to others whose result is never asked for, an installed
library that catches what it calls, and a protocol variant whose settings are refused, which is left out.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STAR = "*"
"""All names of a module."""
_SKIPPED = {"ctx", "kind", "type_comment", "lineno"}
_REFUSALS = ("UserError", "ValueError")
_UNRELATED = ("ImportError", "ModuleNotFoundError", "OSError", "FileNotFoundError", "JaxRuntimeError")
_CATCHING = (
    *("suppress", "raises", "assertRaises", "__exit__", "__aexit__", "exception", "return_exceptions"),
    *("Thread", "Process", "pure_callback", "io_callback"),
)
_RAISED_ON = (*_REFUSALS, "TypeError", "KeyError", "RuntimeError", "AssertionError")
_WAYS_OUT = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)
_BINDS = (ast.NamedExpr, ast.Global, ast.Nonlocal)
_LOOKING = frozenset(
    [
        "abs",
        "absolute",
        "all",
        "any",
        "array_equal",
        "asarray",
        "bool",
        "bytes",
        "callable",
        "comb",
        "duplicated",
        "float",
        "getattr",
        "hasattr",
        "id",
        "int",
        "isdigit",
        "isfinite",
        "isin",
        "isinstance",
        "isnan",
        "issubdtype",
        "len",
        "list",
        "max",
        "min",
        "ndim",
        "norm",
        "nunique",
        "pairwise",
        "Path",
        "prod",
        "range",
        "set",
        "shape",
        "size",
        "sorted",
        "stack",
        "sum",
        "tuple",
        "unique",
        "values",
        "zip",
    ]
)
"""The last words of calls that change nothing, of Python and NumPy; they touch no file, which may raise an OSError."""
_OURS = frozenset(
    [
        *("as_mask", "beyond", "filled", "flat", "has_untrained", "has_withheld", "leaves", "parted", "total"),
        *("exists", "is_dir", "is_file", "resolve", "stat", "S_ISREG"),
    ]
)
"""More of them in our own files alone: a study's function of such a name may do anything, and it may take the OSError
of a file that is looked at for an answer.
"""
_TOUCHING = ("out", "key", None)
"""Arguments through which a call that looks may touch something: an array to fill, a function, arguments not named."""


@dataclass(frozen=True, eq=False)
class Source:
    """A parsed module: its statements, which of them define a name, and what its imports bind."""

    name: str
    path: Path
    always: tuple[ast.stmt, ...]
    defined: dict[str, list[ast.stmt]]
    imports: dict[str, list[tuple[str, str | None]]]
    checks: bool


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


def read_source(name: str, path: Path, text: str, *, checks: bool) -> Source:
    """A module's text, taken apart, with its checks or without."""
    always: list[ast.stmt] = []
    defined: dict[str, list[ast.stmt]] = {}
    imports: dict[str, list[tuple[str, str | None]]] = {}
    tree, rebinds = _read(text)
    checks = checks or rebinds
    for statement in tree.body if checks else _without_checks(tree.body, name.startswith("recombine.")):
        names = _defines(statement)
        for one in names:
            defined.setdefault(one, []).append(statement)
        for local, places in bound(statement, name, path).items() if not names else ():
            imports.setdefault(local, []).extend(places)
        if not names and not _idle(statement):
            always.append(statement)
    return Source(name, path, tuple(always), defined, imports, checks)


@cache
def _read(text: str) -> tuple[ast.Module, bool]:
    """A module's tree, which nobody changes, and whether it makes a refusal's name mean something else."""
    tree = ast.parse(text)
    return tree, any(map(_rebinds, ast.walk(tree)))


def _without_checks(body: list[ast.stmt], ours: bool) -> list[ast.stmt]:
    """Statements without their checks; one that has none is the same object as before, which caches know."""
    left = []
    for statement in body:
        some = any(isinstance(node, ast.If) and _only_refuses(node, ours) for node in ast.walk(statement))
        left.append(_WithoutChecks(ours).visit(deepcopy(statement)) if some else statement)
    return [statement for statement in left if statement is not None]


def _rebinds(node: ast.AST) -> bool:
    """Whether a node makes a refusal's name mean something else, which another handler may catch."""
    if isinstance(node, ast.ClassDef) and node.name in _REFUSALS:
        return [_word(base) for base in node.bases] not in (["Exception"], ["ValueError"])
    if isinstance(node, ast.ImportFrom):
        renamed = [alias for alias in node.names if (alias.asname or alias.name) in _REFUSALS]
        return any(alias.name != "UserError" or "recombine" not in f"{node.module}" for alias in renamed)
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _REFUSALS


class _WithoutChecks(ast.NodeTransformer):
    """A tree without its checks; `ours` says that the file is one of this package."""

    def __init__(self, ours: bool):
        self.ours = ours

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _only_refuses(node, self.ours) else self.generic_visit(node)


def _only_refuses(node: ast.If, ours: bool) -> bool:
    last = node.body[-1]
    refusal = _word(last.exc.func) if isinstance(last, ast.Raise) and isinstance(last.exc, ast.Call) else ""
    whole = [node.test, *node.body]
    calls = [part for part in ast.walk(node.test) if isinstance(part, ast.Call)]
    binds = any(isinstance(part, _BINDS) for one in whole for part in ast.walk(one))
    looks = all(_looks(call, ours) for call in calls)
    return refusal in _REFUSALS and looks and not (node.orelse or binds or _leaves(whole))


def _looks(call: ast.Call, ours: bool) -> bool:
    """Whether a call is known to change nothing; outside our own files a bare name must be one of Python's own."""
    word, bare = _word(call.func), isinstance(call.func, ast.Name)
    known = word in _LOOKING and (ours or not bare or hasattr(builtins, word))
    return (known or (ours and word in _OURS)) and not any(given.arg in _TOUCHING for given in call.keywords)


@cache
def goes_on(statement: ast.AST) -> bool:
    """Whether some part of a statement may catch what a check raises, or what its condition does, and go on.

    >>> text = "try:\\n    f()\\nexcept ValueError:\\n    "
    >>> goes_on(ast.parse(text + "pass")), goes_on(ast.parse(text + "raise"))
    (True, False)
    """
    return any(map(_catches, ast.walk(statement)))


def _catches(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        again = bool(node.body) and _raises_on(node.body[-1]) and not _leaves(node.body)
        return not again and (node.type is None or _word(node.type) not in _UNRELATED)
    if isinstance(node, ast.Try | ast.TryStar):
        return _leaves(node.finalbody)
    return _word(node) in _CATCHING


def _raises_on(last: ast.stmt) -> bool:
    """Whether a handler's last statement raises the same, or an error that nobody takes for an answer."""
    if not isinstance(last, ast.Raise) or last.exc is None:
        return isinstance(last, ast.Raise)
    return _word(last.exc.func if isinstance(last.exc, ast.Call) else last.exc) in _RAISED_ON


def _leaves(parts: Sequence[ast.AST]) -> bool:
    return any(isinstance(node, _WAYS_OUT) for part in parts for node in ast.walk(part))


def _word(node: ast.AST) -> str:
    """The last word of what a node names, or "" if it names nothing."""
    return next(
        (word for key in ("attr", "id", "arg", "name") if isinstance(word := getattr(node, key, None), str)), ""
    )


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
def bound(tree: ast.AST, module: str, path: Path) -> dict[str, list[tuple[str, str | None]]]:
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
                place = (base, None if alias.name == STAR else alias.name)
                found.setdefault(alias.asname or alias.name, []).append(place)
    return found


@cache
def chains(tree: ast.AST) -> list[list[str]]:
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
