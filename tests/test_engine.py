"""Cells, tables and resumption, on an experiment of the user's own that costs nothing."""

from __future__ import annotations

import json
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine import engine
from recombine.engine import catalogue, store
from recombine.engine.audit import audit
from recombine.engine.cells import CheckpointMonitor, commit
from recombine.engine.folder import short_name
from recombine.engine.identity import cell_identity, code_version
from recombine.engine.run import code_changes
from recombine.train.monitor import Monitor

SOURCE = '''
"""Is the mean of a few numbers above zero?"""
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
import recombine as rc

@dataclass(frozen=True)
class Settings:
    seeds: int = 6
    shift: float = 1.0
    parts: tuple[int, ...] = (1, 2)

QUICK = Settings(seeds=2)
LAPTOP = GPU = PAPER = Settings()

@dataclass(frozen=True)
class Cell:
    settings: Settings
    members: tuple[int, ...]

def cells(settings):
    return [Cell(settings, (seed,)) for seed in range(settings.seeds)]

def run(cell, monitor):
    COUNT.append(cell.members)
    rng = np.random.default_rng(cell.members[0])
    value, picture = cell.settings.shift + 0.1 * rng.normal(), rng.normal(size=(2, 3))
    return [{"condition": "net", "seed": seed, "value": value, "map": picture} for seed in cell.members]

COUNT = []
CLAIMS = (rc.Claim("positive", "It is.", "nowhere", rc.value("value", condition="net"), above=0.0),)

def controls(settings):
    return [{"system": "untrained", "condition": "control", "seed": 0, "value": 0.0}]

VARIANTS = (rc.Variant("lower", "nobody says how high", shift=-1.0), rc.Variant("as it is", "for nothing", shift=1.0))

def figure(settings, table):
    figure, axes = rc.plots.panels(1, 1)
    rc.plots.dots(axes[0, 0], {"net": table["value"].to_numpy()})
    return figure
'''


@pytest.fixture
def experiment(tmp_path) -> catalogue.Experiment:
    (tmp_path / "mine.py").write_text(textwrap.dedent(SOURCE))
    return catalogue.find(str(tmp_path / "mine.py"))


class Notes(Monitor):
    def __init__(self):
        self.said: list[str] = []

    def note(self, text):
        self.said.append(text)


def go(experiment, out: Path, tier: str = "laptop", label: str | None = None, **changes):
    from dataclasses import replace

    notes = Notes()
    settings = replace(experiment.settings(tier), **changes)
    order = engine.RunRequest(experiment, tier, settings, out, label=label)
    result = engine.execute(order, notes)
    ran = len(experiment.module.COUNT)
    experiment.module.COUNT.clear()
    return result, ran, notes.said


def test_a_run_leaves_table_verdicts_settings_command_and_figures(experiment, tmp_path):
    result, ran, _ = go(experiment, tmp_path)
    assert ran == 6
    assert sorted(p.name for p in result.folder.iterdir()) == [
        "figure.md", "figure.png", "settings.json", "table.parquet", "verdicts.json",
    ]  # fmt: skip
    facts = json.loads((result.folder / "settings.json").read_text())
    assert facts["settings"]["shift"] == 1.0
    assert facts["command"].endswith(f"mine.py --tier laptop --out {tmp_path} --variants none")
    assert {"versions", "device", "seconds", "commit", "files", "cpu"} <= set(facts)
    assert result.verdicts[0].verdict == "holds"
    assert result.table["map"][0].shape == (2, 3)


def test_finished_cells_are_not_computed_again_and_the_table_is_the_same_bit_for_bit(experiment, tmp_path):
    first, _, _ = go(experiment, tmp_path)
    before = (first.folder / "table.parquet").read_bytes()
    again, ran, _ = go(experiment, tmp_path)
    assert ran == 0
    assert (again.folder / "table.parquet").read_bytes() == before


def test_more_seeds_use_the_cells_of_fewer_and_grow_the_same_folder(experiment, tmp_path):
    first, _, _ = go(experiment, tmp_path)
    more, ran, _ = go(experiment, tmp_path, seeds=8)
    assert ran == 2
    assert len(rc.networks(more.table)) == 8
    assert more.folder == first.folder == tmp_path / experiment.name / "laptop"


