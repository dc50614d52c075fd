"""Reads a file of code as what its names are made of, for the hash of what made a row.

A check is an `if` that only refuses bad input: it ends in a raised UserError or ValueError, has no other branch, binds
no name by `:=`, and leaves its function in no other way. It makes no row, unless somebody catches
what it raises and goes on. That its condition has no effect of its own is taken for granted.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STAR = "*"
"""All names of a module."""
_SKIPPED = {"ctx", "kind", "type_comment", "lineno"}
_REFUSALS = ("UserError", "ValueError")
_CATCHING = (*_REFUSALS, "Exception", "BaseException")
_LEAVES = (ast.NamedExpr, ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


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
    tree = ast.parse(text)
    for statement in (tree if checks else _WithoutChecks().visit(tree)).body:
        names = _defines(statement)
        for one in names:
            defined.setdefault(one, []).append(statement)
        for local, places in bound(statement, name, path).items() if not names else ():
            imports.setdefault(local, []).extend(places)
        if not names and not _idle(statement):
            always.append(statement)
    return Source(name, path, tuple(always), defined, imports, checks)


class _WithoutChecks(ast.NodeTransformer):
    """A tree without its checks."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _only_refuses(node) else self.generic_visit(node)


def _only_refuses(node: ast.If) -> bool:
    last = node.body[-1]
    call = last.exc if isinstance(last, ast.Raise) else None
    refuses = isinstance(call, ast.Call) and _last_word(call.func) in _REFUSALS
    parts = [part for one in (node.test, *node.body) for part in ast.walk(one)]
    return refuses and not node.orelse and not any(isinstance(part, _LEAVES) for part in parts)


def goes_on(statement: ast.AST) -> bool:
    """Whether some part of a statement may catch what a check raises, and go on.

    >>> text = "try:\\n    f()\\nexcept ValueError:\\n    "
    >>> goes_on(ast.parse(text + "pass")), goes_on(ast.parse(text + "raise"))
    (True, False)
    """
    for node in ast.walk(statement):
        if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise) and _catches(node.type):
            return True
        if isinstance(node, ast.Call) and _last_word(node.func) == "suppress" and any(map(_catches, node.args)):
            return True
    return False


def _catches(kind: ast.expr | None) -> bool:
    """Whether an `except` is bare, names a refusal or what it descends from, or a name that could be any of them."""
    if isinstance(kind, ast.Tuple):
        return any(map(_catches, kind.elts))
    unknown = isinstance(kind, ast.Name) and not hasattr(builtins, kind.id)
    return kind is None or unknown or _last_word(kind) in _CATCHING


def _last_word(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


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
