"""Damaged results, killed cells and networks that diverge: each is named, and nothing else is lost."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import cli, engine
from recombine.cli.progress import Diverged, diverged, what_diverged
from recombine.core import UserError
from recombine.engine import catalogue, machine, store
from recombine.engine.cells import CheckpointMonitor, Keep
from recombine.train.monitor import Monitor, Progress

STUDY = '''
"""Do two columns go together?"""
from dataclasses import dataclass
import numpy as np
import recombine as rc

@dataclass(frozen=True)
class Settings:
    seeds: int = 3
    learning_rate: float = 0.5
    parts: tuple[int, ...] = (1, 2)

QUICK = LAPTOP = GPU = PAPER = Settings()

@dataclass(frozen=True)
class Cell:
    settings: Settings
    condition: str
    members: tuple[int, ...]

def cells(settings):
    return [Cell(settings, name, (seed,)) for name in "ab" for seed in range(settings.seeds)]

def run(cell, monitor):
    COUNT.append(cell)
    (seed,) = cell.members
    number = np.random.default_rng([seed, ord(cell.condition)]).normal()
    lost = 7 + seed if cell.settings.learning_rate > 1 else -1
    return [{"condition": cell.condition, "seed": seed, "first": number, "second": number, "diverged_at": lost}]

COUNT = []
CLAIMS = ()

def figure(settings, table):
    return rc.plots.panels(1, 1)[0]
'''


@pytest.fixture
def study(tmp_path) -> Path:
    path = tmp_path / "study.py"
    path.write_text(STUDY)
    return path


class Notes(Monitor):
    def __init__(self):
        self.said: list[str] = []

    def note(self, text):
        self.said.append(text)


def go(study: Path, out: Path) -> tuple[engine.Result, int, list[str]]:
    """The results of a run, how many cells it computed, and its notes."""
    experiment, notes = catalogue.find(str(study)), Notes()
    order = engine.RunRequest(experiment, "laptop", experiment.settings("laptop"), out)
    return engine.execute(order, notes), len(experiment.module.COUNT), notes.said


def cell_files(out: Path) -> list[Path]:
    return sorted(out.rglob("cells/*.parquet"))


def test_the_bytes_of_another_cell_are_not_taken_for_a_cells_own(study, tmp_path):
    first, _, _ = go(study, tmp_path / "r")
    before = (first.folder / "table.parquet").read_bytes()
    one, other = cell_files(tmp_path / "r")[:2]
    identity, digest = other.stem.split("-")[0], one.stem.split("-")[1]
    foreign = other.with_name(f"{identity}-{digest}.parquet")
    other.unlink()
    foreign.write_bytes(one.read_bytes())
    again, ran, said = go(study, tmp_path / "r")
    assert ran == 1
    assert "holds another cell" in said[0]
    assert foreign.name in said[0]
    assert foreign.with_name(f"{foreign.name}.damaged").exists()
    assert (again.folder / "table.parquet").read_bytes() == before


def test_a_pipe_in_place_of_a_cell_is_put_aside(study, tmp_path):
    go(study, tmp_path / "r")
    victim = cell_files(tmp_path / "r")[0]
    victim.unlink()
    os.mkfifo(victim)
    _, ran, said = go(study, tmp_path / "r")
    assert ran == 1
    assert "not a regular file" in said[0]


def test_a_finished_cell_leaves_no_checkpoint_even_if_a_kill_came_between(study, tmp_path):
    go(study, tmp_path / "r")
    finished = cell_files(tmp_path / "r")[0]
    stale = finished.with_name(f"{finished.stem.split('-')[0]}.fit.checkpoint.npz")
    stale.write_bytes(b"")
    go(study, tmp_path / "r")
    assert not stale.exists()


BROKEN = {
    "null": "null",
    "number": "3",
    "list": "[1, 2]",
    "nested": "[" * 100_000,
    "empty": "",
    "no settings": '{"tier": "laptop", "settings": null}',
    "tier": '{"tier": "huge", "settings": {}}',
    "tier list": '{"tier": ["laptop"], "settings": {}}',
    "types": '{"tier": "laptop", "settings": {"seeds": null, "parts": 3}}',
    "deep types": '{"tier": "laptop", "settings": {"parts": [{"a": 1}]}}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_damaged_settings_are_named_and_the_other_folders_shown(study, tmp_path, content, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where figures go
    out = tmp_path / "r"
    folder = go(study, out)[0].folder
    other = folder.with_name("laptop,copy")
    other.mkdir()
    (other / "table.parquet").write_bytes((folder / "table.parquet").read_bytes())
    (other / "settings.json").write_text(content)
    for command in ("verdicts", "figure"):
        assert cli.main([command, str(study), "--out", str(out)]) == 0
        captured = capsys.readouterr()
        assert captured.err.startswith("recombine: passed over: ")
        assert str(other) in captured.err
        assert captured.err.count("\n") == 1
        assert "study/laptop/figure.png" in captured.out
    (folder / "settings.json").write_text(content)
    for command in (["verdicts"], ["figure"], ["correlate", "first", "second"]):
        assert cli.main([*command, str(study), "--out", str(out)]) == 2
        assert "Error" not in capsys.readouterr().err


def test_a_correlation_passes_over_a_damaged_folder(study, tmp_path, capsys):
    out, second = tmp_path / "r", tmp_path / "another.py"
    second.write_text(STUDY)
    (go(study, out)[0].folder / "settings.json").write_text("[]")
    go(second, out)
    assert cli.main(["correlate", "first", "second", str(study), str(second), "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert "passed over" in captured.err
    assert "6 networks of 2 conditions in 1 experiments" in captured.out


@pytest.mark.parametrize("content", ["null", "7", '{"a": 1}', '[{"claim": "x"}]', "[[]]", "[" * 100_000, "[{"])
def test_damaged_verdicts_are_named_by_the_list(tmp_path, content, capsys):
    folder = tmp_path / "liang2025" / "failure" / "laptop"
    folder.mkdir(parents=True)
    (folder / "verdicts.json").write_text(content)
    assert cli.main(["list", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert str(folder) in captured.err
    assert captured.err.count("\n") == 1
    assert "liang2025/stripes" in captured.out


@pytest.mark.parametrize("name", ["settings.json", "table.parquet"])
def test_a_pipe_in_a_results_folder_is_named(study, tmp_path, name, capsys):
    folder = go(study, tmp_path / "r")[0].folder
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert cli.main(["verdicts", str(study), "--out", str(tmp_path / "r")]) == 2
    assert "not a regular file" in capsys.readouterr().err


def test_a_pipe_as_a_checkpoint_or_lock_is_named(tmp_path):
    os.mkfifo(tmp_path / "c.npz")
    said: list[str] = []
    assert store.load_arrays(tmp_path / "c.npz", said.append) is None
    assert "not a regular file" in said[0]
    os.mkfifo(tmp_path / ".lock")
    with pytest.raises(UserError, match="cannot write to"), store.lock(tmp_path):
        pass


def test_seconds_of_a_resumed_cell_count_those_before(tmp_path, monkeypatch):
    cells, clock = store.Cells(tmp_path), [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def monitor() -> CheckpointMonitor:
        return CheckpointMonitor(cells, "abc", Monitor(), Keep())

    first = monitor()
    assert first.resume("one") is None
    clock[0] += 30
    first.chunk("one", Progress(5, 10, 1, 0.1), lambda: {"done": np.asarray(5)})
    clock[0] += 1000  # killed at some time after the checkpoint, and started again much later
    second = monitor()
    saved = second.resume("one")
    assert saved is not None
    assert set(saved) == {"done"}
    clock[0] += 5
    assert second.seconds == 35
    second.chunk("two", Progress(5, 10, 1, 0.1), lambda: {"done": np.asarray(5)})
    third = monitor()
    third.resume("one")
    third.resume("two")
    assert third.seconds == 35
    cells.forget_checkpoints("abc")
    assert not list(tmp_path.iterdir())


def test_what_diverged_is_said_with_what_to_change():
    class Settings:
        learning_rate = 1e9

    table = pd.DataFrame({"diverged_at": [3, -1, 8, np.nan, -1], "system": ["network"] * 4 + ["untrained"]})
    found = diverged(table)
    assert found == Diverged(3, 2, 3, 8)
    assert not found.all
    said = what_diverged(found, Settings())
    assert said == (
        "2 of 3 networks diverged, first at step 3, last at step 8: try a lower --learning-rate (now 1e+09)"
    )
    assert "a lower learning rate" in what_diverged(found, object())
    assert diverged(table.iloc[[0, 2, 3, 4]]).all
    for none in (pd.DataFrame({"system": ["network"]}), table.iloc[[1, 3]], table.iloc[:0]):
        assert (what_diverged(diverged(none), Settings()), diverged(none).all) == ("", False)


@pytest.mark.parametrize(("rate", "code"), [("0.5", 0), ("1e9", 3)])
def test_a_run_whose_networks_all_diverge_has_an_exit_code_of_its_own(study, tmp_path, rate, code, capsys):
    out = tmp_path / "r"
    assert cli.main(["run", str(study), "--out", str(out), "--learning-rate", rate]) == code
    said = capsys.readouterr().out
    assert ("6 of 6 networks diverged, first at step 7" in said) == bool(code)
    assert list(out.rglob("table.parquet"))


def test_cells_say_on_what_kind_of_machine_they_were_computed(study, tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--some_flag")
    go(study, tmp_path / "r")
    facts = store.read_facts(cell_files(tmp_path / "r")[0].read_bytes())
    assert facts["cores"] == machine.cores() >= 1
    assert facts["cpu"] == machine.processor() != ""
    assert facts["xla_flags"] == "--some_flag"
    assert facts["identity"] == cell_files(tmp_path / "r")[0].stem.split("-")[0]


def test_a_mixture_of_machines_is_told():
    one = {"device": "cpu", "cpu": "A", "cores": 2, "xla_flags": "", "commit": "x"}
    assert machine.mixture([one, one, one | {"commit": "y"}]) == ""
    said = machine.mixture([one, one | {"cores": 4, "xla_flags": "--a"}])
    assert "cores: 2, 4" in said
    assert "xla_flags: none, --a" in said
    assert "device" not in said


def test_processors_differ_by_model_and_instructions(tmp_path):
    names = []
    for i, text in enumerate(
        ("model name : A\nflags : x y\n\nflags : z", "model name : A\nflags : x", "", "flags : x")
    ):
        (tmp_path / str(i)).write_text(text)
        names.append(machine.processor(tmp_path / str(i)))
    assert names[0].startswith("A [")
    assert len(set(names)) == 4
    assert machine.processor(tmp_path / "none")


@given(st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_maps_are_coarse_and_lists_exact(numbers):
    exact = np.array(numbers)
    rows = [{"one": numbers[0], "list": exact, "map": exact[None], "nested": [numbers, numbers], "whole": [[1, 300]]}]
    back = store.read_table(store.table_bytes(rows)).iloc[0]
    assert np.array_equal(back["list"], exact, equal_nan=True)
    assert back["one"] == numbers[0] or math.isnan(numbers[0])
    assert np.array_equal(back["map"][0], back["nested"][1], equal_nan=True)
    assert back["whole"].tolist() == [[1, 300]]
    special = ~np.isfinite(exact)
    assert np.array_equal(back["map"][0][special], exact[special], equal_nan=True)
    usual = (np.abs(exact) > 1e-37) & (np.abs(exact) < 3e38)
    assert (np.abs(back["map"][0][usual] - exact[usual]) <= 2.0**-8 * np.abs(exact[usual])).all()


def test_tables_are_packed_with_zstd_and_maps_stay_maps_when_joined():
    import io

    import pyarrow.parquet as pq

    parts = [store.table_bytes([{"map": np.ones((2, 2)) * k, "value": 0.1}]) for k in (1.0, 1 / 3)]
    whole = store.joined([*parts, store.table_bytes([{"value": 1}])])
    for content in (parts[0], whole):
        packed = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
        assert {packed.column(i).compression for i in range(packed.num_columns)} == {"ZSTD"}
    table = store.read_table(whole)
    assert table["map"][1].tolist() == [[float(np.float32(0.333984375))] * 2] * 2
    assert table["map"][2] is None
    assert table["value"].tolist() == [0.1, 0.1, 1.0]