def test_fewer_seeds_do_not_replace_more(experiment, tmp_path):
    more, _, _ = go(experiment, tmp_path, seeds=8)
    before = (more.folder / "table.parquet").read_bytes()
    fewer, ran, said = go(experiment, tmp_path)
    assert (ran, len(rc.networks(fewer.table))) == (0, 8)
    assert "already has 8 seeds" in said[0]
    assert (more.folder / "table.parquet").read_bytes() == before
    path = Path(experiment.module.__file__)
    path.write_text(path.read_text().replace("0.1 * rng", "0.2 * rng"))
    with pytest.raises(rc.UserError, match="8 seeds, made by other code than today's"):
        go(experiment, tmp_path)


def test_a_run_without_its_variants_does_not_replace_one_with_them(experiment, tmp_path):
    order = partial(engine.RunRequest, experiment, "laptop", out=tmp_path)
    settings, variants = experiment.settings("laptop"), experiment.variants
    engine.execute(order(settings, variants=variants), Notes())
    kept, _, said = go(experiment, tmp_path)
    assert kept.table["variant"].nunique() == 2
    assert "already has 6 seeds and 1 protocol variant" in said[0]
    with pytest.raises(rc.UserError, match="some of which would be lost"):
        go(experiment, tmp_path, seeds=8)


def test_a_label_names_the_folder_of_one_setting(experiment, tmp_path):
    named = partial(go, experiment, tmp_path, label="wide-2")
    first = named()[0]
    assert first.folder.name == "wide-2"
    assert "--name wide-2" in json.loads((first.folder / "settings.json").read_text())["command"]
    assert len(rc.networks(named(seeds=8)[0].table)) == 8
    with pytest.raises(rc.UserError, match=r"shift 1\.0, not 2\.0"):
        named(shift=2.0)
    with pytest.raises(rc.UserError, match="tier laptop, not quick"):
        go(experiment, tmp_path, tier="quick", label="wide-2")


@pytest.mark.parametrize("label", ["", "a/b", "..", ".hidden", "laptop", "cells", "a,b", "a b", "x" * 61, "-x", "a\n"])
def test_a_label_that_cannot_name_a_folder_is_refused(experiment, tmp_path, label):
    with pytest.raises(rc.UserError, match="--name"):
        go(experiment, tmp_path, label=label)


def test_names_of_folders_are_short_readable_and_distinct():
    many = {f"setting{i}": i for i in range(12)}
    assert short_name("gpu", {"seeds": 12}) == "gpu"
    assert short_name("gpu", {"width": 32, "seeds": 12, "depths": (1, 2)}) == "gpu,width=32,depths=1-2"
    assert short_name("gpu", {"images": "a/b.gz"}) == "gpu,images=a_b.gz"
    long = short_name("gpu", many)
    assert len(long) <= 60
    assert long.startswith("gpu,setting0=0,setting1=1")
    assert "more-" in long
    assert long != short_name("gpu", many | {"setting11": 12})
    assert len(short_name("gpu", {"path": "x" * 200})) <= 60


@pytest.mark.parametrize("harm", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:100] + b"x" + b[101:]])
def test_a_damaged_cell_is_named_and_computed_again(experiment, tmp_path, harm):
    first, _, _ = go(experiment, tmp_path)
    before = (first.folder / "table.parquet").read_bytes()
    victim = sorted((tmp_path / experiment.name / "cells").glob("*.parquet"))[2]
    victim.write_bytes(harm(victim.read_bytes()))
    again, ran, said = go(experiment, tmp_path)
    assert ran == 1
    assert any(victim.name in s for s in said)
    assert (again.folder / "table.parquet").read_bytes() == before


def test_settings_and_code_decide_which_cells_are_whose(experiment, tmp_path):
    cell = experiment.module.cells(experiment.settings("laptop"))[0]
    one = cell_identity(experiment.name, experiment.module, cell, "cpu")
    assert one == cell_identity(experiment.name, experiment.module, cell, "cpu")
    assert one != cell_identity(experiment.name, experiment.module, cell, "gpu")
    other = experiment.module.cells(experiment.module.Settings(shift=2.0))[0]
    assert one != cell_identity(experiment.name, experiment.module, other, "cpu")


