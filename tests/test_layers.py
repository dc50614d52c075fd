"""The architecture, enforced: imports go one way, files and functions stay short, only the edges touch the world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import recombine

ROOT = Path(recombine.__file__).parent
LEVELS = [
    {"core", "device", "keys"},
    {"encodings", "splits", "interventions", "kernels", "measures", "theory"},
    {"tasks", "models", "table"},
    {"train", "recording", "claims", "plots", "contracts"},
    {"cppn"},
    {"experiments", "engine", "diagnosis"},
    {"cli", "bench", "vlm", "__main__"},
]
FILES = sorted(ROOT.rglob("*.py"))
SOURCES = [f for f in FILES if f != ROOT / "__init__.py"]


def name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def level(module: str) -> int:
    for i, names in enumerate(LEVELS):
        if module in names:
            return i
    return next(i for i, names in enumerate(LEVELS) if module.split(".", maxsplit=1)[0] in names)


def imports(file: Path) -> set[str]:
    """The modules of ours that a file imports, anywhere but under TYPE_CHECKING."""
    tree = ast.parse(file.read_text())
    hidden = {
        n for i in ast.walk(tree) if isinstance(i, ast.If) and "TYPE_CHECKING" in ast.dump(i.test) for n in ast.walk(i)
    }
    found = set()
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "recombine":
            found |= {f"recombine.{a.name}" for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    if "recombine" in found and level(name(file)) < 5:
        return {"experiments"}  # the flat names reach everything: for experiments and above
    return {f.removeprefix("recombine.") for f in found if f.startswith("recombine.")}


@pytest.mark.parametrize("file", SOURCES, ids=name)
def test_imports_go_down_the_levels(file):
    here = name(file)
    for there in imports(file):
        same_package = there.split(".")[0] == here.split(".")[0]
        assert same_package or level(there) < level(here) or {level(there), level(here)} == {6}, (
            f"{here} imports {there}"
        )


@pytest.mark.parametrize("file", [f for f in SOURCES if level(name(f)) < 6 and "engine" not in name(f)], ids=name)
def test_only_the_edges_print_or_read_the_environment(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "input")
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("os.environ", "os.getenv", "pickle.load", "pickle.dump")


@pytest.mark.parametrize("file", FILES, ids=name)
def test_files_and_functions_stay_short(file):
    text = file.read_text()
    experiment = "experiments" in file.parts and "\nCLAIMS = " in text
    assert len(text.splitlines()) <= (250 if experiment else 300), "is it one idea?"
    assert file.stem not in {"utils", "common", "helpers", "base", "misc"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = [s for s in text.splitlines()[node.lineno - 1 : node.end_lineno] if s.strip()]
            documented = len((ast.get_docstring(node, clean=False) or "").splitlines())
            assert len(lines) - documented <= 42, f"{node.name} is long"


@pytest.mark.parametrize("file", [f for f in FILES if f.stat().st_size], ids=name)
def test_every_module_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text()))


def test_the_top_level_is_small():
    """The nouns of the design's floor plan, and `contracts`: each is one entry."""
    entries = {path.stem for path in ROOT.iterdir() if not path.name.startswith("__") and path.suffix in ("", ".py")}
    assert len(entries) <= 24, "put it where it belongs"
