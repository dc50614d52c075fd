"""The committed evidence: small, judged as its pages say, and from commits that it names."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import findings
import pytest

from recombine.cli.board import page
from recombine.cli.results import TierOptions, over_results
from recombine.cli.run import chosen_variants
from recombine.cli.verdicts import judged_result
from recombine.engine import catalogue

HERE = Path(__file__).parents[1]
RESULTS, BOARD = HERE / "results", HERE / "docs" / "board"
FOLDERS = sorted(path.parent for path in RESULTS.glob("*/*/*/settings.json"))
RULES = ("fit is an outcome", "one interval per", "formula follows its sentence", "impossible control dropped")
MOVES = json.loads((BOARD / "moves.json").read_text())


def test_evidence_stays_small():
    assert sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()) <= 32e6
    assert not list(RESULTS.rglob("*.svg"))


@pytest.mark.parametrize("paper", sorted({folder.parts[-3] for folder in FOLDERS}))
def test_stored_verdicts_are_those_of_todays_rules_and_the_board_says_them(paper):
    """Write the board again with: recombine board"""
    names = [name for name in catalogue.names() if name.startswith(f"{paper}/")]
    shown = over_results(names, TierOptions(RESULTS), judged_result)
    for one in shown:
        stored = json.loads((one.folder / "verdicts.json").read_text())
        words = ("claim", "verdict", "says", "source", "unit")
        assert [[row[word] for word in words] for row in stored] == [
            [getattr(v, word) for word in words] for v in one.verdicts
        ]
    text = page(catalogue.find(names[0]).paper, shown, RESULTS.name)
    assert (BOARD / f"{paper}.md").read_text() == text, f"docs/board/{paper}.md is stale: run 'recombine board'"


def test_the_findings_say_what_the_results_say():
    """Write their tables again with: python tests/findings.py"""
    assert findings.PAGE.read_text() == findings.rebuilt(findings.PAGE.read_text())


def test_the_findings_take_the_most_seeds_and_of_equally_many_the_later(tmp_path):
    for label, seeds, seed in (("laptop", 5, 2), ("laptop,seed=20", 20, 20), ("laptop,seed=40", 20, 40)):
        (tmp_path / "a" / label).mkdir(parents=True)
        text = json.dumps({"settings": {"seeds": seeds, "seed": seed}})
        (tmp_path / "a" / label / "settings.json").write_text(text)
    found = [folder.name for folder in findings.laptop_runs("a", tmp_path)]
    assert found == ["laptop,seed=40", "laptop,seed=20", "laptop"]


def test_gpu_runs_that_are_listed_can_be_ordered():
    for line in (HERE / "tests" / "gpu_runs.txt").read_text().splitlines():
        device, name, *flags = shlex.split(line)
        words = tuple(flags[flags.index("--variants") + 1 :]) if "--variants" in flags else ()
        assert (device, flags[:2]) == ("gpu", ["--tier", "gpu"])
        chosen_variants(catalogue.find(name), words, "gpu")  # an unknown variant is an error


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: "/".join(path.parts[-3:]))
def test_results_that_name_their_code_come_from_clean_commits(folder):
    facts = json.loads((folder / "settings.json").read_text())
    if "files" in facts:  # several commits if cells of an earlier run were kept, made by the same code
        assert facts["commit"]
        assert all(re.fullmatch("[0-9a-f]{7,40}", commit) for commit in facts["commit"]), "no clean commit"


@pytest.mark.parametrize("row", MOVES, ids=lambda row: f"{row['experiment']} {row['result'][:12]} {row['new_claim']}")
def test_a_verdict_moved_only_by_a_rule_that_is_named(row):
    moved = row["old_claim"] and row["old_verdict"] != row["new_verdict"]
    assert not moved or row["reason"].startswith(RULES)
    assert row["reason"] or _alike(row["old_effect"], row["new_effect"])
    stored = json.loads((RESULTS / row["experiment"] / row["result"] / "verdicts.json").read_text())
    assert row["now"] == {v["claim"]: v["verdict"] for v in stored}[row["new_claim"]]
    assert row["now"] == row["new_verdict"] or row["now_because"] == "run again"
    assert row["new_claim"] in {claim.name for claim in catalogue.find(row["experiment"]).claims}


def _alike(old: list[float] | None, new: list[float] | None) -> bool:
    """Whether two effects and their intervals are the same number, up to rounding."""
    if not old or not new or None in old or None in new:
        return (not old or None in old) == (not new or None in new)
    return all(abs(a - b) <= 3e-3 for a, b in zip(old, new, strict=True))


def test_the_readme_is_short_and_narrow():
    lines = (HERE / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 100
