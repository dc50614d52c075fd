"""A result names exactly the code that can change it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import recombine
from recombine.engine import identity, sources

ROOT = Path(recombine.__file__).parent
EXAMPLES = ("liang2025/stripes", "kumar2025/fracture")


def experiment(name: str) -> SimpleNamespace:
    return SimpleNamespace(__file__=str(ROOT / "experiments" / f"{name}.py"))


def path_of(module: str) -> Path:
    stem = ROOT.joinpath(*module.split(".")[1:])
    return stem.with_suffix(".py") if stem.with_suffix(".py").exists() else stem / "__init__.py"


class OneMore(ast.NodeTransformer):
    """Every number of a file is one more, every word one letter longer, every function one `pass`."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body.append(ast.Pass())
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, bool) or node.value is None or node.value is Ellipsis:
            return node
        more = {str: "x", bytes: b"x"}.get(type(node.value), 1)  # pyrefly: ignore
        return ast.copy_location(ast.Constant(node.value + more), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node


@pytest.fixture
def edited(monkeypatch):
    """Lets a test replace the text of files, as if they had been edited."""
    texts: dict[Path, str] = {}
    read: dict[str, sources.Source] = {}

    def edit(path: Path, text: str | None = None) -> None:
        texts.clear()
        if text is not None or path != Path():
            texts[path] = text if text is not None else ast.unparse(OneMore().visit(ast.parse(path.read_text())))
        identity._code_files.cache_clear()
        identity._used.cache_clear()

    def source(name: str, path: Path, checks: bool) -> sources.Source:
        if path not in texts:
            return plain(name, path, checks)
        return read.setdefault(texts[path], sources.read_source(name, path, texts[path], checks=checks))

    plain = identity._source
    monkeypatch.setattr(identity, "_source", source)
    yield edit
    edit(Path())


STUDY = """
class Settings: ...
def cells(s): ...
def run(axes):
    {more}
    return axes
"""
CHECK = """if not axes:
        said = "an axis"
        raise UserError(f"a measure needs {said}")"""


@pytest.mark.parametrize(
    ("edit", "counts"),
    [
        (CHECK, False),
        (CHECK.replace("an axis", "more"), False),
        (CHECK.replace("UserError", "rc.UserError"), False),
        (CHECK.replace("UserError", "StopIteration"), True),
        (CHECK.replace("if not axes:", "if (axes := ()):"), True),
        (CHECK.replace('said = "an axis"', "return 1"), True),
        (CHECK.replace('said = "an axis"', "for axis in axes: break"), True),
        (CHECK.replace('said = "an axis"', "yield 1"), True),
        (CHECK.replace('said = "an axis"', "global said"), True),
        (CHECK.replace("if not axes:", "if next(axes) > 1:"), True),
        (CHECK.replace("if not axes:", "if axes.read(5):"), True),
        (CHECK.replace("if not axes:", "if axes.setdefault(1, 2) != 2:"), True),
        (CHECK.replace("if not axes:", "if np.abs(axes).sum() > 1:"), False),
        (CHECK.replace("if not axes:", "if np.abs(axes, out=axes).sum() > 1:"), True),
        (CHECK.replace("if not axes:", "if max([0], key=axes.pop) > 1:"), True),
        (CHECK.replace("if not axes:", "if total(axes) > 1:"), True),
        (CHECK.replace("if not axes:", "if axes.get() > 1:"), True),
        (CHECK.replace("if not axes:", "if Path('extra').stat().st_size == 0:"), True),
        (CHECK.replace("if not axes:", "if rng.shuffle(axes):"), True),
        (CHECK.replace("if not axes:", "if not mended(axes):"), True),
        (CHECK.replace("if not axes:", "if (yield axes) == 5:"), True),
        (CHECK.replace("if not axes:", "if len(axes) != np.asarray(axes).sum():"), False),
        ("for axis in axes:\n      " + CHECK.replace("        ", "          "), True),
        (CHECK + "\n    else:\n        axes = ()", True),
        ("if not axes:\n        axes = ()", True),
    ],
)
def test_a_check_that_only_refuses_bad_input_makes_no_row(edit, counts, tmp_path):
    assert (_hashed(tmp_path, edit) != _hashed(tmp_path, "pass")) is counts


TRIED = "try:\n        f()\n    except {kind}:\n        {body}"


@pytest.mark.parametrize(
    ("handler", "counts"),
    [
        (TRIED.format(kind="ValueError", body="raise"), False),
        (TRIED.format(kind="ValueError as e", body="raise KeyError from e"), False),
        (TRIED.format(kind="ImportError", body="pass"), False),
        (TRIED.format(kind="jax.errors.JaxRuntimeError", body="pass"), False),
        (TRIED.format(kind="KeyError", body="pass"), True),
        (TRIED.format(kind="ValueError", body="if axes: return 1\n        raise"), True),
        (TRIED.format(kind="(KeyError, ValueError)", body="pass"), True),
        (TRIED.format(kind="SOME", body="pass"), True),
        (TRIED.format(kind="", body="pass"), True),
        (TRIED.format(kind="ValueError", body="raise\n    finally:\n        return 1"), True),
        ("with suppress(Exception):\n        f()", True),
        ("import contextlib\n    with contextlib.suppress(*SOME):\n        f()", True),
        ("from contextlib import suppress as ignoring\n    with ignoring(*SOME):\n        f()", True),
        ("failed = job.exception()", True),
        ("with pytest.raises(ValueError):\n        f()", True),
        (TRIED.format(kind="ValueError", body="raise StopIteration"), True),
        (TRIED.format(kind="ValueError", body="raise ImportError"), True),
    ],
)
def test_checks_count_where_somebody_goes_on_after_a_refusal(handler, counts, tmp_path):
    assert (_hashed(tmp_path, f"{handler}\n    {CHECK}") != _hashed(tmp_path, handler + "\n    pass")) is counts


@pytest.mark.parametrize(("kind", "counts"), [("ValueError", True), ("ImportError", False)])
def test_who_goes_on_and_who_checks_may_stand_in_different_files(kind, counts, tmp_path):
    far = "def f(axes):\n    {}\n    return axes\n"
    near = "import beside\n    " + TRIED.format(kind=kind, body="pass").replace("f()", "beside.f(axes)")
    (tmp_path / "beside.py").write_text(far.format(CHECK))
    before = _hashed(tmp_path, near)
    (tmp_path / "beside.py").write_text(far.format(CHECK.replace("an axis", "more")))
    assert (_hashed(tmp_path, near) != before) is counts


def test_a_handler_of_checks_alone_is_read(tmp_path):
    body = "if axes:\n            raise UserError('no')"
    assert _hashed(tmp_path, TRIED.format(kind="ImportError", body=body))


def test_a_module_that_checks_alone_name_counts_by_what_it_does_when_imported(tmp_path):
    beside = "import jax\nLIMIT = {}\njax.config.update('jax_enable_x64', {})\n"
    near = "from beside import LIMIT\n    if len(axes) > LIMIT: raise ValueError('no')"
    (tmp_path / "beside.py").write_text(beside.format(1, False))
    before = _hashed(tmp_path, near)
    (tmp_path / "beside.py").write_text(beside.format(2, False))
    assert _hashed(tmp_path, near) == before
    (tmp_path / "beside.py").write_text(beside.format(2, True))
    assert _hashed(tmp_path, near) != before


@pytest.mark.parametrize(
    ("first", "counts"),
    [
        ("from recombine import UserError", False),
        ("class UserError(ValueError): ...", False),
        ("class UserError(OSError): ...", True),
        ("from shutil import Error as ValueError", True),
        ("ValueError = OSError", True),
    ],
)
def test_checks_count_where_a_refusal_is_another_error_by_that_name(first, counts, tmp_path):
    assert (_hashed(tmp_path, CHECK, first) != _hashed(tmp_path, "pass", first)) is counts


def _hashed(folder: Path, more: str, first: str = "") -> str:
    text = STUDY.format(more=more).replace("    pass\n    return", "    return")
    (folder / "study.py").write_text(f"{first}\n{text}")
    identity._code_files.cache_clear()
    identity._parsed.cache_clear()
    return identity.code_version(SimpleNamespace(__file__=str(folder / "study.py")))


def test_no_experiment_goes_on_after_a_refusal():
    """Else its checks count, and a better message would make its results stale."""
    for file in sorted((ROOT / "experiments").rglob("*.py")):
        if "def run(cell" in file.read_text():
            reached = identity._closure(file, identity.TABLE, 0, checks=False)
            assert not [source.name for source, chosen in reached if any(map(sources.goes_on, chosen))], file
            assert not [source.name for source, _ in reached if identity._may_catch(source)], file


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_edit_of_any_file_of_the_closure_moves_the_hash_and_no_other_edit_does(name, edited):
    module = experiment(name)
    before = identity.code_files(module)
    others = [f for f in sorted(ROOT.rglob("*.py")) if identity._dotted(f) not in before]
    for part in before:
        edited(path_of(part))
        after = identity.code_files(module)
        assert identity.changed_files(before, after) == [part]
        assert identity.code_hash(after) != identity.code_hash(before)
    for file in others[::5]:
        edited(file)
        assert identity.code_files(module) == before, f"{file} is not part of it"


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("do2026/depth", "experiments/pictures/moments.py", "COARSE, DRAWN = 0.24,", "COARSE, DRAWN = 0.25,"),
        ("kumar2025/fracture", "experiments/pictures/figures.py", "THUMB = 16", "THUMB = 4"),
        ("liang2025/stripes", "measures/peak.py", "<= tolerance", "< tolerance"),
    ],
)
def test_a_constant_that_makes_rows_moves_the_hash(name, file, old, new, edited):
    module, path = experiment(name), ROOT / file
    before, text = identity.code_version(module), path.read_text()
    assert old in text
    edited(path, text.replace(old, new))
    assert identity.code_version(module) != before


