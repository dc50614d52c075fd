"""Commands that look at results: they change none, agree with each other, and answer in tables."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import pandas as pd
from rich.console import Console

import recombine as rc
from recombine import cli
from recombine.claims import Verdict
from recombine.cli import compare, curve, report, verify

RESULTS = Path(__file__).parents[1] / "results"


def test_a_quick_run_has_one_word_and_one_number_everywhere(tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    some = ["liang2025/amounts", "--tier", "quick", "--variants", "400 steps", *out]
    assert cli.main(["run", *some, "--name", "mine"]) == 0
    (number,) = re.findall(r"draw a cross\s+(\S+ \[\S+ \S+\])", capsys.readouterr().out)
    assert (
        cli.main(["curve", "liang2025/amounts", "--claim", "draw a cross", "--to", str(tmp_path / "seen"), *out]) == 0
    )
    curve = capsys.readouterr().out
    assert curve.startswith("liang2025/amounts, mine, quick tier, 2 seeds (not evidence)")
    assert "margin > 0" in curve
    effects = [float(line.split()[2]) for line in curve.splitlines() if line.startswith("    not evidence")]
    assert effects == sorted(effects)
    shutil.copytree(tmp_path / "liang2025/amounts/mine", tmp_path / "liang2025/amounts/again")
    assert cli.main(["compare", "liang2025/amounts", "mine", "again", *out]) == 0
    compared = capsys.readouterr().out
    for said in (curve, compared):
        assert number in said
        assert "undecided" not in said


def test_a_table_shows_its_columns_by_condition(capsys):
    out = ["--out", str(RESULTS), "--tier", "laptop"]
    assert cli.main(["table", "liang2025/stripes", "--columns", "accuracy0_interior", *out]) == 0
    said = capsys.readouterr().out
    assert re.search(r"\n +n   accuracy0_interior\n", said)
    assert re.search(r"\ncontrol perfect +1 +1\n", said)
    assert cli.main(["table", "liang2025/stripes", *out]) == 0
    wide = capsys.readouterr().out.splitlines()[1:]
    assert max(map(len, wide)) <= 80
    assert sum(line.startswith("n ") for line in wide) == sum(line.startswith("mse_hole ") for line in wide) > 1
    assert cli.main(["table", "liang2025/stripes", "--csv", "--columns", "mse_hole", *out]) == 0
    assert capsys.readouterr().out.startswith("variant,system,condition,seed,mse_hole")
    assert cli.main(["table", "liang2025/stripes", "--columns", "acuracy0_interior", *out]) == 2
    assert "did you mean 'accuracy0_interior'" in capsys.readouterr().err


def test_two_results_stand_side_by_side(capsys):
    failure, positions = RESULTS / "liang2025" / "failure", RESULTS / "liang2025" / "positions"
    for words in (
        [str(failure / "laptop"), str(failure / "gpu")],
        ["liang2025/failure", "laptop", "gpu", "--out", str(RESULTS)],
    ):
        assert cli.main(["compare", *words]) == 0
        said = capsys.readouterr().out
        assert "width: 16 / 64" in said
        assert "holds" in said
        assert re.search(r"claim +┃ margin ┃ laptop +┃ gpu", said)
    for bad in (
        [str(failure / "gpu")],
        [str(failure / "gpu"), str(positions / "gpu")],
        ["/nowhere", str(failure / "gpu")],
    ):
        assert cli.main(["compare", *bad]) == 2


def verdict(*effects: float) -> Verdict:
    table = pd.DataFrame({"system": "network", "seed": range(len(effects)), "x": effects})
    return rc.judge(table, rc.Claim("it is so", "It is.", "us", rc.value("x"), above=0.5))


def test_two_results_stand_beside_the_margin_and_with_why_they_are_undecided():
    said = io.StringIO()
    Console(file=said, width=120).print(
        compare._side_by_side([verdict(0.8, 0.9, 1.0)], [verdict(*[0.8, 0.9] * 4)], titles=["a", "b"])
    )
    assert re.search(r"claim +┃ margin ┃ a", said.getvalue())
    assert "> 0.5" in said.getvalue()
    assert said.getvalue().count("3 seeds are too few") == 1


def test_verdicts_are_summed_per_tier_and_other_runs_apart():
    runs = [("laptop", "laptop"), ("gpu", "gpu"), ("gpu,width=9", "gpu"), ("mine", "laptop")]
    every = [report.Shown("p/e", Path("results/p/e") / folder, [verdict(1, 1, 1, 1, 1)], tier=t) for folder, t in runs]
    assert report.summed(every) == ["laptop: 1 holds", "gpu: 1 holds", "other runs: 2 holds"]
    assert report.summed(every[:1]) == ["1 holds"]


def test_a_study_without_claims_says_so():
    said, study = io.StringIO(), report.Shown("p/e", Path("results/p/e/laptop"), [], tier="laptop")
    report.show(Console(file=said), [study])
    assert "no claims, so no verdicts" in said.getvalue()
    assert report.markdown([study]) == "### p/e\n\nNo claims, so no verdicts."


def test_curves_of_several_experiments_pass_over_those_without_variants(monkeypatch, capsys):
    monkeypatch.setattr(curve, "plot", lambda *_: "drawn")
    names = ["redhardt2025/construction", "redhardt2025/recovery"]
    assert cli.main(["curve", *names, "--tier", "gpu", "--out", str(RESULTS)]) == 0
    said = capsys.readouterr()
    assert "redhardt2025/recovery, gpu" in said.out
    assert said.err.endswith("no table with protocol variants: redhardt2025/construction\n")
    assert cli.main(["curve", names[0], "--out", str(RESULTS)]) == 2


def test_verify_says_what_a_margin_at_the_ceiling_means():
    said = verify._summed(["c: the margin > 0.9 lies at the ceiling: perfect networks of one kind would give 1"])
    assert "1 x a margin at the ceiling: perfect networks of one kind would clear it by less than half" in said


def test_columns_are_correlated_over_the_networks_of_several_experiments(tmp_path, capsys):
    where = ["liang2025/depth", "liang2025/rates", "--out", str(Path(__file__).parents[1] / "results")]
    drawn = tmp_path / "pooled.png"
    assert cli.main(["correlate", "probe[-1]", "accuracy0_interior", *where, "--figure", str(drawn)]) == 0
    assert "networks of" in capsys.readouterr().out
    assert drawn.exists()
    for bad in (["loss", "lo ss"], ["loss[0]", "loss"], ["condition", "loss"], ["probe", "loss"]):
        assert cli.main(["correlate", *bad, *where]) == 2


def test_a_study_of_ones_own_is_listed_with_what_was_run_and_its_file_is_not_imported(tmp_path, capsys):
    study, out = tmp_path / "mine.py", tmp_path / "r" / "here" / "mine" / "a-label"
    study.write_text('"""Is it so?"""\nraise SystemExit("imported")\n')
    out.mkdir(parents=True)
    (out / "settings.json").write_text(json.dumps({"source": str(study)}))
    row = {"claim": "it is so", "says": "It is.", "source": "us", "verdict": "holds", "evidence": True}
    (out / "verdicts.json").write_text(json.dumps([row]))
    words = ["list", "--claims", "--out", str(tmp_path / "r")]
    assert cli.main(words) == 0
    said = " ".join(capsys.readouterr().out.split())  # the path is long, and lines are wrapped
    assert "Is it so?" in said
    assert "a-label: holds" in said
    assert cli.main(["verdicts", "--out", str(tmp_path / "r")]) == 2
    assert "cannot be imported: SystemExit: imported" in capsys.readouterr().err
    study.unlink()
    assert cli.main(words) == 0
    assert "cannot be read any more" in " ".join(capsys.readouterr().out.split())


def test_list_has_whole_folder_names_one_order_of_words_and_marks_of_what_is_stale(capsys):
    assert cli.main(["list", "--out", str(RESULTS)]) == 0
    said = capsys.readouterr().out
    folders = [path.parent.name for path in RESULTS.glob("do2026/*/settings.json")]
    assert all(name in said for name in folders)
    assert not [line for line in said.splitlines() if line.endswith(" ")]
    assert not re.search(r"undecided, \d+ (holds|fails)|fails, \d+ holds", said)


def test_verdicts_on_own_studies_are_shown_without_their_names(tmp_path, capsys):
    study, out = tmp_path / "mine.py", ["--out", str(tmp_path / "r")]
    example = Path(__file__).parents[1] / "examples" / "my_study.py"
    study.write_text(example.read_text())
    assert cli.main(["run", str(study), "--tier", "quick", *out]) == 0
    capsys.readouterr()
    assert cli.main(["verdicts", *out]) == 0
    assert "a wider decoder composes more" in capsys.readouterr().out
    study.write_text(study.read_text().replace("steps, opt", "steps + 1, opt"))
    assert cli.main(["list", *out]) == 0
    assert "quick: 1 not evidence (stale)" in capsys.readouterr().out
    study.write_text(study.read_text().replace('"wide", "narrow")', '"wide", "narow")'))
    assert cli.main(["run", str(study), "--tier", "quick", "--name", "again", *out]) == 2
    assert "no network has the condition 'narow' (did you mean 'narrow'?)" in capsys.readouterr().err


def test_list_takes_names_and_paths(capsys):
    study = Path(__file__).parents[1] / "examples" / "my_study.py"
    for name in (str(study), str(study.with_suffix(""))):
        assert cli.main(["list", name, "--out", "/nowhere"]) == 0
        said = capsys.readouterr().out
        assert "wider decoder" in said
        assert "liang2025" not in said


def test_verdicts_can_be_printed_for_a_document_and_pass_over_tables_of_an_older_version(tmp_path, capsys):
    assert cli.main(["run", "liang2025/rotation", "--tier", "quick", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert cli.main(["verdicts", "liang2025/rotation", "--markdown", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("### liang2025/rotation")
    assert "| the gap of angles is filled with a mixture of its edges |" in said
    path = tmp_path / "liang2025/rotation/quick/table.parquet"
    pd.read_parquet(path).drop(columns="r_mixture").to_parquet(path)
    assert cli.main(["verdicts", "liang2025/rotation", "--out", str(tmp_path)]) == 2
    assert "lacks what its claims ask for" in capsys.readouterr().err
