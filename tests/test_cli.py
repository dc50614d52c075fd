"""The command line as a user meets it: quick answers, one line for every mistake."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import recombine as rc
from recombine import cli
from recombine.cli import options, report, streams
from recombine.cli.progress import ProgressMonitor, Screen
from recombine.cli.report import numbers
from recombine.cli.run import RunOptions
from recombine.engine import catalogue, overlap
from recombine.experiments.liang2025 import stripes
from recombine.train.monitor import Progress

RESULTS = Path(__file__).parents[1] / "results"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runn"], "did you mean 'run'"),
        (["run"], "say which experiment"),
        (["run", "stripes"], "did you mean 'liang2025/stripes'"),
        (["run", "liang2025/stripe"], "did you mean 'liang2025/stripes'"),
        (["run", "liang2025/stripes", "--sedes", "3"], "did you mean --seeds"),
        (["run", "liang2025/stripes", "--width", "wide"], "--width"),
        (["run", "liang2025/stripes", "--tier", "huge"], "'huge'"),
        (["run", "liang2025/stripes", "--tier", "quik"], "did you mean 'quick'"),
        (["run", "liang2025/stripes", "--seeds", "three"], "--seeds takes a whole number, got 'three'"),
        (["run", "liang2025/stripes", "--learning-rate", "fast"], "--learning-rate takes a number, got 'fast'"),
        (["run", "liang2025/stripes", "--precision", "float16"], "'float16'"),
        (["run", "liang2025/stripes", "--device", "tpu"], "--device takes one of auto, cpu, gpu; got 'tpu'"),
        (["run", "liang2025/stripes", "--size", "15"], "multiple of 4"),
        (["run", "liang2025/stripes", "--seeds", "0"], "at least 1"),
        (["run", "liang2025/stripes", "--bumps", "1000"], "bumps must be"),
        (["run", "liang2025/failure", "--depths", "1"], "at least 2"),
        (["run", "--tier", "gpu", "liang2025/failure"], "a GPU was asked for"),
        (["run", "liang2025/stripes", "--tier", "gpu"], "a GPU was asked for"),
        (["run", "liang2025/failure", "--tier", "quick", "--out", "/proc/nowhere"], "cannot write"),
        (["run", "missing.py"], "there is no experiment file"),
        (["run", "liang2025/stripes", "--name", "a/b"], "cannot name a folder"),
        (["run", "liang2025/stripes", "--name", ""], "cannot name a folder"),
        (["run", "liang2025/stripes", "--name", "gpu"], "is taken"),
        (["table", "liang2025/stripes", "--out", "/nowhere"], "there is no such folder"),
        (["table", "liang2025/stripes", "--out", str(RESULTS), "--columns", "mse_hol"], "did you mean 'mse_hole'"),
        (["table", "liang2025/stripes", "--out", str(RESULTS), "--columns", "nosuch"], "there are system, condition"),
        (["table", "liang2025/stripes", "--out", str(RESULTS), "--name", "lap"], "did you mean 'laptop'"),
        (["compare", "mine", "laptop"], "recombine compare NAME RUN RUN"),
        (["compare", "liang2025/failure", "laptop", "gup", "--out", str(RESULTS)], "did you mean 'gpu'"),
        (["compare", "liang2025/failure", "gpu", "gpu", "--out", str(RESULTS)], "name two different results"),
        (["verify", "--out", "/nowhere"], "recombine run liang2025/rotation --out /nowhere"),
        (["curve", "liang2025/rotation", "--out", str(RESULTS)], "has protocol variants"),
        (["list", "liang2025/stripe"], "did you mean 'liang2025/stripes'"),
        (["compare", "liu2024", "laptop", "gpu"], "name one of its experiments, liu2024/depth or liu2024/scan"),
        (["figure", "liang2025/stripes", "--out", "/nowhere"], "nothing of this has been run"),
        (
            ["figure", "liang2025/stripes", "--out", "/nowhere", "--tier", "paper"],
            "recombine run liang2025/stripes --tier paper",
        ),
        (["verdicts", "liang2025/stripes", "--out", "/nowhere", "--tier", "paper"], "stripes --tier paper"),
        (["judge", "--alone", "--targets", "face"], "name two targets or more"),
        (["verdicts", "--out", "/nowhere"], "has been run in"),
        (["correlate", "loss"], "name two columns"),
        (["correlate", "loss", "a-b", "--out", "/nowhere"], "name two columns"),
        (["correlate", "loss", "mse", "--out", "/nowhere"], "fewer than 2 conditions"),
        (["correlate", "loss", "mse", "redhardt2025/dat"], "did you mean 'redhardt2025/data'"),
        (["correlate", "loss", "mse", "--figure", "a.txt"], "a figure is drawn as"),
        (["verdicts", "--tier", "gpus"], "did you mean 'gpu'"),
        (["run", "redhardt2025/data", "--seed", "-5"], "seed must be at least 0"),
        (["run", "redhardt2025/support", "--tier", "quick", "--held-out", "0.99"], "cannot tie the modules together"),
        (["import", "picbreeder"], "say what from where"),
        (["import", "picbreeder", "/nowhere"], "/nowhere"),
        (["bench", "nothing"], "no benchmark"),
        (["bench", "population", "members=x"], "name=number"),
        (["bench", "population", "membrs=2"], "it has members"),
        (["run", "liang2025/stripes", "--learning-rate", "nan"], "learning_rate must be"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(words, said, capsys):
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


def test_debug_shows_the_traceback():
    with pytest.raises(Exception, match="no command"):
        cli.main(["--debug", "runn"])


@pytest.mark.parametrize("words", [[], ["--help"], ["list", "--help"], ["verdicts", "--help"], ["bench", "--help"]])
def test_help_teaches_by_example(words, capsys):
    with contextlib.suppress(SystemExit):
        assert cli.main(words) == 0
    assert "recombine" in (shown := capsys.readouterr().out)
    assert "xample" in shown or "recombine run" in shown
    assert "Exit codes" not in shown or "1 an error of the program or of a study" in shown


def test_help_shows_no_empty_defaults(capsys):
    for words in (["run", "do2026/several"], ["verdicts"], ["correlate"]):
        with pytest.raises(SystemExit):
            cli.main([*words, "--help"])
        shown = capsys.readouterr().out
        assert "None" not in shown
        assert "default: ''" not in shown
        assert "default: )" not in shown


def test_help_of_a_run_lists_the_settings_of_the_tier(capsys):
    with pytest.raises(SystemExit):
        cli.main(["run", "liang2025/stripes", "--tier", "gpu", "--help"])
    shown = capsys.readouterr().out
    assert "--bumps" in shown
    assert "(default: 50)" in shown
    assert "Example" in shown


def test_a_word_lists_the_experiments_whose_question_or_claims_have_it(capsys):
    assert cli.main(["list", "Function Calls", "redhardt2025/law"]) == 0
    shown = capsys.readouterr().out
    assert "abdelaziz2024/subtasks" in shown
    assert "redhardt2025/law" in shown
    assert "liang2025" not in shown
    assert cli.main(["list", "no such word"]) == 2
    assert "no experiment is called 'no such word'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["list"]])
def test_help_and_list_answer_at_once_and_without_jax(words):
    code = f"import sys; from recombine.cli import main; main({words!r}); sys.exit('jax' in sys.modules)"
    best = 9.0
    for _ in range(3):
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)
    # 0.5 s of computing on a fast idle machine, and 1.5 s where the code of 50 experiments is read to mark what is
    # stale; slower and busier cores count
    assert best < 6


def test_list_run_verdicts_board_and_figure_go_together(tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    assert cli.main(["run", "liang2025/failure", "--tier", "quick", *out]) == 0
    assert "not evidence" in capsys.readouterr().out
    assert cli.main(["list", "--claims", *out]) == 0
    assert "quick: not evidence" in capsys.readouterr().out
    for name in ("liang2025/failure", "liang2025"):
        assert cli.main(["verdicts", name, *out]) == 0
        said = capsys.readouterr().out
        assert "fails in the hole" in said
        assert "margin > 0.5" in said
    caption = (tmp_path / "liang2025/failure/quick/figure.md").read_text()
    assert "Run: quick, 2 seeds. **Quick tier: not evidence.**" in caption
    assert cli.main(["board", "--to", str(tmp_path / "pages"), *out]) == 0
    (written,) = (tmp_path / "pages").iterdir()
    assert (written.name, "fails in the hole" in written.read_text()) == ("liang2025.md", True)
    (own := tmp_path / "mine/study/quick").mkdir(parents=True)
    (own / "settings.json").write_text('{"source": "study.py"}')
    capsys.readouterr()
    assert cli.main(["board", *out]) == 0
    assert "own studies have no page: mine/study" in capsys.readouterr().err
    beside = (tmp_path / "board" / "liang2025.md").read_text()
    assert f"from `{tmp_path.name}/`" in beside, "results of one's own have pages of their own"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    where = ["--name", "quick", "--to", str(tmp_path / "seen"), *out]
    assert cli.main(["figure", "liang2025/failure", *where]) == 0
    assert {path: path.stat().st_mtime_ns for path in before} | before == before, "looking changes no result"
    plotted, stored = (tmp_path / place / "liang2025/failure/quick/figure.png" for place in ("seen", ""))
    assert plotted.read_bytes() == stored.read_bytes()


@pytest.mark.parametrize(
    ("effects", "margin", "said"),
    [
        ([0.4, 0.5, 0.6], 0.1, "0.50 [0.25, 0.75]"),
        ([0.003, 0.0031, 0.0032], 0.0, "0.003 [0.003, 0.003]"),
        ([0.0, 0.0, 0.0], 0.0, "0.0000 [0.0000, 0.0000]"),
        ([0.5], 0.1, "0.50 [-]"),
        ([], 0.1, "no number"),
    ],
)
def test_numbers_have_the_digits_that_tell_them_from_the_margin(effects, margin, said):
    table = pd.DataFrame({"seed": range(len(effects)), "effect": effects})
    claim = rc.Claim("c", "says", "where", lambda t: t["effect"], above=margin)
    assert numbers(rc.judge(table, claim)) == said


@pytest.fixture
def bare(monkeypatch):
    """A machine on which tyro is not installed."""
    monkeypatch.setattr(options, "find_spec", lambda name: None)


def test_the_bare_command_line_reads_settings_by_their_types(bare):
    default = RunOptions(tier="quick")
    flags = [
        "--width",
        "8",
        "--dark",
        "--learning-rate",
        "1e-2",
        "--precision",
        "bfloat16",
        "--device",
        "cpu",
        "--out",
        "mine",
        "--variants",
        "a",
        "b",
    ]
    got, settings = options.parse_both(default, stripes.QUICK, flags, "recombine run", "")
    assert (settings.width, settings.dark, settings.learning_rate, settings.precision) == (8, True, 1e-2, "bfloat16")
    assert (got.device, got.out, got.variants) == ("cpu", Path("mine"), ("a", "b"))
    assert settings.bumps == stripes.QUICK.bumps


@pytest.mark.parametrize("words", [["--widht", "3"], ["--width", "x"], ["--precision", "float64"], ["--tier", "huge"]])
def test_a_mistake_on_the_bare_command_line_is_one_line_too(words, bare, capsys):
    assert cli.main(["run", "liang2025/stripes", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_bare_command_line_runs_and_helps(bare, tmp_path, capsys):
    assert cli.main(["run", "liang2025/rotation", "--tier", "quick", "--out", str(tmp_path)]) == 0
    assert "not evidence" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["run", "liang2025/rotation", "--help"])
    assert "--learning-rate" in capsys.readouterr().out


def test_a_second_run_in_a_cell_is_timed_from_its_own_start():
    said = io.StringIO()
    cell = ProgressMonitor(Screen(Console(file=said)), "two runs").cell(1, "")
    for done in (100, 200, 100, 200):
        cell.chunk("fit", Progress(done, 200, 3, 0.1), dict)
    lines = [line for line in said.getvalue().splitlines() if "steps/s" in line]
    assert len(lines) == 2
    assert "-" not in "".join(lines).replace("e-", "")


def test_an_interrupt_that_was_lost_stops_the_run_at_its_next_chunk():
    before = signal.getsignal(signal.SIGINT)
    with Screen(Console(file=io.StringIO())) as screen:
        cell = ProgressMonitor(screen, "a run").cell(1, "")
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        with pytest.raises(KeyboardInterrupt):
            cell.chunk("fit", Progress(1, 2, 3, 0.1), dict)
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_finished_is_shown_though_another_run_fails(workers, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(overlap.machine, "cores", lambda: 8)
    monkeypatch.setitem(overlap.IN_FLIGHT, "cpu", workers)
    monkeypatch.setattr(catalogue.find("liang2025/failure").module, "run", lambda cell, monitor: [])
    names = ["liang2025/rotation", "liang2025/failure", "liang2025/holdouts"]
    assert cli.main(["run", *names, "--tier", "quick", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "liang2025/rotation, quick" in said.out
    assert "liang2025/holdouts, quick" in said.out
    assert "liang2025/failure: run() must return a list of rows" in said.err


def test_a_bar_is_shown_on_a_terminal_only_and_only_if_it_takes_long(monkeypatch, capsys):
    assert list(streams.with_progress([1, 2, 3], "judging")) == [1, 2, 3]
    assert capsys.readouterr().out == ""
    for patience, shown in ((0.0, True), (60.0, False)):
        said = io.StringIO()
        monkeypatch.setattr(streams, "PATIENCE", patience)
        monkeypatch.setattr(streams, "console", lambda said=said: Console(file=said, force_terminal=True))
        assert list(streams.with_progress([1, 2, 3], "judging")) == [1, 2, 3]
        assert ("judging" in said.getvalue()) == shown


def test_the_quick_tier_says_what_it_is_good_for_and_what_it_measured(tmp_path):
    claim = rc.Claim("a", "b", "c", rc.value("x"), above=0.5, fits=(rc.fitted("y", at_least=0.9),))
    table = pd.DataFrame({"system": "network", "seed": [0, 1], "x": [0.1, 0.3], "y": [0.0, 0.0]})
    (verdict,) = rc.judge_all(table, [claim], evidence=False)
    said = io.StringIO()
    report.show(Console(file=said, width=100), [report.Shown("p/e", tmp_path, [verdict], source="e.py")])
    assert "0.20 [" in said.getvalue()
    assert "recombine run e.py --tier laptop" in said.getvalue()
    assert "proves that everything runs" in said.getvalue()


def test_evidence_is_asked_of_a_tier_with_seeds_enough():
    found = {name: catalogue.find(name).deciding for name in ("liang2025/stripes", "abdelaziz2024/subtasks")}
    assert found == {"liang2025/stripes": "laptop", "abdelaziz2024/subtasks": "gpu"}
