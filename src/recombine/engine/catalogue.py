"""Finds experiments by their paths, and tells which results belong to which code."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
import json
import pkgutil
import sys
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import recombine
from recombine.core import Claim, UserError

TIERS = ("quick", "laptop", "gpu", "paper")
_SHOW = "_show.py"  # a paper's file that judges and draws rows, and makes none
# What experiments are made of: an edit there may change any result.
_CODE = (
    "core.py",
    "splits.py",
    "supports.py",
    "encodings.py",
    "room.py",
    "optimisers.py",
    "train",
    "recording.py",
    "tangents.py",
    "theory",
    "genomes.py",
    "picbreeder.py",
    "composed.py",
    "targets.py",
    "sweeps",
    "experiments/_pictures.py",
    "experiments/_seeds.py",
    "tasks",
    "models",
    "interventions",
    "measures",
)


@dataclass(frozen=True)
class Experiment:
    """A module with Settings, the four tiers, cells, run, CLAIMS and figure, under a name."""

    name: str
    module: ModuleType

    @property
    def question(self) -> str:
        return (self.module.__doc__ or self.name).strip().splitlines()[0]

    @property
    def paper(self) -> str:
        package = import_module(self.module.__package__) if self.module.__package__ else self.module
        return (package.__doc__ or "").strip().splitlines()[0] if package.__doc__ else "your own file"

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.module.CLAIMS

    def settings(self, tier: str) -> Any:
        return getattr(self.module, tier.upper())


def names() -> list[str]:
    """Every experiment that comes with the lab, as paper/file."""
    package = import_module("recombine.experiments")
    found = [
        m.name.split(".") for m in pkgutil.walk_packages(package.__path__, "recombine.experiments.") if not m.ispkg
    ]
    return sorted("/".join(parts[2:]) for parts in found if not parts[-1].startswith("_"))


def chosen(words: list[str]) -> list[str]:
    """Names of experiments, where the name of a paper stands for all of its own."""
    of = {word: [name for name in names() if name.startswith(f"{word.rstrip('/')}/")] for word in words}
    return [name for word in words for name in of[word] or [word]]


def check_tier(tier: str) -> None:
    """Refuse what is no tier; an empty one stands for all."""
    if tier and tier not in TIERS:
        raise UserError(f"no tier is called {tier!r}{did_you_mean(tier, list(TIERS))}; there are {', '.join(TIERS)}")


def find(name: str) -> Experiment:
    """An experiment by its name, or by the path of a user's own Python file."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name not in names():
        raise UserError(f"no experiment is called {name!r}{did_you_mean(name, names())}; 'recombine list' shows all")
    return Experiment(name, import_module("recombine.experiments." + name.replace("/", ".")))


def did_you_mean(word: str, known: list[str]) -> str:
    tails = {k.split("/")[-1]: k for k in known}
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    close = close or [tails[t] for t in difflib.get_close_matches(word.rsplit("/", maxsplit=1)[-1], list(tails), n=1)]
    return f" (did you mean {close[0]!r}?)" if close else ""


def _from_file(path: Path) -> Experiment:
    if not path.is_file():
        raise UserError(f"there is no experiment file {path}")
    spec = importlib.util.spec_from_file_location(f"recombine_study_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        raise UserError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    wanted = ["Settings", *(t.upper() for t in TIERS), "cells", "run", "CLAIMS", "figure"]
    if missing := [w for w in wanted if not hasattr(module, w)]:
        raise UserError(f"{path} is not an experiment: it lacks {', '.join(missing)}")
    return Experiment(path.stem, module)


def identity(experiment: Experiment, cell: Any, backend: str) -> str:
    """A short hash of all that determines a cell's rows: its content, the code, the numerical libraries, the device.

    How many seeds the whole run has is left out, since a cell names its own: a longer run uses the cells of a shorter.
    """
    content = asdict(cell)
    content["settings"] = {k: v for k, v in content.get("settings", {}).items() if k != "seeds"}
    libraries = {name: version(name) for name in ("jax", "jaxlib", "numpy", "optax", "equinox")}
    facts = [experiment.name, code_version(experiment.module), libraries, backend, content]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@cache
def code_version(module: ModuleType) -> str:
    """A hash of the code that makes rows, blind to comments, docstrings and layout."""
    root = Path(recombine.__file__).parent
    files = [f for part in _CODE for f in sorted([root / part] if part.endswith(".py") else (root / part).glob("*.py"))]
    here = Path(module.__file__ or "")
    digest = hashlib.sha256()
    for file in files:
        digest.update(_bare_code(file.read_text()).encode())
    for file in sorted(_with_imported_siblings(here)) if module.__package__ else [here]:
        digest.update(_bare_code(file.read_text(), leave_out=("CLAIMS", "figure")).encode())
    return digest.hexdigest()[:12]


def _with_imported_siblings(file: Path) -> set[Path]:
    """An experiment's file and those of its folder that it builds on, however far down; none that only shows."""
    found, waiting = set(), [file]
    while waiting:
        one = waiting.pop()
        found.add(one)
        words = {w for node in ast.walk(ast.parse(one.read_text())) for w in _imported(node)}
        near = {file.with_name(f"{word}.py") for word in words}
        waiting += [f for f in near - found if f.name != _SHOW and f.exists()]
    return found


def _imported(node: ast.AST) -> list[str]:
    """The last words of what an import statement names."""
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").rsplit(".", maxsplit=1)[-1], *(a.name for a in node.names)]
    return [a.name.rsplit(".", maxsplit=1)[-1] for a in node.names] if isinstance(node, ast.Import) else []


def _bare_code(source: str, leave_out: tuple[str, ...] = ()) -> str:
    """The code alone: no docstrings, none of the definitions named (they judge and draw rows)."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not set(_defines(node)) & set(leave_out)]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def changed(settings: Any, usual: Any) -> dict[str, Any]:
    """The fields in which settings differ from their tier."""
    assert is_dataclass(settings)
    here = {f.name: getattr(settings, f.name) for f in fields(settings)}
    return {name: value for name, value in here.items() if value != getattr(usual, name)}
