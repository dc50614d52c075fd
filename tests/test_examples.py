"""The examples run, at a small size, and show what they say they show."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_task_of_ones_own_is_learnt_where_it_was_trained():
    found = example("own_task").main(size=6, seeds=2, steps=500)
    assert found["trained combinations"] < 0.1 < found["held-out combinations"]


def test_a_model_of_ones_own_composes_and_least_squares_does_not():
    product, linear = example("own_model").main()
    assert product > 0.9
    assert linear < 0.1


def test_a_measure_that_misreads_a_control_decides_nothing():
    assert example("own_measure").main() == {"centre": "undecided", "peak": "holds"}


def test_decoders_learn_chains_and_are_asked_written_and_patched(capsys):
    found = example("tokens").main(steps=300, seeds=1)
    assert found["trained"] > 0.9
    assert set(found) == {"trained", "row_2", "pair_2"}
    said = capsys.readouterr().out
    assert "network 0 writes" in said
    assert "with x of another row it says" in said


def test_a_study_run_by_python_is_the_command_line():
    command = [sys.executable, EXAMPLES / "my_study.py", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--widths" in done.stdout


def test_a_small_torch_network_is_diagnosed(tmp_path):
    pytest.importorskip("torch")
    assert example("diagnose_torch").main(steps=300, out=str(tmp_path)) == "memorizes"
    assert (tmp_path / "report.html").is_file()


def test_a_tiny_transformer_is_diagnosed(tmp_path):
    pytest.importorskip("transformers")
    assert example("diagnose_transformer").main(out=str(tmp_path)) == "cannot tell"


def test_the_example_of_a_diagnosis_is_forty_lines():
    assert len((EXAMPLES / "diagnose_torch.py").read_text().splitlines()) <= 40


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("own_*.py")))
def test_an_example_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 60
