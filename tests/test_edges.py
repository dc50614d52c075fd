"""Streams that are closed, names that no file can have, sources that never end: one line each, and no harm done."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from recombine import cli
from recombine.cli import streams
from recombine.core import UserError
from recombine.cppn.picbreeder import artifacts, import_picbreeder

GENOME = """<data><genome><nodes>
<node type="in" label="d"><marking branch="1" id="1"/><activation>identity(x)</activation></node>
<node type="out" label="ink"><marking branch="1" id="2"/><activation>gaussian(x)</activation></node>
</nodes><links>
<link><source branch="1" id="1"/><target branch="1" id="2"/><weight>2.5</weight></link>
</links></genome></data>"""


def test_an_import_reads_only_regular_files(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "zero.zip").symlink_to("/dev/zero")
    for source in (tmp_path / "pipe.zip", tmp_path / "zero.zip", "/dev/zero"):
        assert cli.main(["import", "picbreeder", str(source), "--to", str(tmp_path / "out")]) == 2
        assert "not a regular file" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"pipe\.zip: is not a regular file"):
        import_picbreeder(tmp_path, tmp_path / "out")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UserError, match="not a regular file"):
        artifacts(tmp_path, {})


def test_an_import_has_a_largest_size(tmp_path):
    with open(tmp_path / "large.zip", "wb") as file:
        file.truncate(2**33)
    with pytest.raises(UserError, match="bytes, at most"):
        import_picbreeder(tmp_path / "large.zip", tmp_path / "out")


@pytest.mark.parametrize("columns", ["1", "5", "20", "-3", "x"])
@pytest.mark.parametrize("words", [["list"], ["verdicts"], ["run", "liang2025/stripes"], ["judge"]])
def test_help_comes_to_an_end_in_a_narrow_terminal(words, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit):
        cli.main([*words, "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) > 40
    assert os.environ["COLUMNS"] == columns


def shell(words: str, stdout: int | None = None, stderr: int | None = None) -> subprocess.CompletedProcess[str]:
    """How a command line in a shell of its own ends, and what it says there."""
    command = ["sh", "-c", f"{sys.executable} -m recombine {words}"]
    return subprocess.run(command, check=False, text=True, timeout=60, stdout=stdout, stderr=stderr)


@pytest.mark.parametrize("words", ["list >&-", "list > /dev/full", "--help > /dev/full", "list --help > /dev/full"])
def test_output_that_cannot_be_written_is_one_line_and_exit_code_2(words):
    done = shell(words, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("recombine: ")


@pytest.mark.parametrize("words", ["list", "--help", "verdicts --help"])
def test_output_that_nobody_reads_ends_in_silence(words):
    reading, writing = os.pipe()
    os.close(reading)
    done = shell(words, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_both_streams_may_be_closed():
    assert shell("list >&- 2>&-").returncode == 2
    assert shell("listt 2>&-", stdout=subprocess.DEVNULL).returncode == 2


@pytest.mark.parametrize("name", ["a\0b", "a\udcffb", "a" + chr(0xD800), "x" * 300, "y/" * 4000], ids=ascii)
@pytest.mark.parametrize(
    "words",
    [
        ["run", "liang2025/failure", "--tier", "quick", "--out"],
        ["list", "--out"],
        ["verdicts", "--out"],
        ["figure", "liang2025/failure", "--out"],
        ["import", "picbreeder", "/nowhere", "--to"],
        ["import", "picbreeder"],
        ["correlate", "a", "b", "--figure"],
        ["verdicts"],
        ["run"],
    ],
    ids=" ".join,
)
def test_impossible_names_are_one_line_and_exit_code_2(words, name, capsys):
    suffix = {"--figure": ".png", "run": ".py"}.get(words[-1], "")
    assert cli.main([*words, name + suffix]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "Error" not in captured.err
    captured.err.encode()


@pytest.mark.parametrize("kind", ["json", "png"])
def test_an_import_follows_no_link(tmp_path, kind):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("x.xml", GENOME)
    into, outside = tmp_path / "into", tmp_path / "outside"
    into.mkdir()
    (into / f"x.{kind}").symlink_to(outside)
    done = import_picbreeder(tmp_path / "x.zip", into)
    assert (done.written, outside.exists()) == ([], False)
    assert done.skipped[str(into / f"x.{kind}")] == "is a symbolic link"
    (into / f"x.{kind}").unlink()
    assert len(import_picbreeder(tmp_path / "x.zip", into).written) == 2
    assert sorted(p.name for p in into.iterdir()) == ["x.json", "x.png"]


def test_errors_of_the_system_are_explained_in_one_line():
    assert streams.explain(OSError(36, "File name too long", "a")) == ("cannot use a: File name too long", 2)
    assert streams.explain(OSError(28, "No space left on device"))[1] == 2
    assert streams.explain(ValueError("x\ny")) == ("ValueError: x (--debug shows where)", 1)
