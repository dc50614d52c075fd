"""Does a neural network recombine what it knows, or only remember it?

`import recombine as rc`, then `rc.bumps(...)`, `rc.population(...)`, `rc.judge(...)`. `__init__.pyi` lists the names by
noun, for editors and type checkers, and this module reads them there. A name is imported when it is first used, so
that listing experiments does not wait for JAX.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_STUB = Path(__file__).with_suffix(".pyi")


def _read(stub: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a stub imports: where each name lives, and, imported with an underscore, which modules are offered whole."""
    names, modules = {}, {}
    for line in ast.parse(stub).body:
        if isinstance(line, ast.ImportFrom):
            place = str(line.module).removeprefix("recombine").removeprefix(".")
            for alias in line.names:
                if str(alias.asname).startswith("_"):
                    modules[str(alias.asname)[1:]] = f"{place}.{alias.name}".removeprefix(".")
                else:
                    names[alias.name] = place
    return names, modules


_INSIDE = {"experiments", "engine", "cli", "bench"}
"""Packages whose names nobody is sent to."""

_TEXT = _STUB.read_text(encoding="utf-8")
_WHERE, _MODULES = _read(_TEXT)

__all__ = sorted([*_WHERE, *_MODULES, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"recombine.{_MODULES[name]}")
    if name in _WHERE:
        return getattr(import_module(f"recombine.{_WHERE[name]}"), name)
    hint = "" if name.startswith("_") else _hint(name)
    raise AttributeError(f"recombine has no {name!r}{hint}", name=name)  # with a name, Python adds no second hint


def __dir__() -> list[str]:
    return list(__all__)


def _hint(name: str) -> str:
    """Where a name is defined that is not offered here, or what it may be a slip of."""
    import re
    from difflib import get_close_matches

    defined = re.compile(rf"^(?:def|class) {re.escape(name)}\b|^{re.escape(name)} = ", re.MULTILINE)
    for file in sorted(_STUB.parent.rglob("*.py")):
        home = ".".join(file.relative_to(_STUB.parent.parent).with_suffix("").parts)
        if file.relative_to(_STUB.parent).parts[0] not in _INSIDE and defined.search(file.read_text(encoding="utf-8")):
            return f" at the top: write `from {home} import {name}`"
    near = get_close_matches(name, __all__, n=1, cutoff=0.75)
    return f": did you mean {near[0]!r}?" if near else "; dir(recombine) and docs/api.md list what it has"
