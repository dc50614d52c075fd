"""The names of `import recombine as rc`: the stub, what runs, and the index `docs/api.md` are one list.

`python tests/test_front_door.py` writes the index.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import assert_type

import pytest

import recombine as rc

ROOT = Path(rc.__file__).parent
STUB = (ROOT / "__init__.pyi").read_text(encoding="utf-8")
INDEX = Path(__file__).parents[1] / "docs" / "api.md"
MOST = 140
HEAD = """# Names

`import recombine as rc` offers these; editors and type checkers see them too. Everything else is
imported from its module, as in `from recombine.theory.interference import welch_bound`.
`python tests/test_front_door.py` writes this page from `src/recombine/__init__.pyi` and docstrings.
"""


def groups() -> dict[str, list[str]]:
    """The names under each comment of the stub."""
    found: dict[str, list[str]] = {}
    for line in STUB.splitlines():
        if line.startswith("# ") and ":" in line and not line.startswith("# ruff"):
            found[line[2:]] = []
        elif match := re.fullmatch(r"from (\S+) import (\w+) as _?(\w+)", line):
            found[next(reversed(found))].append(match[3])
    return found


def first_line(name: str) -> str:
    """The first line of the docstring of a name, or of the text below a constant."""
    module = rc._MODULES.get(name) or rc._WHERE[name]
    tree = ast.parse(ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
    if name in rc._MODULES:
        return (ast.get_docstring(tree) or "").splitlines()[0]
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return (ast.get_docstring(node) or "").partition("\n")[0]
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in ast.unparse(node).split(" = ")[0].split(": "):
            text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and after.value.value
            return str(text or "").partition("\n")[0]
    raise LookupError(f"{module} does not define {name}")


def as_text(line: str) -> str:
    """With the signs that Markdown would take for its own escaped, but for those in code."""
    parts = line.split("`")
    return "`".join(part if i % 2 else re.sub(r"([<*])", r"\\\1", part) for i, part in enumerate(parts))


def index() -> str:
    """The page: a heading for each noun, a line for each name."""
    page = [HEAD]
    for heading, names in groups().items():
        noun, _, says = heading.partition(": ")
        lines = [f"- `rc.{name}`: {as_text(first_line(name))}" for name in names]
        wrapped = [textwrap.fill(s, 100, subsequent_indent="  ", break_on_hyphens=False) for s in lines]
        page.append("\n".join([f"## {noun[0].upper()}{noun[1:]}: {says}", *wrapped, ""]))
    return "\n".join(page)


def test_the_stub_names_what_is_offered():
    listed = [name for names in groups().values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) == {*rc._WHERE, *rc._MODULES}
    assert set(dir(rc)) == {*listed, "__version__"}


def test_there_are_few_names():
    assert len(dir(rc)) <= MOST, "offer a rare name from its module instead"


@pytest.mark.parametrize("name", sorted(rc._WHERE))
def test_a_name_is_defined_where_the_stub_says(name):
    module = f"recombine.{rc._WHERE[name]}"
    value = getattr(rc, name)
    assert value is getattr(import_module(module), name)
    assert getattr(value, "__module__", module) == module


@pytest.mark.parametrize("name", sorted(rc._MODULES))
def test_a_module_is_offered_whole(name):
    assert getattr(rc, name) is import_module(f"recombine.{rc._MODULES[name]}")


def test_naming_the_package_imports_no_framework():
    asks = "import sys, recombine; print(*{'jax', 'numpy', 'pandas', 'equinox', 'recombine.core'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("populatoin", "recombine has no 'populatoin': did you mean 'population'?"),
        ("welch_bound", "from recombine.theory.interference import welch_bound"),
        ("zebra", "docs/api.md"),
    ],
)
def test_a_name_that_is_not_there_is_told_where_to_look(name, says):
    with pytest.raises(AttributeError, match=re.escape(says)):
        getattr(rc, name)


def test_types_are_seen_through_the_door():
    """A type checker reads these lines, when `make lint` runs it."""
    task = assert_type(rc.bumps(4, rc.one_hot(4)), rc.Task)
    split = assert_type(rc.square(task.combinations, 1, 2), rc.Split)
    record = assert_type(rc.truth(task, split.combinations, key=rc.key(0, "test")), rc.Record)
    assert assert_type(rc.peak_accuracy(record), float) == 1
    assert (ROOT / "py.typed").is_file()


def test_every_name_has_a_sentence():
    assert not [name for name in dir(rc) if name != "__version__" and not first_line(name)]


def test_the_index_is_up_to_date():
    assert INDEX.read_text(encoding="utf-8") == index(), "python tests/test_front_door.py writes it"


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
