"""Writes the tables of docs/findings.md whose rows name a tier, from the stored verdicts: python tests/findings.py

An experiment has the rows of its gpu tier if today's code made that, else of its laptop tier: of the run with the most
seeds, among those that differ from the tier in their seeds alone; of two with equally many, the later. Tables list the
experiments that they listed before, and then those of the same papers that have results by now.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from recombine.engine import catalogue
from recombine.engine.run import code_changes
from recombine.engine.words import spanned

HERE = Path(__file__).resolve().parents[1]
PAGE, RESULTS = HERE / "docs" / "findings.md", HERE / "results"
HEAD = "| question | run | verdict |\n|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"((?:\|.*\n)+)")
RUN = re.compile(r"\| `(\w+/\w+)`, (?:gpu|laptop)[^|]* \|")


def rebuilt(page: str) -> str:
    """The page with each generated table as the results now are."""
    known = {name for table in TABLE.findall(page) for name in RUN.findall(table)}
    return TABLE.sub(lambda found: _table(found[1], known) if RUN.search(found[1]) else found[0], page)


def _table(rows: str, known: set[str]) -> str:
    listed = RUN.findall(rows)
    papers = {name.split("/")[0] for name in listed}
    new = [name for name in catalogue.names() if name.split("/")[0] in papers and name not in known]
    return HEAD + "".join(f"{row}\n" for name in [*listed, *new] for row in _rows(name))


def _rows(name: str) -> list[str]:
    experiment = catalogue.find(name)
    stored = [folder for folder in (RESULTS / name / "gpu", *laptop_runs(name)) if (folder / "verdicts.json").exists()]
    if not stored:
        return []
    folder = next((f for f in stored if code_changes(experiment, f) == []), stored[-1])
    count = f", {_settings(folder)['seeds']} seeds" if folder.name not in ("gpu", "laptop") else ""
    first = f"| {experiment.question} | `{name}`, {folder.name.split(',')[0]}{count} |"
    said = [sentence(verdict) for verdict in json.loads((folder / "verdicts.json").read_text())]
    return [f"{first if i == 0 else '|  |  |'} {one} |" for i, one in enumerate(said)]


def laptop_runs(name: str, results: Path = RESULTS) -> list[Path]:
    """The runs at laptop size that differ in their seeds alone: most seeds first, and of equally many the later."""
    runs = [results / name / "laptop", *(results / name).glob("laptop,seed=*")]
    alike = [run for run in runs if (run / "settings.json").exists() and "," not in run.name.partition(",")[2]]
    return sorted(alike, key=lambda run: (_settings(run)["seeds"], _settings(run)["seed"]), reverse=True)


def _settings(folder: Path) -> dict:
    return json.loads((folder / "settings.json").read_text())["settings"]


def sentence(verdict: dict) -> str:
    """One verdict in one line: the word, the claim, the effect with its interval, what was asked, and what is open."""
    how = f", {verdict['how']}" if verdict["verdict"] == "fails" and verdict["how"] else ""
    bounds = ((">", verdict["above"]), ("<", verdict["below"]))
    asked = [f"{sign} {bound:.3g}" for sign, bound in bounds if bound is not None]
    parts = [verdict["claim"], f"{_number(verdict)}, asked {' and '.join(asked)}", *_open(verdict)]
    return f"**{verdict['verdict'].capitalize()}{how}:** {'; '.join(parts)}.".replace("|", "\\|")


def _number(verdict: dict) -> str:
    effect, low, high = (verdict[name] for name in ("effect", "low", "high"))
    if effect is None or low is None:
        return "no number" if effect is None else f"{effect:.2f}"
    return spanned((effect, low, high), (verdict["above"], verdict["below"]))


def _open(verdict: dict) -> list[str]:
    """How many of several groups hold; why it is undecided; what turns it, if it is not."""
    first = verdict["why"].split("; ")[0]
    said = [first + _others(verdict)] if first.endswith(" hold") else []
    total = verdict["seeds"] + verdict["unfit"] + verdict["lost"]
    if verdict["verdict"] == "undecided" and not total:
        said.append(verdict["why"])
    elif verdict["verdict"] == "undecided" and verdict["because"]:
        said.append("{}: {}".format(*next(iter(verdict["because"].items()))))
    elif verdict["verdict"] == "undecided" and verdict["seeds"] < min(total, 5):
        part = " of one of these" if verdict["over"] else ""
        said.append(f"{verdict['seeds']} of {total} {verdict['repeats']}{part} count, 5 are needed")
    elif verdict["verdict"] == "undecided" and first.startswith(("control misread", "precondition not met")):
        said.append(first)
    if verdict["verdict"] != "undecided":
        turned = [f"{name} ({word})" for name, word in verdict["variants"].items() if word != verdict["verdict"]]
        said += [f"turns with {', '.join(turned)}"] * bool(turned)
        said += ["rests on single seeds"] * bool(verdict["fragile"])
    return said


def _others(verdict: dict) -> str:
    """How many groups fail and how many are undecided, after how many hold; one or two that fail are named."""
    words = {part["name"]: part["verdict"] for part in verdict["parts"]} | verdict["groups"]
    fail = [name for name, word in words.items() if word == "fails"]
    words_alone = not any(name.isdigit() for name in fail)  # "1 fails (2)" would read as a count
    named = f" ({'; '.join(fail)})" if verdict["groups"] and words_alone and len(fail) <= 2 < len(words) else ""
    undecided = list(words.values()).count("undecided")
    said = f", {len(fail)} fail{'s' * (len(fail) == 1)}{named}" if fail else ""
    return said + (f", {undecided} undecided" if undecided else "")


if __name__ == "__main__":
    PAGE.write_text(rebuilt(PAGE.read_text()))