@pytest.mark.parametrize("part", ["CLAIMS", "figure"])
def test_claims_and_figures_are_not_part_of_it(part, edited):
    module = experiment("liang2025/stripes")
    path, before = Path(module.__file__), identity.code_files(module)
    text = path.read_text()
    starts = {"CLAIMS": "CLAIMS = (", "figure": "def figure("}
    where = text.index(starts[part])
    edited(path, text[:where] + text[where:].replace('"', '"x', 1).replace("x", "y") + "\n")
    assert identity.code_files(module) == before


def test_comments_docstrings_and_layout_do_not_count(edited):
    module = experiment("liang2025/stripes")
    before, path = identity.code_files(module), ROOT / "measures" / "peak.py"
    edited(path, "# a comment\n" + path.read_text().replace('"""', '"""Once upon a time. ', 1) + "\n\n")
    assert identity.code_files(module) == before


def test_a_study_of_ones_own_is_followed_into_the_files_beside_it(tmp_path):
    (tmp_path / "beside.py").write_text("STEPS = 3\n\n\ndef unused():\n    return 1\n")
    study = tmp_path / "study.py"
    study.write_text(
        "import recombine as rc\nfrom beside import STEPS\n\n\ndef cells(settings):\n    return []\n\n\n"
        "def run(cell, monitor):\n    return rc.mse(STEPS)\n\n\nCLAIMS = ()\n"
    )
    found = identity.code_files(SimpleNamespace(__file__=str(study)))
    assert {"study", "beside", "recombine.measures.error"} <= set(found)
    (tmp_path / "beside.py").write_text("STEPS = 4\n\n\ndef unused():\n    return 1\n")
    moved = identity.code_files(SimpleNamespace(__file__=str(study)))
    assert identity.changed_files(found, moved) == ["beside"]
    (tmp_path / "beside.py").write_text("STEPS = 4\n\n\ndef unused():\n    return 2\n")
    assert identity.code_files(SimpleNamespace(__file__=str(study))) == moved


