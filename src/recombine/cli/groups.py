"""What a claim about several rivals, pictures or depths says of each, as a small table."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from recombine.engine.words import spanned

if TYPE_CHECKING:
    from recombine.claims import Part, Verdict

INITIALS = "h: holds, f: fails, u: undecided"
"""How a terminal shortens the words in the cells of a table."""
NARROW = 9
"""Characters of a column of numbers; what stands above it is wrapped."""


def held(v: Verdict) -> str:
    """For how many of its groups a claim holds, as "holds for 2 of 3 pictures"; nothing if it has one only."""
    words = list(v.groups.values())
    return f"holds for {words.count('holds')} of {len(words)} {v.over or 'groups'}" if v.parts else ""


def grid(v: Verdict, said: Callable[[Part], str]) -> list[list[str]]:
    """A heading, and for each group its name, its verdict, its numbers, how many networks fitted, and why it is open.

    Where several scores must agree, each has a column. What no group has is left out.
    """
    each = {group: [p for p in v.parts if _group(p, v) == group] for group in v.groups}
    heads = list(dict.fromkeys(p.name.partition(": ")[2] for p in v.parts)) if v.agree else ["effect [95 %]"]
    rows = [["", "verdict", *heads, "fitted", "why"]]
    for group, word in v.groups.items():
        cells = {p.name.partition(": ")[2] if v.agree else heads[0]: said(p) for p in each[group]}
        numbers = [cells.get(head, "") for head in heads]
        rows.append([group, word, *numbers, _fitted(each[group]), v.because.get(group) or _open(word, each[group])])
    there = [any(row[i] for row in rows[1:]) for i in range(len(rows[0]))]
    return [[cell for cell, kept in zip(row, there, strict=True) if kept] for row in rows]


def _open(word: str, parts: list[Part]) -> str:
    """Which scores leave a group open that several must decide together."""
    if word != "undecided" or len(parts) < 2:
        return ""
    undecided = [p.name.partition(": ")[2] for p in parts if p.verdict == "undecided"]
    return f"straddles the margin: {', '.join(undecided)}" if undecided else "scores disagree"


def _group(part: Part, v: Verdict) -> str:
    return part.name.partition(": ")[0] if v.agree else part.name


def _fitted(parts: list[Part]) -> str:
    """How many networks fitted, if not all did; of the score of which most are known."""
    most = max(parts, key=lambda p: p.seeds)
    return f"{most.seeds} of {most.seeds + most.unfit}" if most.unfit else ""


def number(part: Part, v: Verdict) -> str:
    """The mean over seeds, with its interval where it is the one number of its group."""
    if not part.seeds:
        return "none"
    if v.agree or part.seeds < 2:
        return f"{part.effect:.2f}"
    return spanned((part.effect, part.low, part.high), (v.above, v.below))


def lines(v: Verdict, width: int) -> list[str]:
    """The table for a terminal of this width: why a group is open stands below it."""
    head, *rows = grid(v, lambda p: f"{number(p, v)} {p.verdict[0]}" if v.agree and p.seeds else number(p, v))
    reasons = [row.pop() if head[-1] == "why" else "" for row in rows]
    head = head[:-1] if head[-1] == "why" else head
    wide = [max(len(row[i]) for row in rows) for i in range(len(head))]
    wide = [max(n, min(NARROW, len(name))) for n, name in zip(wide, head, strict=True)]
    above = [textwrap.wrap(name, n) for name, n in zip(head, wide, strict=True)]
    tall = max(map(len, above))
    found = [_line([([""] * (tall - len(a)) + a)[i] for a in above], wide) for i in range(tall)]
    for row, reason in zip(rows, reasons, strict=True):
        found += [_line(row, wide)]
        found += textwrap.wrap(reason, max(20, width), initial_indent="  ", subsequent_indent="  ")
    return found


def _line(cells: list[str], wide: list[int]) -> str:
    """Words to the left, numbers to the right."""
    sides = "<<" + ">" * (len(cells) - 2)
    return "  ".join(f"{cell:{side}{n}}" for cell, side, n in zip(cells, sides, wide, strict=True)).rstrip()


def table(v: Verdict, run: str) -> str:
    """The table for a document, under the name of a run."""
    rows = grid(v, lambda p: f"{number(p, v)} {p.verdict}" if v.agree and p.seeds else number(p, v))
    rows[0][0] = run
    written = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join([written[0], "|---" * len(rows[0]) + "|", *written[1:]])