def test_comments_claims_and_figures_do_not_change_the_code_version(tmp_path):
    def version(name: str, source: str) -> str:
        (tmp_path / name).write_text(textwrap.dedent(source))
        return code_version(catalogue.find(str(tmp_path / name)).module)

    first = version("a.py", SOURCE)
    assert version("b.py", SOURCE.replace("COUNT = []", "COUNT = []  # counts").replace("It is.", "It is so.")) == first
    assert version("c.py", SOURCE.replace("0.1 * rng", "0.2 * rng")) != first


def test_cells_that_cannot_be_told_apart_are_refused(experiment, tmp_path):
    same = experiment.module.Cell(experiment.settings("laptop"), (0,))
    experiment.module.cells = lambda settings: [same, same]
    with pytest.raises(rc.UserError, match="alike"):
        go(experiment, tmp_path)


def test_a_label_names_one_population_of_a_cell(tmp_path):
    monitor = CheckpointMonitor(store.Cells(tmp_path), "abc", Monitor(), engine.Keep())
    monitor.resume("fit")
    with pytest.raises(ValueError, match="label of its own"):
        monitor.resume("fit")


def test_figures_of_one_table_are_one_file(experiment, tmp_path):
    result, _, _ = go(experiment, tmp_path)
    before = (result.folder / "figure.png").read_bytes()
    drawn = engine.plot(
        experiment,
        experiment.settings("laptop"),
        result.table,
        result.folder,
        [],
        tier="laptop",
        formats=("png", "svg"),
    )
    assert (result.folder / "figure.png").read_bytes() == before
    assert [path.name for path in drawn] == ["figure.png", "figure.svg"]