WAYS = {
    "imported roots": (
        "from h import run, cells, Settings\n",
        "def run(c, w): return 1\ndef cells(s): return []\nSettings = 0\n",
    ),
    "a star": ("from h import *\ndef run(c, w): return f()\n", "def f(): return 1\n"),
    "a branch": ("from h import f\ndef run(c, w): return f()\n", "if True:\n    def f(): return 1\n"),
    "a loop": ("import h\ndef run(c, w): return h.f\n", "for f in [1]:\n    pass\n"),
    "wrapped": ("from h import f\nf = abs(f)\ndef run(c, w): return f\n", "f = 1\n"),
    "tried first": (
        "try:\n    from h import f\nexcept ImportError:\n    from math import e as f\ndef run(c, w): return f\n",
        "f = 1\n",
    ),
    "not only for checkers": (
        "from h import f\ndef run(c, w): return f\n",
        "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    f = 1\n",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_there_are_many_ways_to_reach_a_file_beside_a_study(way, tmp_path):
    study, beside = WAYS[way]
    (tmp_path / "study.py").write_text(study)
    (tmp_path / "h.py").write_text(beside)
    module = SimpleNamespace(__file__=str(tmp_path / "study.py"))
    before = identity.code_version(module)
    (tmp_path / "h.py").write_text(beside.replace("1", "2"))
    assert identity.code_version(module) != before


ALONE = """
import ast, hashlib, importlib.util, pathlib, sys
root = sys.argv[1]
spec = importlib.util.spec_from_file_location("sources", root + "/engine/sources.py")  # it needs nothing else of ours
sources = sys.modules["sources"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sources)
for path in sorted(pathlib.Path(root).rglob("*.py")):
    print(path.name, hashlib.sha256(sources.canonical(ast.parse(path.read_text())).encode()).hexdigest())
"""


def other_pythons() -> list[str]:
    """Other Python versions on this machine, if there are any."""
    found = [Path(sys.base_prefix).parent / v / "bin" / "python" for v in ("3.12.1", "3.13.0")]
    return [str(python) for python in found if python.exists()]


@pytest.mark.skipif(not other_pythons(), reason="no other Python here")
def test_the_hash_is_the_same_under_other_versions_of_python():
    every = [
        subprocess.check_output([p, "-c", ALONE, str(ROOT)], text=True) for p in [sys.executable, *other_pythons()]
    ]
    assert len(set(every)) == 1
