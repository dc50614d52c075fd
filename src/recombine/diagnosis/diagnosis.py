"""A diagnosis: the verdict on a model with everything that it rests on, as words, as numbers, as a report."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.diagnosis.behaviour import Behaviour, behaviour
from recombine.diagnosis.coverage import Coverage, coverage
from recombine.diagnosis.evidence import Evidence
from recombine.diagnosis.layers import Clock, Layer, measured
from recombine.diagnosis.rules import CANNOT_TELL, Ruling, rule
from recombine.diagnosis.tells import Tells
from recombine.measures.gap import Interval, mean_interval

READ = 0.5
"""A factor can be read off a layer if its decodability on new combinations is above this and above its control."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The verdict on one model; `print(diagnosis)` is a summary, `save` writes the report and all numbers."""

    name: str
    evidence: Evidence
    behaviour: Behaviour
    ruling: Ruling
    tells: Tells | None
    coverage: Coverage
    layers: tuple[Layer, ...]
    notes: tuple[str, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """composes, memorizes, partly or cannot tell."""
        return self.ruling.verdict

    @property
    def why(self) -> str:
        return self.ruling.why

    @cached_property
    def errors(self) -> dict[str, Interval]:
        """Mean errors over combinations, of the model and of each reference on new ones."""
        b, e = self.behaviour, self.evidence
        found = {"seen combinations": b.error(b.seen)} if b.seen.any() else {}
        if not e.new.any():
            return found
        steps = e.distance
        middle = np.median(steps[e.new])
        near, far = e.new & (steps <= middle), e.new & (steps > middle)
        found["new combinations"] = b.error(e.new)
        if far.any():
            word = f"{middle:g} step" + "s" * int(middle != 1)
            found |= {f"new, within {word}": b.error(near), f"new, beyond {word}": b.error(far)}
        if (~e.seen & e.unseen_value).any():
            found["unseen values"] = b.error(~e.seen & e.unseen_value)
        return found | {name: mean_interval(errors[e.new]) for name, errors in b.references.items()}

    @property
    def gap(self) -> Interval | None:
        """The extra error on new combinations as a share of a memory's, with its interval over combinations."""
        return self.behaviour.gap(self.evidence.new) if self.behaviour.references else None

    @cached_property
    def lost(self) -> dict[str, str]:
        """By factor, the first hidden layer from which on it can no longer be read on new combinations."""
        found = {}
        hidden = [layer for layer in self.layers if layer.name != "output" and not layer.few]
        for name in self.evidence.names:
            told = [layer for layer in hidden if name in layer.decodability]
            can = [layer.decodability[name].value > max(READ, layer.shuffled[name] + 0.1) for layer in told]
            if any(can) and not can[-1]:
                found[name] = told[len(can) - can[::-1].index(True)].name
        return found

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return f"Diagnosis({self.name}: {self.verdict}; {self.why})"

    def numbers(self) -> dict[str, Any]:
        """Every number, as what JSON can hold."""
        told = {
            "name": self.name,
            "verdict": self.verdict,
            "rule": self.ruling.rule,
            "why": self.why,
            "caveats": self.ruling.caveats,
            "composed_factors": self.ruling.factors,
            "factors": {f.name: {"values": f.values, "continuous": f.continuous} for f in self.evidence.factors},
            "examples": len(self.evidence.of),
            "fit": self.behaviour.fit if self.behaviour.seen.any() else None,
            "gap": self.gap,
            "errors": self.errors,
            "coverage": self.coverage,
            "tells": self.tells,
            "lost_from_layer": self.lost,
            "layers": [{k: v for k, v in asdict(layer).items() if k != "kernel"} for layer in self.layers],
            "combinations": _rows(self),
            "notes": self.notes,
            "seconds": dict(self.seconds),
        }
        return plain(told)

    def save(self, folder: Path | str) -> Path:
        """Write report.html (self-contained) and numbers.json; returns the path of the report."""
        from recombine.diagnosis.report import save

        return save([self], folder)[0]


def diagnosed(evidence: Evidence, name: str = "model") -> Diagnosis:
    """All measures of what is known of a model, and the verdict."""
    clock, notes = Clock(), list(evidence.notes)
    with clock("errors and references"):
        b = behaviour(evidence)
    with clock("verdict"):
        ruling, told = rule(b)
    with clock("coverage"):
        covered = coverage(evidence)
    layers = measured(evidence, clock, notes)
    return Diagnosis(name, evidence, b, ruling, told, covered, tuple(layers), tuple(notes), clock.seconds)


def summary(d: Diagnosis, width: int = 96) -> str:
    """A plain-language account: the verdict first, then what it rests on, then what to collect."""
    c, b = d.coverage, d.behaviour
    lines = [f"{d.name}: {d.verdict.upper()}", d.why]
    lines += [f"but: {said}" for said in d.ruling.caveats]
    lines.append(
        f"{len(d.evidence.of):,} examples of {c.combinations:,} combinations: {c.seen:,} seen, {c.new:,} new"
        + (f", {c.unseen_values:,} with a value never trained on" if c.unseen_values else "")
        + ("" if c.connected or not c.seen else f"; the seen ones fall into {c.parts} parts that share no value")
    )
    if b.seen.any():
        kind = "share of wrong labels" if d.evidence.answers.labels else "mean squared error"
        mine = [f"{name} {i.value:.3g}" for name, i in d.errors.items() if name not in b.references]
        others = [f"{name} {i.value:.3g}" for name, i in d.errors.items() if name in b.references]
        lines.append(f"{kind}: {', '.join(mine)}")
        lines += [f"answers that need no composing: {', '.join(others)}"] * bool(others)
    lines += [f"{name} cannot be read from layer {layer!r} on" for name, layer in d.lost.items()]
    lines += advice(d)
    lines += [f"note: {note}" for note in d.notes]
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)


def advice(d: Diagnosis) -> list[str]:
    """What to collect, where the data cannot tell."""
    c = d.coverage
    if d.verdict != CANNOT_TELL or d.ruling.rule in ("fit", "seen", "target"):
        return []
    shown = "; ".join(" + ".join(words) for words in c.collect)
    link = f"link the {c.parts} parts of your support and " if c.links else ""
    if c.collect:
        what = f"these {len(c.collect)} combinations, untrained, would {link}test {100 * c.tests:.0f} % of the pairs"
        return [f"collect: {what} that the data lack: {shown}"]
    held = "; ".join(" + ".join(words) for words in c.hold_out)
    start = "every combination of these values is there"
    if c.new:
        return [f"collect: {start}, so train again with more of them held out, or add values; {c.new} new are too few"]
    return [f"collect: {start} and was trained on; train again without, say, {held}"]


def _rows(d: Diagnosis) -> list[dict[str, Any]]:
    """One row per combination: its values, whether it was seen, its error, and how far it is from seen ones."""
    e, b = d.evidence, d.behaviour
    return [
        {
            "values": [f.values[v] for f, v in zip(e.factors, row, strict=True)],
            "seen": bool(e.seen[i]),
            "error": float(b.errors[i]),
            "steps": float(e.distance[i]),
            **{name: float(errors[i]) for name, errors in b.references.items() if e.new[i]},
        }
        for i, row in enumerate(e.combinations)
    ]


def plain(value: Any) -> Any:
    """A value as what JSON can hold: NaN and infinity become null."""
    if isinstance(value, Interval):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = {k: getattr(value, k) for k in value.__dataclass_fields__}
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
