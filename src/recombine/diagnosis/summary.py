"""A diagnosis in plain words for a terminal: the verdict first, then what it rests on, then what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from recombine.diagnosis.diagnosis import Diagnosis
from recombine.diagnosis.ruling import CANNOT_TELL
from recombine.diagnosis.several import over_models
from recombine.measures.gap import Interval


def summary(d: Diagnosis, width: int = 96) -> str:
    """A plain-language account."""
    c = d.coverage
    lines = [f"{d.name}: {d.verdict.upper()}", d.why]
    lines += [f"but: {said}" for said in d.ruling.caveats]
    lines.append(
        f"{len(d.evidence.of):,} examples of {c.combinations:,} combinations: {c.seen:,} seen, {c.new:,} new"
        + (f", {c.unseen_values:,} with a value never trained on" if c.unseen_values else "")
        + ("" if c.connected or not c.seen else f"; the seen ones fall into {c.parts} parts that share no value")
    )
    after = [*lost(d), *advice(d), *(f"note: {note}" for note in d.notes)]
    return "\n".join([*_wrapped(lines, width), *_errors(d), *_wrapped(after, width)])


def _wrapped(lines: Sequence[str], width: int) -> list[str]:
    return [textwrap.fill(line, width, subsequent_indent="  ") for line in lines]


def _errors(d: Diagnosis) -> list[str]:
    """Errors as a table: the model's, then those of answers that need no composing."""
    if not d.behaviour.seen.any():
        return []
    kind = "share of wrong labels" if d.evidence.answers.labels else "mean squared error"
    rows, references = dict(d.errors), d.behaviour.references
    mine = [(name, rows[name]) for name in rows if name not in references]
    others = [(name, rows[name]) for name in rows if name in references]
    lines = [f"  {kind:<28} {'mean':>9}  95 % interval over combinations", *(_row(*row) for row in mine)]
    return lines + ["  on new combinations without composing:", *(_row(*row) for row in others)] * bool(others)


def _row(name: str, i: Interval) -> str:
    between = f"[{i.low:.3g}, {i.high:.3g}]" if np.isfinite(i.low) else ""
    return f"    {name:<26} {i.value:>9.3g}  {between}".rstrip()


def lost(d: Diagnosis) -> list[str]:
    """Factors that the target has and the answers lost, and after which layer."""
    return [
        f"{name} is lost after layer {layer!r}: a probe reads it there and off the target, but not off any layer"
        " recorded later, nor off the output"
        for name, layer in d.lost.items()
    ]


def advice(d: Diagnosis) -> list[str]:
    """What to train on where it fails, and what to collect where the data cannot tell."""
    if d.ruling.rule in ("fit", "seen", "target"):
        return []
    if d.verdict == CANNOT_TELL:
        return [*_link(d), *_hold_out(d)]
    if (next_ := d.train_on) is None:
        return []
    n, apart = len(next_.combinations), ""
    if next_.steps_after < 0.95 * next_.steps:
        apart = f", whose mean distance to a trained one is then {next_.steps_after:.2g} steps ({next_.steps:.2g} now)"
    said = f"{n} of the {next_.failed} new combinations that it fails, and test on the others{apart}"
    return [*_link(d), f"train on: {said}; {_listed(d, next_.combinations)}"]


def _link(d: Diagnosis) -> list[str]:
    c = d.coverage
    if not c.link:
        return []
    after = "all hang together" if c.parts_left == 1 else f"{c.parts_left} parts would still be apart"
    n = len(c.link)
    what = f"train on {'this combination' if n == 1 else f'these {n} combinations'} to link the {c.parts} parts"
    return [f"link: {what} of what was seen (then {after}); {_listed(d, c.link)}"]


def _hold_out(d: Diagnosis) -> list[str]:
    c = d.coverage
    if c.test:
        n = len(c.test)
        what = f"{'this combination' if n == 1 else f'these {n} combinations'}, held out of training"
        share = f", to test {100 * c.tests:.0f} % of the pairs of values that the data lack" if c.tests else ""
        return [f"collect: {what}{share}; {_listed(d, c.test)}"]
    start = "every combination of these values is there"
    if c.new:
        return [f"collect: {start}, so train again with more of them held out, or add values; {c.new} new are too few"]
    if not c.hold_out:
        return [f"collect: {start} and was trained on; add values, so that some combinations can be held out"]
    return [f"collect: {start} and was trained on; train again without, say, these; {_listed(d, c.hold_out)}"]


def _listed(d: Diagnosis, rows: Sequence[Sequence[str]]) -> str:
    """The factors' names, then the combinations."""
    return f"{' + '.join(d.evidence.names)}: {'; '.join(' + '.join(words) for words in rows)}"


def of_several(diagnoses: Sequence[Diagnosis]) -> str:
    """One paragraph on several models: how often each verdict is given, and means over them."""
    words = sorted(d.verdict for d in diagnoses)
    counts = [(word, len(list(same))) for word, same in groupby(words)]
    n = len(diagnoses)
    said = f"all {n}: {words[0]}" if len(counts) == 1 else ", ".join(f"{word} {k} of {n}" for word, k in counts)
    lines = [f"{n} MODELS: {said.upper() if len(counts) == 1 else said}"]
    for name, i in over_models(diagnoses).items():
        lines.append(f"  {name:<52} {i.value:>7.3g}  [{i.low:.3g}, {i.high:.3g}] over models")
    return "\n".join(lines)