def test_json_has_no_numbers_that_are_none(tmp_path):
    store.write_json(tmp_path / "a.json", {"low": float("-inf"), "n": np.float32(1.5), "rows": [(float("nan"),)]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"low": None, "n": 1.5, "rows": [[None]]}


def test_quick_is_never_evidence(experiment, tmp_path):
    result, _, _ = go(experiment, tmp_path, tier="quick")
    assert [v.evidence for v in result.verdicts] == [False]


def test_a_second_process_in_the_folder_is_told_who_holds_it(tmp_path):
    with (
        store.lock(tmp_path),
        pytest.raises(rc.UserError, match=r"process \d+ is already working"),
        store.lock(tmp_path),
    ):
        pass


def test_writes_are_whole_or_not_at_all(tmp_path, monkeypatch):
    store.write(tmp_path / "a", b"old")
    monkeypatch.setattr(store.os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(rc.UserError, match="disk is full"):
        store.write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_damaged_checkpoint_counts_as_none(tmp_path):
    path, said = tmp_path / "c.npz", []
    store.save_arrays(path, {"a": np.arange(3)})
    back = store.load_arrays(path, said.append)
    assert back is not None
    assert back["a"].tolist() == [0, 1, 2]
    path.write_bytes(path.read_bytes()[:-9])
    assert store.load_arrays(path, said.append) is None
    assert "truncated" in said[0]


def test_a_checkpoint_holds_numbers_of_half_the_precision(tmp_path):
    import jax.numpy as jnp

    moments = np.asarray(jnp.linspace(-3, 3, 7, dtype=jnp.bfloat16))
    store.save_arrays(tmp_path / "c.npz", {"leaf0": moments})
    back = store.load_arrays(tmp_path / "c.npz", print)
    assert back is not None
    assert np.array_equal(jnp.asarray(back["leaf0"], jnp.bfloat16), moments)


def test_a_file_that_is_no_experiment_is_one_clear_complaint(tmp_path):
    (tmp_path / "x.py").write_text("import nonsense_module")
    with pytest.raises(rc.UserError, match="cannot be imported: ModuleNotFoundError"):
        catalogue.find(str(tmp_path / "x.py"))
    (tmp_path / "y.py").write_text("a = 1")
    with pytest.raises(rc.UserError, match="lacks Settings"):
        catalogue.find(str(tmp_path / "y.py"))


def test_results_load_back_with_their_settings(experiment, tmp_path):
    result, _, _ = go(experiment, tmp_path, parts=(3,))
    tier, settings, table = engine.load(experiment, result.folder)
    assert (tier, settings.parts) == ("laptop", (3,))
    assert np.array_equal(table["value"], result.table["value"])


def test_variants_are_cells_like_all_others_and_judged_apart(experiment, tmp_path):
    order = engine.RunRequest(
        experiment, "laptop", experiment.settings("laptop"), tmp_path, variants=experiment.variants
    )
    result = engine.execute(order, Notes())
    assert len(experiment.module.COUNT) == 12, "a variant that changes nothing is left out"
    assert set(result.table["variant"]) == {"primary", "lower"}
    assert rc.pick(result.table, variant="lower")["map"].isna().all(), "figures show the primary protocol alone"
    (verdict,) = result.verdicts
    assert (verdict.verdict, verdict.variants) == ("holds", {"lower": "fails"})
    facts = json.loads((result.folder / "settings.json").read_text())
    assert facts["variants"] == {"lower": {"why": "nobody says how high", "changes": {"shift": -1.0}}}
    experiment.module.COUNT.clear()
    assert go(experiment, tmp_path, shift=-1.0)[1] == 0, "the same settings are the same cells"
    assert len(json.loads((result.folder / "verdicts.json").read_text())) == 1


def test_two_studies_of_one_name_do_not_share_results(tmp_path):
    for place in ("a/x", "b/x"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "study.py").write_text(SOURCE)
    one, other = (catalogue.find(str(tmp_path / place / "study.py")) for place in ("a/x", "b/x"))
    go(one, tmp_path / "out")
    with pytest.raises(rc.UserError, match="holds the results of"):
        go(other, tmp_path / "out")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "study.py").write_text(SOURCE)
    assert catalogue.find(str(tmp_path / "c" / "study.py")).name == "c/study"
    with pytest.raises(rc.UserError, match="holds the results of"):
        engine.load(other, tmp_path / "out" / "x" / "study" / "laptop")
    (tmp_path / "a/x/study.py").unlink()
    go(other, tmp_path / "out")


def test_a_result_names_the_files_that_made_it_and_is_stale_when_one_changes(experiment, tmp_path):
    result, _, _ = go(experiment, tmp_path)
    assert code_changes(experiment, result.folder) == []
    assert not audit(experiment, result.folder, result.table).stale
    path = Path(experiment.module.__file__)
    path.write_text(path.read_text().replace("0.1 * rng", "0.2 * rng"))
    assert code_changes(experiment, result.folder) == ["study"]
    assert audit(experiment, result.folder, result.table).changed == ["study"]
    facts = store.read_json(result.folder / "settings.json")
    store.write_json(result.folder / "settings.json", {k: v for k, v in facts.items() if k != "files"})
    assert audit(experiment, result.folder, result.table).stale


def test_a_commit_can_be_named_where_the_checkout_cannot_say(monkeypatch):
    monkeypatch.setenv("RECOMBINE_COMMIT", "abc")
    commit.cache_clear()
    assert commit() == "abc"
    monkeypatch.delenv("RECOMBINE_COMMIT")
    commit.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('rc.value("value"', 'rc.value("vlaue"', "did you mean 'value'"),
        ("above=0.0),)", 'above=0.0, fits=(rc.fitted("vlaue"),)),)', "did you mean 'value'"),
        ("    return figure", "    return None", "must return a matplotlib figure"),
        ('"seed": seed, "value"', '"sed": seed, "value"', "a 'seed' each"),
        ("    return [{", "    return 1, [{", "must return a list of rows"),
    ],
)
def test_what_a_study_gets_wrong_is_said_at_its_first_cell(tmp_path, old, new, said):
    (tmp_path / "mine.py").write_text(SOURCE.replace(old, new, 1))
    with pytest.raises(rc.UserError, match=said):
        go(catalogue.find(str(tmp_path / "mine.py")), tmp_path)


def test_programs_are_let_go_of_where_they_map_much_memory(tmp_path):
    from recombine.engine import machine

    (tmp_path / "maps").write_text("a\n" * 11)
    assert machine.forget_programs(most=10, maps=tmp_path / "maps")
    assert not machine.forget_programs(most=11, maps=tmp_path / "maps")
    assert not machine.forget_programs(maps=tmp_path / "absent")
