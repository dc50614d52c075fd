"""Judges stored results again by today's claims and draws their figures: python tests/rejudge.py [NAME ...]

For claims or figures that changed after their tables were made. Board, moves and findings follow.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import findings

from recombine import engine
from recombine.cli.results import Loaded, TierOptions, chosen_or_all, over_results
from recombine.engine import catalogue
from recombine.engine.conclude import conclude

HERE = Path(__file__).resolve().parents[1]
RESULTS, MOVES = HERE / "results", HERE / "docs" / "board" / "moves.json"


def again(one: Loaded) -> None:
    """New verdicts, figure and caption of one result; a figure that cannot be drawn stays as it was."""
    verdicts = conclude(one.experiment, one.tier, one.table, one.folder)
    engine.plot(one.experiment, one.settings, one.table, one.folder, verdicts, tier=one.tier)
    print(one.title, flush=True)


def followed(row: dict) -> dict:
    """A verdict that had moved by a rule, with what it is now."""
    stored = json.loads((RESULTS / row["experiment"] / row["result"] / "verdicts.json").read_text())
    now = {v["claim"]: v["verdict"] for v in stored}[row["new_claim"]]
    return row | ({"now": now, "now_because": "run again"} if now != row["now"] else {})


def still_there(row: dict) -> bool:
    """Whether the claim is still asked, and its result still stored."""
    there = (RESULTS / row["experiment"] / row["result"] / "verdicts.json").exists()
    return there and row["new_claim"] in {claim.name for claim in catalogue.find(row["experiment"]).claims}


def main(names: list[str]) -> None:
    """Results first, then everything that is written from them."""
    over_results(chosen_or_all(names), TierOptions(RESULTS), again)
    rows = [followed(row) for row in json.loads(MOVES.read_text()) if still_there(row)]
    MOVES.write_text("[\n " + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")
    subprocess.run([sys.executable, "-m", "recombine", "board", "--to", str(HERE / "docs" / "board")], check=True)
    findings.PAGE.write_text(findings.rebuilt(findings.PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
